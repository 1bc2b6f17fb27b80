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

clean_up() {
	# shellcheck disable=SC2086 # words
	kill_children $PIDS
	rm -rf "$SCRATCH"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP
top=${0%/*}
until [ -e "$top/tests/lib/processes.sh" ]; do
	top=$top/..
done
# shellcheck source=tests/lib/processes.sh
. "$top/tests/lib/processes.sh"

# server_kill: as a crash does.
server_kill() {
	kill -KILL "$SERVER" || fail "the server died by itself: $(cat "$log")"
	wait "$SERVER" 2>/dev/null || true
}

# server_start LOG ARGS...: a datastore; sets SERVER, NFS_PORT, MOUNT_PORT.
server_start() {
	log=$1
	shift
	: >"$log" # or the "ready" of the server before would be believed
	"$BIN/system_nfsd" "$@" >"$log" 2>&1 &
	SERVER=$!
	PIDS="$PIDS $SERVER"
	wait_for 60 grep -q ready "$log" || fail "the server did not start: $(cat "$log")"
	read -r _ NFS_PORT MOUNT_PORT <"$log"
	# shellcheck disable=SC2034 # for the scripts
	PORTS="nfsport=$NFS_PORT&mountport=$MOUNT_PORT"
}

# server_stop: ends it cleanly and fails when that does not work.
server_stop() {
	kill "$SERVER" || fail "the server died by itself: $(cat "$log")"
	end_within 60 "$SERVER"
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
