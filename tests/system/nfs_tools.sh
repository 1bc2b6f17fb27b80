#!/bin/sh
# libnfs's own programs against the datastore: list, copy in, copy out, compare, across a restart.
. "${0%/*}/lib.sh"
need nfs-ls libnfs-utils
need nfs-cp libnfs-utils
need nfs-cat libnfs-utils

server_start "$SCRATCH/log" --dir="$SCRATCH/store" --export=/tank/vm
url() {
	echo "nfs://127.0.0.1/tank/vm$1?$PORTS"
}
head -c 3000001 /dev/urandom >"$SCRATCH/random"
head -c 100 /dev/zero >"$SCRATCH/small"
: >"$SCRATCH/empty"
for name in random small empty; do
	timeout 60 nfs-cp "$SCRATCH/$name" "$(url "/$name")" >/dev/null || fail "copy $name in"
done
timeout 60 nfs-ls "$(url '')" >"$SCRATCH/list" || fail "list"
for name in random small empty; do
	grep -q " $name\$" "$SCRATCH/list" || fail "$name is not listed: $(cat "$SCRATCH/list")"
done
grep -q ' 3000001 random$' "$SCRATCH/list" || fail "wrong size: $(cat "$SCRATCH/list")"
timeout 60 nfs-cat "$(url /random)" >"$SCRATCH/back" || fail "cat"
cmp "$SCRATCH/random" "$SCRATCH/back"
server_stop

server_start "$SCRATCH/log" --dir="$SCRATCH/store" --export=/tank/vm
timeout 60 nfs-cp "$(url /random)" "$SCRATCH/again" >/dev/null || fail "copy out after a restart"
cmp "$SCRATCH/random" "$SCRATCH/again"
timeout 60 nfs-cat "$(url /none)" >/dev/null 2>&1 && fail "a file that is not there was read"
timeout 60 nfs-ls "nfs://127.0.0.1/other?$PORTS" >/dev/null 2>&1 && fail "a foreign export was mounted"
server_stop

# A URL without a directory: libnfs mounts "". (And takes the export "/" for one below that, which it then fails to
# mount, unless told not to look.)
server_start "$SCRATCH/log" --dir="$SCRATCH/root" --export=/
root="nfs://127.0.0.1/random?$PORTS&auto-traverse-mounts=0"
timeout 60 nfs-cp "$SCRATCH/random" "$root" >/dev/null || fail "copy into the root"
timeout 60 nfs-cat "$root" >"$SCRATCH/back" || fail "cat from the root"
cmp "$SCRATCH/random" "$SCRATCH/back"
server_stop
