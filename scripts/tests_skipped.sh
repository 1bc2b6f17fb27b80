#!/bin/bash
# Usage: tests_skipped.sh OUTPUT LOG    (what ctest printed, and its LastTest.log)
# Names each test that skipped, as a whole or in part, with the reason that it printed. Exits 1 when no test ran at all.
set -eu

# A test says "skipped: WHY", or "skipped in part: WHY" and goes on. Which of them skipped, only ctest's output tells.
awk '
	FNR == 1 { file++ }
	file == 1 && match($0, /Test +#[0-9]+: [^ ]+/) {
		name = $0
		sub(/.*Test +#[0-9]+: /, "", name)
		sub(/ .*/, "", name)
		if (/\*\*\*Skipped/)
			skipped[name] = 1
		else if (/ sec$/ && !/\*\*\*Not Run/)
			ran++
	}
	file == 2 && /^[0-9]+\/[0-9]+ Test: / {
		name = $3
		said = 0
	}
	file == 2 && /^skipped( in part)?: / {
		print name " " $0
		said = 1
	}
	file == 2 && $0 == "<end of output>" && skipped[name] && !said {
		print name " skipped: it does not say why"
	}
	END {
		if (!ran) {
			print "no test ran"
			exit 1
		}
	}' "$1" "$2"
