#!/bin/bash
# Usage: check_format.sh [ROOT]
# Every C file is what clang-format would make of it.
set -eu

here=$(dirname "$(readlink -f "$0")")
root=${1:-$(dirname "$here")}
cd "$root"
"$here/project_files.sh" . '*.c' '*.h' | xargs -0 -r clang-format --dry-run --Werror
