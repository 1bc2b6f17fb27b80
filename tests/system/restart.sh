#!/bin/sh
# kill -9 of the server under load: every acknowledged FILE_SYNC write is there, unstable ones may be lost, and the
# client goes on by itself after the restart because file handles persist.
. "${0%/*}/lib.sh"

server_start "$SCRATCH/log" --dir="$SCRATCH/store" --latency=1ms
ports="--nfs-port=$NFS_PORT --mount-port=$MOUNT_PORT"
"$BIN/system_durability" "nfs://127.0.0.1/log?$PORTS&auto-traverse-mounts=0" sync >"$SCRATCH/client" 2>&1 &
client=$!
PIDS="$PIDS $client"
for round in 1 2 3; do
	wait_for 60 grep -q "^$((round * 100))\$" "$SCRATCH/client" || fail "no progress: $(cat "$SCRATCH/client")"
	server_kill
	# shellcheck disable=SC2086 # words
	server_start "$SCRATCH/log" --dir="$SCRATCH/store" --latency=1ms $ports
done
end_within 120 "$client"
[ "$rc" -eq 0 ] || fail "the client ended with $rc: $(tail -3 "$SCRATCH/client")"

# The lesson: unstable data, a kill, and a COMMIT that says nothing was lost.
"$BIN/system_durability" "nfs://127.0.0.1/volatile?$PORTS&auto-traverse-mounts=0" unstable >"$SCRATCH/client" 2>&1 &
client=$!
PIDS="$PIDS $client"
wait_for 60 grep -q "^written\$" "$SCRATCH/client" || fail "no progress: $(cat "$SCRATCH/client")"
server_kill
# shellcheck disable=SC2086
server_start "$SCRATCH/log" --dir="$SCRATCH/store" --latency=1ms $ports
end_within 120 "$client"
[ "$rc" -eq 0 ] || fail "the client ended with $rc: $(tail -3 "$SCRATCH/client")"
grep -q "^lost 100 of 101\$" "$SCRATCH/client" || fail "$(cat "$SCRATCH/client")"
server_stop
