#!/bin/sh
# The datastore at zero model latency beside nfs-ganesha's FSAL_MEM in one run: 4 KiB FILE_SYNC writes through one
# pipelining connection, server CPU per write. usage: nfs_bench.sh BIN [ROUNDS [OTHER]]
# At depth 32 and 1 with a client that the scheduler puts where it likes, and at depth 1 with one that is bound to a
# CPU; the servers may use all CPUs. docs/decisions/0010 tells what the two are made of. OTHER is the BIN of another
# commit, whose datastore is measured in the same rounds ("before"). The rounds alternate between the servers; ratios
# are of medians, and with each the spread of the single rounds.
# Exits 1 when a ratio is above its goal: 0.06 at depth 32, 0.30 at depth 1. Without root or ganesha only our figures
# are printed.
BIN=${1:?usage: nfs_bench.sh BIN [ROUNDS [OTHER]]}
ROUNDS=${2:-3}
OTHER=${3:-}

# Both servers live in a network and a mount namespace of our own, so that ports 111 and 2049 and /run are free.
if [ "${SL_BENCH_INSIDE:-}" != 1 ] && [ "$(id -u)" -eq 0 ]; then
	SL_BENCH_INSIDE=1 exec unshare -m -n "$0" "$BIN" "$ROUNDS" "$OTHER"
fi
TMPDIR=/dev/shm # files in memory, as ganesha's are: the disk is not what is measured
. "${0%/*}/../tests/system/lib.sh"
. "${0%/*}/../tests/lib/ganesha.sh"

# each CLIENT DEPTH COMMAND...: a line of figures for each server, from a client run by COMMAND.
each() {
	client=$1 depth=$2
	shift 2
	"$@" "$BIN/nfs_bench" "sloglab $client" 127.0.0.1 "$our_nfs" "$our_mount" / "$ours" "$depth"
	if [ -n "$OTHER" ]; then
		"$@" "$BIN/nfs_bench" "before $client" 127.0.0.1 "$NFS_PORT" "$MOUNT_PORT" / "$SERVER" "$depth"
	fi
	if [ -z "$missing" ]; then
		"$@" "$BIN/nfs_bench" "ganesha $client" "$GANESHA_ADDRESS" 2049 20048 /export "$GANESHA" "$depth"
	fi
}

if [ "${SL_BENCH_INSIDE:-}" = 1 ]; then
	ip link set lo up
fi
server_start "$SCRATCH/log" --dir="$SCRATCH/store"
ours=$SERVER our_nfs=$NFS_PORT our_mount=$MOUNT_PORT
if [ -n "$OTHER" ]; then
	bin=$BIN BIN=$OTHER
	server_start "$SCRATCH/before.log" --dir="$SCRATCH/before"
	BIN=$bin
fi
missing=$(ganesha_missing MEM)
if [ -z "$missing" ] && ! ganesha_start MEM /export; then
	missing="it did not start: $(tail -1 "$SCRATCH/ganesha.log" 2>/dev/null)"
fi
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
for _ in $(seq "$ROUNDS"); do
	each free 32 env
	each free 1 env
	each bound 1 taskset -c "$cpu"
done >"$SCRATCH/figures"

read -r load _ </proc/loadavg
echo "load of this machine at the end: $load"
sort -k1,1 -k2,2 -k3,3n -k5,5n "$SCRATCH/figures" | awk '
	function median(key) {
		return us[key, int((count[key] + 1) / 2)]
	}
	function compare(client, depth, goal, name, ours, theirs) {
		ours = median("sloglab" SUBSEP client SUBSEP depth)
		theirs = median(name SUBSEP client SUBSEP depth)
		if (!theirs)
			return
		printf "CPU per write at depth %d, client %s: %.2f us, %.3fx of %s%s\n", depth, client, ours,
			ours / theirs, name, goal ? " (goal " goal "x)" : ""
		missed += goal && ours / theirs > goal
	}
	BEGIN { printf "%-8s %-6s %5s %10s %16s   %s\n", "server", "client", "depth", "writes/s", "server us/write", "all rounds" }
	{
		key = $1 SUBSEP $2 SUBSEP $3
		if (!count[key]++)
			order[++keys] = key
		us[key, count[key]] = $5
		rate[key, count[key]] = $4
		all[key] = all[key] " " $5
	}
	END {
		for (i = 1; i <= keys; i++) {
			key = order[i]
			split(key, part, SUBSEP)
			printf "%-8s %-6s %5d %10d %16.2f  %s\n", part[1], part[2], part[3],
				rate[key, int((count[key] + 1) / 2)], median(key), all[key]
		}
		compare("free", 32, 0.06, "ganesha")
		compare("bound", 1, 0.30, "ganesha")
		compare("free", 1, 0.30, "ganesha")
		compare("free", 32, 0, "before")
		compare("bound", 1, 0, "before")
		compare("free", 1, 0, "before")
		exit missed > 0
	}' || rc=$?
[ -z "$missing" ] || echo "no comparison with nfs-ganesha: $missing"
exit "${rc:-0}"
