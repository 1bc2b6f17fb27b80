#!/bin/bash
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
lint=$project/scripts/check_format.sh

cp "$project/.clang-format" "$tree"
put good.c 'int f(int x)' '{' '	return x;' '}'
passes "$lint" "$tree"
put bad.c 'int f(int x)' '{' '    return x;' '}'
fails 'bad.c:2:' "$lint" "$tree"

# In a git checkout only tracked files count.
git -C "$tree" init -q
git -C "$tree" add good.c
passes "$lint" "$tree"
git -C "$tree" add bad.c
fails 'bad.c:2:' "$lint" "$tree"
