#!/bin/sh
# Engine live with the guest without a VM: MariaDB on ext4 on QEMU's NFS client on the datastore, and nothing left of it
# after success, Ctrl-C and the death of any part. Rates depend on the machine: only what must hold on a busy one is
# checked. Needs root, FUSE and loop devices.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# The sandbox is a PID namespace without a /proc of its own, which LeakSanitizer needs; other tests look for leaks.
ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export ASAN_OPTIONS
[ "$(id -u)" -eq 0 ] || skip "needs root"
"$sloglab" doctor | grep -q 'live with a database' || skip "$("$sloglab" doctor | grep -A1 'live, guest' | grep -B1 fix | head -2)"
cd "$work" || exit 1
export XDG_RUNTIME_DIR="$work/run" XDG_CONFIG_HOME="$work/config"
mkdir "$XDG_RUNTIME_DIR"
# A table of another MariaDB, in the folder for temporary files that both would take.
export TMPDIR="$work/tmp"
mkdir "$TMPDIR"
: >"$TMPDIR/#sql-temptable-1-2-3.MAI"
# Matches our folder, but not the command line of who looks for it.
ours="[/]${XDG_RUNTIME_DIR#/}"
cat >s.yaml <<'EOT'
format: sloglab-scenario/1
title: guest test
pool: {data: {layout: raidz1, disks: [hdd-7200-desktop x 3]}}
guests: [{memory: 256MiB, database: mariadb-10.11}]
workloads:
  db: {kind: oltp, threads: 2, rows: 2000, max_requests: 500, max_time: 20s}
  files: {kind: fileio, mode: rndwr, files: 4, file_total: 4MiB, fsync_every: 20, max_requests: 200}
variants:
  none: {}
  slog: {set: {pool.log: intel-dc-s3700-200}}
EOT
# What this host costs: measured once here, and not before each run. A machine too busy for that may say so, in one line
# and without a file.
"$sloglab" calibrate --output host.yaml --json host.json >out.txt 2>err.txt
code=$?
if [ "$code" -eq 1 ] && grep -q 'run it again on a quieter machine' err.txt; then
	cat err.txt
	{ [ "$(wc -l <err.txt)" -eq 1 ] && [ ! -e host.yaml ] && [ ! -e host.json ]; } || fail "calibrate: refused, and wrote"
	cat >host.yaml <<-'EOT'
		format: sloglab-host/1
		description: any host
		params: {guest.oltp_cpu: {value: 1ms, kind: assumed, source: test}}
	EOT
else
	[ "$code" -eq 0 ] || fail "calibrate: exit $code: $(cat err.txt)"
	for key in guest.oltp_cpu guest.file_cpu guest.fsync_cpu guest.block_cpu hyp.op_delay link.rate innodb.redo_per_txn; do
		grep -q "^  $key: {value: [0-9]" host.yaml || fail "calibrate: no $key in $(cat host.yaml)"
		grep -q "\"${key}[_a-z]*\": [1-9]" host.json || fail "calibrate: no $key in $(cat host.json)"
	done
fi

# All that has to do with our folder, wherever it is: processes, loop devices, mounts.
leftovers() {
	ls -A "$XDG_RUNTIME_DIR"
	grep -l "$ours" /proc/[0-9]*/cmdline 2>/dev/null
	grep -H "$ours" /sys/block/loop*/loop/backing_file 2>/dev/null
	grep "$ours" /proc/self/mounts
}

none_left() {
	[ -z "$(leftovers)" ]
}

nothing_left() {
	wait_for 30 none_left || fail "$1: left $(leftovers)"
}

# The process named $1 whose command line has our folder. The kernel keeps 15 letters of a name.
part() {
	for pid in $(pgrep -x "$(echo "$1" | cut -c1-15)"); do
		if grep -q "$ours" "/proc/$pid/cmdline" 2>/dev/null; then
			echo "$pid"
		fi
	done
}

# Waits until a command prints something.
await() {
	wait_for 120 prints "$@"
}

prints() {
	[ -n "$("$@")" ]
}

start() {
	"$sloglab" run s.yaml --engine live --workload db --profile host.yaml >out.txt 2>err.txt &
	main=$!
	PIDS=$main
}

# Under load: the database answers and the generator, which names its result, runs.
loading() {
	for pid in $(pgrep -x sloglab-load); do
		tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep "$XDG_RUNTIME_DIR" | grep ' run '
	done
}

# 0, or 1 where only the timing was bad.
"$sloglab" run s.yaml --engine live --profile host.yaml --dilate auto --json a.json >out.txt 2>err.txt
code=$?
[ "$code" -eq 0 ] || { [ "$code" -eq 1 ] && grep -q 'timing not trustworthy' err.txt; } || fail "exit $code: $(cat err.txt)"
[ "$(grep -c '"engine": "live"' a.json)" -ge 4 ] || fail "four live cells: $(cat out.txt)"
[ "$(grep -c '"engine": "model(lab)"' a.json)" -ge 4 ] || fail "four model(lab) cells"
grep -q "substitution: hypervisor: QEMU's NFS driver" out.txt || fail "substitutions are not said"
grep -q 'substitution: dilate auto: a transaction and its commit takes' out.txt || fail "dilation is not said"
grep -q 'WRITE of .* COMMIT' out.txt || fail "calls per transaction"
awk '$1 == "db" && $2 == "none" { none = $4 + 0 } $1 == "db" && $2 == "slog" { slog = $4 + 0 } END { exit !(slog > none && none > 0) }' out.txt ||
	fail "a SLOG must show: $(cat out.txt)"
nothing_left "a whole run"
[ -e "$TMPDIR/#sql-temptable-1-2-3.MAI" ] || fail "the temporary table of another server is gone"

# Ctrl-C at three moments: while the disk is made, the database starts, the load runs.
for moment in "part qemu-storage-daemon" "part mariadbd" loading; do
	start
	# shellcheck disable=SC2086
	await $moment || fail "$moment: never came: $(cat err.txt)"
	interrupt "$main" || fail "it ended before Ctrl-C at $moment: $(cat err.txt)"
	end_within 120 "$main"
	code=$rc
	[ "$code" -eq 130 ] || fail "Ctrl-C at $moment: exit $code: $(cat err.txt)"
	nothing_left "Ctrl-C at $moment"
done

# Death of a part under load: one line that names it.
for victim in qemu-storage-daemon mariadbd; do
	start
	await loading || fail "no load: $(cat err.txt)"
	part "$victim" | xargs -r kill -KILL
	end_within 120 "$main"
	code=$rc
	{ [ "$code" -eq 1 ] && [ "$(grep -c '^sloglab: ' err.txt)" -eq 1 ] && grep -q "$victim: died" err.txt; } ||
		fail "$victim killed: exit $code, $(cat err.txt)"
	nothing_left "$victim killed"
done

# Stopped is as good as dead.
start
await loading || fail "no load: $(cat err.txt)"
part qemu-storage-daemon | xargs -r kill -STOP
end_within 120 "$main"
code=$rc
{ [ "$code" -eq 1 ] && grep -q 'qemu-storage-daemon: .*stopped' err.txt; } || fail "stopped: exit $code, $(cat err.txt)"
nothing_left "a stopped part"

# And nobody holds its lock any more: parts that we forked have it, and no command line of their own.
only_the_folder() {
	! leftovers | grep -v '^sloglab-run' && flock -n "$XDG_RUNTIME_DIR"/sloglab-run.* true
}

# Our own death: processes, mounts and loop device go at once, the folder with the next run.
start
await loading || fail "no load: $(cat err.txt)"
kill -KILL "$main"
end_within 60 "$main"
wait_for 30 only_the_folder || fail "kill -9: left $(leftovers)"
[ -n "$(ls -A "$XDG_RUNTIME_DIR")" ] || fail "kill -9 leaves a folder for the next run to sweep"
"$sloglab" run s.yaml --engine live --profile host.yaml --workload db --variant slog >out.txt 2>err.txt
nothing_left "killed, then run again"

# Without root: one line says what is missing, and what libnfs can do runs.
chmod 755 "$work"
chmod 777 "$XDG_RUNTIME_DIR"
setpriv --reuid=65534 --clear-groups "$sloglab" run s.yaml --engine live --time 1 >out.txt 2>err.txt
{ grep -q 'live without a guest: root: missing' err.txt && grep -q '^files ' out.txt; } || fail "without root: $(cat err.txt)"
finish
