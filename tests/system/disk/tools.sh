#!/bin/sh
# nbdinfo, nbdcopy, qemu-img and qemu-io on disks of several kinds, over unix sockets and TCP.
# shellcheck source=tests/system/disk/lib.sh
. "${0%/*}/lib.sh"
need nbdinfo libnbd-bin
need nbdcopy libnbd-bin
need qemu-img qemu-utils
need qemu-io qemu-utils

device plp 20us yes
device volatile 20us no
disks_start plp,size=64MiB volatile=v1,size=64MiB hdd-7200-desktop=hdd,size=64MiB null,size=64MiB --socket d/nbd.sock --port 0 --dilate 0.1
tcp=$(sed -n 's,^\(nbd://.*\)/plp$,\1,p' log)

timeout 20 nbdinfo --list "$(uri '')" >list || fail "nbdinfo --list"
[ "$(grep -c '^export=' list)" -eq 4 ] || fail "not four exports: $(cat list)"
timeout 20 nbdinfo --json "$(uri hdd)" >info || fail "nbdinfo"
grep -q '"is_rotational": true' info || fail "the hard disk does not rotate: $(cat info)"
grep -q '"can_multi_conn": true' info || fail "no multi-conn: $(cat info)"
[ "$(timeout 20 nbdinfo --size "$(uri '')")" -eq 67108864 ] || fail "size of the default export"
expect_rc 1 timeout 20 nbdinfo "$(uri absent)"

head -c 33000000 /dev/urandom >raw
truncate -s 64M raw
for name in plp v1 hdd null; do
	timeout 120 nbdcopy --flush raw "$(uri $name)" || fail "nbdcopy to $name"
	timeout 120 nbdcopy "$(uri $name)" back || fail "nbdcopy from $name"
	cmp raw back || fail "$name: what comes back differs"
	# The second half was never written; the file is as sparse as what it holds.
	timeout 20 nbdinfo --map "$(uri $name)" >map || fail "nbdinfo --map"
	grep -q 'hole,zero' map || fail "$name: no hole: $(cat map)"
	timeout 20 qemu-img map --output=json -f raw "$(uri $name)" >stretches || fail "qemu-img map"
	cmp raw "d/$name.img" || fail "$name: flushed, but not in its file"
	[ "$(du -k "d/$name.img" | cut -f1)" -lt 40000 ] || fail "$name: its file is not sparse"
done

qemu-img convert -f raw -O qcow2 raw disk.qcow2
for target in "$(uri plp)" "$(uri v1)" "$tcp/hdd"; do
	timeout 120 qemu-img convert -n -f qcow2 -O raw disk.qcow2 "$target" || fail "convert to $target"
	timeout 120 qemu-img compare -f qcow2 -F raw disk.qcow2 "$target" || fail "compare $target"
	timeout 120 qemu-io -f raw -c 'write -P 0xa5 1M 64k' -c 'write -f -P 0xa6 1234567 1000' -c flush \
		-c 'read -P 0xa5 1M 64k' -c 'read -P 0xa6 1234567 1000' -c 'discard 1M 64k' -c 'read -P 0 1M 64k' \
		-c 'write -z 2M 1M' -c 'read -P 0 2M 1M' -c 'write -z -u 4M 1M' -c 'read -P 0 4M 1M' \
		-c 'aio_write -P 7 8M 1M' -c 'aio_write -P 8 9M 1M' -c aio_flush -c 'read -P 7 8M 1M' -c 'read -P 8 9M 1M' \
		"$target" >io 2>&1 || fail "qemu-io: $(cat io)"
	! grep -qE 'verification failed|failed:' io || fail "qemu-io on $target: $(cat io)"
done
ctl status >told
[ "$(grep -c ' errors 0 ' told)" -eq 4 ] || fail "errors: $(cat told)"
disks_stop
for name in nbd control; do
	[ ! -e d/$name.sock ] || fail "$name.sock was left"
done
