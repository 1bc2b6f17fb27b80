# shellcheck shell=sh
# nfs-ganesha as the other server: in a network and a mount namespace of our own, with an rpcbind of its own. Source
# it inside them (unshare -m -n), with SCRATCH, PIDS and wait_for SECONDS COMMAND... set.
# GANESHA_PLUGINS is where its FSALs are.

: "${GANESHA_PLUGINS:=$(echo /usr/lib/*/ganesha)}"

listening() {
	ss -Hltn "sport = :$1" | grep -q .
}

# ganesha_missing FSAL: says why it cannot run here, or nothing.
ganesha_missing() {
	case $1 in
	MEM) ganesha_package=nfs-ganesha-mem ganesha_library=libfsalmem.so ;;
	*) ganesha_package=nfs-ganesha-vfs ganesha_library=libfsalvfs.so ;;
	esac
	[ "$(id -u)" -eq 0 ] || { echo "not root" && return; }
	command -v ganesha.nfsd >/dev/null || { echo "nfs-ganesha is not installed" && return; }
	[ -e "$GANESHA_PLUGINS/$ganesha_library" ] || { echo "$ganesha_package is not installed" && return; }
	command -v rpcbind >/dev/null || { echo "rpcbind is not installed" && return; }
	command -v ip >/dev/null || echo "iproute2 is not installed"
}

# ganesha_start FSAL EXPORT: sets GANESHA (its process) and GANESHA_ADDRESS. It asks getaddrinfo for its address, which
# wants one beside 127.0.0.1.
ganesha_start() {
	GANESHA_ADDRESS=10.99.0.1
	ip addr add "$GANESHA_ADDRESS/32" dev lo
	mount -t tmpfs tmpfs /run
	mkdir -p /run/ganesha "$SCRATCH/recovery"
	rpcbind -f >/dev/null 2>&1 &
	PIDS="$PIDS $!"
	wait_for 20 listening 111 || return 1
	cat >"$SCRATCH/ganesha.conf" <<-CONF
		NFS_CORE_PARAM { Bind_addr = $GANESHA_ADDRESS; Protocols = 3; NFS_Port = 2049; MNT_Port = 20048;
			Enable_NLM = false; Enable_RQUOTA = false; Plugins_Dir = "$GANESHA_PLUGINS"; }
		NFSV4 { Graceless = true; RecoveryRoot = "$SCRATCH/recovery"; }
		MEM { Inode_Size = 0x200000; }
		EXPORT { Export_Id = 1; Path = $2; Pseudo = $2; Protocols = 3; Transports = TCP;
			Access_Type = RW; Squash = None; SecType = sys, none; FSAL { Name = $1; } }
	CONF
	ganesha.nfsd -F -f "$SCRATCH/ganesha.conf" -L "$SCRATCH/ganesha.log" -p "$SCRATCH/ganesha.pid" >/dev/null 2>&1 &
	GANESHA=$!
	PIDS="$PIDS $GANESHA"
	wait_for 20 listening 2049 && wait_for 20 listening 20048
}
