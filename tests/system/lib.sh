# shellcheck shell=sh
# Shared by the system tests: a scratch folder, servers that die with the test, checks. Source it.
# BIN holds the built programs; every wait is bounded.
set -eu

: "${BIN:?set BIN to the folder of the built programs}"
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/sloglab-system-XXXXXX")
PIDS=""

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

skip() {
	echo "skipped: $*"
	exit 77
}

need() {
	command -v "$1" >/dev/null 2>&1 || skip "$1 is not installed (Debian package $2)"
}

stop_one() {
	kill "$1" 2>/dev/null || true
	wait "$1" 2>/dev/null || true
}

clean_up() {
	for pid in $PIDS; do
		kill -KILL "$pid" 2>/dev/null || true
	done
	rm -rf "$SCRATCH"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
	tries=$(($1 * 20))
	shift
	while ! "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.05
	done
}

# server_start LOG ARGS...: a datastore; sets SERVER, NFS_PORT, MOUNT_PORT.
server_start() {
	log=$1
	shift
	: >"$log" # or the "ready" of the server before would be believed
	"$BIN/system_nfsd" "$@" >"$log" 2>&1 &
	SERVER=$!
	PIDS="$PIDS $SERVER"
	wait_for 20 grep -q ready "$log" || fail "the server did not start: $(cat "$log")"
	read -r _ NFS_PORT MOUNT_PORT <"$log"
	# shellcheck disable=SC2034 # for the scripts
	PORTS="nfsport=$NFS_PORT&mountport=$MOUNT_PORT"
}

# server_stop: ends it cleanly and fails when that does not work.
server_stop() {
	kill "$SERVER"
	rc=0
	wait "$SERVER" || rc=$?
	[ "$rc" -eq 0 ] || fail "the server ended with $rc: $(cat "$log")"
}

# one_line FILE: exactly one line, not empty.
one_line() {
	if [ "$(wc -l <"$1")" -ne 1 ]; then
		fail "not one line: $(cat "$1")"
	fi
}

# expect_rc RC COMMAND...: the command exits with RC; its stderr is in $SCRATCH/err.
expect_rc() {
	want=$1
	shift
	got=0
	"$@" >"$SCRATCH/out" 2>"$SCRATCH/err" || got=$?
	[ "$got" -eq "$want" ] || fail "exit code $got instead of $want: $* : $(cat "$SCRATCH/err")"
}
