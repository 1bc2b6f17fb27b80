#!/bin/sh
# What is installed, and what env.sh gives to a shell: programs with their data, manual, completion, documents.
# $3 = build folder, $4 = cmake.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
build=$3
"$4" --install "$build" --prefix "$work/root" >"$work/log" 2>&1 || fail "cmake --install: $(tail -n 3 "$work/log")"
root=$work/root
cd "$work" || exit 1

# The installed program has its own data, and no source tree above it.
"$root/bin/sloglab" run quick --workload seq4k >out 2>err || fail "installed: $(cat err)"
"$root/bin/sloglab" disk show optane-900p-280 >out 2>err || fail "installed catalogue: $(cat err)"

# All that the manual cites is there.
grep -ho '^\.P[aq] *\(Pa \)*docs/[a-z.-]*' "$src"/docs/man/* | sed 's,.*docs/,,; s/\.$//' | sort -u >cited
[ "$(wc -l <cited)" -ge 5 ] || fail "cited: $(cat cited)"
while read -r document; do
	[ -f "$root/share/doc/sloglab/$document" ] || fail "share/doc/sloglab/$document is not installed"
done <cited
[ -f "$root/share/doc/sloglab/LICENSE" ] || fail "LICENSE is not installed"

# man finds the pages, installed or by the line that quickstart prints; both of Debian's man programs do.
# shellcheck disable=SC2016 # expanded by that shell
by_env='unset MANPATH; . "$1/env.sh"; $2 sloglab-run; $2 5 sloglab-scenario'
for man in "man -w" "mman -w"; do
	command -v "${man% *}" >/dev/null || { in_part "${man% *} is not installed"; continue; }
	$man -M "$root/share/man" sloglab-run >out 2>err || fail "$man: $(cat err)"
	sh -c "$by_env" sh "$build" "$man" >out 2>err || fail "$man by env.sh: $(cat err)"
	grep -q 'sloglab-run.1' out || fail "$man by env.sh: $(cat out)"
	grep -q 'sloglab-scenario.5' out || fail "$man 5 by env.sh: $(cat out)"
done
if command -v man >/dev/null; then
	# shellcheck disable=SC2016
	sh -c '. "$1/env.sh"; man sloglab-run' sh "$build" 2>&1 | col -b >out
	grep -q 'predict, and measure' out || fail "man sloglab-run: $(head -n 5 out)"
fi
for name in sloglab sloglab-load; do
	[ -f "$root/share/bash-completion/completions/$name" ] || fail "no completion of $name"
done
[ -f "$root/share/zsh/site-functions/_sloglab" ] || fail "no completion for zsh"

# completes LINE: what bash offers for its last word.
completes() {
	# shellcheck disable=SC2016
	bash -c '. "$1/env.sh"; COMP_WORDS=($2); [ "${2% }" = "$2" ] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _sloglab "${COMP_WORDS[0]}"; printf "%s\n" "${COMPREPLY[@]}"' bash "$build" "$1"
}
offers() {
	got=$(completes "$1" | tr '\n' ' ')
	[ "$got" = "$2 " ] || fail "completion of \"$1\": $got"
}
mkdir catalogue && : >catalogue/my-drive.yaml
offers 'sloglab d' 'disk doctor'
offers 'sloglab run b3' 'b3n-2014'
offers 'sloglab run b3n-2014 --eng' '--engine'
offers 'sloglab run b3n-2014 --engine ' 'model live vm'
offers 'sloglab run b3n-2014 --log stec-zeus' 'stec-zeusram-8'
offers 'sloglab advise x --catalogue intel-710,stec-zeus' 'intel-710,stec-zeusram-8'
offers 'sloglab disk te' 'test'
offers 'sloglab disk test my-' 'my-drive'
offers 'sloglab init --hypervisor p' 'proxmox'
offers 'sloglab-load oltp --dist' '--distribution'
# Each option that a command lists is offered.
for command in run explain advise powercut serve init; do
	"$sloglab" $command --help | grep -o '^  --[a-z-]*' | tr -d ' ' | sort >listed
	completes "sloglab $command --" | sort >offered
	cmp -s listed offered || fail "options of $command: $(diff listed offered)"
done
# What a file is named after comes from the folder one is in.
bash -n "$root/share/bash-completion/completions/sloglab" || fail "completion for bash"

# zsh, at its prompt.
if command -v zsh >/dev/null; then
	cat >script <<'END'
> ready>
< sloglab run b3n-2014 --engi\tli\t
> ran: run b3n-2014 --engine live
> ready>
< sloglab disk test stec-zeus\t
> ran: disk test stec-zeusram-8
> ready>
< sloglab advi\tb3n\t--work\tx
> ran: advise b3n-2014 --workload x
> ready>
< exit 0
END
	# A stand-in shows what the completed line is.
	printf 'PS1="ready> "\n. "%s/env.sh"\nsloglab() { print -r -- "ran: $*" }\n' "$build" >.zshrc
	ZDOTDIR=$work HOME=$work "$bin/pty_talk" script zsh -d -i >shown 2>&1 || fail "zsh: $(cat shown)"
else
	in_part "zsh is not installed"
fi
finish
