#!/bin/sh
# A file that fio writes and verifies through the guest's path without a guest: a FUSE file on QEMU's block layer, its NFS
# driver, `sloglab serve`. Verified again after the datastore was killed and started anew.
. "${0%/*}/lib.sh"
need qemu-storage-daemon qemu-system-common
need fio fio
[ "$(id -u)" -eq 0 ] || skip "port 111 and FUSE need root"
[ -w /dev/fuse ] || skip "no /dev/fuse"
# In a mount namespace of its own: nothing stays mounted, whatever happens.
if [ -z "${FUSE_ALONE:-}" ]; then
	unshare --mount --propagation private true 2>/dev/null || skip "no mount namespace of our own here"
	rm -rf "$SCRATCH"
	FUSE_ALONE=1 exec unshare --mount --propagation private "$0"
fi
qemu-img --help | grep -q '\<nfs\>' || skip "QEMU has no nfs driver (Debian package qemu-block-extra)"

address=127.78.$(($$ / 250 % 250 + 1)).$(($$ % 250 + 1))
file="$SCRATCH/disk"
log="$SCRATCH/serve"
: >"$file"

# The datastore of the quick scenario's box with a SLOG; its disks take their time.
serve_start() {
	: >"$log"
	"$BIN/sloglab" serve quick --variant s3700 --dir "$SCRATCH/store" --bind "$address" --quiet >"$log" 2>&1 &
	SERVER=$!
	PIDS="$PIDS $SERVER"
	wait_for 60 grep -q '^ready' "$log" || fail "serve: $(cat "$log")"
}

chain_start() {
	qemu-storage-daemon --blockdev "driver=nfs,node-name=net,server.type=inet,server.host=$address,path=/tank/vm/disk.raw" \
		--blockdev driver=raw,node-name=disk,file=net \
		--export "type=fuse,id=disk,node-name=disk,mountpoint=$file,writable=on,allow-other=off" >"$SCRATCH/qsd" 2>&1 &
	CHAIN=$!
	PIDS="$PIDS $CHAIN"
	wait_for 60 test -s "$file" || fail "FUSE export: $(cat "$SCRATCH/qsd")"
}

chain_stop() {
	kill "$CHAIN"
	end_within 60 "$CHAIN"
}

fio_run() {
	timeout 120 fio --name=verify --verify_state_save=0 --filename="$file" --size=24M --bs=16k --rw=randwrite --ioengine=psync --fsync=16 \
		--verify=crc32c --verify_fatal=1 --randseed=7 --output="$SCRATCH/fio" "$@" || fail "fio: $(tail -5 "$SCRATCH/fio")"
}

serve_start
timeout 60 qemu-img create -q -f raw "nfs://$address/tank/vm/disk.raw" 24M || fail "create"
chain_start
fio_run --do_verify=1
chain_stop
server_kill
serve_start
chain_start
fio_run --verify_only=1
chain_stop
server_stop
