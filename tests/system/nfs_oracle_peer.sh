#!/bin/sh
# The oracle, qemu-img and nfs-cp against nfs-ganesha. Run by nfs_oracle.sh inside namespaces of its own.
. "${0%/*}/lib.sh"
. "${0%/*}/../lib/ganesha.sh"

leave() {
	umount -l "$SCRATCH/disk" "$SCRATCH/export" 2>/dev/null || true
	clean_up
}
trap leave EXIT
ip link set lo up
mkdir "$SCRATCH/export"
mount -t tmpfs tmpfs "$SCRATCH/export"
chmod 777 "$SCRATCH/export"
ganesha_start VFS "$SCRATCH/export" || fail "ganesha did not start: $(tail -3 "$SCRATCH/ganesha.log")"
url="nfs://$GANESHA_ADDRESS$SCRATCH/export"
for seed in 1 2 3; do
	mkdir -p "$SCRATCH/export/$seed"
	timeout 120 "$BIN/system_nfs_oracle" "$url/$seed" "$seed" 3000 2>"$SCRATCH/err" || fail "ganesha: $(cat "$SCRATCH/err")"
done
head -c 3000001 /dev/urandom >"$SCRATCH/random"
timeout 60 nfs-cp "$SCRATCH/random" "$url/random" >/dev/null || fail "ganesha: nfs-cp"
cmp "$SCRATCH/random" "$SCRATCH/export/random"

# QEMU's block layer, where it is installed: a sparse disk of 2 GiB, and a file that fio verifies through FUSE.
if qemu-img --help 2>/dev/null | grep -q '\<nfs\>'; then
	truncate -s 2G "$SCRATCH/sparse"
	for at in 0 700 2000; do
		dd if=/dev/urandom of="$SCRATCH/sparse" bs=1M count=4 seek="$at" conv=notrunc status=none
	done
	timeout 200 qemu-img convert -f raw -O raw "$SCRATCH/sparse" "$url/sparse.raw" || fail "ganesha: convert 2 GiB"
	timeout 200 qemu-img compare -f raw -F raw "$SCRATCH/sparse" "$url/sparse.raw" || fail "ganesha: compare 2 GiB"
	timeout 60 qemu-io -f raw -c 'write -P 0xa5 1M 64k' -c flush -c 'read -P 0xa5 1M 64k' "$url/sparse.raw" >"$SCRATCH/io" ||
		fail "ganesha: qemu-io: $(cat "$SCRATCH/io")"
	! grep -q 'verification failed' "$SCRATCH/io" || fail "ganesha: $(cat "$SCRATCH/io")"
else
	echo "skipped in part: QEMU has no nfs driver (Debian package qemu-block-extra)"
fi
if command -v qemu-storage-daemon >/dev/null && command -v fio >/dev/null && [ -w /dev/fuse ]; then
	truncate -s 24M "$SCRATCH/export/disk.raw"
	: >"$SCRATCH/disk"
	qemu-storage-daemon --blockdev "driver=nfs,node-name=net,server.type=inet,server.host=$GANESHA_ADDRESS,path=$SCRATCH/export/disk.raw" \
		--blockdev driver=raw,node-name=disk,file=net \
		--export "type=fuse,id=disk,node-name=disk,mountpoint=$SCRATCH/disk,writable=on,allow-other=off" >"$SCRATCH/qsd" 2>&1 &
	PIDS="$PIDS $!"
	wait_for 60 test -s "$SCRATCH/disk" || fail "ganesha: FUSE export: $(cat "$SCRATCH/qsd")"
	timeout 120 fio --name=verify --verify_state_save=0 --filename="$SCRATCH/disk" --size=24M --bs=16k --rw=randwrite --ioengine=psync --fsync=16 \
		--verify=crc32c --verify_fatal=1 --do_verify=1 --output="$SCRATCH/fio" || fail "ganesha: fio: $(tail -5 "$SCRATCH/fio")"
else
	echo "skipped in part: no qemu-storage-daemon, fio or /dev/fuse"
fi
echo "nfs-ganesha agrees too"
