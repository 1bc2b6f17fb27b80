#!/bin/sh
# 3000 random operations through libnfs agree with a model in memory, on the datastore, with a kill -9 in the middle, and
# on nfs-ganesha: so the model is right.
. "${0%/*}/lib.sh"

ORACLE=$BIN/system_nfs_oracle

# agrees SEED ARGS...: of the server
agrees() {
	seed=$1
	shift
	server_start "$SCRATCH/log" --dir="$SCRATCH/store$seed" --export=/tank/vm --latency=20us "$@"
	timeout 120 "$ORACLE" "nfs://127.0.0.1/tank/vm?$PORTS" "$seed" 3000 2>"$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"
	server_stop
}
agrees 1
agrees 2 --host-durable

# All that was acknowledged as stable, names and bytes, is there after a kill in the middle.
server_start "$SCRATCH/log" --dir="$SCRATCH/killed" --export=/tank/vm --latency=20us
mkfifo "$SCRATCH/go"
timeout 120 "$ORACLE" "nfs://127.0.0.1/tank/vm?$PORTS" 3 3000 pause <"$SCRATCH/go" >"$SCRATCH/out" 2>"$SCRATCH/err" &
oracle=$!
PIDS="$PIDS $oracle"
exec 3>"$SCRATCH/go"
wait_for 60 grep -q half "$SCRATCH/out" || fail "$(cat "$SCRATCH/err")"
server_kill
server_start "$SCRATCH/log" --dir="$SCRATCH/killed" --export=/tank/vm --latency=20us --nfs-port="$NFS_PORT" \
	--mount-port="$MOUNT_PORT"
echo go >&3
end_within 120 "$oracle"
[ "$rc" -eq 0 ] || fail "after the kill: $(cat "$SCRATCH/err")"
server_stop
exec 3>&-

# The same on another server, where there is one.
. "${0%/*}/../lib/ganesha.sh"
missing=$(ganesha_missing VFS)
if [ -n "$missing" ]; then
	echo "skipped in part: no comparison with nfs-ganesha: $missing (scripts/install_packages.sh bench)"
	exit 0
fi
unshare -m -n "${0%/*}/nfs_oracle_peer.sh"
