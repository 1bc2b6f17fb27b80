#!/bin/sh
# Every command has a manual page, the page has the command's options and no others, and all pages are sound roff.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
man=$src/docs/man
commands=$("$sloglab" --help | awk '/^  [a-z]/ && $1 != "sloglab" && $1 != "help" { print $1 }')
[ "$(echo "$commands" | wc -l)" -ge 7 ] || fail "commands: $commands"

# What --help lists, of the command and of its own commands.
helped() {
	"$sloglab" "$1" --help >"$work/help" || fail "$1 --help"
	awk '/^usage:/ { next } /^  [a-z]/ { print $1 }' "$work/help" | while read -r sub; do
		"$sloglab" "$1" "$sub" --help
	done >"$work/members"
	grep -ho '^  --[a-z-]*' "$work/help" "$work/members" | tr -d ' ' | sort -u
}

for command in $commands; do
	page=$man/sloglab-$command.1
	[ -f "$page" ] || { fail "no page $page"; continue; }
	helped "$command" >"$work/helped"
	# ".It Fl -csv , Fl -json Ar FILE" has two.
	grep '^\.It .*Fl -' "$page" | grep -o 'Fl -[a-z-]*' | sed 's/Fl /-/' | sort -u >"$work/paged"
	grep -qx -- --help "$work/paged" || echo --help >>"$work/paged"
	sort -u -o "$work/paged" "$work/paged"
	diff "$work/helped" "$work/paged" >"$work/diff" || fail "$command: --help (<) and manual (>) differ: $(cat "$work/diff")"
	grep -q "^\.Xr sloglab-$command 1" "$man/sloglab.1" || fail "sloglab(1) does not refer to sloglab-$command(1)"
	grep -q "^\.It Cm $command$" "$man/sloglab.1" || fail "sloglab(1) does not list $command"
done
for page in "$man"/*.[15]; do
	name=$(basename "$page" | sed 's/\.[15]$//')
	grep -q "^\.Nm $name$\|^$name \\\\-" "$page" || fail "$page: not about $name"
	if command -v mandoc >/dev/null; then
		mandoc -Tlint -Wwarning "$page" || fail "$page"
	fi
done
command -v mandoc >/dev/null || in_part "mandoc is not installed (Debian package mandoc)"
finish
