#!/bin/sh
# Fifty times (or KILLS) kill -9 at random moments under load: nothing that was acknowledged as stable is lost, neither
# bytes nor names. The same with sync=disabled: losses are found and counted, so the audit can fail.
. "${0%/*}/lib.sh"

KILLS=${KILLS:-50}
LOAD="$BIN/sloglab-load"
# Random, and the same each time.
pause() {
	sleep "0.$(awk -v seed="$1" 'BEGIN { srand(seed); printf "%03d", 30 + 170 * rand() }')"
}

# kills COUNT ARGS...: kills the server COUNT times and starts it again.
kills() {
	count=$1
	shift
	for round in $(seq "$count"); do
		pause "$round"
		kill -KILL "$SERVER"
		wait "$SERVER" 2>/dev/null || true
		server_start "$SCRATCH/log" "$@" --nfs-port="$NFS_PORT" --mount-port="$MOUNT_PORT"
	done
}

# load_start ACKS: three writers whose acknowledgements are noted outside of the server's reach.
load_start() {
	"$LOAD" audit run --url="nfs://127.0.0.1/audit?$PORTS" --acks="$1" --threads=3 --time=500s >"$SCRATCH/run" 2>&1 &
	load=$!
	PIDS="$PIDS $load"
}

load_stop() {
	kill -INT "$load"
	rc=0
	wait "$load" || rc=$?
	[ "$rc" -eq 130 ] || fail "the load ended with $rc: $(tail -1 "$SCRATCH/run")"
}

server_start "$SCRATCH/log" --dir="$SCRATCH/store" --latency=200us
load_start "$SCRATCH/acks"
"$BIN/system_durability" "nfs://127.0.0.1/names?$PORTS&auto-traverse-mounts=0" rename >"$SCRATCH/names" 2>&1 &
names=$!
PIDS="$PIDS $names"
kills "$KILLS" --dir="$SCRATCH/store" --latency=200us
load_stop
kill -INT "$names"
wait "$names" || fail "names: $(tail -1 "$SCRATCH/names")"
acknowledged=$(wc -l <"$SCRATCH/acks")
[ "$acknowledged" -gt $((KILLS * 10)) ] || fail "only $acknowledged acknowledgements"
[ "$(wc -l <"$SCRATCH/names")" -gt "$KILLS" ] || fail "only $(wc -l <"$SCRATCH/names") renames"
expect_rc 0 timeout 60 "$LOAD" audit verify --url="nfs://127.0.0.1/audit?$PORTS" --acks="$SCRATCH/acks" --json=-
grep -q '"lost": 0,' "$SCRATCH/out" || fail "lost: $(cat "$SCRATCH/out")"
echo "$KILLS kills, $acknowledged acknowledged writes, $(wc -l <"$SCRATCH/names") renames: none lost"
server_stop

server_start "$SCRATCH/log" --dir="$SCRATCH/volatile" --latency=200us --sync-disabled
load_start "$SCRATCH/lost"
kills 1 --dir="$SCRATCH/volatile" --latency=200us --sync-disabled
load_stop
expect_rc 1 timeout 60 "$LOAD" audit verify --url="nfs://127.0.0.1/audit?$PORTS" --acks="$SCRATCH/lost"
grep -q 'acknowledged records are lost' "$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"
echo "sync=disabled: $(sed -n 's/.*: \([0-9]* .*lost\).*/\1/p' "$SCRATCH/err")"
server_stop
