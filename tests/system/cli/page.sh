#!/bin/sh
# The page in a real browser: it parses, asks for nothing, and shows the figures. Needs chromium.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
browser=$(command -v chromium || command -v chromium-browser) || skip "no chromium (apt-get install chromium)"
cd "$work" || exit 1
"$sloglab" run "$src/tests/unit/report/hostile.yaml" --html a.html --csv a.csv >/dev/null || fail "run"

HOME=$work timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-background-networking --no-first-run --disable-sync \
	--disable-component-update --user-data-dir="$work/profile" --virtual-time-budget=1000 --enable-logging=stderr \
	--dump-dom "file://$work/a.html" >dom.html 2>browser.log || fail "browser: $(tail -3 browser.log)"
[ "$(grep -o "<svg" dom.html | wc -l)" -eq 3 ] || fail "the box, and one chart per workload"
grep -q 'Refused\|CONSOLE' browser.log && fail "the page asked for something: $(grep 'Refused\|CONSOLE' browser.log)"
grep -q '<script\|<img' dom.html && fail "text of the scenario became an element"
grep -qF 'alert(1)' dom.html || fail "the source of a parameter is not shown"
# Every value of the CSV is on the page, with three digits.
tail -n +2 a.csv | sed "s/.*\(TPS\|writes\/s\),\([0-9.]*\),.*/\2/" | while read -r value; do
	shown=$(awk -v v="$value" 'BEGIN { printf((v >= 99.95 ? "%.0f" : v >= 9.995 ? "%.1f" : "%.2f"), v) }')
	grep -qF ">$shown<" dom.html || echo "$value as $shown"
done >missing.txt
[ -s missing.txt ] && fail "figures missing: $(cat missing.txt)"

# All in one page, on a phone: nothing is wider than 360 pixels, and what is scrolls within its own frame.
"$sloglab" run "$src/tests/unit/report/hostile.yaml" --workload '<b>w&1' --html full.html --full >/dev/null 2>err.txt || fail "--full: $(cat err.txt)"
for part in 'Where the time goes' 'The median write' 'What if' 'What a power cut takes' 'The layer that lied' 'What to buy' '@media print'; do
	grep -qF "$part" full.html || fail "--full lacks: $part"
done
cat >phone.html <<'EOF'
<!DOCTYPE html><body style="margin:0"><iframe id="f" src="full.html" style="width:360px;height:800px;border:0"></iframe><script>
document.getElementById("f").onload = function () {
	var d = document.getElementById("f").contentDocument, wide = [];
	d.querySelectorAll("main > *, .card, figure, svg").forEach(function (e) {
		if (e.getBoundingClientRect().right > 360.5) { wide.push(e.tagName + "." + e.className); }
	});
	document.body.setAttribute("data-width", d.documentElement.scrollWidth);
	document.body.setAttribute("data-wide", wide.join(" "));
};
</script>
EOF
HOME=$work timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-background-networking --no-first-run --disable-sync \
	--disable-component-update --user-data-dir="$work/profile" --allow-file-access-from-files --virtual-time-budget=3000 \
	--dump-dom "file://$work/phone.html" >phone.txt 2>browser.log || fail "browser: $(tail -3 browser.log)"
width=$(grep -o 'data-width="[0-9]*"' phone.txt | grep -o '[0-9]*')
{ [ -n "$width" ] && [ "$width" -le 360 ]; } || fail "360 px: the page is ${width:-?} px wide"
grep -q 'data-wide=""' phone.txt || fail "360 px: $(grep -o 'data-wide="[^"]*"' phone.txt) sticks out"
finish
