#!/bin/bash
# tests_skipped.sh on small sets of tests, run by ctest itself.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
said=$project/scripts/tests_skipped.sh

# test_is NAME COMMAND: one more of the set.
test_is() {
	printf 'add_test(%s sh -c "%s")\nset_tests_properties(%s PROPERTIES SKIP_RETURN_CODE 77)\n' "$1" "$2" "$1" \
		>>"$tree/CTestTestfile.cmake"
}

# says LINE...: what the script makes of this run, in any order.
says() {
	if [ "$(sort "$tree/lines")" != "$(printf '%s\n' "$@" | sort)" ]; then
		printf 'said:\n%s\n' "$(cat "$tree/lines")" >&2
		exit 1
	fi
}

run() {
	ctest --test-dir "$tree" "$@" >"$tree/out" 2>&1 || true
	"$said" "$tree/out" "$tree/Testing/Temporary/LastTest.log" >"$tree/lines"
}

test_is fuse "echo skipped: no /dev/fuse; exit 77"
test_is silent "exit 77"
if run; then
	echo "a set of which none ran passes" >&2
	exit 1
fi
says 'fuse skipped: no /dev/fuse' 'silent skipped: it does not say why' 'no test ran'

test_is runs "echo tried"
test_is oracle "echo skipped in part: no peer; exit 0"
test_is breaks "exit 1"
run -V
says 'fuse skipped: no /dev/fuse' 'silent skipped: it does not say why' 'oracle skipped in part: no peer'

run -R '^(runs|breaks)$'
says ''
run -R '^breaks$'
says ''
if run -R '^absent$'; then
	echo "no test at all passes" >&2
	exit 1
fi
