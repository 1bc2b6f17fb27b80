#!/bin/sh
# The oracle, qemu-img and nfs-cp against nfs-ganesha. Run by nfs_oracle.sh inside namespaces of its own.
. "${0%/*}/lib.sh"
. "${0%/*}/../lib/ganesha.sh"

leave() {
	umount -l "$SCRATCH/export" 2>/dev/null || true
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
echo "nfs-ganesha agrees too"
