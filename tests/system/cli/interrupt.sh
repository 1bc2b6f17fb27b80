#!/bin/sh
# Ctrl-C during a long computation: exit 130 soon, what was finished is printed, no files.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

# interrupted CPU MESSAGE COMMAND...: one that takes minutes, interrupted after so much of it.
interrupted() {
	cpu=$1
	message=$2
	shift 2
	"$sloglab" "$@" --json a.json >out.txt 2>err.txt &
	pid=$!
	PIDS=$pid
	wait_for 60 has_computed "$cpu" "$pid" || fail "$*: does not compute"
	interrupt "$pid" || fail "$*: too short to interrupt: $(cat err.txt)"
	ends_soon "$pid"
	[ "$rc" -eq 130 ] || fail "$*: exit $rc, not 130"
	grep -q "interrupted: $message" err.txt || fail "$*: stderr: $(cat err.txt)"
	[ ! -e a.json ] || fail "$*: a file was written"
	rm -f a.json
}

interrupted 50 'the table holds what was measured so far' run b3n-2014 --repeat 64

# Within a cell as well: these have one that takes minutes.
cat >long.yaml <<EOF
format: sloglab-scenario/1
title: a day of synchronous writes
pool: {data: {layout: stripe, disks: [hdd-7200-desktop]}, log: intel-dc-s3700-200}
workloads: {day: {kind: syncwrite, max_requests: 0, max_time: 86400s}}
EOF
interrupted 50 'the table holds what was measured so far' run long.yaml
interrupted 50 'what was explained so far is above' explain long.yaml
interrupted 50 'only complete tables stand above' advise long.yaml
interrupted 50 'nothing was cut' powercut long.yaml
interrupted 50 'no files were written' disk test intel-320-160 --saturate --state steady --minutes 10000

# And between the cuts of one.
interrupted 300 'what was cut so far is above' powercut b3n-2014 --variant s3700 --workload oltp2 --random 10000000
finish
