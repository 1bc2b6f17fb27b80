#!/bin/sh
# The page in a real browser: it parses, asks for nothing, and shows the figures. Needs chromium.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
browser=$(command -v chromium || command -v chromium-browser) || {
	echo "SKIP: no chromium (apt-get install chromium)"
	exit 77
}
cd "$work" || exit 1
"$sloglab" run "$src/tests/unit/cli/hostile.yaml" --html a.html --csv a.csv >/dev/null || fail "run"

HOME=$work "$browser" --headless --no-sandbox --disable-gpu --disable-background-networking --no-first-run --disable-sync \
	--disable-component-update --user-data-dir="$work/profile" --virtual-time-budget=1000 --enable-logging=stderr \
	--dump-dom "file://$work/a.html" >dom.html 2>browser.log || fail "browser: $(tail -3 browser.log)"
[ "$(grep -o '<svg' dom.html | wc -l)" -eq 2 ] || fail "one chart per workload"
grep -q 'Refused\|CONSOLE' browser.log && fail "the page asked for something: $(grep 'Refused\|CONSOLE' browser.log)"
grep -q '<script\|<img' dom.html && fail "text of the scenario became an element"
grep -qF 'alert(1)' dom.html || fail "the source of a parameter is not shown"
# Every value of the CSV is on the page, with three digits.
tail -n +2 a.csv | sed "s/.*\(TPS\|writes\/s\),\([0-9.]*\),.*/\2/" | while read -r value; do
	shown=$(awk -v v="$value" 'BEGIN { printf((v >= 99.95 ? "%.0f" : v >= 9.995 ? "%.1f" : "%.2f"), v) }')
	grep -qF ">$shown<" dom.html || echo "$value as $shown"
done >missing.txt
[ -s missing.txt ] && fail "figures missing: $(cat missing.txt)"
finish
