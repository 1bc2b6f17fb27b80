#!/bin/bash
# sloglab-load oltp beside sysbench 1.0 in one run: the same table, statements and keys' distribution, MariaDB on tmpfs.
# usage: oltp_bench.sh BIN [ROUNDS] [SECONDS]
# The rounds alternate. TPS: the best of each counts, since what the machine does besides only takes away. User CPU of
# the client per transaction: of all rounds together, since the kernel splits user and system time by sampling.
# Exits 1 when TPS is below 0.98 of sysbench's, or user CPU above 0.80 (1 thread) or 0.75 (4 threads) of it.
set -euo pipefail
BIN=${1:?usage: oltp_bench.sh BIN [ROUNDS] [SECONDS]}
ROUNDS=${2:-8}
SECONDS_EACH=${3:-3}
ROWS=100000
for program in mariadbd mariadb-install-db sysbench; do
	command -v $program >/dev/null || { echo "skipped: $program is not installed" && exit 77; }
done

SCRATCH=$(mktemp -d /dev/shm/sloglab-bench-XXXXXX)
DB=""
clean_up() {
	if [ -n "$DB" ]; then
		kill -KILL "$DB" 2>/dev/null || true
		wait "$DB" 2>/dev/null || true
	fi
	rm -rf "$SCRATCH"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

user=$(id -un)
socket="$SCRATCH/sock"
mariadb-install-db --no-defaults --user="$user" --datadir="$SCRATCH/db" --skip-test-db \
	--auth-root-authentication-method=normal >"$SCRATCH/log" 2>&1
mariadbd --no-defaults --user="$user" --datadir="$SCRATCH/db" --socket="$socket" --pid-file="$SCRATCH/pid" \
	--skip-networking --innodb-buffer-pool-size=256M >"$SCRATCH/log" 2>&1 &
DB=$!
for _ in $(seq 200); do
	mariadb-admin --no-defaults -u root -S "$socket" ping >/dev/null 2>&1 && break
	sleep 0.05
done

status() {
	mariadb --no-defaults -u root -S "$socket" -N -e "SHOW GLOBAL STATUS LIKE '$1'" | cut -f2
}

# Clock ticks of CPU that the server used so far.
server_ticks() {
	awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$DB/stat"
}

# measure COMMAND...: appends "transactions user_s statements rows server_s" to $RESULTS.
measure() {
	local statements rows ticks transactions
	statements=$(status Com_stmt_execute) rows=$(status Rows_sent) ticks=$(server_ticks)
	TIMEFORMAT=%U
	{ time "$@" >"$SCRATCH/out" 2>&1; } 2>"$SCRATCH/time"
	transactions=$(sed -n 's/^ *[Tt]ransactions: *\([0-9]*\).*/\1/p' "$SCRATCH/out")
	[ -n "$transactions" ] || { cat "$SCRATCH/out" && exit 1; }
	ticks=$(($(server_ticks) - ticks))
	statements=$(($(status Com_stmt_execute) - statements)) rows=$(($(status Rows_sent) - rows))
	echo "$transactions $(cat "$SCRATCH/time") $statements $rows $(awk "BEGIN { print $ticks / $(getconf CLK_TCK) }")" \
		>>"$RESULTS"
}

ours() {
	RESULTS="$SCRATCH/ours" measure "$BIN/sloglab-load" oltp run --socket="$socket" --user=root --rows=$ROWS \
		--threads="$1" --time="${SECONDS_EACH}s"
}

theirs() {
	RESULTS="$SCRATCH/theirs" measure sysbench oltp_read_write --mysql-socket="$socket" --mysql-user=root \
		--mysql-db=sbtest --tables=1 --table-size=$ROWS --threads="$1" --time="$SECONDS_EACH" run
}

"$BIN/sloglab-load" oltp prepare --socket="$socket" --user=root --rows=$ROWS --threads=2 2>/dev/null
bad=0
for threads in 1 4; do
	rm -f "$SCRATCH/ours" "$SCRATCH/theirs"
	for ((round = 0; round < ROUNDS; round++)); do
		if ((round % 2)); then
			ours $threads && theirs $threads
		else
			theirs $threads && ours $threads
		fi
	done
	goal=0.80
	[ $threads -eq 1 ] || goal=0.75
	awk -v seconds="$SECONDS_EACH" -v threads=$threads -v goal=$goal '
		{ who = FILENAME ~ /ours$/ }
		$1 / seconds > best[who] { best[who] = $1 / seconds }
		{ txns[who] += $1; user[who] += $2; statements[who] += $3; rows[who] += $4; server[who] += $5 }
		END {
			for (w = 1; w >= 0; w--)
				printf "%d thread(s), %-12s %8.1f TPS at best, %6.1f us user CPU per transaction; %.2f statements, %.0f rows, %.0f us server CPU each\n",
					threads, w ? "sloglab-load" : "sysbench", best[w], user[w] * 1e6 / txns[w],
					statements[w] / txns[w], rows[w] / txns[w], server[w] * 1e6 / txns[w]
			tps = best[1] / best[0]
			cpu = user[1] / txns[1] / (user[0] / txns[0])
			printf "%d thread(s), ratio: TPS %.3f (goal >= 0.98), user CPU %.3f (goal <= %.2f)\n", threads, tps, cpu, goal
			exit tps < 0.98 || cpu > goal
		}' "$SCRATCH/ours" "$SCRATCH/theirs" || bad=1
done
exit $bad
