#!/bin/bash
# Usage: check_model_purity.sh [ROOT]
# Models are functions of (state, now, request): they read no clock, do not sleep, draw from their own stream, use
# sl_exp and sl_log (libm differs between machines) and print nothing.
set -eu

root=${1:-$(dirname "$(dirname "$(readlink -f "$0")")")}
cd "$root"

folders=()
for room in workload store device box zfs wire hyp guest stack nfs3 nbd; do
	[ -d "sim/$room" ] && folders+=("sim/$room")
done
[ ${#folders[@]} -eq 0 ] && exit 0

# Comments and strings are blanked first: they may speak of clocks.
check='
BEGIN {
	why["a clock"] = "sl_clock_[nm]s|clock_gettime|gettimeofday|time|clock|timespec_get"
	why["a sleep"] = "nanosleep|clock_nanosleep|usleep|sleep"
	why["unseeded randomness"] = "s?rand|rand_r|s?random|[dlm]rand48|getrandom|arc4random"
	why["libm"] = "(exp|exp2|expm1|log|log2|log10|log1p|pow)[fl]?"
	why["printing"] = "v?f?printf|puts|fputs|putchar|perror"
	remedy["a clock"] = "take the time as an argument"
	remedy["a sleep"] = "arm a timer"
	remedy["unseeded randomness"] = "use a stream of sim/base/rng.h"
	remedy["libm"] = "use sl_exp and sl_log"
	remedy["printing"] = "return an error or a result; cli prints"
}
FNR == 1 { in_comment = 0 }
{
	text = $0
	code = ""
	while (text != "") {
		if (in_comment) {
			end = index(text, "*/")
			if (end == 0) break
			text = substr(text, end + 2)
			in_comment = 0
		} else if (match(text, /\/\*|\/\/|"([^"\\]|\\.)*"|\047([^\047\\]|\\.)*\047/)) {
			code = code substr(text, 1, RSTART - 1) " "
			token = substr(text, RSTART, RLENGTH)
			if (token == "//") break
			in_comment = token == "/*"
			text = substr(text, RSTART + RLENGTH)
		} else {
			code = code text
			break
		}
	}
	for (kind in why)
		if (match(code, "(^|[^A-Za-z0-9_.>])(" why[kind] ")[ \t]*\\(")) {
			name = substr(code, RSTART, RLENGTH - 1)
			gsub(/[^A-Za-z0-9_]/, "", name)
			printf "%s:%d: %s() is %s; %s\n", FILENAME, FNR, name, kind, remedy[kind]
			bad = 1
		}
}
END { exit bad }
'

find "${folders[@]}" -type f \( -name '*.c' -o -name '*.h' -o -name '*.def' \) -print0 | sort -z | xargs -0 -r awk "$check"
