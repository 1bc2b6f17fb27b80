# shellcheck shell=sh disable=SC2034,SC2154
# OpenZFS kernel modules for the cloud kernel, compiled in a tree of Debian's own compiler and headers: zfs-dkms
# carries the source; its configure and make are called without dkms, so that they run on all cores and an
# interrupted make goes on where it was.

label=zfs-$SL_ZFS
needs=
stages='
15 fetch      downloading compiler and source
10 tree       unpacking compiler and source
250 configure OpenZFS asks what the kernel offers
200 compile   compiling OpenZFS
2 collect     collecting the modules
'

# perl and libc6-dev: configure calls both.
packages='linux-headers-cloud-amd64 gcc make libc6-dev perl dash bash coreutils mawk sed grep findutils diffutils tar
gzip xz-utils kmod hostname file zfs-dkms!'

recipe_facts() {
	echo "zfs $(locked "$plan/zfs.lock" zfs-dkms)"
	echo "kernel $(ls "$work/tree/lib/modules")"
}

stage_fetch() {
	room 2500
	fetch "$plan/zfs.lock"
}

stage_tree() {
	unpack "$plan/zfs.lock" "$work/tree"
	mv "$work"/tree/usr/src/zfs-* "$work/tree/zfs"
}

stage_configure() {
	kernel=/lib/modules/$(ls "$work/tree/lib/modules")
	inside "$work/tree" sh -c "cd /zfs && exec env TEST_JOBS=$(nproc) ./configure --prefix=/usr \
		--with-config=kernel --with-linux=$kernel/source --with-linux-obj=$kernel/build"
}

# Each question is a small module; those that compile leave two objects: three for two questions, all told.
part_configure() {
	questions=$(grep -o 'build/[a-z0-9_]*/[a-z0-9_]*\.c' "$work/tree/zfs/configure" | sort -u | grep -vc _license)
	echo $(($(find "$work/tree/zfs/build" -name '*.o' | wc -l) * 100 * 2 / (questions * 3)))
}

stage_compile() {
	inside "$work/tree" make -C /zfs "-j$(nproc)"
}

part_compile() {
	sources=$(find "$work/tree/zfs/module" -name '*.[cS]' | grep -vc freebsd)
	echo $(($(find "$work/tree/zfs/module" -name '*.o' | wc -l) * 100 / sources))
}

stage_collect() {
	inside "$work/tree" sh -c "cd /zfs/module && find . -name '*.ko' -exec strip --strip-debug {} +"
	mkdir -p "$out"
	find "$work/tree/zfs/module" -name '*.ko' -exec cp -t "$out" {} +
	[ -e "$out/zfs.ko" ] && [ -e "$out/spl.ko" ]
}
