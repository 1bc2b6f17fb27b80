#!/bin/bash
# Usage: check_shell.sh [ROOT]
# Runs shellcheck over the project's shell scripts, those without a suffix (quickstart, check) included.
set -eu

here=$(dirname "$(readlink -f "$0")")
root=${1:-$(dirname "$here")}
cd "$root"

scripts=()
while IFS= read -r -d '' file; do
	if IFS= read -r first <"$file" && [[ $first =~ ^#!.*[/\ ](ba|da)?sh( |$) ]]; then
		scripts+=("$file")
	fi
done < <("$here/project_files.sh" . '*' | grep -zvE '\.(c|h|def|yaml|json|md|txt|cmake|html)$')
[ ${#scripts[@]} -eq 0 ] && exit 0
shellcheck -x -f gcc "${scripts[@]}"
