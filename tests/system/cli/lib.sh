# shellcheck shell=sh disable=SC2034
# Shared by the scripts: $1 = folder of the programs, $2 = folder of the sources.
set -u
bin=$1
src=$2
sloglab=$bin/sloglab
work=$(mktemp -d) || exit 1
failures=0
PIDS="" # of what a script starts; ended with it
clean_up() {
	# shellcheck disable=SC2086 # words
	kill_children $PIDS
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# Says what is wrong and goes on: one run shows all.
fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

finish() {
	if [ "$failures" -ne 0 ]; then
		echo "$failures failed"
		exit 1
	fi
	exit 0
}

skip() {
	echo "skipped: $*"
	exit 77
}

# serve_start ARGS...: `sloglab serve` on free ports. Sets main (its PID) and ports (of a libnfs URL); leaves out and err.
serve_start() {
	: >out # or the "ready" of the one before would be believed
	"$sloglab" serve "$@" --port 0 --portmap-port 0 >out 2>err &
	main=$!
	PIDS="$PIDS $main"
	wait_for 60 grep -q '^ready' out || {
		fail "serve $*: not ready: $(cat err)"
		finish
	}
	ports=$(sed -n 's/^libnfs .*?//p' out)
}

# in_part WHY: said where the rest of a test runs.
in_part() {
	echo "skipped in part: $*"
}

# shellcheck source=tests/lib/processes.sh
. "$src/tests/lib/processes.sh"

# cpu_of PID: what it has computed so far, in hundredths of a second; nothing when it has ended.
cpu_of() {
	cut -d ' ' -f 14 "/proc/$1/stat" 2>/dev/null
}

# has_computed CPU PID: so much, however busy the machine is.
has_computed() {
	[ "$(cpu_of "$2" || echo 999999)" -ge "$1" ]
}

# ends_soon PID: sets rc to its exit code; 137 where it computes for three seconds more, or waits for two minutes.
ends_soon() {
	begun=$(cpu_of "$1")
	for tries in $(seq 2400); do
		kill -0 "$1" 2>/dev/null || break
		if [ "$tries" -eq 2400 ] || has_computed $((${begun:-0} + 300)) "$1"; then
			kill -KILL "$1"
		fi
		sleep 0.05
	done
	end_within 10 "$1"
}
