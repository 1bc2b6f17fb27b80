#!/bin/sh
# The disk server with one fault in each run: a disk with power-loss protection has, after a kill, all that it acknowledged.
# shellcheck source=tests/system/disk/lib.sh
. "${0%/*}/lib.sh"
: "${FAULTS:?set FAULTS to libsl_faults.so}"
case ${SL_FAULTS:-} in
long) each=40 ;;
*) each=${EACH:-2} ;;
esac
device plp 200us yes
cycles=0

# state FIELD: 1 = calls counted, 2 = faults injected.
state() {
	od -An -tu8 -N16 state | awk -v field="$1" '{ print $field }'
}

what() {
	tail -c +17 state | tr '\0' '\n' | head -1
}

# fault_start KIND:N: the server with this fault; false when it does not start, with its word in the log.
fault_start() {
	rm -rf d state acks
	: >log
	log=log
	SL_FAULT=$1 SL_FAULT_STATE=$PWD/state LD_PRELOAD=$FAULTS "$sloglab" disk serve --dir d plp,size=4MiB >log 2>&1 &
	SERVER=$!
	PIDS="$PIDS $SERVER"
	while ! grep -q ready log; do
		kill -0 "$SERVER" 2>/dev/null || return 1
		sleep 0.02
	done
}

# A client gets an error, or is served to its end; both will do.
load_run() {
	timeout 60 "$audit" write d/nbd.sock plp acks 100 4 20 1 7 >writer 2>&1 || true
}

cycle() {
	cycles=$((cycles + 1))
	if fault_start "$1"; then
		load_run
		kill -0 "$SERVER" 2>/dev/null || fail "$1: $(what): the server died: $(cat log)"
		server_kill
	else
		rc=0
		wait "$SERVER" || rc=$?
		{ [ "$rc" -lt 128 ] && [ "$rc" -gt 0 ] && [ -s log ]; } || fail "$1: $(what): ended with $rc: $(cat log)"
	fi
	[ -s acks ] || return 0
	disks_start plp,size=4MiB --latency-off
	timeout 60 "$audit" check d/nbd.sock plp acks 4096 >verdict || fail "$1: $(what): check: $(cat verdict)"
	grep -q ' lost 0 illegal 0$' verdict || fail "$1: $(what): $(cat verdict)"
	server_kill
}

for kind in eio enospc short eintr emfile reset nomem; do
	fault_start "$kind:0" || fail "no start: $(cat log)"
	load_run
	calls=$(state 1)
	server_kill
	[ "$calls" -gt 0 ] || fail "$kind hits nothing"
	step=$((calls / each + 1))
	n=$((1 + cycles % step))
	while [ "$n" -le "$calls" ]; do
		cycle "$kind:$n"
		n=$((n + step))
	done
done
echo "$cycles cycles"
