#!/bin/sh
# sloglab-load oltp against a real MariaDB: stages, lists, limits, open loop, a server that dies, Ctrl-C.
. "${0%/*}/lib.sh"
. "${0%/*}/mariadb.sh"
LOAD="$BIN/sloglab-load"

# figure KEY: the first value of the key in the JSON on stdout.
figure() {
	sed -n "s/^ *\"$1\": \(-\{0,1\}[0-9.e]*\).*/\1/p" "$SCRATCH/out" | head -n 1
}

# shellcheck disable=SC2086 # words
oltp() {
	timeout 60 "$LOAD" oltp "$@" $DB_AT
}

# Nobody there: one line that says where it tried.
DB_AT="--socket=$SCRATCH/sock --user=root"
expect_rc 1 oltp run
one_line "$SCRATCH/err"
grep -q "cannot connect to MariaDB at $SCRATCH/sock" "$SCRATCH/err" || fail "where? $(cat "$SCRATCH/err")"
db_start --innodb-flush-log-at-trx-commit=1

# prepare, once; its rows do not depend on the number of threads.
expect_rc 1 oltp run --rows=2500
one_line "$SCRATCH/err"
grep -q 'run "oltp prepare" with --rows=2500' "$SCRATCH/err" || fail "no remedy: $(cat "$SCRATCH/err")"
expect_rc 0 oltp prepare --rows=2500 --threads=3
sum=$(db_ask "CHECKSUM TABLE sbtest.sbtest1")
[ "$(db_ask "SELECT COUNT(*) FROM sbtest.sbtest1")" -eq 2500 ] || fail "not 2500 rows"
expect_rc 1 oltp prepare --rows=2500
one_line "$SCRATCH/err"
expect_rc 0 oltp cleanup
expect_rc 0 oltp prepare --rows=2500
[ "$(db_ask "CHECKSUM TABLE sbtest.sbtest1")" = "$sum" ] || fail "other rows with another number of threads"

# One thread: the statements that reach the server are those of the list, and no row is lost.
before=$(db_ask "SHOW GLOBAL STATUS LIKE 'Com_stmt_execute'" | cut -f2)
expect_rc 0 oltp run --rows=2500 --max-requests=50 --json=-
after=$(db_ask "SHOW GLOBAL STATUS LIKE 'Com_stmt_execute'" | cut -f2)
[ "$(figure operations)" -eq 50 ] || fail "not 50 transactions"
[ "$(figure read)" -eq 700 ] || fail "not 14 reads each"
[ "$(figure write)" -eq 200 ] || fail "not 4 writes each"
# Another one may be in flight when the limit is reached.
[ $((after - before)) -ge 1000 ] || fail "$((after - before)) statements of 1000"
[ $((after - before)) -le 1020 ] || fail "$((after - before)) statements of 1000"
[ "$(db_ask "SELECT COUNT(*) FROM sbtest.sbtest1")" -eq 2500 ] || fail "rows lost"
for list in read_only write_only update_index; do
	expect_rc 0 oltp run --rows=2500 --list=$list --max-requests=40 --threads=4 --distribution=zipf --json=-
	[ "$(figure operations)" -eq 40 ] || fail "$list: $(figure operations) transactions"
done
[ "$(figure write)" -eq 40 ] || fail "update_index is one write"
[ "$(figure other)" -eq 0 ] || fail "update_index has no BEGIN"

# Open loop: the rate is the arrivals', and the latency counts from when a transaction was due.
# Two of 100 a second may be in flight at the end. A machine too busy to keep up says so; three times in a row, and that is
# what was seen here.
arrivals() {
	expect_rc 0 oltp run --rows=2500 --list=update_index --rate=100 --arrivals=constant --threads=2 --time=2s \
		--warm-up=100ms --report-interval=500ms --json="$SCRATCH/j"
	grep -q '^\[ [0-9]*s \] thds: 2 tps: .* qps: .* (r/w/o: .*) lat (ms,95%): .* err/s: 0.00' "$SCRATCH/out" ||
		fail "no ticker: $(cat "$SCRATCH/out")"
	cp "$SCRATCH/out" "$SCRATCH/said"
	cp "$SCRATCH/j" "$SCRATCH/out"
	due=$(awk -v ns="$(figure elapsed_ns)" 'BEGIN { printf "%d", ns / 1e7 }')
	[ "$(figure operations)" -ge $((due - 10)) ] && [ "$(figure operations)" -le $((due + 1)) ]
}
arrivals || arrivals || arrivals || grep -q 'did not keep up' "$SCRATCH/said" ||
	fail "$(figure operations) of $due arrivals, and no warning"
grep -q '"queue_ns"' "$SCRATCH/j" || fail "no time in the queue"
# Beyond what it can do: requests queue, and both latency and a warning say so.
expect_rc 0 oltp run --rows=2500 --rate=1000000 --time=1s --json=-
[ "$(figure queued)" -gt 1000 ] || fail "no queue at a rate that is not possible"
grep -q 'did not keep up' "$SCRATCH/out" || fail "no warning"
[ "$(figure p50)" -gt 100000000 ] || fail "latency without the time in the queue: $(figure p50) ns"

# Ctrl-C: what was measured, exit code 130; all stages: the table goes.
expect_rc 0 oltp cleanup
# shellcheck disable=SC2086 # words
"$LOAD" oltp $DB_AT --list=complex --rows=500 --time=60s --report-interval=100ms >"$SCRATCH/int" 2>&1 &
pid=$!
PIDS="$PIDS $pid"
wait_for 60 grep -q thds "$SCRATCH/int" || fail "no ticker"
interrupt "$pid" || fail "ended before Ctrl-C"
end_within 60 "$pid"
[ "$rc" -eq 130 ] || fail "Ctrl-C gave $rc: $(cat "$SCRATCH/int")"
grep -q '(interrupted)' "$SCRATCH/int" || fail "no summary after Ctrl-C"
[ -z "$(db_ask "SHOW TABLES FROM sbtest")" ] || fail "Ctrl-C left the table"

# The server dies in the middle: one line, exit code 1, and what was measured is kept.
expect_rc 0 oltp prepare --rows=2500
# shellcheck disable=SC2086 # words
"$LOAD" oltp run $DB_AT --rows=2500 --threads=4 --time=60s --report-interval=100ms --json="$SCRATCH/j" \
	>"$SCRATCH/dead" 2>"$SCRATCH/err" &
pid=$!
PIDS="$PIDS $pid"
# Not before a transaction is done: on a busy machine the first lines say 0.00, and of nothing there is no summary.
wait_for 60 grep -q 'tps: [0-9.]*[1-9][0-9.]* qps' "$SCRATCH/dead" || fail "no transaction"
db_kill
end_within 60 "$pid"
[ "$rc" -eq 1 ] || fail "a dead server gave $rc"
one_line "$SCRATCH/err"
grep -q 'did the server die' "$SCRATCH/err" || fail "no cause: $(cat "$SCRATCH/err")"
grep -q '^Transactions: ' "$SCRATCH/dead" || fail "no summary after the server died"
grep -q '"error": "MariaDB' "$SCRATCH/j" || fail "no partial result in the JSON"

# A server that hangs: Ctrl-C ends it all the same.
db_start --innodb-flush-log-at-trx-commit=1
# shellcheck disable=SC2086 # words
"$LOAD" oltp run $DB_AT --rows=2500 --time=60s --report-interval=100ms >"$SCRATCH/hang" 2>&1 &
pid=$!
PIDS="$PIDS $pid"
wait_for 60 grep -q thds "$SCRATCH/hang" || fail "no ticker"
kill -STOP "$DB"
interrupt "$pid" || fail "ended before Ctrl-C"
wait_for 30 grep -q '(interrupted)' "$SCRATCH/hang" || fail "no end: the server hangs"
end_within 60 "$pid"
[ "$rc" -eq 130 ] || fail "Ctrl-C gave $rc: $(cat "$SCRATCH/hang")"
db_kill

# Usage: one line, exit code 2.
for bad in "oltp --list=all" "oltp --rows=0" "oltp fill" "oltp run now" "oltp --distribution=normal" "oltp --rat=x"; do
	# shellcheck disable=SC2086 # words
	expect_rc 2 timeout 20 "$LOAD" $bad
	one_line "$SCRATCH/err"
	[ ! -s "$SCRATCH/out" ] || fail "usage error printed to stdout: $bad"
done
