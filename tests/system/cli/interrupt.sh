#!/bin/sh
# Ctrl-C during a long run: exit 130, what was measured is printed, no files.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

"$sloglab" run b3n-2014 --repeat 64 --json a.json >out.txt 2>err.txt &
pid=$!
sleep 2
kill -INT "$pid" 2>/dev/null || fail "the run was too short to interrupt"
wait "$pid"
code=$?
[ "$code" -eq 130 ] || fail "exit $code, not 130"
grep -q 'interrupted: the table holds what was measured so far' err.txt || fail "stderr: $(cat err.txt)"
[ -e a.json ] && fail "a file was written"

# Not only between the cells: this many cuts of one would take minutes.
"$sloglab" powercut b3n-2014 --variant s3700 --workload oltp2 --random 10000000 --json a.json >out.txt 2>err.txt &
pid=$!
sleep 2
kill -INT "$pid" 2>/dev/null || fail "the cuts were too short to interrupt"
(sleep 20; kill -KILL "$pid") 2>/dev/null &
watch=$!
wait "$pid"
code=$?
kill "$watch" 2>/dev/null
[ "$code" -eq 130 ] || fail "powercut: exit $code, not 130"
grep -q 'interrupted: what was cut so far is above' err.txt || fail "powercut: stderr: $(cat err.txt)"
[ -e a.json ] && fail "powercut: a file was written"
finish
