#!/bin/bash
# The limits of .clang-tidy hold, in headers too.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

cp "$project/.clang-tidy" "$tree"
tidy() {
	(cd "$tree" && clang-tidy --quiet sim/x.c -- -std=c17 "-I$tree" 2>/dev/null)
}
# with LINE...: tidies a file that includes a clean header and holds the lines.
with() {
	put sim/x.c '#include "sim/x.h"' "$@"
	tidy
}

put sim/x.h '#include <stdio.h>' 'int f(int a, int b, int c, int d, int e, int g);'
passes with 'int f(int a, int b, int c, int d, int e, int g)' '{' 'return a + b + c + d + e + g;' '}'
mapfile -t long < <(yes 'x++;' | head -70)
fails 'sim/x.c:3:5: error: function '\''f'\'' exceeds' with 'int f(int x);' 'int f(int x)' '{' "${long[@]}" 'return x;' '}'
fails '7 parameters (threshold 6)' with 'int f7(int a, int b, int c, int d, int e, int g, int h);' \
	'int f7(int a, int b, int c, int d, int e, int g, int h)' '{' 'return a + b + c + d + e + g + h;' '}'
fails 'cognitive complexity of 21' with 'int c(int x);' 'int c(int x)' '{' \
	'if (x) { if (x) { if (x) { if (x) { x++; } } } }' 'if (x) { if (x) { if (x) { if (x) { x++; } } } }' \
	'if (x) { x++; }' 'return x;' '}'
fails 'nesting level 5' with 'int n(int x);' 'int n(int x)' '{' '{ { { { { x++; } } } } }' 'return x;' '}'
fails 'readability-identifier-naming' with 'int CamelCase(void);'
fails 'readability-braces' with 'int b(int x);' 'int b(int x)' '{' 'if (x)' 'return 1;' 'return 0;' '}'

put sim/x.h 'int CamelCase(void);'
fails 'sim/x.h:1:5: error' with 'int x;'
