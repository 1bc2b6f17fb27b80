#!/bin/bash
# Clients that send garbage, break off, or never read do no harm to one that works.
# shellcheck source=tests/system/disk/lib.sh
. "${0%/*}/lib.sh"
need nbdcopy libnbd-bin
device plp 100us yes
disks_start plp,size=64MiB --socket d/nbd.sock --port 0
port=$(sed -n 's,^nbd://127.0.0.1:\([0-9]*\)/plp$,\1,p' log)

# One client per case: a correct beginning of random length, then something else.
hostile() {
	local i fd prefix
	prefix='\0\0\0\3IHAVEOPT\0\0\0\7\0\0\0\11\0\0\0\3plp\0\0'
	for i in $(seq 1 60); do
		exec {fd}<>"/dev/tcp/127.0.0.1/$port" || return 1
		case $((i % 6)) in
		0) head -c $((i * 37)) /dev/urandom ;;
		1) printf '%b' "$prefix" && head -c 5000 /dev/urandom ;;
		2) printf '%b' "$prefix\\x25\\x60\\x95\\x13\\0\\0\\0\\1cookieee\\0\\0\\0\\0\\0\\0\\0\\0\\xff\\xff\\xff\\xff" && head -c 9000 /dev/zero ;;
		3) printf '%b' "$prefix\\x25\\x60\\x95\\x13\\0\\0\\0\\0cookieee\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\0\\0\\0\\2\\0" ;;
		4) printf '%b' '\0\0\0\3IHAVEOPT\0\0\0\7\xff\xff\xff\xff' ;;
		5) printf '%b' '\0\0\0\3IHAVE' ;;
		esac 1>&"$fd" 2>/dev/null
		exec {fd}>&-
	done
	# Asks for much and never reads.
	exec {fd}<>"/dev/tcp/127.0.0.1/$port" || return 1
	printf '%b' "$prefix" >&"$fd"
	for i in $(seq 1 40); do
		printf '%b' '\x25\x60\x95\x13\0\0\0\0cookieee\0\0\0\0\0\0\0\0\0\x20\0\0' >&"$fd"
	done
	sleep 5
	exec {fd}>&-
}

hostile >hostile.log 2>&1 &
PIDS="$PIDS $!"
head -c 64M /dev/urandom >raw
for i in 1 2 3; do
	timeout 60 nbdcopy raw "$(uri plp)" || fail "nbdcopy beside hostile clients"
	timeout 60 nbdcopy "$(uri plp)" back || fail "nbdcopy back"
	cmp raw back || fail "data differs"
done
timeout 60 "$audit" bench d/nbd.sock plp 16 1 >rate || fail "bench"
kill -0 "$SERVER" || fail "the server died: $(cat log)"
memory_kib=$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$SERVER/status")
[ "$memory_kib" -lt 700000 ] || fail "the server used $memory_kib KiB"

# More clients than it takes: some are turned away, it neither dies nor refuses the next.
fds=()
for i in $(seq 1 100); do
	exec {fd}<>"/dev/tcp/127.0.0.1/$port" && fds+=("$fd")
done
for fd in "${fds[@]}"; do
	exec {fd}>&-
done
wait_for 60 timeout 10 "$audit" bench d/nbd.sock plp 1 0.2 || fail "no room after the flood"
disks_stop
