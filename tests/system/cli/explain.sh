#!/bin/sh
# explain: text, files, questions; bad usage. `script` gives --ask the terminal it wants.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
small="explain b3n-2014 --variant none,s3500 --workload oltp2"

# shellcheck disable=SC2086
"$sloglab" $small --json a.json --html a.html --trace t.json >a.txt 2>err.txt || fail "exit code: $(cat err.txt)"
# A slow machine shows how far it is.
grep -v ' cells, about ' err.txt >said.txt
[ -s said.txt ] && fail "stderr is not empty: $(cat said.txt)"
for part in 'no SSD can lift this' '3 writes' 'SLOG at no cost' 'guest vCPUs' 's3500 gains' 'twice the guest vCPUs'; do
	grep -qF -- "$part" a.txt || fail "text lacks $part"
done
LC_ALL=C grep -q "$(printf '[^\t -~]')" a.txt && fail "blocks or colour without a terminal"
awk 'length > 130 && !/^==/ { print; bad = 1 } END { exit bad }' a.txt || fail "lines too wide"
grep -q '"schema": "sloglab-explain/1"' a.json || fail "JSON without schema"
grep -q '"latency_ns": [1-9]' a.json || fail "JSON without paths"
[ "$(grep -o '<svg' a.html | wc -l)" -eq 6 ] || fail "page: the box, two waterfalls of two variants and the changes"
grep -q "$src" a.json a.html && fail "a path of this machine is in the result"
grep -q '"cat":"InnoDB"' t.json || fail "trace without the database"

# The layers of each path add up to its latency, in the file too.
awk '/"latency_ns"/ { if (n++) { if (sum != latency) bad = 1 } gsub(/[^0-9]/, ""); latency = $0; sum = 0; next }
	/"service_ns"|"waiting_ns"/ { gsub(/[^0-9]/, ""); sum += $0 }
	END { exit n != 4 || bad || sum != latency }' a.json || fail "JSON: layers do not add up"

# The same bytes again, on stdout, with the text on stderr.
# shellcheck disable=SC2086
"$sloglab" $small --json - >b.json 2>b.txt || fail "JSON on stdout"
cmp a.json b.json || fail "JSON differs between two runs"
grep -q 'no SSD can lift this' b.txt || fail "with --json - the text goes to stderr"

# Variants that do not fit side by side come in pieces; other kinds of workload.
"$sloglab" explain quick --html q.html >q.txt 2>err.txt || fail "quick: $(cat err.txt)"
grep -q 'the best SLOG there could be' q.txt || fail "quick: no conclusion about syncwrite"
grep -q 'program CPU' q.txt && fail "quick: the program's own CPU is not modelled"
"$sloglab" explain "$src/tests/unit/report/hostile.yaml" --html h.html >h.txt 2>err.txt || fail "hostile: $(cat err.txt)"
grep -q '<script\|<img' h.html && fail "text of the scenario became an element"
"$sloglab" explain b3n-2014 --workload oltp2 --variant s3500 --set pool.sync=disabled >d.txt || fail "sync disabled"
grep -q 'nothing is synchronous' d.txt || fail "sync disabled: $(grep '^==' d.txt)"

# A bare disk has one layer, and nothing that could be changed above it.
cat >disk.yaml <<'EOF'
format: sloglab-scenario/1
title: A bare disk
pool: {data: {layout: stripe, disks: [hdd-7200-desktop]}}
workloads: {rnd: {kind: disk, block: 4KiB, depth: 4, file_total: 100GiB, max_time: 20s, max_requests: 0}}
EOF
"$sloglab" explain disk.yaml --html disk.html --json disk.json >disk.txt || fail "a bare disk"
grep -q "a bare disk, all of a write is the drive's own time" disk.txt || fail "bare disk: $(cat disk.txt)"
[ "$(grep -c '^data disks *|##' disk.txt)" -eq 2 ] || fail "bare disk: no path: $(cat disk.txt)"
grep -q 'what if  \|^busy' disk.txt && fail "bare disk: tables about nothing"
"$sloglab" advise disk.yaml >out.txt 2>err.txt && fail "advice about a bare disk"
grep -q 'rnd: writes to a bare disk, which no SLOG and no setting changes' err.txt || fail "advise: $(cat err.txt)"

browser=$(command -v chromium || command -v chromium-browser)
if [ -n "$browser" ]; then
	HOME=$work timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-background-networking --no-first-run --disable-sync \
		--disable-component-update --user-data-dir="$work/profile" --virtual-time-budget=1000 --enable-logging=stderr \
		--dump-dom "file://$work/a.html" >dom.html 2>browser.log || fail "browser: $(tail -3 browser.log)"
	[ "$(grep -o '<svg' dom.html | wc -l)" -eq 6 ] || fail "the browser sees other charts"
	grep -q 'Refused\|CONSOLE' browser.log && fail "the page asked for something: $(grep 'Refused\|CONSOLE' browser.log)"
else
	in_part "no chromium (apt-get install chromium)"
fi

expect_usage() {
	pattern=$1
	shift
	"$sloglab" explain "$@" >out.txt 2>err.txt </dev/null
	[ $? -eq 2 ] || fail "$*: exit code"
	{ [ "$(wc -l <err.txt)" -eq 1 ] && grep -qF -- "$pattern" err.txt; } || fail "$*: $(cat err.txt)"
	[ -s out.txt ] && fail "$*: stdout is not empty"
}
expect_usage 'scenario missing; usage: sloglab explain SCENARIO'
expect_usage '--ask: standard input is no terminal' quick --ask
expect_usage 'did you mean s3700?' quick --variant s370
expect_usage 'only one of --json' quick --json - --trace -
expect_usage 'nowhere/x.html: cannot write' quick --html nowhere/x.html

if command -v script >/dev/null; then
	# A wrong layer, no number, a number, no guess.
	# shellcheck disable=SC2094 # not one pipeline through the file: it waits for the last answer
	{ printf '2\nmany\n250\n\n'; wait_for 60 grep -qF 'No guess.' ask.txt; } | LC_ALL=C.UTF-8 TERM=xterm script -qec "'$sloglab' explain b3n-2014 --variant s3500 --workload oltp2 --ask" /dev/null >ask.txt 2>&1
	for part in 'Which layer takes most' 'No. program CPU takes' 'a number, please' 'Your guess is 29 % off. It is 194 TPS' 'No guess.'; do
		grep -qF -- "$part" ask.txt || fail "--ask lacks $part: $(head -40 ask.txt)"
	done
	[ "$(grep -n 'Which layer' ask.txt | cut -d: -f1)" -lt "$(grep -n 'no SSD can lift' ask.txt | cut -d: -f1)" ] ||
		fail "--ask shows the answers first"
	grep -q "$(printf '\342\226\210')" ask.txt || fail "no blocks on a UTF-8 terminal"
else
	in_part "script is not installed (Debian package bsdutils)"
fi
finish
