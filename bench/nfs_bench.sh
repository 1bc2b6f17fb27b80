#!/bin/sh
# The datastore at zero model latency beside nfs-ganesha's FSAL_MEM in one run: 4 KiB FILE_SYNC writes through one
# pipelining connection, server CPU per write. usage: nfs_bench.sh BIN [ROUNDS]
# At depth 32 and 1 with a client that the scheduler puts where it likes, and at depth 1 with one that is bound to a
# CPU; the servers may use all CPUs. docs/decisions/0010 tells why the goal of depth 1 is asked of the bound one.
# The rounds alternate between the servers and the least of each counts: what the machine does besides only adds.
# Exits 1 when a ratio is above its goal: 0.08 at depth 32, 0.30 at depth 1. Without root or ganesha only our figures
# are printed.
BIN=${1:?usage: nfs_bench.sh BIN [ROUNDS]}
ROUNDS=${2:-3}

# Both servers live in a network and a mount namespace of our own, so that ports 111 and 2049 and /run are free.
if [ "${SL_BENCH_INSIDE:-}" != 1 ] && [ "$(id -u)" -eq 0 ]; then
	SL_BENCH_INSIDE=1 exec unshare -m -n "$0" "$BIN" "$ROUNDS"
fi
TMPDIR=/dev/shm # files in memory, as ganesha's are: the disk is not what is measured
. "${0%/*}/../tests/system/lib.sh"
. "${0%/*}/../tests/lib/ganesha.sh"

# both CLIENT DEPTH COMMAND...: a line of figures for each server, from a client run by COMMAND.
both() {
	client=$1 depth=$2
	shift 2
	"$@" "$BIN/nfs_bench" "sloglab $client" 127.0.0.1 "$NFS_PORT" "$MOUNT_PORT" / "$SERVER" "$depth"
	if [ -z "$missing" ]; then
		"$@" "$BIN/nfs_bench" "ganesha $client" "$GANESHA_ADDRESS" 2049 20048 /export "$GANESHA" "$depth"
	fi
}

if [ "${SL_BENCH_INSIDE:-}" = 1 ]; then
	ip link set lo up
fi
server_start "$SCRATCH/log" --dir="$SCRATCH/store"
missing=$(ganesha_missing MEM)
if [ -z "$missing" ] && ! ganesha_start MEM /export; then
	missing="it did not start: $(tail -1 "$SCRATCH/ganesha.log" 2>/dev/null)"
fi
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
for _ in $(seq "$ROUNDS"); do
	both free 32 env
	both free 1 env
	both bound 1 taskset -c "$cpu"
done >"$SCRATCH/figures"

awk '
	function compare(client, depth, goal, ours, theirs) {
		ours = cpu["sloglab", client, depth]
		theirs = cpu["ganesha", client, depth]
		if (!theirs)
			return
		printf "CPU per write at depth %d, client %s: %.2f us, %.3fx of ganesha%s\n", depth, client, ours,
			ours / theirs, goal ? " (goal " goal "x)" : ""
		missed += goal && ours / theirs > goal
	}
	BEGIN { printf "%-8s %-6s %5s %10s %16s\n", "server", "client", "depth", "writes/s", "server us/write" }
	{
		printf "%-8s %-6s %5d %10d %16.2f\n", $1, $2, $3, $4, $5
		if (!(($1, $2, $3) in cpu) || $5 < cpu[$1, $2, $3])
			cpu[$1, $2, $3] = $5
	}
	END {
		compare("free", 32, 0.08)
		compare("bound", 1, 0.30)
		compare("free", 1, 0)
		exit missed > 0
	}' "$SCRATCH/figures" || rc=$?
[ -z "$missing" ] || echo "no comparison with nfs-ganesha: $missing"
exit "${rc:-0}"
