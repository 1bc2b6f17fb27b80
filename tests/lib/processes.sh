# shellcheck shell=sh
# Children of a test: waits that end, and signals that are not lost. Source it.

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

# end_within SECONDS PID: waits for a child of this shell that is about to end; rc is its exit code. One that goes on is
# told of and killed: rc is 137. (While the shell waits for sleep it reaps all its children: those are no processes then.)
end_within() {
	tries=$(($1 * 20))
	while kill -0 "$2" 2>/dev/null; do
		tries=$((tries - 1))
		if [ "$tries" -eq 0 ]; then
			echo "still running after $1 s: $(tr '\0' ' ' <"/proc/$2/cmdline")" >&2
			kill -KILL "$2"
		fi
		sleep 0.05
	done
	rc=0
	wait "$2" || rc=$?
}

# kill_children PID...: those that are still children of this shell. The number of one that has ended may be a stranger's.
kill_children() {
	for child; do
		if [ "$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$child/stat" 2>/dev/null)" = $$ ]; then
			kill -KILL "$child"
		fi
	done
}

# catches_int PID: it has come so far that SIGINT is its own to handle. What a shell starts with & ignores it before: sent
# too early, it is lost.
catches_int() {
	grep -q '^SigCgt:.*[2367abef]$' "/proc/$1/status"
}

# interrupt PID: Ctrl-C, not before it is heard. Fails when the process has ended.
interrupt() {
	wait_for 30 catches_int "$1" && kill -INT "$1"
}
