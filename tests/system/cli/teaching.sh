#!/bin/sh
# docs/teaching.md shows what the program prints now. A block below "<!-- checked: FILTER -->" starts with "$ COMMAND";
# the rest of it is the command's output through FILTER. A figure in bold stands in one of the blocks.
# SL_REGENERATE=1 puts the present output into the page: look at the difference, and at the prose, before you commit it.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
command -v script >/dev/null 2>&1 || skip "script is not installed (Debian package bsdutils)"
page=$src/docs/teaching.md
PATH=$bin:$PATH
export PATH
cd "$work" || exit 1

awk '/^<!-- checked: .* -->$/ { n++; sub(/^<!-- checked: /, ""); sub(/ -->$/, ""); print > (n ".filter"); armed = 1; next }
	armed && /^\$ / { print substr($0, 3) > (n ".command"); armed = 0 }
	END { print n + 0 > "count" }' "$page"
count=$(cat count)
[ "$count" -ge 10 ] || fail "only $count blocks are checked"

# Questions want a terminal, and nobody to answer them: each is given up.
printed() {
	case $1 in
	*" --ask") printf '\n\n\n\n\n' | TERM=dumb script -qec "$1" /dev/null 2>err | tr -d '\r' ;;
	*) sh -c "$1" 2>err ;;
	esac
}

i=0
while [ "$i" -lt "$count" ]; do
	i=$((i + 1))
	cmp -s "$i.command" "$((i - 1)).command" || printed "$(cat "$i.command")" </dev/null >all
	sh -c "$(cat "$i.filter")" <all | sed 's/ *$//' >"$i.out"
	[ -s "$i.out" ] || fail "$(cat "$i.command") | $(cat "$i.filter"): nothing: $(cat err)"
done

awk '/^<!-- checked: / { n++; armed = 1 }
	/^```$/ { skip = 0 }
	!skip { print }
	armed && /^\$ / { while ((getline line < (n ".out")) > 0) print line; armed = 0; skip = 1 }' "$page" >page.md
[ -z "${SL_REGENERATE:-}" ] || cp page.md "$page"
diff -u "$page" page.md >difference || fail "docs/teaching.md is not what is printed now; see the top of $0
$(cat difference)"

cat ./*.out >figures
grep -o '\*\*[^*]*[0-9][^*]*\*\*' "$page" | tr -d '*' >bold
[ "$(wc -l <bold)" -ge 10 ] || fail "only $(wc -l <bold) figures in bold"
while read -r figure; do
	grep -qF -- "$figure" figures || fail "docs/teaching.md: $figure stands in no block"
done <bold

# The live exercise, on free ports: each command as it stands in the page. Compared is the modelled latency of a write,
# which the load of this machine does not change.
grep -A7 '^<!-- live -->$' "$page" | sed "s,/tmp/class,$work/class,; s/--time 120s/--time 2s/" >live
live() {
	sed -n "/^$1/p" live | sed "s,nfs://[^']*,$url,"
}
write_latency() {
	sh -c "$(live sloglab-load)" >load 2>&1 || fail "load: $(cat load)"
	awk '$12 ~ /^[0-9]/ { sub(/\/.*/, "", $12); last = $12 } END { print last }' status
}
if [ -x "$bin/sloglab-load" ]; then
	url=''
	: >status
	eval "exec $(live 'sloglab serve') --port 0 --portmap-port 0" >status 2>err &
	PIDS=$!
	wait_for 60 grep -q '^ready' status || fail "serve: $(cat err)"
	url=$(sed -n 's/^libnfs *//p' status | sed 's/&/\\&/g; s,/?,/a?,')
	with=$(write_latency)
	sh -c "$(live 'sloglab ctl .* log remove')" >reply 2>&1 || fail "log remove: $(cat reply)"
	without=$(write_latency)
	awk -v a="$with" -v b="$without" 'BEGIN { exit !(a > 0 && b > 2 * a) }' ||
		fail "a write takes $with ms with a SLOG, $without ms without: $(cat status)"
	sh -c "$(live 'sloglab ctl .* log add')" >reply 2>&1 || fail "log add: $(cat reply)"
	again=$(write_latency)
	awk -v a="$again" -v b="$without" 'BEGIN { exit !(a > 0 && b > 2 * a) }' ||
		fail "a write takes $without ms without a SLOG, $again ms with another"
fi
finish
