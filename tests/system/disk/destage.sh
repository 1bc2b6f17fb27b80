#!/bin/sh
# A hard disk writes its cache back while it is idle, and while it works: a power cut takes what has not left it by then.
# shellcheck source=tests/system/disk/lib.sh
. "${0%/*}/lib.sh"
hdd honest yes
hdd liar no

# writer NAME FLUSH-EVERY SECONDS: random writes to 20000 pages, on which the elevator needs some tenths of a second.
writer() {
	timeout 60 "$audit" write d/nbd.sock "$1" "state.$1" 20000 16 "$2" "$3" 11 >"writer.$1" 2>&1
}

# rest NAME: writes, never a flush, and waits until nothing is cached any more.
rest() {
	writer "$1" 0 0.2 || fail "$1: $(cat "writer.$1")"
	wait_for 40 at_rest "$1" || fail "$1 does not destage while it is idle: $(cat told)"
}

at_rest() {
	ctl status >told
	grep -q "^disk $1 .* volatile_bytes 0 " told
}

# burst NAME FLUSH-EVERY: the power goes amid writes.
burst() {
	writer "$1" "$2" 30 &
	PIDS="$PIDS $!"
	sleep 2
	ctl powercut
	wait_for 60 grep -q acks "writer.$1" || fail "the writer of $1 goes on"
}

# verdict NAME: sets LOST, and ILLEGAL: those of them that a flush had covered.
verdict() {
	ctl latency off
	timeout 60 "$audit" check d/nbd.sock "$1" "state.$1" 512 >verdict || fail "check of $1: $(cat verdict)"
	echo "$1: $(cat verdict) of $(cat "writer.$1")"
	LOST=$(field lost verdict)
	ILLEGAL=$(field illegal verdict)
}

for name in honest liar; do
	disks_start $name,size=128MiB
	rest $name
	ctl powercut
	verdict $name
	[ "$LOST $ILLEGAL" = "0 0" ] || fail "$name lost something after a rest"
	disks_stop
	rm -rf d

	disks_start $name,size=128MiB
	rest $name
	server_kill
	disks_start $name,size=128MiB
	verdict $name
	[ "$LOST $ILLEGAL" = "0 0" ] || fail "$name lost something after a rest and a kill"
	disks_stop
	rm -rf d

	disks_start $name,size=128MiB
	burst $name 0
	verdict $name
	[ "$LOST" -gt 0 ] || fail "$name lost nothing of a burst: its cache is not volatile"
	[ "$LOST" -lt $(($(field acks writer.$name) / 2)) ] || fail "$name destages nothing while it works"
	disks_stop
	rm -rf d

	disks_start $name,size=128MiB
	burst $name 200
	verdict $name
	case $name in
	honest) [ "$ILLEGAL" -eq 0 ] || fail "a flush saved not all" ;;
	*)
		[ "$ILLEGAL" -gt 0 ] || fail "flushes of the liar count"
		[ "$LOST" -lt $(($(field acks writer.$name) / 2)) ] || fail "the liar destages nothing while it works"
		;;
	esac
	disks_stop
	rm -rf d
done
