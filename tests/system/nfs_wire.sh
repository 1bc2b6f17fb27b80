#!/bin/sh
# Every procedure on the wire, looked at by another program: no malformed packet, and each procedure of NFS, MOUNT and
# PORTMAP is called and answered.
. "${0%/*}/lib.sh"
need tshark tshark
need dumpcap wireshark-common

server_start "$SCRATCH/log" --dir="$SCRATCH/store" --export=/tank/vm
dumpcap -q -i lo -f "tcp port $NFS_PORT" -w "$SCRATCH/wire.pcapng" >"$SCRATCH/dumpcap" 2>&1 &
capture=$!
PIDS="$PIDS $capture"
wait_for 60 grep -q '^File:' "$SCRATCH/dumpcap" || skip "cannot capture on lo: $(tail -1 "$SCRATCH/dumpcap")"
"$BIN/system_nfs_every" "$NFS_PORT" /tank/vm >"$SCRATCH/client" 2>&1 || fail "$(cat "$SCRATCH/client")"

# Until the capture holds the last reply: PROC_UNAVAIL.
look() {
	tshark -r "$SCRATCH/wire.pcapng" -d "tcp.port==$NFS_PORT,rpc" "$@" 2>"$SCRATCH/tshark"
}
all_captured() {
	look -Y 'rpc.state_accept == 3' -T fields -e frame.number | grep -q .
}
wait_for 60 all_captured || fail "the capture is not complete: $(cat "$SCRATCH/tshark")"
kill -INT "$capture"
end_within 60 "$capture"

bad=$(look -Y '_ws.malformed || _ws.short || rpc.fragment.error' -T fields -e frame.number -e _ws.col.Info)
[ -z "$bad" ] || fail "malformed: $bad"
# Pairs of program and procedure that were answered.
look -Y 'rpc.msgtyp == 1' -T fields -e rpc.program -e rpc.procedure | sort -u >"$SCRATCH/answered"
for procedure in $(seq 0 21); do
	grep -q "^100003	$procedure\$" "$SCRATCH/answered" || fail "NFS $procedure was not decoded: $(cat "$SCRATCH/answered")"
done
# What changes things tells what they were before: the weak cache consistency of RFC 1813.
look -Y 'rpc.msgtyp == 1 && nfs.wcc_attr.size' -T fields -e rpc.program -e rpc.procedure | sort -u >"$SCRATCH/before"
for procedure in 2 7 8 9 10 11 12 13 14 15 21; do
	grep -q "^100003	$procedure\$" "$SCRATCH/before" || fail "NFS $procedure without attributes from before: $(cat "$SCRATCH/before")"
done
[ "$(wc -l <"$SCRATCH/before")" -eq 11 ] || fail "attributes from before where none belong: $(cat "$SCRATCH/before")"
for procedure in $(seq 0 5); do
	grep -q "^100005	$procedure\$" "$SCRATCH/answered" || fail "MOUNT $procedure was not decoded"
done
for procedure in 0 3 4; do
	grep -q "^100000	$procedure\$" "$SCRATCH/answered" || fail "PORTMAP $procedure was not decoded"
done
server_stop
