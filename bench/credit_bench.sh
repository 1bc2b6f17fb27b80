#!/bin/sh
# What a client sees of a modelled time: FILE_SYNC writes that take 500 us in the model, one in flight, through libnfs,
# with lateness credit. usage: credit_bench.sh BIN [ROUNDS]
# The mean of each round is printed, with a client that the scheduler puts where it likes and with one bound to a CPU.
# Exits 1 when the least of either is more than 10 % off: on a quiet machine all are within.
BIN=${1:?usage: credit_bench.sh BIN [ROUNDS]}
ROUNDS=${2:-3}
TMPDIR=/dev/shm
. "${0%/*}/../tests/system/lib.sh"

# mean CLIENT COMMAND...: appends "CLIENT mean-ns" of a client run by COMMAND.
mean() {
	client=$1
	shift
	"$@" "$BIN/sloglab-load" syncwrite --url="nfs://127.0.0.1/file?$PORTS" --file-total=4MiB --time=6s \
		--json="$SCRATCH/json" >/dev/null
	echo "$client $(sed -n 's/^ *"mean": \([0-9]*\).*/\1/p' "$SCRATCH/json" | head -n 1)" >>"$SCRATCH/figures"
}

server_start "$SCRATCH/log" --dir="$SCRATCH/store" --latency=500us --credit=10ms
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
for _ in $(seq "$ROUNDS"); do
	mean free env
	mean bound taskset -c "$cpu"
done
awk '
	function off(ns) { return ns / 5000 - 100 }
	{
		printf "client %-5s  mean %.1f us (%+.1f %%)\n", $1, $2 / 1e3, off($2)
		if (!($1 in least) || $2 < least[$1])
			least[$1] = $2
	}
	END {
		for (client in least)
			missed += off(least[client]) > 10 || off(least[client]) < -10
		print "goal: within 10 %"
		exit missed > 0
	}' "$SCRATCH/figures"
