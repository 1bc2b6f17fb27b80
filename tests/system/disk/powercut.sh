#!/bin/sh
# Power cuts while a client writes: a disk with power-loss protection loses no acknowledged write; one without loses only
# what was not flushed, and does lose that. The same when the server is killed.
# shellcheck source=tests/system/disk/lib.sh
. "${0%/*}/lib.sh"
device plp 200us yes
device volatile 200us no

# load NAME SEED: a writer in the background; sets WRITER.
load() {
	timeout 60 "$audit" write d/nbd.sock "$1" "state.$1" 2000 16 300 30 "$2" >"writer.$1" 2>&1 &
	PIDS="$PIDS $!"
}

# verdict NAME UNIT: sets LOST after checking that nothing illegal happened.
verdict() {
	timeout 60 "$audit" check d/nbd.sock "$1" "state.$1" "$2" >verdict || fail "check of $1: $(cat verdict)"
	[ "$(field illegal verdict)" -eq 0 ] || fail "$1: $(cat verdict)"
	LOST=$(field lost verdict)
}

volatile_lost=0
hdd_lost=0
# The hard disk at four times its speed: it must not write back faster than a client on a busy machine writes.
rounds=0
for seed in none 1 2 3 kill 4 5 6 7 8 9 10 11 12; do
	if [ "$rounds" -ge 5 ] && [ "$volatile_lost" -gt 0 ] && [ "$hdd_lost" -gt 0 ]; then
		break
	fi
	rounds=$((rounds + 1))
	disks_start plp volatile hdd-7200-desktop=hdd,size=16MiB
	ctl slow hdd 0.25
	for name in plp volatile hdd; do
		load "$name" "1$(echo $seed | cksum | cut -c1-4)"
	done
	wait_for 60 writes_reach 500 plp volatile hdd || fail "few writes: $(cat told)"
	case $seed in
	none) ctl powercut ;;
	kill)
		server_kill
		;;
	*) ctl powercut $seed ;;
	esac
	for name in plp volatile hdd; do
		wait_for 60 test -s "state.$name" || fail "the writer of $name goes on"
		wait_for 60 grep -q acks "writer.$name" || fail "writer of $name: $(cat "writer.$name")"
		[ "$(field acks "writer.$name")" -gt 300 ] || fail "$name: few writes: $(cat "writer.$name")"
	done
	if [ $seed = kill ]; then
		disks_start plp volatile hdd-7200-desktop=hdd,size=16MiB
	fi
	ctl latency off
	verdict plp 4096
	[ "$LOST" -eq 0 ] || fail "$seed: the protected disk lost $LOST acknowledged writes"
	verdict volatile 4096
	volatile_lost=$((volatile_lost + LOST))
	verdict hdd 512
	hdd_lost=$((hdd_lost + LOST))
	disks_stop
	rm -rf d state.* writer.*
done
# A run in which nothing is lost is possible: the cut may fall just behind a flush. Fourteen are not.
[ "$volatile_lost" -gt 0 ] || fail "the unprotected SSD lost nothing: its cache is not volatile"
[ "$hdd_lost" -gt 0 ] || fail "the hard disk lost nothing: its cache is not volatile"

# An orderly end loses nothing at all.
disks_start volatile
timeout 60 "$audit" write d/nbd.sock volatile state.volatile 2000 16 0 0.5 9 >writer || fail "$(cat writer)"
ctl status >told
[ "$(field volatile_bytes told)" -gt 0 ] || fail "nothing was cached: $(cat told)"
kill -TERM "$SERVER"
end_within 60 "$SERVER"
[ "$rc" -eq 0 ] || fail "SIGTERM: exit $rc: $(cat log)"
disks_start volatile
verdict volatile 4096
[ "$LOST" -eq 0 ] || fail "an orderly end lost $LOST writes"
disks_stop
echo "lost: volatile SSD $volatile_lost, hard disk $hdd_lost"
