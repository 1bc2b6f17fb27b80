# shellcheck shell=sh disable=SC2034,SC2154
# The guest VM: kernel, an initramfs that finds the disk and carries sloglab-load, and the disk.

label=guest
shared='kernel.sh packages.sh vm.sh'
needs=disk
stages='
5 fetch downloading the kernel
5 pack  packing the initramfs
'
packages='linux-image-cloud-amd64 busybox-static!'
modules='virtio_pci virtio_net virtio_console virtio_scsi virtio_blk virtio_rng sd_mod ext4'

recipe_inputs() {
	need debugfs e2fsprogs
	[ -x "${SL_LOAD:-}" ] || die "image guest: sloglab-load not found beside sloglab; build it: cmake --build --preset release"
	sha256sum <"$SL_LOAD"
}

recipe_facts() {
	echo "kernel $(ls "$work/tree/usr/lib/modules")"
	echo "cmdline console=ttyS0 quiet panic=-1 mitigations=off random.trust_cpu=on"
}

stage_fetch() {
	grep -E '^(linux-image|busybox)' "$plan/guest.lock" >"$work/lock"
	fetch "$work/lock"
}

# libraries: those of sloglab-load must be on the disk; a build with sanitizers needs others.
libraries() {
	ldd "$SL_LOAD" | awk '$2 == "=>" { print $1 }' | while read -r library; do
		debugfs -R "stat /usr/lib/x86_64-linux-gnu/$library" "$(built disk)/disk.raw" 2>&1 | grep -q '^Inode' ||
			remedy "$SL_LOAD needs $library, which the guest has not; use the build of preset release"
	done
}

stage_pack() {
	libraries
	mkdir -p "$out" "$work/rootfs"
	unpack "$work/lock" "$work/tree"
	mv "$work"/tree/boot/vmlinuz-* "$out/vmlinuz"
	mkdir -p "$work/rootfs/usr/bin" "$work/rootfs/usr/sbin" "$work/rootfs/usr/lib"
	ln -sfn usr/bin usr/sbin usr/lib "$work/rootfs"
	cp "$work/tree/usr/bin/busybox" "$work/rootfs/usr/bin/busybox"
	# shellcheck disable=SC2086 # words
	kernel_put "$work/tree" "$work/rootfs" $modules
	busybox_names "$work/rootfs"
	mkdir -p "$work/rootfs/dev" "$work/rootfs/proc" "$work/rootfs/sys" "$work/rootfs/run" "$work/rootfs/disk"
	install -D -m 644 "$here/vm.sh" "$work/rootfs/usr/lib/sloglab/vm.sh"
	install -m 755 "$here/guest/init" "$work/rootfs/init"
	install -m 755 "$SL_LOAD" "$work/rootfs/sloglab-load"
	initramfs "$work/rootfs" "$out/initramfs"
	ln -f "$(built disk)/disk.raw" "$out/disk.raw"
}
