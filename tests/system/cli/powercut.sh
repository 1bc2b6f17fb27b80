#!/bin/sh
# powercut: verdicts as text, JSON and page; what cannot be cut; bad usage.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
small="powercut b3n-2014 --variant none,s3700 --workload oltp2 --random 500"

# shellcheck disable=SC2086
"$sloglab" $small --json a.json --html a.html >a.txt 2>err.txt || fail "exit code: $(cat err.txt)"
for part in 'oltp2, s3700: 0 lost' 'The whole box loses its power' 'hdd-7200-desktop kept it in its volatile cache' 'log blocks replayed'; do
	grep -qF -- "$part" a.txt || fail "text lacks $part"
done
LC_ALL=C grep -q "$(printf '[^\t -~]')" a.txt && fail "colour without a terminal"
grep -q '"schema": "sloglab-powercut/1"' a.json || fail "JSON without schema"
grep -q "$src" a.json a.html && fail "a path of this machine is in the result"
grep -qF 'flushes do not reach it' a.html || fail "page without the layer that lied"
grep -q '<script\|<img\|src=\|<link' a.html && fail "the page asks for something"
grep -q 'name="viewport"' a.html || fail "page: not for phones"

# The same bytes again, on stdout, with the text on stderr.
# shellcheck disable=SC2086
"$sloglab" $small --json - >b.json 2>b.txt || fail "--json -"
cmp -s a.json b.json || fail "not the same bytes"
grep -q '0 lost' b.txt || fail "text is not on stderr"

# The cases that people ask about.
said() {
	expected=$1
	shift
	"$sloglab" powercut b3n-2014 --workload oltp2 --variant s3700 "$@" >out.txt 2>err.txt || fail "$*: $(cat err.txt)"
	grep -qF -- "$expected" out.txt || fail "$*: no \"$expected\" in: $(cat out.txt)"
}
said 'asked for by sync=disabled' --set pool.sync=disabled --at 20s
said 'what only the log held is gone' --fail slog --at 20s
said 'oltp2, s3700: 0 lost' --fail slog@20s
said 'The storage VM crashes alone' --radius storage --at 20s
said 'libnfs does not compare the write verifier' --radius storage --set host.hypervisor=qemu --random 300
said 'sent again by linux' --radius storage --set host.hypervisor=qemu --client linux --random 300
said 'the ZIL acknowledged before' --break early-ack --random 3000
said 'at every event from 10 s to 10.2 s' --every --window 10s..10.2s

# What cannot be cut is said, and the rest goes on.
"$sloglab" powercut b3n-2014 --workload oltp2 --at 55s >out.txt 2>err.txt || fail "after the end: $(cat err.txt)"
grep -q '^note: oltp2, s3700: its run ends after 5[0-9.]* s: no cut at 55 s$' out.txt || fail "after the end: $(cat out.txt)"
grep -q '^oltp2, none: ' out.txt || fail "the rest does not go on"
"$sloglab" powercut b3n-2014 --workload oltp2 --fail slog --at 5s >out.txt || fail "no log device"
grep -q '^note: oltp2, none: has no log device that could fail$' out.txt || fail "no log device is not said"
"$sloglab" powercut b3n-2014 --variant none --workload oltp2 --at 123456s >out.txt 2>err.txt && fail "nothing was cut, and that is well"
grep -q 'nothing was cut' err.txt || fail "nothing was cut: $(cat err.txt)"
grep -q '^note: oltp2, none: its run ends after .*: no cut at 123456 s$' out.txt || fail "after the end: $(cat out.txt)"
"$sloglab" powercut percona-intel320 --random 10 >out.txt 2>err.txt && fail "bare disks were cut"
grep -q 'a bare disk promises nothing' out.txt || fail "bare disk: $(cat out.txt)"

expect_usage() {
	expected=$1
	shift
	"$sloglab" powercut "$@" >out.txt 2>err.txt
	[ $? -eq 2 ] || fail "powercut $*: not exit 2"
	[ "$(wc -l <err.txt)" -eq 1 ] || fail "powercut $*: not one line: $(cat err.txt)"
	grep -qF -- "$expected" err.txt || fail "powercut $*: no \"$expected\" in: $(cat err.txt)"
}
expect_usage 'scenario missing; usage: sloglab powercut SCENARIO'
expect_usage 'only one of --random, --at and --every' b3n-2014 --random 5 --at 1s
expect_usage '--every: of which window?; give --window A..B' b3n-2014 --every
expect_usage '--window goes with --every' b3n-2014 --window 1s..2s
expect_usage 'ends before it begins' b3n-2014 --every --window 2s..1s
expect_usage '--at' b3n-2014 --at 4x
expect_usage '--at' b3n-2014 --at 7
expect_usage '--at: -3s' b3n-2014 --at=-3s
expect_usage '--radius: world: it takes box, storage' b3n-2014 --radius world
expect_usage '--fail: disk: it takes slog, slog-side or slog@TIME' b3n-2014 --fail disk
expect_usage '--fail' b3n-2014 --fail slog@soon
expect_usage '--client: nt: it takes esxi, libnfs or linux' b3n-2014 --client nt
expect_usage '--break: glass: it takes flush, early-ack or order' b3n-2014 --break glass
expect_usage '--engine: live: it takes model, vm' b3n-2014 --engine live
for option in '--workload oltp2' '--random 5' '--every --window 1s..2s' '--radius box' '--fail slog' '--client linux' \
	'--break order' '--seed 2' '--at 1s --at 2s'; do
	# shellcheck disable=SC2086
	expect_usage '--engine vm: cuts the storage VM and its disks' b3n-2014 --engine vm $option
done
expect_usage 's3700' b3n-2014 --engine vm --variant s3701
expect_usage 'differ in pool.data.layout, which stays' pool-layouts --engine vm
expect_usage 's3700' b3n-2014 --variant s3701
expect_usage 'No such file' b3n-2014 --json /nowhere/a.json
finish
