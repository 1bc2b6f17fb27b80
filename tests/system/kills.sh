#!/bin/sh
# Fifty times (or KILLS) kill -9 at random moments under load: nothing that was acknowledged as stable is lost, neither
# bytes nor names. The same with sync=disabled: losses are found and counted, so the audit can fail.

# libnfs comes from one of 512 ports as root: in a network of our own none is left over from other tests, or from the kill
# before (no TIME_WAIT).
if [ "${SL_KILLS_INSIDE:-}" != 1 ] && [ "$(id -u)" -eq 0 ] && unshare -n true 2>/dev/null; then
	SL_KILLS_INSIDE=1 exec unshare -n "$0"
fi
. "${0%/*}/lib.sh"
if [ "${SL_KILLS_INSIDE:-}" = 1 ]; then
	ip link set lo up
	echo 0 >/proc/sys/net/ipv4/tcp_max_tw_buckets
fi

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
		server_kill
		server_start "$SCRATCH/log" "$@" --nfs-port="$NFS_PORT" --mount-port="$MOUNT_PORT"
	done
}

# write_all ACKS: three writers whose acknowledgements are noted outside of the server's reach, until $SCRATCH/stop is
# there. libnfs gives up now and then when it is refused while the server is down: then another file and another list go
# on. Whoever starts the writers also ends them: nobody else knows whether they are between two starts. They die with it.
write_all() {
	n=0
	while [ ! -e "$SCRATCH/stop" ]; do
		n=$((n + 1))
		setpriv --pdeathsig KILL "$LOAD" audit run --url="nfs://127.0.0.1/audit$n?$PORTS" --acks="$1.$n" --threads=3 \
			--time=500s >"$SCRATCH/run" 2>&1 &
		load=$!
		while [ ! -e "$SCRATCH/stop" ] && kill -0 "$load" 2>/dev/null; do
			sleep 0.05
		done
		# Not SIGINT, which it ignores until it has come so far as to catch it.
		kill -TERM "$load" 2>/dev/null || true # it has ended
		end_within 90 "$load" # three connections at most, 30 s each
	done
}

load_start() {
	rm -f "$SCRATCH/stop"
	write_all "$1" &
	loads=$!
	PIDS="$PIDS $loads"
}

load_stop() {
	: >"$SCRATCH/stop"
	end_within 100 "$loads"
	[ "$rc" -eq 0 ] || fail "the writers did not end: $(cat "$SCRATCH/run")"
}

# verify ACKS: looks for what the lists name; sets LOST.
verify() {
	LOST=0
	for list in "$1".*; do
		rc=0
		timeout 60 "$LOAD" audit verify --url="nfs://127.0.0.1/audit${list##*.}?$PORTS" --acks="$list" --json=- \
			>"$SCRATCH/out" 2>"$SCRATCH/err" || rc=$?
		lost=$(sed -n 's/.*"lost": \([0-9]*\),.*/\1/p' "$SCRATCH/out")
		if [ "$rc" -gt 1 ] || [ -z "$lost" ]; then
			fail "verify gave $rc: $(cat "$SCRATCH/err")"
		fi
		LOST=$((LOST + lost))
	done
}

server_start "$SCRATCH/log" --dir="$SCRATCH/store" --latency=200us
load_start "$SCRATCH/acks"
"$BIN/system_durability" "nfs://127.0.0.1/names?$PORTS&auto-traverse-mounts=0" rename >"$SCRATCH/names" 2>&1 &
names=$!
PIDS="$PIDS $names"
kills "$KILLS" --dir="$SCRATCH/store" --latency=200us
load_stop
kill -INT "$names" 2>/dev/null || true # when it failed, that is told below
end_within 60 "$names"
[ "$rc" -eq 0 ] || fail "names: $(tail -1 "$SCRATCH/names")"
acknowledged=$(cat "$SCRATCH"/acks.* | wc -l)
[ "$acknowledged" -gt $((KILLS * 10)) ] || fail "only $acknowledged acknowledgements"
[ "$(wc -l <"$SCRATCH/names")" -gt "$KILLS" ] || fail "only $(wc -l <"$SCRATCH/names") renames"
verify "$SCRATCH/acks"
[ "$LOST" -eq 0 ] || fail "$LOST of $acknowledged acknowledged writes are lost"
echo "$KILLS kills, $acknowledged acknowledged writes, $(wc -l <"$SCRATCH/names") renames: none lost"
server_stop

server_start "$SCRATCH/log" --dir="$SCRATCH/volatile" --latency=200us --sync-disabled
load_start "$SCRATCH/lost"
wait_for 60 sh -c "[ \"\$(wc -l <'$SCRATCH/lost.1')\" -gt 200 ]" || fail "no progress: $(cat "$SCRATCH/run")"
kills 1 --dir="$SCRATCH/volatile" --latency=200us --sync-disabled
load_stop
verify "$SCRATCH/lost"
[ "$LOST" -gt 0 ] || fail "nothing is lost with sync=disabled: the audit cannot fail"
echo "sync=disabled: $LOST of $(cat "$SCRATCH"/lost.* | wc -l) are lost"
server_stop
