#!/bin/sh
# sloglab powercut --engine vm: disks and storage VM lose their power under load, all comes back, and each variant gets
# its verdict. What is lost depends on the instant; who answers for it does not.
# shellcheck source=tests/lab/lib.sh
. "$(dirname "$0")/lib.sh"
images_ready
lab=$work/sloglab/labs/lab-honest-flush
scenario=$src/scenarios/lab-honest-flush.yaml

# cut NAME ARGUMENT...: output in NAME.out, NAME.json, NAME.html.
cut() {
	name=$1
	shift
	note "powercut $*"
	timeout 900 "$sloglab" powercut "$scenario" --engine vm "$@" --at 10s --json "$work/$name.json" \
		--html "$work/$name.html" >"$work/$name.out" 2>"$work/$name.err" || fail "$*: $(cat "$work/$name.err")"
	cat "$work/$name.out"
	nothing_left "powercut $*"
}

cut honest
for variant in none slog; do
	verdict=$(sed -n "s/^audit, $variant: //p" "$work/honest.out")
	# At most one record for each of the two writers, and by the client alone: the pool keeps its promises.
	case $verdict in
	'0 lost' | [12]' write'*'libnfs does not compare the write verifier'*) ;;
	*) fail "$variant: $verdict" ;;
	esac
done
grep -q '"engine": "vm"' "$work/honest.json" || fail "JSON: $(cat "$work/honest.json")"
grep -q 'went on' "$work/honest.html" || fail "page: no word of the guest"

cut disabled --variant none --set pool.sync=disabled
grep -q '^audit, none: [0-9]* writes*, .*asked for by sync=disabled' "$work/disabled.out" || fail "sync=disabled: nothing lost"

note "Ctrl-C while the lab returns"
"$sloglab" powercut "$scenario" --engine vm --variant none --at 1s >"$work/out" 2>"$work/err" &
main=$!
await 600 grep -q 'lab: power cut' "$work/err" || fail "no cut: $(cat "$work/err")"
kill -INT $main
ended 120
code=$?
main=
[ $code -eq 130 ] || fail "Ctrl-C: exit code $code: $(cat "$work/err")"
nothing_left "Ctrl-C"
finish
