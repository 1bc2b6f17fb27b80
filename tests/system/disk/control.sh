#!/bin/sh
# The control socket, and everything that can go wrong at the start: one line that says what and what to do.
# shellcheck source=tests/system/disk/lib.sh
. "${0%/*}/lib.sh"
device slow 20ms yes

# refused RC PATTERN ARGS...: disk serve ends with RC and one line.
refused() {
	rc=$1
	pattern=$2
	shift 2
	expect_rc "$rc" timeout 20 "$sloglab" disk serve "$@"
	one_line "$SCRATCH/err"
	grep -qF -- "$pattern" "$SCRATCH/err" || fail "$*: \"$pattern\" is not in: $(cat "$SCRATCH/err")"
}

refused 2 'device missing' --dir d
refused 2 '--dir: missing' slow
refused 2 "'slwo' is not in any catalogue folder" slwo --dir d
refused 2 'no valid name' ../slow --dir d
refused 2 'size: ' slow,size=4x --dir d
refused 2 'not a multiple of 512' slow,size=1000B --dir d
refused 2 'more than the device' slow,size=2GiB --dir d
refused 2 'is not an option of a disk' slow,colour=red --dir d
refused 2 'has no capacity; give size=' null --dir d
refused 2 'named twice' slow slow --dir d
refused 2 'disk name' slow=a/b --dir d
refused 2 '--dilate' slow --dir d --dilate 0
refused 2 'not a whole number' slow --dir d --port 70000
refused 2 'cannot be made' slow --dir absent/d
refused 2 'choose a shorter path' slow --dir d --socket "$(printf '%0120d' 0)"
touch file
refused 2 'choose another path' slow --dir d --socket file
[ -f file ] || fail "a file was taken for a socket"

disks_start slow,size=1MiB slow=other,size=1MiB --socket d/nbd.sock --port 0
port=$(sed -n 's,^nbd://127.0.0.1:\([0-9]*\)/slow$,\1,p' log)
refused 2 'in use by another server' slow,size=1MiB --dir d --socket x --control y
refused 2 'd/nbd.sock: in use by another server' slow,size=1MiB --dir e --socket d/nbd.sock
refused 2 'already in use' slow,size=1MiB --dir e --port "$port"

# Latencies: off, on, slower; one disk fails and heals.
ctl status >told
grep -q '^latency on dilate 1 ' told || fail "$(cat told)"
timeout 60 "$audit" bench d/nbd.sock slow 1 0.5 >on 2>/dev/null && fail "the disk is smaller than the bench"
disks_stop
rm -rf d
disks_start slow slow=other --latency-off
# By the wall, so that a busy machine may need another try: off nearly at once, on 20 ms, slowed 60 ms, the other as before.
as_told() {
	ctl slow slow 1
	ctl latency off
	timeout 60 "$audit" bench d/nbd.sock slow 1 0.5 >off || fail "bench"
	ctl latency on
	timeout 60 "$audit" bench d/nbd.sock slow 1 1 >on || fail "bench"
	ctl slow slow 3
	timeout 60 "$audit" bench d/nbd.sock slow 1 1 >slowed || fail "bench"
	timeout 60 "$audit" bench d/nbd.sock other 1 1 >rest || fail "bench"
	awk -v off="$(field mean_us off)" -v on="$(field mean_us on)" -v slowed="$(field mean_us slowed)" \
		-v other="$(field mean_us rest)" \
		'BEGIN { exit !(off < 5000 && on > 15000 && slowed > 50000 && other < 40000) }'
}
as_told || as_told || as_told || fail "latencies: $(cat off on slowed rest)"
ctl fail slow
expect_rc 2 timeout 60 "$audit" bench d/nbd.sock slow 1 0.2
timeout 60 "$audit" bench d/nbd.sock other 1 0.2 >rest || fail "the other disk failed too"
ctl status >told
grep "^disk slow " told | grep -q 'state failed' || fail "$(cat told)"
ctl heal slow
timeout 60 "$audit" bench d/nbd.sock slow 1 0.2 >rest || fail "not healed"

# Commands that make no sense.
for command in 'fly' 'latency' 'latency up' 'fail nobody' 'slow slow 0' 'slow slow x' 'pull slow 0' 'attach slow x' 'powercut x' 'status now please x y'; do
	# shellcheck disable=SC2086 # words
	expect_rc 2 "$sloglab" disk ctl d/control.sock $command
	one_line "$SCRATCH/err"
done
expect_rc 2 "$sloglab" disk ctl d/control.sock
expect_rc 1 "$sloglab" disk ctl d/absent.sock status
one_line "$SCRATCH/err"

# The sockets of a dead process are replaced; Ctrl-C is 130 and leaves none; another size is refused.
server_kill
[ -e d/nbd.sock ] || fail "no stale socket to test"
disks_start slow slow=other
kill -INT "$SERVER" || fail "the server died: $(cat log)"
end_within 60 "$SERVER"
[ "$rc" -eq 130 ] || fail "Ctrl-C: exit $rc"
[ ! -e d/nbd.sock ] || fail "Ctrl-C left a socket"
grep -q '^requests ' log || fail "no summary: $(cat log)"
refused 2 'give size=' slow,size=1MiB --dir d
