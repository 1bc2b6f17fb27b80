#!/bin/sh
# QEMU's block layer over NFS: convert, compare, write, read. QEMU asks the portmapper on port 111 of the server's
# address, so the server gets a loopback address of its own; that takes root.
. "${0%/*}/lib.sh"
need qemu-img qemu-utils
need qemu-io qemu-utils
[ "$(id -u)" -eq 0 ] || skip "port 111 needs root"
qemu-img --help | grep -q '\<nfs\>' || skip "QEMU has no nfs driver (Debian package qemu-block-extra)"

address=127.77.$(($$ / 250 % 250 + 1)).$(($$ % 250 + 1))
server_start "$SCRATCH/log" --dir="$SCRATCH/store" --bind="$address" --portmap-port=111 --nfs-port=2049 --export=/tank
url="nfs://$address/tank"
head -c 5000192 /dev/urandom >"$SCRATCH/raw"

timeout 120 qemu-img convert -f raw -O raw "$SCRATCH/raw" "$url/copy.raw" || fail "convert to raw"
timeout 120 qemu-img compare -f raw -F raw "$SCRATCH/raw" "$url/copy.raw" || fail "compare raw"
timeout 120 qemu-img convert -f raw -O qcow2 "$SCRATCH/raw" "$url/copy.qcow2" || fail "convert to qcow2"
timeout 120 qemu-img compare -f raw -F qcow2 "$SCRATCH/raw" "$url/copy.qcow2" || fail "compare qcow2"
timeout 120 qemu-img check "$url/copy.qcow2" || fail "check"
timeout 120 qemu-img create -f raw "$url/disk.raw" 64M >/dev/null || fail "create"
timeout 120 qemu-io -f raw -c 'write -P 0xa5 1M 64k' -c 'flush' -c 'read -P 0xa5 1M 64k' -c 'read -P 0 2M 64k' \
	"$url/disk.raw" >"$SCRATCH/io" || fail "qemu-io: $(cat "$SCRATCH/io")"
! grep -q 'verification failed' "$SCRATCH/io" || fail "$(cat "$SCRATCH/io")"
# A disk of 2 GiB with 48 MiB in it: the holes stay holes.
truncate -s 2G "$SCRATCH/sparse"
for at in 0 700 1400 2000; do
	dd if=/dev/urandom of="$SCRATCH/sparse" bs=1M count=12 seek="$at" conv=notrunc status=none
done
timeout 200 qemu-img convert -f raw -O raw "$SCRATCH/sparse" "$url/sparse.raw" || fail "convert 2 GiB"
timeout 200 qemu-img compare -f raw -F raw "$SCRATCH/sparse" "$url/sparse.raw" || fail "compare 2 GiB"
used=$(du -sm "$SCRATCH/store" | cut -f 1)
[ "$used" -lt 200 ] || fail "the sparse disk takes $used MiB"
# What the guest flushed survives kill -9.
server_kill
server_start "$SCRATCH/log" --dir="$SCRATCH/store" --bind="$address" --portmap-port=111 --nfs-port=2049 --export=/tank
timeout 120 qemu-io -f raw -c 'read -P 0xa5 1M 64k' -c 'write -P 1 3M 4k' -c 'flush' "$url/disk.raw" >"$SCRATCH/io" ||
	fail "$(cat "$SCRATCH/io")"
! grep -q 'verification failed' "$SCRATCH/io" || fail "flushed data lost: $(cat "$SCRATCH/io")"
server_stop
grep -q 'commits [1-9]' "$SCRATCH/log" || fail "QEMU sent no COMMIT: $(cat "$SCRATCH/log")"
