#!/bin/sh
# Files and streams of a run that works; the same bytes twice; nothing half-written when the disk is full.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
small="b3n-2014 --variant none,s3500 --workload oltp2"

"$sloglab" --version | grep -q '^sloglab [0-9]' || fail "--version"
for words in --help help 'help run' 'run --help' 'fit --help' 'doctor --help'; do
	# shellcheck disable=SC2086
	"$sloglab" $words >help.txt 2>err.txt || fail "$words: exit code"
	{ [ -s help.txt ] && [ ! -s err.txt ]; } || fail "$words: goes to stdout only"
done

# shellcheck disable=SC2086
"$sloglab" run $small --json a.json --csv a.csv --html a.html --trace t.json >table.txt 2>err.txt || fail "run: exit code"
# A slow machine sees a line of progress every five seconds.
grep -v '^[0-9]* of [0-9]* runs' err.txt && fail "run: stderr is not empty"
for part in 'RMS error: calibrate cells' ' over 2' 'oltp2' 's3500' 'parameters: '; do
	grep -qF -- "$part" table.txt || fail "table lacks $part"
done
grep -q "$(printf '\033')" table.txt && fail "colour without a terminal"
[ "$(wc -l <a.csv)" -eq 3 ] || fail "csv: one header and two cells"
head -c 20 t.json | grep -q '[[{]' || fail "trace is no JSON"
grep -q '<svg' a.html || fail "page without a chart"
[ "$(ls)" = "$(printf 'a.csv\na.html\na.json\nerr.txt\nhelp.txt\nt.json\ntable.txt')" ] || fail "other files: $(ls)"

# The same bytes from elsewhere, by path instead of by name, and on stdout.
mkdir elsewhere
# shellcheck disable=SC2086
(cd elsewhere && "$sloglab" run "$src/scenarios/b3n-2014.yaml" --workload oltp2 --variant s3500,none --json - --html a.html \
	>../b.json 2>table.txt) || fail "json on stdout"
cmp a.json b.json || fail "JSON differs between two runs"
cmp a.html elsewhere/a.html || fail "page differs between two runs"
grep -q 'RMS error' elsewhere/table.txt || fail "with --json - the table goes to stderr"
grep -q "$src" a.json a.html && fail "a path of this machine is in the result"
"$sloglab" run b3n-2014 --variant none --workload oltp2 --seed 2 --json c.json >/dev/null || fail "seed 2"
grep -q '"seed": 2' c.json || fail "seed is not in the JSON"

# No heading without anything below: there is no variant without a log device.
"$sloglab" run openindiana-zil --workload bs1 --html only.html >/dev/null || fail "openindiana-zil"
grep -q 'What the SLOG brings' only.html && fail "a gain of nothing"
rm -f only.html

# A full disk and a closed pipe fail the run and leave what was there.
if [ -w /dev/full ]; then
	"$sloglab" run b3n-2014 --variant none --workload oltp2 >/dev/full 2>err.txt
	{ [ $? -eq 1 ] && grep -q 'stdout: cannot write' err.txt; } || fail "full stdout: $(cat err.txt)"
	for what in json csv html trace; do
		"$sloglab" run b3n-2014 --variant none --workload oltp2 "--$what" /dev/full >/dev/null 2>err.txt
		{ [ $? -eq 1 ] && [ "$(cat err.txt)" = 'sloglab: /dev/full: cannot write: No space left on device' ]; } ||
			fail "--$what: $(cat err.txt)"
	done
	"$sloglab" disk test intel-dc-s3700-100 --saturate --minutes 5 --svg /dev/full >/dev/null 2>err.txt
	{ [ $? -eq 1 ] && grep -q '/dev/full: cannot write: No space' err.txt; } || fail "disk test: $(cat err.txt)"
fi
# A reader that has seen enough (| head -1) needs no message.
(while [ ! -e gone ]; do sleep 0.05; done; "$sloglab" help scenarios 2>err.txt; echo $? >code.txt) |
	(exec <&-; : >gone)
# It dies of SIGPIPE (13), as other programs do, with text as with JSON.
{ [ "$(cat code.txt)" -eq 141 ] && [ ! -s err.txt ]; } || fail "closed pipe: $(cat code.txt err.txt)"
rm -f gone code.txt
(while [ ! -e gone ]; do sleep 0.05; done; "$sloglab" disk show optane-900p-280 --json - 2>err.txt; echo $? >code.txt) |
	(exec <&-; : >gone)
{ [ "$(cat code.txt)" -eq 141 ] && [ ! -s err.txt ]; } || fail "closed pipe of JSON: $(cat code.txt err.txt)"
rm -f gone code.txt
# Running text fits the terminal.
if command -v script >/dev/null && command -v stty >/dev/null; then
	script -qec "stty cols 60; '$sloglab' run quick --variant none" /dev/null </dev/null >tty.txt 2>&1
	grep -q '^what it teaches:' tty.txt || fail "no terminal: $(cat tty.txt)"
	tr -d '\r' <tty.txt | sed -n '/^what it teaches:/,/^parameters:/p' | grep '^  ' | grep -q '.\{61\}' &&
		fail "wider than a terminal of 60 columns: $(cat tty.txt)"
	rm -f tty.txt
else
	in_part "script is not installed (Debian package bsdutils)"
fi
(ulimit -f 1; trap '' XFSZ; exec "$sloglab" run b3n-2014 --variant none --workload oltp2 --json a.json >/dev/null 2>err.txt)
[ $? -eq 1 ] || fail "a file that cannot grow must fail the run"
cmp -s a.json b.json || fail "a failed write changed the old file"
[ "$(find . -maxdepth 1 -type f | wc -l)" -eq 9 ] || fail "a failed write left a temporary file: $(ls)"

# Short workloads: many runs, and what they measure does not matter here.
sed 's/max_requests: 10000/max_requests: 300/' "$src/scenarios/b3n-2014.yaml" >short.yaml
"$sloglab" fit short.yaml --evaluations 1 --hold-out oltp4 --json fit.json >fit.txt 2>err.txt || fail "fit: $(cat err.txt)"
grep -q ' evaluations: 1 to search, [1-9][0-9]* for the ranges and slopes$' fit.txt || fail "fit: $(grep evaluations fit.txt)"
for part in 'degrees of freedom' 'held out: oltp4' 'held out' 'not seen' 'for the section params:' 'kind: fitted'; do
	grep -qF -- "$part" fit.txt || fail "fit lacks $part"
done
grep -q '"hold_out": "oltp4"' fit.json || fail "fit.json"
"$sloglab" fit short.yaml --evaluations 1 --hold-out s3500 >fit.txt 2>err.txt || fail "fit: $(cat err.txt)"
grep -q 'held out: s3500' fit.txt || fail "a variant is not held out: $(cat fit.txt)"
[ "$(grep -c 's3500 .* held out$' fit.txt)" -gt 0 ] || fail "no cell of the variant is held out: $(cat fit.txt)"

"$sloglab" doctor >doctor.txt 2>err.txt
code=$?
[ "$code" -eq 0 ] || [ "$code" -eq 1 ] || fail "doctor: exit $code"
[ "$(grep -c '^ok\|^missing\|^note' doctor.txt)" -ge 10 ] || fail "doctor: $(cat doctor.txt)"
[ "$code" -eq 0 ] || grep -q 'fix: ' doctor.txt || fail "doctor: missing without a remedy"
finish

# --set that makes the control another box: no error against published, no sentence that the run contradicts.
"$sloglab" run b3n-2014 --workload oltp2 --set pool.log=intel-dc-s3500-80 --csv set.csv --html set.html --json set.json >set.txt ||
	fail "--set pool.log"
grep -q '^oltp2 *none\*' set.txt || fail "the control has a log device and no mark: $(cat set.txt)"
grep -q '^oltp2 *s3500 .*calibrate' set.txt || fail "s3500 is as it was and has no error: $(cat set.txt)"
[ "$(grep -c calibrate set.txt)" -eq 2 ] || fail "a row and its RMS have an error: $(cat set.txt)"
grep -q 'what it teaches' set.txt set.html && fail "teaches of another box"
grep -q 'the box was changed by --set' set.txt || fail "nothing says that the box was changed"
grep -q 'the box was changed by --set' set.html || fail "the page does not say that the box was changed"
grep -q '"changed": true' set.json || fail "JSON: the change"
"$sloglab" run b3n-2014 --workload oltp2 --variant s3500 --set pool.log=intel-dc-s3500-80 >same.txt || fail "--set of what is"
grep -q 'the box is as it was' same.txt || fail "--set changed nothing: $(cat same.txt)"
grep -q 'what it teaches' same.txt || fail "--set changed nothing, and no lesson: $(cat same.txt)"
# --log adds a variant beside the control.
"$sloglab" run b3n-2014 --workload oltp2 --variant none --log intel-dc-p3700-400 --log 'intel-dc-s3700-100 x 2' >log.txt || fail "--log"
for part in 'oltp2 *none .*calibrate' 'oltp2 *intel-dc-p3700-400 .*-  *-' 'oltp2 *intel-dc-s3700-100-x-2 ' 'TPS with intel-dc-p3700-400'; do
	grep -q "$part" log.txt || fail "--log: no $part: $(cat log.txt)"
done
for command in explain powercut; do
	"$sloglab" "$command" b3n-2014 --workload oltp2 --variant none --log intel-dc-p3700-400 >log.txt || fail "$command --log"
	grep -q 'intel-dc-p3700-400' log.txt || fail "$command --log: $(cat log.txt)"
done
"$sloglab" run b3n-2014 --log intel-dc-p3700-400 --set pool.log=none 2>err.txt && fail "--log beside --set pool.log"
grep -q 'use one of them' err.txt || fail "--log beside --set pool.log: $(cat err.txt)"
# A half width says what it is of.
"$sloglab" run b3n-2014 --workload oltp2 --variant none --repeat 2 | grep -q '+-: the noise of the seed only' || fail "+-"
