# shellcheck shell=sh disable=SC2154 # build.sh sets them
# The kernel, the modules an image needs, and initramfs archives. Source it.

# kernel_put TREE DEST MODULE...: the modules and what they depend on, from the unpacked TREE into DEST. busybox is
# static, so the tree's own runs here.
kernel_put() {
	tree=$1
	dest=$2
	shift 2
	version=$(ls "$tree/usr/lib/modules")
	from=$tree/usr/lib/modules/$version
	"$tree/usr/bin/busybox" depmod -b "$tree" "$version"
	mkdir -p "$dest/usr/lib/modules/$version"
	cp "$from"/modules.builtin* "$from/modules.order" "$dest/usr/lib/modules/$version"
	for module; do
		grep -q "/$module.ko" "$from/modules.builtin" && continue
		awk -v module="$module" -F '[: ]+' '
			{ name = $1; sub(/.*\//, "", name); sub(/\.ko$/, "", name); gsub(/-/, "_", name) }
			name == module { for (i = 1; i <= NF; i++) if ($i != "") print $i; found = 1 }
			END { exit !found }' "$from/modules.dep" || echo "no-module-$module"
	done | sort -u >"$dest.modules"
	tar -C "$from" -T "$dest.modules" -c | tar -x -C "$dest/usr/lib/modules/$version"
	"$tree/usr/bin/busybox" depmod -b "$dest" "$version"
	! grep '^no-module' "$dest.modules" || remedy "kernel $version lacks a module that images/*/recipe.sh names"
}

# initramfs DIR FILE: packs the folder; all belongs to root. Not compressed: under TCG the kernel's zstd costs more than
# QEMU's copying of three times the bytes (docs/vm-lab.md).
initramfs() {
	(cd "$1" && find . | LC_ALL=C sort | ./usr/bin/busybox cpio -o -H newc -R 0:0) >"$2"
}

# busybox_names DIR: busybox under all its names that are free.
busybox_names() {
	"$1/usr/bin/busybox" --list | while read -r applet; do
		[ -e "$1/usr/bin/$applet" ] || [ -e "$1/usr/sbin/$applet" ] || ln -s busybox "$1/usr/bin/$applet"
	done
	ln -sfn ../bin/busybox "$1/usr/sbin/modprobe" # the kernel calls it by this path
}

# small_system DIR: what maintainer scripts would have left behind, busybox, and a check
# that every program finds its libraries.
small_system() {
	(cd "$1" && mkdir -p dev proc sys run tmp root etc var/tmp var/log var/lib/nfs/sm var/lib/nfs/v4recovery &&
		chmod 1777 tmp var/tmp && touch var/lib/nfs/etab var/lib/nfs/rmtab)
	ln -sfn /run "$1/var/run"
	ln -sfn /proc/self/mounts "$1/etc/mtab"
	cat >"$1/etc/passwd" <<-TEXT
		root:x:0:0:root:/root:/bin/sh
		nobody:x:65534:65534:nobody:/:/bin/false
		_rpc:x:101:65534::/run/rpcbind:/bin/false
		statd:x:102:65534::/var/lib/nfs:/bin/false
	TEXT
	printf 'root:x:0:\nnogroup:x:65534:\n' >"$1/etc/group"
	printf 'passwd: files\ngroup: files\nhosts: files\nservices: files\nrpc: files\n' >"$1/etc/nsswitch.conf"
	printf '127.0.0.1 localhost\n' >"$1/etc/hosts"
	busybox_names "$1"
	# shellcheck disable=SC2016 # expanded inside
	inside "$1" sh -c 'for file in /usr/bin/* /usr/sbin/*; do
		[ -L "$file" ] || /lib64/ld-linux-x86-64.so.2 --list "$file" | grep "not found" | sed "s|^|$file:|"
	done 2>/dev/null; true' >"$1.missing" 2>/dev/null
	if [ -s "$1.missing" ]; then
		cat "$1.missing"
		remedy "$(head -n 1 "$1.missing" | tr -s '[:space:]' ' '); add its package to images/*/recipe.sh"
	fi
}
