#!/bin/sh
# What asks a portmapper finds the export: showmount and rpcinfo (UDP first), as Proxmox's NFS plug-in does before it
# attaches, and libnfs's discovery (TCP). In a network of its own, where port 111 is free and nobody's privilege.
if [ "${1:-}" != inside ]; then
	unshare -rn true 2>/dev/null || { echo "skipped: no namespaces here (unshare -rn)"; exit 77; }
	exec unshare -rn "$0" inside
fi
. "${0%/*}/lib.sh"
PATH=$PATH:/usr/sbin:/sbin
need showmount nfs-common
need rpcinfo rpcbind
need nfs-ls libnfs-utils
need ip iproute2
ip link set lo up || skip "lo cannot be set up in a network of its own"
ip address add 10.9.8.7/24 broadcast 10.9.8.255 dev lo

server_start "$SCRATCH/log" --dir="$SCRATCH/store" --export=/tank/vm --bind=0.0.0.0 --portmap-port=111
# asks WORDS COMMAND...: ends with 0 and prints the words.
asks() {
	words=$1
	shift
	timeout 60 "$@" >"$SCRATCH/out" 2>"$SCRATCH/err" || fail "$*: $(cat "$SCRATCH/out" "$SCRATCH/err")"
	grep -q "$words" "$SCRATCH/out" || fail "$*: $(cat "$SCRATCH/out")"
}
for host in 127.0.0.1 10.9.8.7; do
	asks '^/tank/vm (everyone)$' showmount --no-headers --exports "$host"
	asks '^All mount points' showmount -a "$host"
	asks "^ *100000 *2 *udp *111 " rpcinfo -p "$host"
	asks "^ *100003 *3 *tcp *$NFS_PORT " rpcinfo -p "$host"
	asks "^ *100005 *3 *tcp *$MOUNT_PORT " rpcinfo -p "$host"
	asks 'program 100000 version 2 ready' rpcinfo -u "$host" 100000 2
	asks 'program 100003 version 3 ready' rpcinfo -T tcp "$host" nfs 3
	asks "^nfs://$host/tank/vm\$" nfs-ls -D "nfs://$host"
	asks 'bytes free' nfs-ls -s "nfs://$host/tank/vm"
	# With a slash libnfs mounts the server's root, and lists what is in there: the way to the export.
	asks '^dr-xr-xr-x .* tank$' nfs-ls -D "nfs://$host/"
	[ "$(wc -l <"$SCRATCH/out")" -eq 1 ] || fail "not one name in the root: $(cat "$SCRATCH/out")"
	asks '^drwx.* vm$' nfs-ls -D "nfs://$host/tank"
	asks '^dr-xr-xr-x .* tank$' nfs-ls -R "nfs://$host/"
	asks '^drwx.* tank/vm$' nfs-ls -R "nfs://$host/"
done
# What is copied in at the end of that way is in the export; nothing is made on it.
echo "found" >"$SCRATCH/file"
timeout 60 nfs-cp "$SCRATCH/file" "nfs://127.0.0.1/tank/vm/file" >/dev/null || fail "copy in"
asks '^-rw.* tank/vm/file$' nfs-ls -R "nfs://127.0.0.1/"
asks '^found$' nfs-cat "nfs://127.0.0.1/tank/vm/file"
expect_rc 10 timeout 60 nfs-cp "$SCRATCH/file" "nfs://127.0.0.1/tank/other"
expect_rc 255 timeout 60 nfs-ls "nfs://127.0.0.1/other"
# Only what is registered is found: no NFS over UDP.
timeout 60 rpcinfo -u 127.0.0.1 nfs 3 >"$SCRATCH/out" 2>&1 && fail "NFS over UDP: $(cat "$SCRATCH/out")"
"$BIN/system_datagrams" 111 || fail "datagrams"
server_stop

# The port taken by another portmapper is named.
server_start "$SCRATCH/log" --dir="$SCRATCH/store" --portmap-port=111
expect_rc 1 "$BIN/system_nfsd" --dir="$SCRATCH/other" --portmap-port=111
grep -q 'portmap: port 127.0.0.1:111: already in use' "$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"
server_stop
