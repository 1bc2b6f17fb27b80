#!/bin/sh
# Usage: same_bytes.sh BUILD SOURCES COMPILER
# The model's result is the same text on every run, and with the other compiler at another level of optimisation:
# builds the program in BUILD/other and compares. Exits 77 without that compiler.
set -eu
build=$1
src=$2
case $3 in
Clang) other=gcc ;;
*) other=clang ;;
esac
if ! command -v "$other" >/dev/null; then
	echo "skipped: $other is not installed"
	exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Silent unless it fails.
if ! { cmake -S "$src" -B "$build/other" -G Ninja -DCMAKE_C_COMPILER="$other" -DCMAKE_BUILD_TYPE=Debug \
	-DSL_TESTS=OFF && cmake --build "$build/other" --target sloglab -j 2; } >"$work/log" 2>&1; then
	tail -30 "$work/log"
	exit 1
fi
# run PROGRAM NAME: the JSON of all cells, three samples each.
run() {
	"$1" run "$src/scenarios/b3n-2014.yaml" --repeat 3 --json "$work/$2.json" >/dev/null
}
run "$build/bin/sloglab" first
run "$build/bin/sloglab" second
run "$build/other/bin/sloglab" other
grep -q '"value"' "$work/first.json"
cmp "$work/first.json" "$work/second.json"
cmp "$work/first.json" "$work/other.json"
