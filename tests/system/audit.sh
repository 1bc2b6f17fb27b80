#!/bin/sh
# sloglab-load audit: what is acknowledged is there after a kill -9 of the NFS server and of MariaDB; what is lost is
# found.
. "${0%/*}/lib.sh"
. "${0%/*}/mariadb.sh"
LOAD="$BIN/sloglab-load"

# acks FILE: how many were noted.
acks() {
	wc -l <"$1" 2>/dev/null || echo 0
}

reached() {
	[ "$(acks "$1")" -gt "$2" ]
}

# Usage: one line, exit code 2.
for bad in "audit" "audit run" "audit run --path=x" "audit check --path=x --acks=y" \
	"audit run --path=x --url=nfs://h/e --acks=y" "audit run --path=x --acks=y --block=100B"; do
	# shellcheck disable=SC2086 # words
	expect_rc 2 timeout 20 "$LOAD" $bad
	one_line "$SCRATCH/err"
done

# A file that is something else is not overwritten, nor is a list of acknowledgements.
echo "my thesis" >"$SCRATCH/thesis"
expect_rc 1 timeout 20 "$LOAD" audit run --path="$SCRATCH/thesis" --acks="$SCRATCH/a0" --max-requests=1
one_line "$SCRATCH/err"
[ "$(cat "$SCRATCH/thesis")" = "my thesis" ] || fail "overwrote a file"
expect_rc 0 timeout 20 "$LOAD" audit run --path="$SCRATCH/f" --acks="$SCRATCH/a0" --max-requests=5
expect_rc 1 timeout 20 "$LOAD" audit run --path="$SCRATCH/f" --acks="$SCRATCH/a0" --max-requests=5
grep -q 'holds acknowledgements' "$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"

# The datastore is killed three times; the writers go on by themselves.
server_start "$SCRATCH/log" --dir="$SCRATCH/store" --latency=1ms
url="nfs://127.0.0.1/audit?$PORTS"
"$LOAD" audit run --url="$url" --acks="$SCRATCH/a1" --threads=3 --time=60s >"$SCRATCH/run" 2>&1 &
pid=$!
PIDS="$PIDS $pid"
for round in 1 2 3; do
	wait_for 60 reached "$SCRATCH/a1" $((round * 200)) || fail "no progress: $(cat "$SCRATCH/run")"
	server_kill
	server_start "$SCRATCH/log" --dir="$SCRATCH/store" --latency=1ms --nfs-port="$NFS_PORT" --mount-port="$MOUNT_PORT"
done
wait_for 60 reached "$SCRATCH/a1" 800 || fail "no progress: $(cat "$SCRATCH/run")"
interrupt "$pid" || fail "ended before Ctrl-C"
end_within 60 "$pid"
[ "$rc" -eq 130 ] || fail "Ctrl-C gave $rc: $(cat "$SCRATCH/run")"
expect_rc 0 timeout 60 "$LOAD" audit verify --url="$url" --acks="$SCRATCH/a1" --json=-
grep -q '"lost": 0,' "$SCRATCH/out" || fail "lost: $(cat "$SCRATCH/out")"
grep -q "\"acknowledged\": $(($(acks "$SCRATCH/a1") - 1))," "$SCRATCH/out" || fail "not all: $(cat "$SCRATCH/out")"
server_stop

# MariaDB that syncs each commit, and is killed.
db_start --innodb-flush-log-at-trx-commit=1
# shellcheck disable=SC2086 # words
"$LOAD" audit run $DB_AT --acks="$SCRATCH/a2" --threads=3 --block=200B --time=60s >"$SCRATCH/run" 2>"$SCRATCH/err" &
pid=$!
PIDS="$PIDS $pid"
wait_for 60 reached "$SCRATCH/a2" 300 || fail "no progress: $(cat "$SCRATCH/err")"
db_kill
end_within 60 "$pid"
[ "$rc" -eq 1 ] || fail "a dead server gave $rc"
one_line "$SCRATCH/err"
# Nor does it write its log once a second meanwhile: what it has acknowledged since the start is lost for sure.
db_start --innodb-flush-log-at-trx-commit=0 --innodb-flush-log-at-timeout=2700
# shellcheck disable=SC2086 # words
expect_rc 0 timeout 60 "$LOAD" audit verify $DB_AT --acks="$SCRATCH/a2"

# MariaDB that does not, and is killed: the audit can fail.
# shellcheck disable=SC2086 # words
"$LOAD" audit run $DB_AT --acks="$SCRATCH/a3" --threads=3 --time=60s >"$SCRATCH/run" 2>"$SCRATCH/err" &
pid=$!
PIDS="$PIDS $pid"
wait_for 60 reached "$SCRATCH/a3" 300 || fail "no progress: $(cat "$SCRATCH/err")"
db_kill
end_within 60 "$pid"
db_start --innodb-flush-log-at-trx-commit=1
# shellcheck disable=SC2086 # words
expect_rc 1 timeout 60 "$LOAD" audit verify $DB_AT --acks="$SCRATCH/a3"
one_line "$SCRATCH/err"
grep -q 'acknowledged records are lost; the first is number [0-9]*$' "$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"
db_kill
