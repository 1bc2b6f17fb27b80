#!/bin/sh
# What a log device gets from 1, 4 and 16 writers at once, counted at the served disk: OpenZFS shares log blocks between
# those who commit together, and Linux's block layer shares flushes. Beside it the model of the same box. Counts and not
# rates: they are the same on a slow machine, since disks that are a hundred times as slow leave its CPU idle.
# shellcheck source=tests/lab/lib.sh
. "$(dirname "$0")/lib.sh"
command -v nfs-cp >/dev/null || skip "nfs-cp not found; apt-get install libnfs-utils"
images_ready
dilate=100
depths='1 4 16'
file=nfs://10.77.0.2/tank/vm

# The loads look at their own run for what iostat shows of the log: flushes are writes of no bytes there.
cat >"$work/counts.yaml" <<'YAML'
format: sloglab-scenario/1
title: Several writers on one log
host: {profile: modern-xeon, hypervisor: qemu, nic: virtio}
nas: {vcpus: 1, memory: 1GiB, nfsd_threads: 32, zil: 2.1}
pool:
  data: {layout: stripe, disks: [hdd-7200-uncached x 1], flush: honoured}
  recordsize: 128KiB
  log: samsung-850-pro-256
guests:
  - {vcpus: 1, memory: 512MiB, fs: ext4, database: mariadb-10.11}
workloads:
  at1: {kind: syncwrite, block: 4KiB, depth: 1, max_time: 20s}
  writes1: {of: at1, metric: iostat_writes}
  kib1: {of: at1, metric: iostat_kib}
  at4: {kind: syncwrite, block: 4KiB, depth: 4, max_time: 20s}
  writes4: {of: at4, metric: iostat_writes}
  kib4: {of: at4, metric: iostat_kib}
  at16: {kind: syncwrite, block: 4KiB, depth: 16, max_time: 20s}
  writes16: {of: at16, metric: iostat_writes}
  kib16: {of: at16, metric: iostat_kib}
variants:
  pool: {set: {pool.log: none}}
  slog: {}
YAML

# modelled WORKLOAD: its value in the model.
modelled() {
	awk -F, -v name="$1" '{ gsub(/"/, "") } NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["workload"] == name && $at["variant"] == "slog" { print $at["value"]; exit }' "$work/model.csv"
}

# ratio A B: A / B to four digits.
ratio() {
	awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.4f\n", a / b; else print 0 }'
}

# within SHARE A B: |A - B| <= SHARE * B.
within() {
	awk -v share="$1" -v a="$2" -v b="$3" 'BEGIN { d = a - b; exit !(b > 0 && (d < 0 ? -d : d) <= share * b) }'
}

# between LOW A HIGH: 10 % below LOW is allowed, and 30 % above HIGH: on a busy machine some wake up too late for their block.
between() {
	awk -v low="$1" -v a="$2" -v high="$3" 'BEGIN { exit !(low > 0 && a >= 0.9 * low && a <= 1.3 * high) }'
}

# below A FACTOR B: A <= FACTOR * B, and A is more than nothing.
below() {
	awk -v a="$1" -v f="$2" -v b="$3" 'BEGIN { exit !(a > 0 && a <= f * b) }'
}

disks() {
	timeout 60 "$sloglab" ctl "$lab/disks.sock" "$@" >"$work/out" 2>&1 || fail "disks $*: $(cat "$work/out")"
}

# served: writes and flushes of the log device, since the lab is up.
served() {
	timeout 60 "$sloglab" ctl "$lab/disks.sock" status | awk '$1 == "disk" && $2 == "log0" {
		for (i = 3; i < NF; i += 2) of[$i] = $(i + 1); print of["writes"], of["flushes"] }'
}

# seen: records that the ZIL took, and sectors that Linux wrote to the log device.
seen() {
	storage 'awk "\$1 == \"zil_itx_count\" { print \$3 }" /proc/spl/kstat/zfs/zil
		awk "{ print \$7 }" /sys/block/$(basename $(readlink /dev/disk/by-serial/log0))/stat' | tr '\n' ' '
}

inside_net() {
	timeout 120 nsenter --target "$(qemu_of storage)" --net "$@"
}

timeout 120 "$sloglab" run "$work/counts.yaml" --variant slog --csv "$work/model.csv" >"$work/out" 2>&1 ||
	fail "model: $(cat "$work/out")"
up "$work/counts.yaml" --no-guest
timeout 120 "$sloglab" ctl "$lab/control.sock" pool slog >"$work/out" 2>&1 || fail "pool slog: $(cat "$work/out")"
disks latency on
disks dilate $dilate
last_writes=
last_kib=
for depth in $depths; do
	load="$bin/sloglab-load syncwrite --url $file/counted --file-total 64MiB --depth $depth --stall 60s"
	# shellcheck disable=SC2086
	inside_net $load --time 5s >"$work/out" 2>&1 || fail "depth $depth: $(cat "$work/out")"
	read -r writes flushes <<EOF
$(served)
EOF
	read -r records sectors <<EOF
$(seen)
EOF
	# shellcheck disable=SC2086
	inside_net $load --time 25s >"$work/out" 2>&1 || fail "depth $depth: $(cat "$work/out")"
	read -r writes_now flushes_now <<EOF
$(served)
EOF
	read -r records_now sectors_now <<EOF
$(seen)
EOF
	records=$((records_now - records))
	writes=$(ratio $((writes_now - writes + flushes_now - flushes)) $records)
	kib=$(ratio $(((sectors_now - sectors) / 2)) $records)
	model_writes=$(ratio "$(modelled "writes$depth")" "$(modelled "at$depth")")
	model_kib=$(ratio "$(modelled "kib$depth")" "$(modelled "at$depth")")
	note "$depth writers, $records records: writes and flushes of each $writes (model $model_writes), KiB $kib (model $model_kib)"
	# One writer: the same. Several: who finds whom in a block is decided at the start (four went in one block, or in two, as in
	# the model), so the real log lies between one block for all of them and what the model has.
	if [ "$depth" -eq 1 ]; then
		within 0.1 "$writes" "$model_writes" || fail "1 writer: $writes log writes and flushes of each, model $model_writes"
		within 0.1 "$kib" "$model_kib" || fail "1 writer: $kib KiB of log of each, model $model_kib"
	else
		least_writes=$(ratio 2 "$depth") least_kib=$(ratio $((4 * depth + 4)) "$depth")
		between "$least_writes" "$writes" "$model_writes" ||
			fail "$depth writers: $writes log writes and flushes of each, not $least_writes to $model_writes"
		between "$least_kib" "$kib" "$model_kib" || fail "$depth writers: $kib KiB of log of each, not $least_kib to $model_kib"
	fi
	# More writers share more: fewer writes and fewer bytes for each of them.
	[ -z "$last_writes" ] || below "$writes" 1 "$last_writes" || fail "$depth writers share no more than before: $writes"
	[ -z "$last_kib" ] || below "$kib" 1 "$last_kib" || fail "$depth writers share no more bytes than before: $kib"
	last_writes=$writes last_kib=$kib
done

note "flushes of a disk alone: direct writes, each with its fdatasync"
disks latency off
timeout 120 "$sloglab" ctl "$lab/control.sock" pool pool >"$work/out" 2>&1 || fail "pool pool: $(cat "$work/out")"
mkdir "$work/load"
for path in "$bin/sloglab-load" $(ldd "$bin/sloglab-load" | awk '/=> \// { print $3 }'); do
	cp -L "$path" "$work/load"
done
tar -C "$work/load" -cf "$work/load.tar" .
inside_net nfs-cp "$work/load.tar" $file/load.tar >"$work/out" 2>&1 || fail "nfs-cp: $(cat "$work/out")"
storage 'mkdir /run/load && tar -C /run/load -xf /tank/vm/load.tar && rm /tank/vm/load.tar && zpool sync' >"$work/out" 2>&1 ||
	fail "the load does not arrive: $(cat "$work/out")"
disks latency on
disks dilate 20
last=
for threads in $depths; do
	read -r writes flushes <<EOF
$(served)
EOF
	storage "LD_LIBRARY_PATH=/run/load /run/load/sloglab-load syncwrite --path /dev/disk/by-serial/log0 --direct \
		--stable unstable_commit --threads $threads --file-total 64MiB --time 10s" >"$work/out" 2>&1 ||
		fail "$threads threads: $(cat "$work/out")"
	read -r writes_now flushes_now <<EOF
$(served)
EOF
	each=$(ratio $((flushes_now - flushes)) $((writes_now - writes)))
	note "$threads threads: $((writes_now - writes)) writes, $each flushes for each"
	# One at a time cannot share. Of several, those whose writes end while a flush is under way wait for the next one.
	if [ "$threads" -eq 1 ]; then
		within 0.05 "$each" 1 || fail "one writer: $each flushes for each write"
	else
		below "$each" 0.95 "$last" || fail "$threads threads share no more flushes than fewer did: $each, $last"
	fi
	last=$each
done
timeout 120 "$sloglab" vm down >"$work/out" 2>&1 || fail "down: $(cat "$work/out")"
nothing_left "vm down"
finish
