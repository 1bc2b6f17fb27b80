#!/bin/sh
# A full disk, and a full modelled pool, are told as such (ENOSPC); the server lives on, and goes on when there is room.
. "${0%/*}/lib.sh"
need nfs-cp libnfs-utils

# fill DIR ARGS...: writes until it is full, removes, writes again.
fill() {
	dir=$1
	shift
	server_start "$SCRATCH/log" --dir="$dir" "$@"
	url="nfs://127.0.0.1"
	tail="?$PORTS&auto-traverse-mounts=0"
	timeout 60 nfs-cp "$SCRATCH/small" "$url/small$tail" >/dev/null || fail "a small file"
	timeout 60 nfs-cp "$SCRATCH/large" "$url/large$tail" >"$SCRATCH/out" 2>&1 && fail "16 MiB went into 8 MiB"
	timeout 60 nfs-cat "$url/small$tail" >"$SCRATCH/back" || fail "cat"
	cmp "$SCRATCH/small" "$SCRATCH/back"
	# Full to the last block: still names can go, and come.
	# (libnfs forgets to free a write that failed.)
	expect_rc 1 env ASAN_OPTIONS=detect_leaks=0 timeout 60 "$BIN/sloglab-load" syncwrite --url="$url/more$tail" --file-total=16MiB \
		--block=64KiB --time=20s
	one_line "$SCRATCH/err"
	timeout 60 "$BIN/system_durability" "$url/large$tail" remove || fail "remove"
	timeout 60 "$BIN/system_durability" "$url/more$tail" remove || fail "remove"
	timeout 60 nfs-cp "$SCRATCH/small" "$url/again$tail" >/dev/null || fail "no room after the removal"
	server_stop
}

head -c 1000000 /dev/urandom >"$SCRATCH/small"
head -c 16000000 /dev/urandom >"$SCRATCH/large"
fill "$SCRATCH/pool" --size=8MiB
if [ "${SL_FULL_INSIDE:-}" = 1 ]; then
	mkdir "$SCRATCH/disk"
	trap 'umount -l "$SCRATCH/disk"; clean_up' EXIT
	mount -t tmpfs -o size=8m tmpfs "$SCRATCH/disk"
	fill "$SCRATCH/disk/store"
elif [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
	SL_FULL_INSIDE=1 unshare -m "$0"
else
	echo "skipped in part: not tried with a full disk: mounting one needs root"
fi
