#!/bin/bash
# Sourced by the tests of the lints, with the project's root as their first argument.
set -eu

# shellcheck disable=SC2034 # used by the tests
project=$(readlink -f "$1")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

# put FILE LINE...: writes a file of the small tree.
put() {
	mkdir -p "$tree/$(dirname "$1")"
	printf '%s\n' "${@:2}" >"$tree/$1"
}

# passes COMMAND...: the command must succeed and be silent.
passes() {
	if ! out=$("$@" 2>&1) || [ -n "$out" ]; then
		printf 'expected silent success of: %s\n%s\n' "$*" "$out" >&2
		exit 1
	fi
}

# fails TEXT COMMAND...: the command must fail and its output contain TEXT.
fails() {
	local text=$1
	shift
	if out=$("$@" 2>&1); then
		printf 'expected failure of: %s\n%s\n' "$*" "$out" >&2
		exit 1
	fi
	if [[ $out != *"$text"* ]]; then
		printf 'expected "%s" from: %s\n%s\n' "$text" "$*" "$out" >&2
		exit 1
	fi
}
