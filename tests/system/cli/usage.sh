#!/bin/sh
# Bad usage and bad input: one line on stderr that says what would be right, nothing on stdout, no files, exit 2.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cases=0

# expect CODE PATTERN ARGS...: PATTERN is a fixed string in the only line of stderr.
expect() {
	code=$1
	pattern=$2
	shift 2
	cases=$((cases + 1))
	(cd "$work" && exec "$sloglab" "$@") >"$work/.out" 2>"$work/.err" </dev/null
	got=$?
	[ "$got" -eq "$code" ] || fail "$*: exit $got, not $code"
	[ "$(wc -l <"$work/.err")" -eq 1 ] || fail "$*: stderr is not one line: $(cat "$work/.err")"
	grep -qF -- "$pattern" "$work/.err" || fail "$*: \"$pattern\" is not in: $(cat "$work/.err")"
	[ -s "$work/.out" ] && fail "$*: stdout is not empty"
	rm -f "$work/.out" "$work/.err"
	left=$(ls -A "$work")
	[ "$left" = "$fixtures" ] || fail "$*: left files: $left"
}

mkdir "$work/folder"
printf 'format: sloglab-scenario/1\ntitle: x\npool: {data: {layout: raidz1, disks: [hdd-7200-desktop x 3]}}\nworkloads: {w: {kind: oltp}}\nnas: {vcpu: 2}\n' >"$work/key.yaml"
printf 'format: sloglab-scenario/1\ntitle: x\npool: {data: {layout: raidz1, disks: [hdd-7200-desktop x 3]}}\nworkloads: {w: {kind: oltp}}\n' >"$work/good.yaml"
sed 's/kind: oltp/kind: syncwrite, access: local/' "$work/good.yaml" >"$work/local.yaml"
head -c 4096 /dev/urandom >"$work/binary.yaml"
: >"$work/empty.yaml"
fixtures=$(ls -A "$work")

expect 2 'command missing; see sloglab --help'
expect 2 'rnu: unknown command; did you mean run?' rnu good.yaml
expect 2 'teleport: unknown command; see sloglab --help' teleport good.yaml
expect 2 '--vresion: unknown option; see sloglab --help' --vresion
expect 2 'rum: unknown command; did you mean run' help rum
expect 2 'scenario missing; usage: sloglab run SCENARIO' run
expect 2 'more than one scenario' run good.yaml good.yaml
expect 2 '--sed: unknown option; did you mean --seed?' run good.yaml --sed=1
expect 2 '--x: unknown option' fit good.yaml --x
expect 2 '--json: value missing' run good.yaml --json
expect 2 '--repeat: "0" is not a whole number from 1 to 64' run good.yaml --repeat 0
expect 2 '--seed: "x" is not a whole number' run good.yaml --seed x
expect 2 '--time: "0" is not a whole number' run good.yaml --engine live --time 0
expect 2 '--engine: "vn" is not an engine; use model, live or vm' run good.yaml --engine vn
expect 2 'scenario: empty name; give a file, or one of sloglab help scenarios' run ''
expect 2 '--time: works with --engine live and vm only' run good.yaml --time 5
expect 2 '--trace: works with --engine model only' run good.yaml --engine live --trace t.json
expect 2 'absent.yaml: no such file' run absent.yaml
expect 2 'b3n-2015: no such scenario; did you mean b3n-2014?' run b3n-2015
expect 2 'b3n: no such scenario; did you mean b3n-2014?' run b3n
expect 2 'layouts: no such scenario; did you mean pool-layouts?' run layouts
expect 2 'optane: no such scenario; did you mean proxmox-truenas-optane?' run optane
expect 2 '/dev/sda is a path; a real disk or file is measured with --file /dev/sda' disk test /dev/sda
expect 2 'a?b: unknown command' "$(printf 'a\302\233b')"
expect 2 'a?b: no such file and no ready scenario' run "$(printf 'a\342\200\256b')"
expect 2 'folder' run folder
expect 2 'binary.yaml' run binary.yaml
expect 2 'empty.yaml' run empty.yaml
expect 2 "key.yaml:5:7: unknown key 'nas.vcpu'" run key.yaml
expect 2 '--variant: "nnoe" is not in the scenario; did you mean none?' run b3n-2014 --variant nnoe
expect 2 '--workload: "xyzzy" is not in the scenario; it has oltp2, oltp4, rndrw, rndwr' run b3n-2014 --workload xyzzy
expect 2 '--variant: empty name; give names as in --variant A,B' run b3n-2014 --variant ''
expect 2 '--set: "guests.vcpus" is not KEY=VALUE' run b3n-2014 --set guests.vcpus
expect 2 'guests.vcpu' run b3n-2014 --set guests.vcpu=4
expect 2 'guests.vcpus' run b3n-2014 --set guests.vcpus=4x
expect 2 'nowhere/x.json: cannot write' run b3n-2014 --json nowhere/x.json
expect 2 './x.csv: two outputs to one file' run b3n-2014 --json x.csv --csv ./x.csv
expect 2 'folder: is a folder; name a file' run b3n-2014 --html folder
expect 2 'only one of --json' run b3n-2014 --json - --csv -
expect 2 '--hold-out: "oltp3" is neither a workload nor a variant of the scenario; did you mean oltp2?' fit b3n-2014 --hold-out oltp3
expect 2 '--hold-out: "s3701" is neither a workload nor a variant of the scenario; did you mean s3700?' fit b3n-2014 --hold-out s3701
expect 2 'none of the workloads asked for can run here' run local.yaml --engine live
expect 2 '--dilate: must be from 1 to 1e6' run good.yaml --engine live --dilate 0.5
expect 2 '--dilate: ' run good.yaml --engine live --dilate atuo
expect 2 '--fresh: works with --engine vm only' run good.yaml --engine live --fresh
expect 2 '--profile: works with --engine live and vm only' run good.yaml --profile p.yaml
expect 2 '--trace: works with --engine model only' run good.yaml --engine vm --trace t.json
expect 2 '--quick: works with --engine live and vm only' run good.yaml --quick
expect 2 'nowhere/host.yaml' run good.yaml --engine live --profile nowhere/host.yaml
expect 2 'good.yaml: takes no argument' doctor good.yaml
SLOGLAB_DATA=/nowhere
export SLOGLAB_DATA
expect 2 'SLOGLAB_DATA=/nowhere' run good.yaml
unset SLOGLAB_DATA

echo "$cases cases"
finish
