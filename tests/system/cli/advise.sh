#!/bin/sh
# What to buy: the verdict on stdout, notes on stderr, the same bytes on every run, and bad input that stops nothing.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
drives=intel-dc-s3500-80,intel-dc-s3700-100

# has FILE PATTERN: a fixed string is in the file.
has() {
	grep -qF -- "$2" "$1" || fail "\"$2\" is not in: $(head -c 2000 "$1")"
}

# Fits a terminal of 100 columns, but for the arithmetic.
narrow() {
	awk '/^arithmetic/ { exit wide } length > 100 { print "wider than 100 columns: " $0; wide = 1 } END { exit wide }' "$1" || failures=$((failures + 1))
}

cd "$work" || exit 1
"$sloglab" advise b3n-2014 --workload oltp4 --catalogue "$drives" --repeat 2 --json a.json --html a.html \
	--show-arithmetic intel-dc-s3500-80 >out 2>err || fail "advise: exit $?: $(cat err)"
has out 'Buy intel-dc-s3700-100: 1.'
tr '\n' ' ' <out >flat
has flat 'a SLOG at no cost can add no more'
has flat 'the cheapest drive that lasts 3 years, loses no more than the box as it is and has a known price'
has flat 'rule: of the drives that last 3 years at this load'
has out 'price: intel-dc-s3500-80 $113 (2014): b3n-2014, shop price of August 2014'
has a.html 'intel-dc-s3500-80: $113 (2014), b3n-2014, shop price of August 2014'
has out 'arithmetic of intel-dc-s3500-80 on oltp4'
has out 'seed 2: '
has out '1 x $113 = $113'
has out '45 TB of intel-dc-s3500-80 / '
narrow out
has a.json '"schema": "sloglab-advice/1"'
has a.html '>oltp4</h2>'
has a.html 'Buy intel-dc-s3700-100'
has a.html 'Rule: of the drives'
if grep -qE 'https?://|<script|src=' a.html; then
	fail "the page asks for something from outside"
fi

# Hand-offs of 0.1 ms: a load at which the drive lasts a year and not three; of the mirrors none does.
slow=params.zil.commit_delay=100us
for name in one two; do
	"$sloglab" advise quick --set "$slow" --workload rnd16k --catalogue intel-dc-s3700-100 --repeat 2 --years 1 --json - >$name.json 2>err ||
		fail "--json -: exit $?"
done
cmp -s one.json two.json || fail "two runs differ"
has err 'Buy intel-dc-s3700-100'
"$sloglab" advise quick --set "$slow" --workload rnd16k --catalogue intel-dc-s3700-100 --repeat 2 >out 2>err || fail "three years: exit $?"
has out 'no drive that lasts 3 years'
"$sloglab" advise quick --set "$slow" --workload rnd16k --catalogue intel-dc-s3700-100 --repeat 2 --years 1 --mirrored >out 2>err ||
	fail "--mirrored: exit $?"
has out 'Buy mirror of 2 x intel-dc-s3700-100'

# Every drive, long names, large and small figures.
"$sloglab" advise quick --workload rnd16k --repeat 1 --rows 0 >out 2>err || fail "all drives: exit $?"
narrow out
has out '       + recordsize=16K'
grep -q 'more than' err && fail "the catalogue has more drives than advise takes: $(cat err)"

# Runs are paired across variants by their seeds.
"$sloglab" run b3n-2014 --workload oltp2 --variant none,s3500 --repeat 3 --json c.json >out 2>err || fail "run: $?"
has out 'oltp2, s3500 against none: 1.2'
has c.json '"pairs": 3'

# Unknown drives, one without a price under a budget, no drive at all: a line each, and the rest goes on.
"$sloglab" advise quick --workload rnd16k --repeat 1 --catalogue intel-dc-s3501-80,intel-dc-s3500-80 >out 2>err ||
	fail "unknown drive: exit $?"
has err "did you mean 'intel-dc-s3500-80'"
has out 'mirror of 2 x intel-dc-s3500-80'
"$sloglab" advise quick --workload rnd16k --repeat 1 --budget 150 --catalogue "$drives",intel-dc-s3700-200 \
	>out 2>err || fail "budget: exit $?"
has err 'left out by the budget of $150: 1 drive above it, pairs of 1 more, and 1 without a price in the catalogue'
grep -q 's3700' out && fail "what is above the budget is listed: $(cat out)"
"$sloglab" advise quick --workload rnd16k --repeat 1 --catalogue '' >out 2>err || fail "empty list: exit $?"
has err 'no drive to try, the list is empty'
has out 'Buy nothing: no drive was tried'

# What is set and what rows try contradict each other: a line, and every row is there.
"$sloglab" advise quick --workload rnd16k --repeat 1 --catalogue intel-dc-s3500-80 --variant s3700 --set pool.log=none \
	>out 2>err || fail "no log: exit $?: $(cat err)"
has err '--set pool.log=none: that is the box as it is; rows that try a SLOG change it again'
for row in 'as it is' 'mirror of 2 x intel-dc-s3500-80' 'stripe of 2 x intel-dc-s3500-80' 'Buy nothing: '; do
	has out "$row"
done
"$sloglab" advise quick --workload rnd16k --repeat 1 --catalogue intel-dc-s3500-80 --set pool.sync=disabled \
	--set pool.compression=off >out 2>err || fail "sync=disabled: exit $?: $(cat err)"
has err 'pool.sync=disabled: nothing is written to a SLOG'
grep -q 'pool.compression' err && fail "a key that no row changes is told"
has out 'mirror of 2 x intel-dc-s3500-80'
has out 'Buy nothing: '

"$sloglab" advise quick --workload rnd16k --repeat 1 --catalogue '' --show-arithmetic 99 >out 2>err
[ $? -eq 1 ] || fail "--show-arithmetic 99 works"
has err '"99" is neither a rank nor the name of a row'
for args in '' 'quick quick' 'quick --variant none,s3700' 'quick --budget x' 'quick --json nowhere/x' 'quick --catalogu=x y'; do
	# shellcheck disable=SC2086
	"$sloglab" advise $args >out 2>err
	[ $? -eq 2 ] || fail "advise $args: not exit 2"
	[ "$(wc -l <err)" -eq 1 ] || fail "advise $args: not one line: $(cat err)"
done

# Ctrl-C: complete tables only, no file.
"$sloglab" advise b3n-2014 --repeat 64 --json late.json >out 2>err &
pid=$!
PIDS=$pid
wait_for 60 has_computed 50 "$pid" || fail "it does not compute"
interrupt "$pid" || fail "it ended before Ctrl-C: $(cat err)"
ends_soon "$pid"
[ "$rc" -eq 130 ] || fail "Ctrl-C: exit $rc, not 130"
[ -e late.json ] && fail "Ctrl-C left a file"
finish
