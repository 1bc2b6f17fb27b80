#!/bin/sh
# A mixed load for SOAK_SECONDS (180; ./check --long: an hour): stable and unstable writes, names, and a client that goes
# away every 10 s in the middle of its work. No error; memory and descriptors of the server stay flat.
. "${0%/*}/lib.sh"

SOAK_SECONDS=${SOAK_SECONDS:-180}
LOAD="$BIN/sloglab-load"

server_start "$SCRATCH/log" --dir="$SCRATCH/store" --latency=200us --idle=30s --stall=5s
end=$(($(date +%s) + SOAK_SECONDS))
url() {
	echo "nfs://127.0.0.1/$1?$PORTS&auto-traverse-mounts=0"
}

# forever NAME COMMAND...: again and again until the end; a failure is kept.
forever() {
	name=$1
	shift
	while [ "$(date +%s)" -lt "$end" ]; do
		"$@" >"$SCRATCH/$name.out" 2>&1 || cp "$SCRATCH/$name.out" "$SCRATCH/$name.failed"
	done &
	PIDS="$PIDS $!"
	WORKERS="${WORKERS:-} $!"
}

# shellcheck disable=SC2317 # called through forever
disconnecting() {
	rc=0
	timeout -s KILL 10 "$LOAD" syncwrite --url="$(url gone)" --depth=16 --pattern=random --time=60s || rc=$?
	[ "$rc" -eq 137 ] # killed, not failed
}

usage_note() {
	awk -v now="$(date +%s)" -v fds="$(find "/proc/$SERVER/fd" -mindepth 1 | wc -l)" \
		'/^VmRSS/ { print now, $2, fds }' "/proc/$SERVER/status" >>"$SCRATCH/usage"
}

forever sync timeout 120 "$LOAD" syncwrite --url="$(url sync)" --depth=8 --pattern=random --time=20s
forever unstable timeout 120 "$LOAD" syncwrite --url="$(url unstable)" --stable=unstable_commit --block=64KiB --time=20s
forever gone disconnecting
seed=0
while [ "$(date +%s)" -lt "$end" ]; do
	seed=$((seed + 1))
	timeout 300 "$BIN/system_nfs_oracle" "$(url "")" "$seed" 1000 in="names$seed" >"$SCRATCH/oracle" 2>&1 ||
		fail "names: $(cat "$SCRATCH/oracle")"
	usage_note
	sleep 1
done
for worker in $WORKERS; do
	wait "$worker" || true
done
for name in sync unstable gone; do
	[ ! -e "$SCRATCH/$name.failed" ] || fail "$name: $(tail -2 "$SCRATCH/$name.failed")"
done

# The middle third against the last one: the first is where caches fill.
awk '{ time[NR] = $1; rss[NR] = $2; fds[NR] = $3 }
	END {
		for (i = 1; i <= NR; i++) {
			at = (time[i] - time[1]) / (time[NR] - time[1])
			third = at < 1 / 3 ? 0 : at < 2 / 3 ? 1 : 2
			count[third]++
			sum[third] += rss[i]
			if (fds[i] > most[third])
				most[third] = fds[i]
		}
		middle = sum[1] / count[1]
		last = sum[2] / count[2]
		printf "RSS %d KiB, then %d KiB; descriptors at most %d, then %d\n", middle, last, most[1], most[2]
		exit last > 1.05 * middle || most[2] > most[1] + 2
	}' "$SCRATCH/usage" || fail "the server grows: $(tail -3 "$SCRATCH/usage")"
server_stop
tail -1 "$SCRATCH/log" | grep -q 'errors 0$' || fail "$(tail -1 "$SCRATCH/log")"
