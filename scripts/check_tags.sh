#!/bin/bash
# Usage: check_tags.sh [ROOT]
# A public tag means one thing: no struct, enum or union sl_... is defined twice in the tree, not even in two rooms that do
# not see each other.
set -eu

root=${1:-$(dirname "$(dirname "$(readlink -f "$0")")")}
cd "$root"

folders=()
for folder in sim guests engine loadgen cli; do
	[ -d "$folder" ] && folders+=("$folder")
done
[ ${#folders[@]} -eq 0 ] && exit 0

find "${folders[@]}" -type f \( -name '*.c' -o -name '*.h' \) -print0 | sort -z | xargs -0 -r awk '
/^(struct|enum|union) sl_[a-z0-9_]+ \{/ {
	if ($2 in first) {
		printf "%s:%d: %s %s is defined in %s too; give one of them another name\n", FILENAME, FNR, $1, $2, first[$2]
		bad = 1
	} else {
		first[$2] = FILENAME ":" FNR
	}
}
END { exit bad }
'
