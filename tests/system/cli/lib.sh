# shellcheck shell=sh disable=SC2034
# Shared by the scripts: $1 = folder of the programs, $2 = folder of the sources.
set -u
bin=$1
src=$2
sloglab=$bin/sloglab
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

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

# Waits until $pid has computed for $1 hundredths of a second, however busy the machine is.
await_cpu() {
	tries=1000
	while [ "$(cut -d ' ' -f 14 "/proc/$pid/stat" 2>/dev/null || echo 999999)" -lt "$1" ] && [ $tries -gt 0 ]; do
		tries=$((tries - 1))
		sleep 0.02
	done
}
