#!/bin/sh
# Every page in a real browser, at four widths, in light and dark: nothing is cut off, all can be reached with the
# keyboard, axe-core finds nothing serious. Needs chromium and nodejs; axe-core comes from npm.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
browser=$(command -v chromium || command -v chromium-browser) || skip "no chromium (apt-get install chromium)"
node=$(command -v node) || skip "no node (apt-get install nodejs)"
cd "$work" || exit 1

cp "$src/tests/system/cli/page/package.json" "$src/tests/system/cli/page/package-lock.json" .
axe=$work/node_modules/axe-core/axe.min.js
if ! command -v npm >/dev/null; then
	in_part "contrast and roles: no npm (apt-get install npm)"
elif ! timeout 120 npm ci --ignore-scripts --no-audit --no-fund >npm.txt 2>&1 || [ ! -f "$axe" ]; then
	in_part "contrast and roles: npm could not install axe-core: $(grep -m 1 'npm ERR\|npm error' npm.txt)"
fi
[ -f "$axe" ] || axe=''

make_page() {
	name=$1
	shift
	"$sloglab" "$@" --html "$name.html" >"$name.txt" 2>&1 || fail "$name: $(tail -3 "$name.txt")"
}
make_page run run b3n-2014
make_page explain explain b3n-2014 --workload oltp2 --variant none,s3500
make_page advise advise b3n-2014 --workload rndwr --repeat 2 --catalogue intel-dc-s3500-80,intel-dc-s3700-100
make_page powercut powercut b3n-2014 --workload oltp2,rndwr --variant none,s3700
make_page hostile run "$src/tests/unit/report/hostile.yaml" --workload '<b>w&1' --full
set -- run.html explain.html advise.html powercut.html hostile.html
# Answers from memory take less time than a reply is late: a measurement that is not to be trusted.
if [ -x "$bin/sloglab-load" ]; then
	"$sloglab" run quick --engine live --workload seq4k --time 1 --set pool.sync=disabled --html live.html >live.txt 2>&1
	grep -q 'Not to be trusted' live.html || fail "live: no word of late replies: $(tail -3 live.txt)"
	set -- "$@" live.html
else
	in_part "no page of engine live: sloglab-load was not built"
fi

for page; do
	shift
	set -- "$@" "$work/$page"
done
HOME=$work timeout 700 "$node" "$src/tests/system/cli/page/check.mjs" "$browser" "$work/profile" "$axe" "$@" >faults.txt 2>log.txt
code=$?
[ ! -s faults.txt ] || fail "$(cat faults.txt)"
[ "$code" -eq 0 ] || fail "exit code $code: $(tail -3 log.txt)"
[ "$(grep -c '^height' log.txt)" -eq $# ] || fail "not every page was looked at: $(cat log.txt)"
awk '$1 == "height" && $2 == "run.html" && $3 >= 6000 { exit 1 }' log.txt || fail "1280 px: $(grep run.html log.txt) px long"
finish
