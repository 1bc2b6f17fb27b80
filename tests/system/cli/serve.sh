#!/bin/sh
# `sloglab serve`: attached by a real client; SLOG removed, added and dead under it; power cut; what sync=disabled loses.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
command -v nfs-cp >/dev/null 2>&1 || skip "nfs-cp is not installed (Debian package libnfs-utils)"
cd "$work" || exit 1
cat >box.yaml <<'EOF'
format: sloglab-scenario/1
title: a box to serve
pool: {data: {layout: mirror, disks: [hdd-7200-desktop x 2]}}
workloads: {w: {kind: syncwrite}}
variants:
  none: {}
  slog: {set: {pool.log: intel-dc-s3700-200}}
  unsafe: {set: {pool.sync: disabled, params.zfs.txg_timeout: 60s}}
EOF

# serve VARIANT [OPTION...]: starts it on free ports and waits until it is ready.
serve() {
	serve_start box.yaml --dir ds --interval 1 --variant "$@"
}

url() {
	echo "nfs://127.0.0.1/tank/vm/$1?$ports"
}

# ctl [--wait TIME] COMMAND...
ctl() {
	wait=
	if [ "$1" = --wait ]; then
		wait="--wait $2"
		shift 2
	fi
	# shellcheck disable=SC2086 # words
	"$sloglab" ctl $wait ds/control.sock "$@" >reply 2>err
}

# field NAME: the number behind it in the status.
field() {
	ctl status || fail "status: $(cat err)"
	sed -n "s/.*\\b$1 \\([0-9]*\\).*/\\1/p" reply
}

stop() {
	kill -"$1" "$main" || fail "serve died: $(cat err)"
	end_within 60 "$main"
	code=$rc
}

head -c 300000 /dev/urandom >a
head -c 200000 /dev/urandom >b

# Under a client: the SLOG takes commits, dies, goes, comes back; each write is there in the end.
serve slog --metrics metrics.prom
grep -q '^access   from this machine only' out || fail "no word on who may: $(cat out)"
for step in start "log fail" "log remove" "log add intel-dc-s3500-80" "stall 1s" "dilate 2"; do
	# shellcheck disable=SC2086 # words of the command
	[ "$step" = start ] || ctl $step || fail "$step: $(cat err)"
	name=$(echo "$step" | tr ' ' -)
	timeout 60 nfs-cp a "$(url "$name")" >/dev/null || fail "$step: copy in"
	timeout 60 nfs-cat "$(url "$name")" >back || fail "$step: read"
	cmp a back || fail "$step: other bytes"
done
ctl status
grep -qx 'log_devices intel-dc-s3500-80' reply || fail "the log device is not named: $(cat reply)"
ctl log fail && ctl status
grep -qx 'log_devices intel-dc-s3500-80(dead)' reply || fail "the log device is dead: $(cat reply)"
ctl log fail 0 1 && fail "a side of a disk that is no mirror died"
ctl log grow
[ $? -eq 2 ] || fail "an unknown verb is usage: exit 2"
grep -q 'usage: log add' err || fail "no usage: $(cat err)"
ctl log add no-such-disk && fail "an unknown disk was added"
grep -q 'no-such-disk' err || fail "the disk is not named: $(cat err)"
wait_for 30 grep -q '^slog  ' out || fail "no status line: $(cat out)"
wait_for 30 grep -q 'sloglab_nfs_calls_total{procedure="WRITE"} [1-9]' metrics.prom || fail "metrics: $(cat metrics.prom)"
grep -v '^# \(HELP\|TYPE\) ' metrics.prom | grep -vE '^[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [-+.e0-9]+$' &&
	fail "a line that is no metric"

# A power cut loses what was never committed, and no more; the client finds the server again.
ctl --wait 60s log remove || fail "log remove --wait: $(cat err)"
ctl --wait 60s log add intel-dc-s3500-80 || fail "a change right after one that was waited for: $(cat err)"
ctl --wait 60s powercut 1s || fail "powercut --wait: $(cat err)"
ctl log remove || fail "a change after a cut that was waited for: $(cat err)"
ctl --wait 1us powercut 5s && fail "waited for 5 s in a microsecond"
grep -q 'not done yet' err || fail "no word on what was waited for: $(cat err)"
sleep 5
before=$(field powercuts)
ctl powercut 5s || fail "powercut: $(cat err)"
ctl log remove && fail "a box without power was changed"
sleep 5
[ "$(field powercuts)" -eq $((before + 1)) ] || fail "cuts are not counted"
timeout 60 nfs-cat "$(url start)" >back || fail "after a cut: read"
cmp a back || fail "after a cut: other bytes"
stop INT
[ "$code" -eq 130 ] || fail "Ctrl-C: exit $code"
grep -q '^calls ' out || fail "no summary"
[ ! -e ds/control.sock ] || fail "the control socket is left"

# A kill in any state, and what was stable is there for the next start.
serve none
timeout 60 nfs-cp b "$(url kept)" >/dev/null || fail "copy in"
stop KILL
serve none
timeout 60 nfs-cat "$(url kept)" >back || fail "after kill -9: read"
cmp b back || fail "after kill -9: other bytes"
port=$(sed -n 's/.*nfsport=\([0-9]*\).*/\1/p' out)
"$sloglab" serve box.yaml --dir other --port "$port" --portmap-port 0 >reply 2>&1
code=$?
{ [ "$code" -eq 2 ] && grep -q 'already in use' reply; } || fail "a port in use: exit $code, $(cat reply)"
"$sloglab" serve box.yaml --dir ds --port 0 --portmap-port 0 >reply 2>&1
code=$?
{ [ "$code" -eq 2 ] && [ "$(wc -l <reply)" -eq 1 ]; } || fail "a folder in use: exit $code, $(cat reply)"
stop TERM
[ "$code" -eq 0 ] || fail "SIGTERM: exit $code"

# Where it is open to others it says so, and tells addresses that one can dial.
"$sloglab" serve box.yaml --dir open --bind 0.0.0.0 --port 0 --portmap-port 0 >open.out 2>err &
main=$!
PIDS=$main
wait_for 60 grep -q '^ready' open.out || fail "serve on all addresses: $(cat err)"
grep -q '^access   everybody who reaches 0.0.0.0: NFSv3 clients are not authenticated' open.out ||
	fail "no word on who may: $(cat open.out)"
grep '^Linux' open.out | grep -q '0\.0\.0\.0' && fail "an address that nobody can dial: $(cat open.out)"
grep -q '^room     [0-9]* GB of the pool' open.out || fail "no word on what the folder has no room for: $(cat open.out)"
stop TERM

# Few descriptors: more files than that can be written, and clients have fewer places, which is said.
(
	# shellcheck disable=SC3045 # dash has it
	ulimit -n 64
	exec "$sloglab" serve box.yaml --dir few --port 0 --portmap-port 0 --interval 60
) >out 2>err &
main=$!
PIDS=$main
wait_for 60 grep -q '^ready' out || fail "serve with 64 descriptors: $(cat err)"
ports=$(sed -n 's/^libnfs .*?//p' out)
grep -q 'room for 32 connections, not 256' err || fail "no word on the descriptors: $(cat err)"
for i in $(seq 70); do
	timeout 60 nfs-cp box.yaml "$(url "f$i")" >/dev/null || fail "file $i of 70 with 64 descriptors"
done
timeout 60 nfs-cat "$(url f7)" | cmp -s - box.yaml || fail "a file that had given up its descriptor"
stop TERM

# On the host's disk, and what that costs is said.
serve none --host-durable
grep -q '^host     fsync of ds takes [0-9.]*[mu]*s (p50)' out || fail "no cost of an fsync: $(cat out)"
ctl status
grep -qx 'log_devices none' reply || fail "a pool without a log device: $(cat reply)"
timeout 60 nfs-cp b "$(url durable)" >/dev/null || fail "copy in"
stop TERM
[ "$(find ds/data -name 'f*' | wc -l)" -eq 0 ] || fail "the file of the measurement is left"

# sync=disabled acknowledges what a cut then takes: the file is there, its bytes are not.
serve unsafe
timeout 60 nfs-cp b "$(url lost)" >/dev/null || fail "copy in"
ctl powercut || fail "powercut: $(cat err)"
sleep 0.5
timeout 60 nfs-cat "$(url lost)" >back 2>/dev/null
cmp -s b back && fail "sync=disabled lost nothing at a cut 60 s before the txg"
stop TERM

for wrong in "" "--dir ds2 --variant nope" "--dir ds2 --variant none,slog" "--dir ds2 --dilate 0" "--dir ds2 --metrics -"; do
	# shellcheck disable=SC2086
	"$sloglab" serve box.yaml $wrong >reply 2>&1
	code=$?
	{ [ "$code" -eq 2 ] && [ "$(wc -l <reply)" -eq 1 ]; } || fail "serve $wrong: exit $code, $(cat reply)"
done
finish
