# shellcheck shell=sh disable=SC2034,SC2154
# The storage VM: kernel and one initramfs, no root disk. OpenZFS, kernel nfsd, guest agent, and an init of our own.

label=storage-$SL_ZFS
shared='kernel.sh packages.sh vm.sh'
needs=zfs
stages='
10 fetch  downloading packages
10 tree   unpacking packages
15 pack   packing the initramfs
'
packages='linux-image-cloud-amd64 zfsutils-linux nfs-kernel-server rpcbind netbase qemu-guest-agent e2fsprogs fdisk
dash busybox-static'

# Install-time tools, and languages whose scripts nothing here runs.
except='perl.*|libperl.*|lib(number|text|file)-.*-perl|python3.*|libpython3.*|media-types|initramfs-tools.*|klibc.*|
libklibc|usrmerge|udev|dmsetup|linux-base|dpkg|tar|cpio|coreutils|passwd|adduser|ucf|sensible-utils|debconf|
libsemanage.*|libsepol.*|logsave|init-system-helpers|sysvinit-utils|lsb-base|libpam-.*|kmod|readline-common|
libsqlite3-0|debianutils|libdb5.3|libgdbm.*|keyutils'

modules='virtio_pci virtio_net virtio_console virtio_scsi virtio_blk virtio_rng sd_mod ext4 nfsd zfs'

recipe_facts() {
	echo "kernel $(ls "$work/tree/usr/lib/modules")"
	echo "zfs $(locked "$plan/zfs.lock" zfs-dkms)"
	echo "cmdline console=ttyS0 quiet panic=-1 mitigations=off random.trust_cpu=on"
}

stage_fetch() {
	room 700
	fetch "$plan/storage.lock"
}

stage_tree() {
	unpack "$plan/storage.lock" "$work/tree" "$(echo "$except" | tr -d '\n')"
	kernel=$(ls "$work/tree/usr/lib/modules")
	mkdir -p "$work/tree/usr/lib/modules/$kernel/extra"
	cp "$(built zfs)"/*.ko "$work/tree/usr/lib/modules/$kernel/extra"
}

stage_pack() {
	mkdir -p "$out"
	rm -rf "$work/rootfs"
	cp -a "$work/tree" "$work/rootfs"
	mv "$work"/rootfs/boot/vmlinuz-* "$out/vmlinuz"
	(cd "$work/rootfs" && rm -rf boot usr/lib/modules usr/lib/systemd usr/lib/udev usr/share/[!z]* usr/games \
		usr/lib/x86_64-linux-gnu/gconv usr/share/zsh var/cache var/lib/dpkg)
	# shellcheck disable=SC2086 # words
	kernel_put "$work/tree" "$work/rootfs" $modules
	install -D -m 644 "$here/vm.sh" "$work/rootfs/usr/lib/sloglab/vm.sh"
	install -m 755 "$here/storage/init" "$work/rootfs/init"
	install -m 755 "$here/storage/sl-storage" "$work/rootfs/usr/sbin/sl-storage"
	small_system "$work/rootfs"
	# The pool remembers which host used it last: always this one.
	printf '\125\210\100\001' >"$work/rootfs/etc/hostid"
	initramfs "$work/rootfs" "$out/initramfs"
}
