#!/bin/sh
# Clients that send garbage, hang up, half-close or never read do no harm to one that works. Ports in use, a folder in
# use, and too many connections are told in one line or borne.
. "${0%/*}/lib.sh"

server_start "$SCRATCH/log" --dir="$SCRATCH/store" --connections=8
url="nfs://127.0.0.1/good?$PORTS"
"$BIN/system_hostile" "$NFS_PORT" 3 >"$SCRATCH/hostile" 2>&1 &
hostile=$!
PIDS="$PIDS $hostile"
expect_rc 0 timeout 60 "$BIN/sloglab-load" syncwrite --url="$url" --time=3s --depth=8 --json=-
ops=$(sed -n 's/.*"operations": \([0-9]*\).*/\1/p' "$SCRATCH/out")
[ "$ops" -gt 100 ] || fail "only $ops writes beside hostile clients"
end_within 60 "$hostile"
[ "$rc" -eq 0 ] || fail "hostile client: $(cat "$SCRATCH/hostile")"
kill -0 "$SERVER" || fail "the server died: $(cat "$SCRATCH/log")"

# Fewer descriptors than clients: some are turned away, the server neither dies nor spins.
old=$SERVER
server_start "$SCRATCH/few" --dir="$SCRATCH/few.d" --connections=100
prlimit --pid="$SERVER" --nofile=24:24
"$BIN/system_hostile" "$NFS_PORT" 1 20 >"$SCRATCH/hostile" 2>&1 || fail "hostile client: $(cat "$SCRATCH/hostile")"
expect_rc 0 timeout 60 "$BIN/sloglab-load" syncwrite --url="nfs://127.0.0.1/x?$PORTS" --max-requests=10
server_stop
SERVER=$old
log=$SCRATCH/log
read -r _ NFS_PORT _ <"$log"

# Who only holds the line, dawdles or does not listen is hung up on, and the others go on.
server_start "$SCRATCH/slow" --dir="$SCRATCH/slow.d" --idle=1500ms --stall=1s
for how in idle loris deaf huge; do
	"$BIN/system_hostile" "$NFS_PORT" 20 "$how" >"$SCRATCH/hostile" 2>&1 || fail "$(cat "$SCRATCH/hostile")"
done
expect_rc 0 timeout 60 "$BIN/sloglab-load" syncwrite --url="nfs://127.0.0.1/x?$PORTS" --time=3s
server_stop
SERVER=$old
log=$SCRATCH/log
read -r _ NFS_PORT _ <"$log"

# The port, then the folder, is taken.
expect_rc 1 timeout 20 "$BIN/system_nfsd" --dir="$SCRATCH/other" --nfs-port="$NFS_PORT"
one_line "$SCRATCH/err"
grep -q "$NFS_PORT: already in use; .*another port" "$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"
expect_rc 1 timeout 20 "$BIN/system_nfsd" --dir="$SCRATCH/store"
one_line "$SCRATCH/err"
grep -q "already in use by another server" "$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"
expect_rc 1 timeout 20 "$BIN/system_nfsd" --dir=/usr
one_line "$SCRATCH/err"
expect_rc 1 timeout 20 "$BIN/system_nfsd" --dir="$SCRATCH/third" --bind=localhorst
one_line "$SCRATCH/err"
expect_rc 0 timeout 60 "$BIN/sloglab-load" syncwrite --url="$url" --max-requests=10
server_stop
