#!/bin/sh
# sloglab-load: results, exit codes, one-line errors, Ctrl-C.
. "${0%/*}/lib.sh"
LOAD="$BIN/sloglab-load"

# 10 ms: much more than a busy machine needs to wake somebody.
server_start "$SCRATCH/log" --dir="$SCRATCH/store" --latency=10ms --credit=20ms
url="nfs://127.0.0.1/?$PORTS"

rate_in() {
	sed -n 's/.*"rate": \([0-9]*\).*/\1/p' "$1"
}

# A closed loop at 10 ms cannot do more than 100 requests/s, and depth 4 helps.
depths() {
	expect_rc 0 timeout 60 "$LOAD" syncwrite --url="$url" --max-requests=200 --json="$SCRATCH/one"
	grep -q '"operations": 200,' "$SCRATCH/one" || fail "not 200 requests: $(cat "$SCRATCH/one")"
	rate=$(rate_in "$SCRATCH/one")
	[ "$rate" -le 102 ] || fail "rate $rate at depth 1"
	expect_rc 0 timeout 60 "$LOAD" syncwrite --url="$url" --max-requests=400 --depth=2 --threads=2 --json="$SCRATCH/j"
	deep=$(rate_in "$SCRATCH/j")
	[ "$deep" -gt $((rate * 5 / 2)) ]
}
depths || depths || depths || fail "depth 4 gives $deep, depth 1 $rate, the third time"
grep -q 'NULL call round trip' "$SCRATCH/out" || fail "no summary on stdout"
expect_rc 0 timeout 60 "$LOAD" syncwrite --url="$url" --max-requests=10 --json=-
for key in p50 p95 p99 p999 null_call_ns elapsed_ns seed samples; do
	grep -q "\"$key\":" "$SCRATCH/out" || fail "no $key in the JSON"
done

# UNSTABLE + COMMIT costs two round trips.
expect_rc 0 timeout 60 "$LOAD" syncwrite --url="$url" --max-requests=100 --stable=unstable_commit --pattern=random --json=-
slow=$(rate_in "$SCRATCH/out")
[ "$slow" -le 51 ] || fail "WRITE and COMMIT at 10 ms each gave $slow/s"

# fileio: the stages, alone and together; sysbench's rules.
small="--files=4 --file-total=1MiB --block=16KiB"
# shellcheck disable=SC2086 # words
expect_rc 1 timeout 60 "$LOAD" fileio run --url="$url" $small --max-requests=10
one_line "$SCRATCH/err"
grep -q 'prepare' "$SCRATCH/err" || fail "no remedy: $(cat "$SCRATCH/err")"
# shellcheck disable=SC2086
expect_rc 0 timeout 60 "$LOAD" fileio prepare --url="$url" $small
# shellcheck disable=SC2086
expect_rc 0 timeout 60 "$LOAD" fileio run --url="$url" $small --mode=seqwr --stable=unstable_commit --fsync-every=16 --json=-
grep -q '"write": 64,' "$SCRATCH/out" || fail "seqwr is one pass of 64 blocks: $(cat "$SCRATCH/out")"
grep -q '"fsync": 16$' "$SCRATCH/out" || fail "4 rounds of 4 files: $(cat "$SCRATCH/out")"
# shellcheck disable=SC2086
expect_rc 0 timeout 60 "$LOAD" fileio cleanup --url="$url" $small
# shellcheck disable=SC2086
expect_rc 0 timeout 60 "$LOAD" fileio --url="$url" $small --max-requests=50 --threads=4 --report-interval=20ms
grep -q '^\[ [0-9]*s \] thds: 4 tps: .* lat (ms,95%): ' "$SCRATCH/out" || fail "no ticker: $(cat "$SCRATCH/out")"
[ "$(find "$SCRATCH/store/data" -type f | wc -l)" -eq 1 ] || fail "fileio left files"

# Depth: four requests of one thread in flight, each verified. One at a time it could not do more than 100.
deep_verified() {
	# shellcheck disable=SC2086
	expect_rc 0 timeout 60 "$LOAD" fileio --url="$url" $small --max-requests=400 --depth=4 --verify --json=-
	[ "$(rate_in "$SCRATCH/out")" -gt 120 ]
}
deep_verified || deep_verified || deep_verified || fail "depth 4: $(cat "$SCRATCH/out")"

# A local folder: the same rules; files that are written in full, and removed.
mkdir "$SCRATCH/folder"
# shellcheck disable=SC2086
expect_rc 0 timeout 60 "$LOAD" fileio prepare --path="$SCRATCH/folder" $small
[ "$(du -k "$SCRATCH/folder/test_file.3" | cut -f1)" -ge 256 ] || fail "prepare left holes"
# shellcheck disable=SC2086
expect_rc 0 timeout 60 "$LOAD" fileio run --path="$SCRATCH/folder" $small --mode=seqwr --fsync-every=16 --threads=2 --json=-
grep -q '"write": 64,' "$SCRATCH/out" || fail "seqwr is one pass of 64 blocks: $(cat "$SCRATCH/out")"
grep -q '"fsync": 16$' "$SCRATCH/out" || fail "4 rounds of 4 files: $(cat "$SCRATCH/out")"
# shellcheck disable=SC2086
expect_rc 0 timeout 60 "$LOAD" fileio --path="$SCRATCH/folder" $small --max-requests=500 --threads=2 --depth=2 --verify --stable=file_sync
[ -z "$(ls "$SCRATCH/folder")" ] || fail "fileio left files: $(ls "$SCRATCH/folder")"
# shellcheck disable=SC2086
expect_rc 1 timeout 60 "$LOAD" fileio run --path="$SCRATCH/folder" $small
one_line "$SCRATCH/err"
expect_rc 0 timeout 60 "$LOAD" syncwrite --path="$SCRATCH/folder/disk" --file-total=1MiB --max-requests=20 --depth=2 --json=-
grep -q '"operations": 20,' "$SCRATCH/out" || fail "not 20 writes: $(cat "$SCRATCH/out")"

# diskinfo -wS: one line for each size.
expect_rc 0 timeout 60 "$LOAD" syncwrite --url="$url" --sizes --time=50ms --json="$SCRATCH/j"
[ "$(grep -c ' kbytes: .* usec/IO = .* Mbytes/s$' "$SCRATCH/out")" -eq 12 ] || fail "not 12 sizes: $(cat "$SCRATCH/out")"
[ "$(grep -c '"block_bytes"' "$SCRATCH/j")" -eq 12 ] || fail "not 12 sizes: $(cat "$SCRATCH/j")"

# Ctrl-C: what was measured, exit code 130, nothing left.
# shellcheck disable=SC2086
"$LOAD" fileio --url="$url" $small --time=60s --report-interval=100ms >"$SCRATCH/int" 2>&1 &
pid=$!
PIDS="$PIDS $pid"
wait_for 60 grep -q thds "$SCRATCH/int" || fail "no ticker"
interrupt "$pid" || fail "ended before Ctrl-C"
end_within 60 "$pid"
[ "$rc" -eq 130 ] || fail "Ctrl-C gave $rc: $(cat "$SCRATCH/int")"
grep -q 'interrupted' "$SCRATCH/int" || fail "no summary after Ctrl-C"
[ "$(find "$SCRATCH/store/data" -type f | wc -l)" -eq 1 ] || fail "Ctrl-C left files"

# Usage errors: 2, nothing ran.
for bad in "" "oltpp" "syncwrite" "syncwrite --url=$url --block=4x" "syncwrite --url=$url --time=nan" \
	"syncwrite --url=$url --depth=0" "syncwrite --url=$url --pattern=up" "syncwrite --url=$url run" \
	"syncwrite --url=$url --depth=1024 --threads=2" "fileio --url=$url --files=9 --file-total=8B" \
	"fileio --url=$url --mode=rw" "fileio --url=$url --path=/tmp" "fileio --url=$url --direct" "fileio --url=$url --depth=1024 --threads=2" "syncwrite --url=$url --time=5" "syncwrite --url=$url --unknown"; do
	# shellcheck disable=SC2086
	expect_rc 2 timeout 20 "$LOAD" $bad
	one_line "$SCRATCH/err"
	[ ! -s "$SCRATCH/out" ] || fail "usage error printed to stdout: $bad"
done
# Said before the load, which may take hours.
expect_rc 2 timeout 20 "$LOAD" syncwrite --path="$SCRATCH/folder/never" --time=10s --json=/nowhere/a.json
[ ! -e "$SCRATCH/folder/never" ] || fail "the load began before --json was checked"
expect_rc 0 "$LOAD" --help
expect_rc 0 "$LOAD" --version
grep -q '^sloglab-load [0-9]' "$SCRATCH/out" || fail "version: $(cat "$SCRATCH/out")"
server_stop

# Failures: 1 and one line.
for bad in "http://127.0.0.1/x" "nfs://" "127.0.0.1:/x" "$url" "nfs://127.0.0.1/nowhere/x?$PORTS"; do
	expect_rc 1 timeout 60 "$LOAD" syncwrite --url="$bad" --time=1s
	one_line "$SCRATCH/err"
	[ ! -s "$SCRATCH/out" ] || fail "output of a run that failed: $(cat "$SCRATCH/out")"
done

# Copied into a guest it needs libnfs13 and libmariadb3 (and what sanitizers bring), nothing else.
more=$(readelf -d "$LOAD" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
	grep -v -e '^libnfs\.so\.13$' -e '^libmariadb\.so\.3$' -e '^libc\.so\.6$' -e 'san\.so' || true)
[ -z "$more" ] || fail "needs $more"
