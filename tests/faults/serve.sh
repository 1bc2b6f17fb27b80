#!/bin/sh
# The datastore behind its sockets, with one fault in each run: a start that fails says so; a client is served or gets an
# error; killed and started again, it has all that was acknowledged.

if [ "${SL_INSIDE:-}" != 1 ] && [ "$(id -u)" -eq 0 ] && unshare -n true 2>/dev/null; then
	SL_INSIDE=1 exec unshare -n "$0" # libnfs has 512 ports as root: in a network of our own none is taken
fi
. "${0%/*}/../system/lib.sh"
: "${FAULTS:?set FAULTS to libsl_faults.so}"
if [ "${SL_INSIDE:-}" = 1 ]; then
	ip link set lo up
	echo 0 >/proc/sys/net/ipv4/tcp_max_tw_buckets
fi
case ${SL_FAULTS:-} in
long) each=40 ;;
*) each=${EACH:-2} ;;
esac
load=$BIN/sloglab-load
cycles=0

# fault_start KIND:N: the server with this fault; false when it does not start, with its word in the log.
fault_start() {
	rm -rf "$SCRATCH/store" "$SCRATCH/state" "$SCRATCH/acks"
	log=$SCRATCH/log
	: >"$log"
	SL_FAULT=$1 SL_FAULT_STATE=$SCRATCH/state LD_PRELOAD=$FAULTS "$BIN/system_nfsd" --dir="$SCRATCH/store" \
		--latency=100us ${2:+"$2"} >"$log" 2>&1 &
	SERVER=$!
	PIDS="$PIDS $SERVER"
	while ! grep -q ready "$log"; do
		kill -0 "$SERVER" 2>/dev/null || return 1
		sleep 0.02
	done
	read -r _ NFS_PORT MOUNT_PORT <"$log"
	PORTS="nfsport=$NFS_PORT&mountport=$MOUNT_PORT"
}

# state FIELD: 1 = calls counted, 2 = faults injected.
state() {
	od -An -tu8 -N16 "$SCRATCH/state" | awk -v field="$1" '{ print $field }'
}

what() {
	tail -c +17 "$SCRATCH/state" | tr '\0' '\n' | head -1
}

load_run() {
	rc=0
	timeout 60 "$load" audit run --url="nfs://127.0.0.1/audit?$PORTS" --acks="$SCRATCH/acks" --threads=2 --max-requests=40 \
		>"$SCRATCH/run" 2>"$SCRATCH/err" || rc=$?
}

# cycle KIND:N ARGS
cycle() {
	cycles=$((cycles + 1))
	if fault_start "$1" "${2:-}"; then
		load_run
		[ "$rc" -le 1 ] || fail "$1 $2: $(what): the client ended with $rc: $(cat "$SCRATCH/err")"
		kill -0 "$SERVER" 2>/dev/null || fail "$1 $2: $(what): the server died: $(cat "$log")"
		server_kill
	else
		rc=0
		wait "$SERVER" || rc=$?
		{ [ "$rc" -lt 128 ] && [ "$rc" -gt 0 ] && [ -s "$log" ]; } || fail "$1 $2: $(what): ended with $rc: $(cat "$log")"
	fi
	[ -s "$SCRATCH/acks" ] || return 0
	server_start "$SCRATCH/log" --dir="$SCRATCH/store" --latency=100us
	rc=0
	timeout 60 "$load" audit verify --url="nfs://127.0.0.1/audit?$PORTS" --acks="$SCRATCH/acks" --json=- >"$SCRATCH/out" \
		2>"$SCRATCH/err" || rc=$?
	# Without a single acknowledgement there may be no file.
	[ "$rc" -eq 0 ] || [ "$(wc -l <"$SCRATCH/acks")" -le 1 ] ||
		fail "$1 $2: $(what): $(cat "$SCRATCH/err")"
	server_kill
}

for kind in eio enospc short eintr emfile reset nomem; do
	for mode in "" --host-durable; do
		fault_start "$kind:0" "$mode" || fail "no start: $(cat "$SCRATCH/log")"
		load_run
		calls=$(state 1)
		server_kill
		[ "$calls" -gt 0 ] || fail "$kind hits nothing"
		step=$((calls / each + 1))
		n=$((1 + cycles % step))
		while [ "$n" -le "$calls" ]; do
			cycle "$kind:$n" "$mode"
			n=$((n + step))
		done
	done
done
echo "$cycles cycles"
