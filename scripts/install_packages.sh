#!/bin/bash
# Usage: install_packages.sh SECTION...    (sections of packages.txt)
# Installs the packages of the sections that are missing. Silent, and in no need of root, when nothing is.
set -eu

root=$(dirname "$(dirname "$(readlink -f "$0")")")

if [ $# -eq 0 ]; then
	echo "usage: install_packages.sh SECTION... (sections of packages.txt)" >&2
	exit 2
fi

# section_packages NAME: the packages of one section, without comments.
section_packages() {
	sed -e 's/#.*//' "$root/packages.txt" | awk -v want="[$1]" '
		/^\[/ { inside = ($1 == want); seen = seen || inside; next }
		inside && NF { print $1 }
		END { exit !seen }'
}

# What another package provides is there, too: npm comes with a nodejs from elsewhere, which Debian's npm would remove.
is_installed() {
	[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ] ||
		dpkg-query -W -f='${db:Status-Status} ${Provides}\n' 2>/dev/null |
		sed -n 's/^installed //p' | tr -d ' ' | tr , '\n' | sed 's/(.*//' | grep -qxF "$1"
}

missing=()
for section in "$@"; do
	if ! packages=$(section_packages "$section"); then
		echo "install_packages.sh: packages.txt has no section [$section]" >&2
		exit 2
	fi
	for package in $packages; do
		is_installed "$package" || missing+=("$package")
	done
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "packages are missing; as root: apt-get install ${missing[*]}" >&2
		exit 1
	fi
	as_root=(sudo)
fi

apt() {
	"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@"
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "installing ${#missing[@]} packages with apt-get: ${missing[*]}"
# Package lists may be absent or too old: fetch new ones only when the first attempt fails.
if ! apt install --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
	if ! apt update >"$log" 2>&1 || ! apt install --no-install-recommends "${missing[@]}" >"$log" 2>&1; then
		cat "$log" >&2
		echo "install_packages.sh: apt-get failed (its output is above)" >&2
		exit 1
	fi
fi
