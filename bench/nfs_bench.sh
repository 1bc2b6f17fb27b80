#!/bin/sh
# The datastore at zero model latency beside nfs-ganesha's FSAL_MEM in one run: 4 KiB FILE_SYNC writes through one
# pipelining connection at depth 32 and 1, server CPU per write. usage: nfs_bench.sh BIN [ROUNDS]
# The rounds alternate between the servers and the least of each counts: what the machine does besides only adds.
# Exits 1 when a ratio is above its goal: 0.08 at depth 32, 0.30 at depth 1. Without root or ganesha only our figures
# are printed.
set -eu
BIN=${1:?usage: nfs_bench.sh BIN [ROUNDS]}
ROUNDS=${2:-3}

# Both servers live in a network and a mount namespace of our own, so that ports 111 and 2049 and /run are free.
if [ "${SL_BENCH_INSIDE:-}" != 1 ] && [ "$(id -u)" -eq 0 ]; then
	SL_BENCH_INSIDE=1 exec unshare -m -n "$0" "$BIN" "$ROUNDS"
fi

SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/sloglab-bench-XXXXXX")
PIDS=""
clean_up() {
	for pid in $PIDS; do
		kill "$pid" 2>/dev/null || true
	done
	for pid in $PIDS; do
		wait "$pid" 2>/dev/null || true
	done
	umount "$SCRATCH" 2>/dev/null || true
	rm -rf "$SCRATCH"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

wait_for() {
	tries=$(($1 * 20))
	shift
	until "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.05
	done
}

. "${0%/*}/../tests/lib/ganesha.sh"

own_start() {
	"$BIN/system_nfsd" --dir="$SCRATCH/store" >"$SCRATCH/log" 2>&1 &
	OWN=$!
	PIDS="$PIDS $OWN"
	wait_for 20 grep -q ready "$SCRATCH/log" || { cat "$SCRATCH/log" >&2 && exit 1; }
	read -r _ port mport <"$SCRATCH/log"
}

if [ "${SL_BENCH_INSIDE:-}" = 1 ]; then
	ip link set lo up
	# Files in memory, as ganesha's are: the disk is not what is measured.
	mount -t tmpfs tmpfs "$SCRATCH"
fi
own_start
missing=$(ganesha_missing MEM)
if [ -z "$missing" ] && ! ganesha_start MEM /export; then
	missing="it did not start: $(tail -1 "$SCRATCH/ganesha.log" 2>/dev/null)"
fi
for _ in $(seq "$ROUNDS"); do
	for depth in 32 1; do
		"$BIN/nfs_bench" sloglab 127.0.0.1 "$port" "$mport" / "$OWN" "$depth"
		if [ -z "$missing" ]; then
			"$BIN/nfs_bench" ganesha "$GANESHA_ADDRESS" 2049 20048 /export "$GANESHA" "$depth"
		fi
	done
done >"$SCRATCH/figures"

awk '
	BEGIN { goal[32] = 0.08; goal[1] = 0.30; printf "%-8s %5s %10s %16s\n", "server", "depth", "writes/s", "server us/write" }
	{
		printf "%-8s %5d %10d %16.2f\n", $1, $2, $3, $4
		if (!(($1, $2) in cpu) || $4 < cpu[$1, $2])
			cpu[$1, $2] = $4
	}
	END {
		for (depth = 32; depth >= 1; depth -= 31)
			if (("ganesha", depth) in cpu) {
				ratio = cpu["sloglab", depth] / cpu["ganesha", depth]
				printf "CPU per write at depth %d: %.2f us, %.3fx of ganesha (goal %.2fx)\n", depth,
					cpu["sloglab", depth], ratio, goal[depth]
				missed += ratio > goal[depth]
			}
		exit missed > 0
	}' "$SCRATCH/figures" || rc=$?
[ -z "$missing" ] || echo "no comparison with nfs-ganesha: $missing"
exit "${rc:-0}"
