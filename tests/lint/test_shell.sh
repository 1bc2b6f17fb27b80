#!/bin/bash
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
lint=$project/scripts/check_shell.sh

put good.sh '#!/bin/sh' 'echo "$1"'
put notes.txt '#!/bin/sh is how a script begins'
passes "$lint" "$tree"
put start '#!/bin/bash' 'cd $1' # no suffix: found by its first line
fails 'start:2:' "$lint" "$tree"
