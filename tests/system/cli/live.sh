#!/bin/sh
# Engine live: real traffic beside the model, and nothing left - after success, Ctrl-C and kill -9 of any part.
# Rates and lateness depend on the machine: only what must hold on a busy one is checked.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
# The sandbox is a PID namespace without a /proc of its own, which LeakSanitizer needs; other tests look for leaks.
ASAN_OPTIONS=detect_leaks=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
export ASAN_OPTIONS
cd "$work" || exit 1
export XDG_RUNTIME_DIR="$work/run"
mkdir "$XDG_RUNTIME_DIR"
cat >s.yaml <<'EOF'
format: sloglab-scenario/1
title: live test
pool: {data: {layout: raidz1, disks: [hdd-7200-desktop x 3]}}
workloads:
  seq: {kind: syncwrite, block: 4KiB, file_total: 16MiB}
  files: {kind: fileio, mode: rndwr, files: 4, file_total: 4MiB, fsync_every: 20, max_requests: 200}
  local: {kind: syncwrite, access: local}
variants:
  none: {}
  slog: {set: {pool.log: intel-dc-s3700-200}}
EOF

# Children of $1, by the parent's number in /proc.
children() {
	for stat in /proc/[0-9]*/stat; do
		awk -v p="$1" '{ sub(/.*\) /, "", $0); if ($2 == p) exit 0; exit 1 }' "$stat" 2>/dev/null &&
			basename "$(dirname "$stat")"
	done
}

# The program of process $1.
name() {
	sed 's/.*(\(.*\)).*/\1/' "/proc/$1/stat" 2>/dev/null
}

# Waits until $1 has a child named $2, and prints it.
wait_child() {
	tries=0
	while [ "$tries" -lt 600 ]; do
		for pid in $(children "$1"); do
			if [ "$(name "$pid")" = "$2" ]; then
				echo "$pid"
				return
			fi
		done
		sleep 0.1
		tries=$((tries + 1))
	done
}

nothing_left() {
	[ -z "$(ls -A "$XDG_RUNTIME_DIR")" ] || fail "$1: left $(ls "$XDG_RUNTIME_DIR")"
	for pid in $server $load; do
		tries=0
		while [ -e "/proc/$pid" ] && [ "$(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null | cut -c1)" != Z ]; do
			tries=$((tries + 1))
			[ "$tries" -lt 300 ] || {
				fail "$1: process $pid ($(name "$pid")) still runs"
				break
			}
			sleep 0.1
		done
	done
}

start_long() {
	"$sloglab" run s.yaml --engine live --workload seq --variant none --time 60 >out.txt 2>err.txt &
	main=$!
	PIDS=$main
	load=$(wait_child "$main" sloglab-load)
	server=$(wait_child "$main" sloglab)
	{ [ -n "$load" ] && [ -n "$server" ]; } || fail "children did not start: $(cat err.txt)"
}

# Another box whose NFS call takes no time: this host can only be slower.
"$sloglab" run s.yaml --engine live --workload seq --variant none --time 1 --dilate auto --set params.hyp.op_delay=0us \
	--json k.json >out.txt 2>err.txt
grep -q 'substitution: dilate auto: an NFS call takes .* k = 20$' out.txt || fail "dilate auto: $(cat out.txt err.txt)"
[ "$(grep -c '"dilate": 20' k.json)" -eq 1 ] || fail "one live cell with its k: $(grep dilate k.json)"

# 0 or 1: a busy machine is not trustworthy, but must still measure.
server='' load=''
"$sloglab" run s.yaml --engine live --time 2 --json a.json --html a.html >out.txt 2>err.txt
code=$?
[ "$code" -eq 0 ] || { [ "$code" -eq 1 ] && grep -q 'timing not trustworthy' err.txt; } || fail "exit $code: $(cat err.txt)"
[ "$(grep -c '"engine": "live"' a.json)" -ge 4 ] || fail "four live cells"
grep -q '"null_rtt_ns": [1-9]' a.json || fail "NULL round trip"
grep -q 'skipped on live: 1 workload' err.txt || fail "skipped workload is not said"
grep -q 'measured' a.html || fail "page without measured bars"
awk '$1 == "seq" && $2 == "none" { none = $4 + 0 } $1 == "seq" && $2 == "slog" { slog = $4 + 0 } END { exit !(slog > 2 * none && none > 0) }' out.txt ||
	fail "a SLOG must show: $(cat out.txt)"
nothing_left "a whole run"

start_long
interrupt "$main" || fail "it ended before Ctrl-C: $(cat err.txt)"
end_within 120 "$main"
code=$rc
[ "$code" -eq 130 ] || fail "Ctrl-C: exit $code"
nothing_left "Ctrl-C"

start_long
kill -KILL "$server"
end_within 120 "$main"
code=$rc
{ [ "$code" -eq 1 ] && grep -q 'datastore: died' err.txt; } || fail "server killed: exit $code, $(cat err.txt)"
nothing_left "server killed"

# A server that hangs is as bad as a dead one.
start_long
kill -STOP "$server"
end_within 120 "$main"
code=$rc
{ [ "$code" -eq 1 ] && grep -q 'datastore: .*stopped' err.txt; } || fail "server stopped: exit $code, $(cat err.txt)"
nothing_left "server stopped"

start_long
kill -KILL "$load"
end_within 120 "$main"
code=$rc
{ [ "$code" -eq 1 ] && grep -q 'sloglab-load' err.txt; } || fail "load killed: exit $code, $(cat err.txt)"
nothing_left "load killed"

start_long
kill -KILL "$main"
end_within 60 "$main"
[ -n "$(ls -A "$XDG_RUNTIME_DIR")" ] || fail "kill -9 leaves a folder for the next run to sweep"
# Its parts die with it, and with the last one the lock is gone.
wait_for 60 flock -n "$XDG_RUNTIME_DIR"/sloglab-run.* true || fail "killed: a part lives on"
"$sloglab" run s.yaml --engine live --workload seq --variant slog --time 1 >out.txt 2>err.txt
nothing_left "killed, then run again"
finish
