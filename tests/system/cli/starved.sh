#!/bin/sh
# Engine live on a machine whose CPUs others have: the server has real-time priority and is never late, but database and
# load wait. The figure is called untrusted, and says for what. Needs root, FUSE and loop devices.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# The sandbox is a PID namespace without a /proc of its own, which LeakSanitizer needs; other tests look for leaks.
ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export ASAN_OPTIONS
[ "$(id -u)" -eq 0 ] || skip "needs root"
slices=$(cut -d " " -f 3 /proc/self/schedstat 2>/dev/null)
[ "${slices:-0}" -gt 0 ] || skip "this kernel does not count waits for a CPU"
"$sloglab" doctor | grep -q 'live with a database' || skip "$("$sloglab" doctor | grep -A1 'live, guest' | grep -B1 fix | head -2)"
cd "$work" || exit 1
export XDG_RUNTIME_DIR="$work/run" XDG_CONFIG_HOME="$work/config" TMPDIR="$work"
mkdir "$XDG_RUNTIME_DIR"
cat >s.yaml <<'EOT'
format: sloglab-scenario/1
title: starved test
pool: {data: {layout: raidz1, disks: [hdd-7200-desktop x 3]}}
guests: [{memory: 256MiB, database: mariadb-10.11}]
workloads:
  db: {kind: oltp, threads: 2, rows: 2000, max_time: 3s}
variants:
  slog: {set: {pool.log: intel-dc-s3700-200}}
EOT
cat >host.yaml <<'EOT'
format: sloglab-host/1
description: any host
params: {guest.oltp_cpu: {value: 1ms, kind: assumed, source: test}}
EOT

# burner CPU: computes there as long as the load runs, with the priority that database and load have, and for two minutes
# at most. It begins with the load: all that comes before goes faster without it.
burner() {
	exec taskset -c "$1" nice -n -20 sh -c '
		end=$(($(date +%s) + 120))
		while [ "$(date +%s)" -lt "$end" ]; do
			i=0
			while [ "$i" -lt 100000 ]; do i=$((i + 1)); done
		done'
}

# The load of this run: it names its table's server, which is in our folder.
loading() {
	for pid in $(pgrep -x sloglab-load); do
		tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep "$work" | grep -q ' run ' && return
	done
	return 1
}

"$sloglab" run s.yaml --engine live --profile host.yaml --dilate 4 --json a.json --html a.html >out.txt 2>err.txt &
main=$!
PIDS=$main
wait_for 240 loading || fail "no load: $(cat err.txt)"
# Two on each CPU that we may use: a thread that is awake has a third of one at best.
burners=""
for cpu in $(taskset -cp $$ | sed 's/.*: //; s/,/ /g'); do
	for each in $(seq "${cpu%-*}" "${cpu#*-}"); do
		for _ in 1 2; do
			burner "$each" &
			burners="$burners $!"
		done
	done
done
PIDS="$main $burners"
end_within 200 "$main"
code=$rc
# shellcheck disable=SC2086 # words
kill_children $burners
[ "$code" -eq 1 ] || fail "exit $code: $(cat err.txt out.txt)"
grep -q '^sloglab: timing not trustworthy' err.txt || fail "last line: $(cat err.txt)"
grep -q '^warning: db on slog, live: .*timing not trustworthy: .*waits for a CPU took .* of the measured time (server .*, load .*, database .*)' out.txt ||
	fail "the reason is not said: $(cat out.txt)"
awk '$1 == "db" && $2 == "slog" && $4 ~ /[?]$/ { marked = 1 } END { exit !marked }' out.txt || fail "not marked: $(cat out.txt)"
grep -q '"trustworthy": false' a.json || fail "JSON: $(grep -A20 '"timing": {' a.json)"
grep -q '"reason": ".*waits for a CPU took' a.json || fail "JSON has no reason: $(grep -A20 '"timing": {' a.json)"
grep -q 'not to be trusted' a.html || fail "the page does not say it"
finish
