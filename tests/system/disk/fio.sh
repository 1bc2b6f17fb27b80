#!/bin/sh
# fio's nbd engine writes at random and verifies what it reads.
# shellcheck source=tests/system/disk/lib.sh
. "${0%/*}/lib.sh"
need fio fio
fio --enghelp 2>/dev/null | grep -qw nbd || skip "this fio has no nbd engine"

device plp 50us yes
device volatile 50us no
disks_start plp,size=32MiB volatile,size=32MiB hdd-7200-desktop=hdd,size=32MiB --dilate 0.5
ctl slow hdd 0.02
for name in plp volatile hdd; do
	timeout 120 fio --name=verify --ioengine=nbd --uri="$(uri $name)" --rw=randwrite --bssplit=512/20:4k/50:64k/30 \
		--size=32M --iodepth=16 --verify=crc32c --do_verify=1 --verify_fatal=1 --fsync=64 \
		--output=fio.log || fail "fio on $name: $(tail -20 fio.log)"
	! grep -qiE 'verify: bad|err= *[1-9]' fio.log || fail "fio on $name: $(tail -20 fio.log)"
done
disks_stop
