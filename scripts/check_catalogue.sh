#!/bin/bash
# Usage: check_catalogue.sh [ROOT]
# A figure of one drive must not have been copied to another: where two files of the catalogue give a figure the same
# value with the same source, the source has to name both models (every word of both file names but the maker, the size
# and "hdd", "dc", "ssd"; "the S3700 family" names all S3700). An assumption is no fact of a drive and may be made for
# many; nor are the product's name, the host link, the command set and the queue of a standard.
set -eu

root=${1:-$(dirname "$(dirname "$(readlink -f "$0")")")}
cd "$root"
[ -d sim/scenario/catalogue ] || exit 0

check='
function model(file, words, n, i, text, word) {
	sub(/.*\//, "", file)
	sub(/\.yaml$/, "", file)
	n = split(tolower(file), words, "-")
	text = ""
	for (i = 1; i <= n; i++) {
		word = words[i]
		if ((i == 1 && n > 2) || i == n && n > 2 && word ~ /^[0-9]+(gb|tb)?$/ || word ~ /^(hdd|ssd|dc)$/) continue
		text = text " " word
	}
	return text
}
# Is every word of the model in the source?
function named(file, source, words, n, i) {
	n = split(model(file), words, " ")
	for (i = 1; i <= n; i++) if (index(source, words[i]) == 0) return 0
	return n > 0
}
match($0, /^  [a-z0-9_]+:/) {
	key = substr($0, 3, RLENGTH - 3)
	if (key ~ /^(capacity|link_rate|interface|queue_depth|price_year)$/ || $0 !~ /kind: (spec|measured|derived|fitted),/) next
	value = $0
	sub(/.*\{ *value: */, "", value)
	sub(/,.*/, "", value)
	source = $0
	sub(/.*source: *"?/, "", source)
	sub(/"? *\}.*/, "", source)
	claim = key SUBSEP value SUBSEP source
	if (!(claim in first)) {
		first[claim] = FILENAME
		line[claim] = FNR
	} else if (first[claim] != FILENAME && !(named(FILENAME, tolower(source)) && named(first[claim], tolower(source)))) {
		printf "%s:%d: %s: %s with the source of %s:%d, which does not name both; say where this one is from\n",
			FILENAME, FNR, key, value, first[claim], line[claim]
		bad = 1
	}
}
END { exit bad }
'

find sim/scenario/catalogue -type f -name '*.yaml' -print0 | sort -z | xargs -0 -r awk "$check"
