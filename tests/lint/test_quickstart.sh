#!/bin/bash
# quickstart with stand-ins for everything it calls: which ends of the live run are failures.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

cp "$project/quickstart" "$tree"
put scripts/install_packages.sh '#!/bin/sh'
put bin/cmake '#!/bin/sh'
put build/release/bin/sloglab '#!/bin/sh' 'echo "run $2"' '[ "$3" = --html ] && exit' \
	'[ -z "$LIVE_PAGE" ] || echo page >"$6"' 'exit "$LIVE_STATUS"'
chmod +x "$tree/scripts/install_packages.sh" "$tree/bin/cmake" "$tree/build/release/bin/sloglab"
export PATH=$tree/bin:$PATH LIVE_PAGE LIVE_STATUS

# ends WITH LIVE_STATUS LIVE_PAGE: quickstart's exit code when the live run ends so.
ends() {
	local code=0
	LIVE_STATUS=$2 LIVE_PAGE=$3
	echo 'from an earlier run' >"$tree/report-live.html"
	"$tree/quickstart" >"$tree/log" 2>&1 || code=$?
	if [ "$code" -ne "$1" ]; then
		printf 'exit %d, not %d, when the live run ends with %d\n' "$code" "$1" "$2" >&2
		cat "$tree/log" >&2
		exit 1
	fi
}

ends 0 0 yes
grep -q "$tree/report.html.*$tree/report-live.html" "$tree/log"
grep -qx "For sloglab, .*: \\. $tree/build/release/env.sh" "$tree/log"
ends 0 1 yes # measured, not to be trusted
grep -q 'Open in a browser' "$tree/log"
ends 1 1 '' # failed
ends 130 130 '' # Ctrl-C
fails 'usage' "$tree/quickstart" now
