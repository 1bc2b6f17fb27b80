# shellcheck shell=sh disable=SC2034,SC2154
# The guest's disk: ext4 over the whole disk, no partition table, label sloglab-guest. MariaDB with its data folder
# initialised here, at native speed, and the tables of both dialects of the load.

label=disk
shared='kernel.sh packages.sh vm.sh'
needs=
stages='
15 fetch    downloading packages
15 tree     unpacking packages
25 database initialising MariaDB and 100,000 rows
10 disk     writing the ext4 disk
'
packages='mariadb-server-core mariadb-client-core qemu-guest-agent libnfs13 libnbd0 libjansson4 libmariadb3 e2fsprogs
dash busybox-static'

except='perl.*|libperl.*|lib.*-perl|dpkg|tar|coreutils|usrmerge|debconf|passwd|adduser|libsemanage.*|libsepol.*|
init-system-helpers|libpam-.*|debianutils|libdb5.3|libgdbm.*|readline-common|logsave|gawk|ucf'

# Room for the largest published fileio workload (2 GiB of files) and a million rows; sparse.
disk_bytes=8589934592

recipe_inputs() {
	need mke2fs e2fsprogs
}

recipe_facts() {
	echo "mariadb $(locked "$plan/disk.lock" mariadb-server-core)"
	echo "bytes $disk_bytes"
}

stage_fetch() {
	room 1500
	fetch "$plan/disk.lock"
}

stage_tree() {
	unpack "$plan/disk.lock" "$work/tree" "$(echo "$except" | tr -d '\n')"
	(cd "$work/tree" && rm -rf boot usr/share/doc usr/share/man usr/share/info usr/share/locale usr/share/lintian \
		usr/share/bug usr/share/bash-completion usr/share/zoneinfo usr/lib/systemd usr/lib/x86_64-linux-gnu/gconv)
	small_system "$work/tree"
	install -D -m 644 "$here/vm.sh" "$work/tree/usr/lib/sloglab/vm.sh"
	install -m 755 "$here/disk/init" "$work/tree/usr/sbin/init"
	install -m 755 "$here/disk/sl-guest" "$work/tree/usr/sbin/sl-guest"
	mkdir -p "$work/tree/etc/mysql" "$work/tree/var/lib/mysql"
	cp "$here/disk/my.cnf" "$work/tree/etc/mysql/my.cnf"
	cp "$here/disk/tables.sql" "$work/tree/var/tables.sql"
}

stage_database() {
	rm -rf "$work/tree/var/lib/mysql"
	mkdir "$work/tree/var/lib/mysql"
	inside "$work/tree" mariadb-install-db --user=root --auth-root-authentication-method=normal --skip-test-db \
		--skip-name-resolve --cross-bootstrap
	# The last statement of the file shuts the server down; after a statement that fails it would run for ever.
	inside "$work/tree" sh -c 'mkdir -p /run/mysqld && exec timeout 600 mariadbd --user=root --skip-networking \
		--innodb-flush-log-at-trx-commit=0 --init-file=/var/tables.sql'
	inside "$work/tree" test -s /var/lib/mysql/sbtest/sbtest1.ibd
	rm "$work/tree/var/tables.sql"
}

# Nothing is left for the guest's kernel to initialise: that would be writes nobody asked for.
stage_disk() {
	mkdir -p "$out"
	rm -rf "${work:?}/tree/dev" "$work/tree/proc"
	mkdir "$work/tree/dev" "$work/tree/proc"
	rm -f "$out/disk.raw"
	truncate -s $disk_bytes "$out/disk.raw"
	mke2fs -q -F -t ext4 -L sloglab-guest -m 0 -N 65536 -J size=64 -U 510615b3-0000-4000-8000-736c6f676c61 \
		-E assume_storage_prezeroed=1,root_owner=0:0 -d "$work/tree" "$out/disk.raw"
}
