#!/bin/bash
# ./check with stand-ins for what it calls: its summary names what skipped, and in CI a tier that ran nothing fails.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

mkdir "$tree/scripts"
cp "$project/check" "$tree"
cp "$project/scripts/tests_skipped.sh" "$tree/scripts"
for script in install_packages check_format check_includes check_model_purity check_shell check_tags check_catalogue; do
	put "scripts/$script.sh" '#!/bin/sh'
done
put bin/cmake '#!/bin/sh'
# One test that skips in part; in the lab as many as $LAB says, "runs" or "skips".
put bin/ctest '#!/bin/sh' 'case $2 in' 'build/dev) log=build/dev what=$LAB name=lab ;;' \
	'*) log=build/$2 what="skips in part" name=oracle ;;' 'esac' 'mkdir -p "$log/Testing/Temporary"' \
	'case $what in skips) status="***Skipped" ;; *) status="   Passed" ;; esac' \
	'echo "1/1 Test #1: $name ....$status    0.01 sec"' \
	'{ echo "1/1 Test: $name"; case $what in' '"skips in part") echo "skipped in part: no peer" ;;' \
	'skips) echo "skipped: no KVM" ;;' 'esac; echo "<end of output>"; } >"$log/Testing/Temporary/LastTest.log"'
for preset in dev asan bench; do
	put "build/$preset/bin/sloglab" '#!/bin/sh' 'echo same >"$4"'
done
chmod +x "$tree"/bin/* "$tree"/scripts/* "$tree"/build/*/bin/*
export PATH=$tree/bin:$PATH

# check_ends CODE ARGS...: and says LINE... on standard input.
check_ends() {
	local want=$1 got=0 line
	shift
	"$tree/check" "$@" >"$tree/out" 2>&1 || got=$?
	if [ "$got" -ne "$want" ]; then
		printf 'check %s: %d, not %d\n%s\n' "$*" "$got" "$want" "$(cat "$tree/out")" >&2
		exit 1
	fi
	while read -r line; do
		if ! grep -qF -- "$line" "$tree/out"; then
			printf 'check %s does not say "%s":\n%s\n' "$*" "$line" "$(cat "$tree/out")" >&2
			exit 1
		fi
	done
}

LAB=runs CI='' check_ends 0 <<<'tests: dev: oracle skipped in part: no peer'
LAB=runs CI=true check_ends 0 --lab <<<'tests: asan: oracle skipped in part: no peer'
LAB=skips CI='' check_ends 0 --lab <<<'tests: lab: lab skipped: no KVM'
LAB=skips CI=true check_ends 1 --lab <<<'tests: lab: no test ran, which is a failure in CI'
grep -q '1 of [0-9]* steps FAILED .*\[tests: lab\]' "$tree/out"
