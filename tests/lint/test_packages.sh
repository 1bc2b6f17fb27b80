#!/bin/bash
# install_packages.sh with stand-ins for dpkg-query, apt-get, id and sudo that write down how they were called.
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh" "$1"

mkdir "$tree/scripts"
cp "$project/scripts/install_packages.sh" "$tree/scripts"
put packages.txt '[build]' '# a comment' 'alpha # why' '' 'beta' '[test]' 'gamma'
put bin/dpkg-query '#!/bin/sh' 'for package; do :; done' "case \$package in -f*) cat $tree/provided; exit ;; esac" \
	"grep -qx \"\$package\" $tree/installed && printf installed"
put bin/apt-get '#!/bin/sh' "echo \"\$*\" >>$tree/calls" "[ -e $tree/lists ] || [ \"\$3\" = update ] || exit 100" \
	"[ \"\$3\" != update ] || touch $tree/lists"
put bin/id '#!/bin/sh' 'echo "$FAKE_UID"'
chmod +x "$tree"/bin/*
export PATH=$tree/bin:$PATH FAKE_UID=0
install=$tree/scripts/install_packages.sh

# expect_calls LINE...: what apt-get was asked since the last time.
expect_calls() {
	if [ "$(cat "$tree/calls")" != "$(printf '%s\n' "$@")" ]; then
		printf 'apt-get was called so:\n%s\n' "$(cat "$tree/calls")" >&2
		exit 1
	fi
	rm "$tree/calls"
}

# All there: silent, and nobody is asked for root.
printf '%s\n' alpha beta gamma >"$tree/installed"
: >"$tree/provided"
FAKE_UID=1000 passes "$install" build test

# What another package provides is there; what one provides that was removed is not.
printf '%s\n' alpha beta >"$tree/installed"
echo 'installed delta (= 2), gamma' >"$tree/provided"
FAKE_UID=1000 passes "$install" build test
echo 'config-files gamma' >"$tree/provided"
[ "$("$install" test)" = "installing 1 packages with apt-get: gamma" ]
rm "$tree/calls"
rm "$tree/lists"

# Only what is missing, in one line; lists are fetched only when the first attempt fails.
echo alpha >"$tree/installed"
[ "$("$install" build)" = "installing 1 packages with apt-get: beta" ]
expect_calls '-q -y install --no-install-recommends beta' '-q -y update' '-q -y install --no-install-recommends beta'
"$install" build test >"$tree/log"
expect_calls '-q -y install --no-install-recommends beta gamma'

# Without root: through sudo, or told what to do.
put bin/sudo '#!/bin/sh' "echo sudo >>$tree/calls" 'exec "$@"'
chmod +x "$tree/bin/sudo"
FAKE_UID=1000 "$install" build >"$tree/log"
expect_calls sudo '-q -y install --no-install-recommends beta'
rm "$tree/bin/sudo"
if ! PATH=/usr/bin:/bin command -v sudo >"$tree/log"; then
	FAKE_UID=1000 fails 'as root: apt-get install beta' "$install" build
fi

fails 'no section [nonsense]' "$install" nonsense
fails 'usage' "$install"

# The project's own list has the sections that its scripts ask for, and only words that can be package names.
passes bash -c "! sed 's/#.*//' '$project/packages.txt' | grep -nvE '^(\[[a-z]+\]|[a-z0-9][a-z0-9.+-]+)?[[:space:]]*$'"
