# shellcheck shell=sh
# Shared by the tests of the disk server; source it. Adds disks of known latency to ./catalogue.
# shellcheck source=tests/system/lib.sh
. "${0%/*}/../lib.sh"
sloglab=$BIN/sloglab
# shellcheck disable=SC2034 # for the scripts
audit=$BIN/system_disk_audit
cd "$SCRATCH" || exit 1
mkdir catalogue

# device NAME LATENCY PLP: an SSD that takes as long for everything, many at a time.
device() {
	cat >"catalogue/$1.yaml" <<YAML
format: sloglab-device/1
kind: ssd
description: $2 whatever it does
figures:
  capacity:      {value: 1GiB, kind: assumed, source: test}
  link_rate:     {value: 50GB/s, kind: assumed, source: test}
  read_latency:  {value: $2, kind: assumed, source: test}
  write_latency: {value: $2, kind: assumed, source: test}
  read_rate:     {value: 50GB/s, kind: assumed, source: test}
  write_rate:    {value: 50GB/s, kind: assumed, source: test}
  plp:           {value: $3, kind: assumed, source: test}
  flush_latency: {value: $2, kind: assumed, source: test}
  buffer_size:   {value: 64MiB, kind: assumed, source: test}
YAML
}

# hdd NAME HONEST: a hard disk with a write cache, which does what a flush asks, or only says so.
hdd() {
	cat >"catalogue/$1.yaml" <<YAML
format: sloglab-device/1
kind: hdd
description: 7200 rpm
figures:
  capacity:       {value: 1TB, kind: assumed, source: test}
  rpm:            {value: 7200, kind: assumed, source: test}
  seek_average:   {value: 8.5ms, kind: assumed, source: test}
  seek_full:      {value: 16ms, kind: assumed, source: test}
  media_rate:     {value: 150MB/s, kind: assumed, source: test}
  cache_size:     {value: 64MiB, kind: assumed, source: test}
  write_rate:     {value: 150MB/s, kind: assumed, source: test}
  flush_honoured: {value: $2, kind: assumed, source: test}
YAML
}

# disks_start ARGS...: a server on DIR "d"; sets SERVER. Its output is in "log".
disks_start() {
	log=log
	: >log
	"$sloglab" disk serve --dir d "$@" >log 2>&1 &
	SERVER=$!
	PIDS="$PIDS $SERVER"
	wait_for 60 grep -q ready log || fail "the server did not start: $(cat log)"
}

# disks_stop: quits it and fails when that does not work.
disks_stop() {
	ctl quit
	end_within 60 "$SERVER"
	[ "$rc" -eq 0 ] || fail "the server ended with $rc: $(cat log)"
}

ctl() {
	timeout 30 "$sloglab" disk ctl d/control.sock "$@" || fail "ctl $*"
}

# uri NAME
uri() {
	echo "nbd+unix:///$1?socket=d/nbd.sock"
}

# field NAME FILE: the number behind a word.
field() {
	sed -n "s/.*\\<$1 \\([0-9.]*\\).*/\\1/p" "$2"
}

# writes_reach COUNT NAME...: each of the disks has taken so many.
writes_reach() {
	count=$1
	shift
	ctl status >told
	for disk; do
		[ "$(grep "^disk $disk " told | sed -n 's/.* writes \([0-9]*\).*/\1/p')" -ge "$count" ] || return 1
	done
}
