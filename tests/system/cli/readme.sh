#!/bin/sh
# What README.md and the manual tell people to type must exist, and the table must be what the program prints now.
# SL_REGENERATE=1 puts the present table into README.md: look at the difference before you commit it.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$src" || exit 1

# The first block in README.md is the output of `sloglab run b3n-2014`, without its last line (counts of parameters).
"$sloglab" run b3n-2014 >"$work/printed" || fail "run b3n-2014"
grep -v '^parameters: ' "$work/printed" >"$work/table"
if [ -n "${SL_REGENERATE:-}" ]; then
	awk -v table="$work/table" '/^```$/ && !n++ { print; while ((getline line < table) > 0) print line; skip = 1; next }
		/^```$/ { skip = 0 } !skip' README.md >"$work/readme" && cp "$work/readme" README.md
fi
awk '/^```$/ { if (n++) exit; next } n' README.md >"$work/pasted"
cmp -s "$work/table" "$work/pasted" || fail "README.md: the table is not what is printed now; see the top of $0"

n=0
grep -ho 'sloglab [a-z][a-z]* .*' README.md docs/man/sloglab*.1 | sed 's/`.*//; s/ *#.*//; s/\\-/-/g' | grep -o -- '--[a-z-]*' | sort -u >"$work/options"
"$sloglab" --help | awk '/^  [a-z]/ && $1 != "sloglab" { print $1 }' | while read -r command; do
	"$sloglab" "$command" --help
done >>"$work/help"
for command in "disk test" "disk serve" "disk replay" "image build" "image clean"; do
	# shellcheck disable=SC2086 # words
	"$sloglab" $command --help >>"$work/help"
done
while read -r option; do
	n=$((n + 1))
	case $option in --help | --version | --preset | --build | --install) continue ;; esac
	grep -q -- "$option\b" "$work/help" || fail "README or manual: $option does not exist"
done <"$work/options"
[ "$n" -ge 5 ] || fail "only $n options found in README and manual"
grep -o '^ *sloglab [a-z][a-z]*' README.md | sort -u | while read -r _ command; do
	"$sloglab" help "$command" >/dev/null 2>&1 || echo "$command"
done >"$work/unknown"
[ -s "$work/unknown" ] && fail "README: no command $(cat "$work/unknown")"
grep -o '\./[a-z][a-z/]*[a-z]' README.md | sort -u | while read -r program; do
	case $program in ./build/*) continue ;; esac
	[ -x "$program" ] || echo "$program"
done >"$work/absent"
[ -s "$work/absent" ] && fail "README: not there or not executable: $(cat "$work/absent")"
grep -o '](\([a-zA-Z][a-zA-Z0-9/._-]*\))' README.md docs/*.md docs/decisions/*.md | sed 's/:](/ /; s/)$//' | while read -r file link; do
	[ -e "$(dirname "$file")/$link" ] || echo "$file -> $link"
done >"$work/links"
[ -s "$work/links" ] && fail "dead links: $(cat "$work/links")"
finish
