#!/bin/sh
# sloglab-load fileio through libnfs beside a bare libnfs loop in one run: random 4 KiB FILE_SYNC writes of one file,
# one in flight, on the datastore without any latency. usage: fileio_bench.sh BIN [ROUNDS] [WRITES]
# The rounds alternate; the least of each counts: what the machine does besides only adds. Exits 1 when a write takes
# more than 1.15 times as long, or as much CPU of the client, as in the bare loop.
BIN=${1:?usage: fileio_bench.sh BIN [ROUNDS] [WRITES]}
ROUNDS=${2:-8}
WRITES=${3:-20000}
TMPDIR=/dev/shm
. "${0%/*}/../tests/system/lib.sh"
server_start "$SCRATCH/log" --dir="$SCRATCH/store"

figure() {
	sed -n "s/^ *\"$1\": \([0-9]*\).*/\1/p" "$SCRATCH/json" | head -n 1
}

ours() {
	"$BIN/sloglab-load" fileio run --url="nfs://127.0.0.1/?$PORTS" --files=1 --file-total=16MiB --block=4KiB --mode=rndwr \
		--fsync-every=0 --max-requests="$WRITES" --json="$SCRATCH/json" >/dev/null
	echo "$(figure operations) $(figure elapsed_ns) $(figure cpu_ns)" >>"$SCRATCH/ours"
}

bare() {
	"$BIN/fileio_bench" "nfs://127.0.0.1/test_file.0?$PORTS" 4096 4096 "$WRITES" |
		awk '{ print $1, $2, ($3 + $4) * 1000 }' >>"$SCRATCH/bare"
}

"$BIN/sloglab-load" fileio prepare --url="nfs://127.0.0.1/?$PORTS" --files=1 --file-total=16MiB
round=0
while [ "$round" -lt "$ROUNDS" ]; do
	if [ $((round % 2)) -eq 0 ]; then
		ours
		bare
	else
		bare
		ours
	fi
	round=$((round + 1))
done
awk '
	{ who = FILENAME ~ /ours$/; ns = $2 / $1; cpu = $3 / $1 }
	!(who in least) || ns < least[who] { least[who] = ns }
	!(who in spent) || cpu < spent[who] { spent[who] = cpu }
	END {
		printf "sloglab-load: %.1f us per write, %.1f us of its CPU\n", least[1] / 1e3, spent[1] / 1e3
		printf "bare libnfs:  %.1f us per write, %.1f us of its CPU\n", least[0] / 1e3, spent[0] / 1e3
		printf "ratio: time %.3f, CPU %.3f (goals <= 1.15)\n", least[1] / least[0], spent[1] / spent[0]
		exit least[1] > 1.15 * least[0] || spent[1] > 1.15 * spent[0]
	}' "$SCRATCH/ours" "$SCRATCH/bare"
