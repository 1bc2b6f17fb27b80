#!/bin/bash
# Usage: project_files.sh ROOT PATTERN...
# Prints the files of the project that match, each ended by a NUL: those git tracks, or, outside a git checkout, all
# that are not under build/.
set -eu

cd "$1"
shift
if git ls-files --error-unmatch . >/dev/null 2>&1; then
	git ls-files -z -- "$@" | while IFS= read -r -d '' file; do
		[ -f "$file" ] && printf '%s\0' "$file"
	done
	exit 0
fi
for pattern in "$@"; do
	find . -path ./build -prune -o -type f -name "$pattern" -print0
done
