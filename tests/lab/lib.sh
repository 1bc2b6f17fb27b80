# shellcheck shell=sh disable=SC2034
# Shared by the lab's tests: $1 = folder of the programs, $2 = folder of the sources. Images are built when they are
# missing, unless SLOGLAB_LAB_IMAGES=asis. One lab at a time, below a folder of this test.
set -u
bin=$1
src=$2
sloglab=$bin/sloglab
work=$(mktemp -d /tmp/sll.XXXXXX) || exit 1 # short: the paths of sockets are
export XDG_STATE_HOME="$work"
lab=$work/sloglab/labs/t
failures=0
main=

end_all() {
	[ -z "$main" ] || kill -KILL "$main" 2>/dev/null
	timeout -k 5 120 "$sloglab" vm down >/dev/null 2>&1
	rm -rf "$work"
}
trap end_all EXIT
trap 'exit 130' INT TERM HUP

skip() {
	echo "skipped: $*"
	exit 77
}

# Says what is wrong and goes on: one run shows all.
fail() {
	echo "FAIL: $*" >&2
	failures=$((failures + 1))
}

finish() {
	if [ "$failures" -ne 0 ]; then
		echo "$failures failed"
		exit 1
	fi
	exit 0
}

note() {
	echo "$(date +%T) $*"
}

images_ready() {
	"$sloglab" doctor | grep -q '^ok  *lab ' || skip "$("$sloglab" doctor | grep -A1 ' lab ')"
	if [ "${SLOGLAB_LAB_IMAGES:-}" != asis ] && ! "$sloglab" image build >"$work/images" 2>&1; then
		grep -q 'no mirror here offers component contrib' "$work/images" && skip "$(tail -1 "$work/images")"
		fail "image build: $(tail -3 "$work/images")"
		finish
	fi
}

# up ARGUMENT...: brings lab t up, or ends the test.
up() {
	note "vm up $*"
	if ! timeout 900 "$sloglab" vm up "$@" --name t >"$work/up.out" 2>"$work/up.err"; then
		fail "vm up $*: $(cat "$work/up.err"); $(tail -3 "$lab"/*.serial 2>/dev/null)"
		finish
	fi
}

up_start() {
	"$sloglab" vm up "$@" --name t >"$work/up.out" 2>"$work/up.err" &
	main=$!
}

# await SECONDS COMMAND...: until the command succeeds.
await() {
	tries=$(($1 * 10))
	shift
	while ! "$@" >/dev/null 2>&1; do
		tries=$((tries - 1))
		[ "$tries" -gt 0 ] || return 1
		sleep 0.1
	done
}

# ended SECONDS: waits for $main and is its exit code; what is late is killed, and the test fails.
ended() {
	await "$1" gone "$main" || {
		fail "process $main did not end in $1 s"
		kill -KILL "$main"
	}
	wait "$main" 2>/dev/null
}

# Ended, or only not yet waited for.
gone() {
	! grep -q '^State:[[:space:]]*[^Z[:space:]]' "/proc/$1/status" 2>/dev/null
}

storage() {
	timeout 300 "$sloglab" vm run storage "$@"
}

guest() {
	timeout 300 "$sloglab" vm run guest "$@"
}

# The process numbers of a machine's QEMU.
qemu_of() {
	for pid in $(pgrep -f "guest=$1,"); do
		grep -q "$work/" "/proc/$pid/cmdline" 2>/dev/null && echo "$pid"
	done
}

# All that has to do with this test's folder, wherever it is, besides the folder's own log files.
leftovers() {
	ls -A "$work/sloglab/labs" 2>/dev/null
	for pid in /proc/[0-9]*; do
		# A lab's processes have its lock open, whatever their name.
		find "$pid/fd" -lname "$lab/lock*" 2>/dev/null
	done
	pgrep -f "guest=.*$work/" || true
	grep "$work/" /proc/net/unix
	grep -l "$work/" /proc/[0-9]*/mounts 2>/dev/null
}

nothing_left() {
	await 20 sh_empty leftovers || fail "$1: left $(leftovers)"
}

sh_empty() {
	[ -z "$("$@")" ]
}
