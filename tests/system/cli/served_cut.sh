#!/bin/sh
# What a cut of the power takes from `sloglab serve` is what the model says for the same box: nothing where the disks keep
# their promises, and where they do not as much as `sloglab powercut` finds, with the same cause. The server says how
# much it was; the client's own list of acknowledgements tells whether that is so.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
THREADS=4
cat >box.yaml <<EOT
format: sloglab-scenario/1
title: boxes that keep their promises, and boxes that do not
pool: {data: {layout: mirror, disks: [hdd-7200-desktop x 2], flush: ignored}}
workloads: {w: {kind: syncwrite, block: 4KiB, threads: $THREADS, max_requests: 2000000, max_time: 20s}}
variants:
  none: {}
  honest: {set: {pool.data.flush: honoured}}
  slog: {set: {pool.log: intel-dc-s3700-200}}
  ram: {set: {pool.log: ramdisk-8}}
  consumer: {set: {pool.log: samsung-850-pro-256, pool.log_flush: ignored}}
EOT
cp "$src/scenarios/b3n-2014.yaml" b3n.yaml

serve() {
	serve_start "$1" --variant "$2" --dir "ds-$2" --interval 60
	control=ds-$2/control.sock
	url="nfs://127.0.0.1/tank/vm/audit?$ports"
}

acks() {
	if [ -e acks ]; then wc -l <acks; else echo 0; fi
}

has_grown() {
	[ "$(acks)" -gt "$1" ]
}

# said NAME: the figure behind it in the answer to the last cut.
said() {
	sed -n "s/^$1 \\([0-9]*\\).*/\\1/p" reply
}

# cuts SCENARIO VARIANT N WRITES: that many cuts, or fewer once one has lost something, each after so many further writes.
# Sets lost (what the server says of all cuts), missed (what the client misses), n (cuts).
cuts() {
	serve "$1" "$2"
	rm -f acks
	"$bin/sloglab-load" audit run --url "$url" --acks acks --acks-sync off --threads "$THREADS" --time 300s >load.txt 2>&1 &
	load=$!
	PIDS="$PIDS $load"
	lost=0
	n=0
	while [ "$n" -lt "$3" ] && [ "$lost" -eq 0 ]; do
		wait_for 120 has_grown "$(($(acks) + $4))" || fail "$2: the load stands still: $(cat load.txt)"
		"$sloglab" ctl "$control" powercut >reply 2>err || fail "$2: powercut: $(cat err)"
		lost=$((lost + $(said lost_writes)))
		n=$((n + 1))
	done
	kill -INT "$load" || fail "$2: the load ended by itself: $(cat load.txt)"
	end_within 60 "$load"
	timeout 60 "$bin/sloglab-load" audit verify --url "$url" --acks acks --json verified.json >verified.txt 2>&1
	missed=$(sed -n 's/^ *"lost": \([0-9]*\),*$/\1/p' verified.json)
	kill -TERM "$main"
	end_within 60 "$main"
	echo "$2: $n cuts, $lost lost by the server's word, $missed missed by the client: $(sed -n 's/^why //p' reply)"
}

# Answers that were on their way when the power went are lost too, and nobody was told: one a thread and cut.
agree() {
	if [ "$missed" -gt "$lost" ] || [ "$lost" -gt $((missed + THREADS * n)) ]; then
		fail "$1: the server says that $lost are lost, the client misses $missed"
	fi
}

for box in "box.yaml honest" "box.yaml slog" "b3n.yaml s3700"; do
	# shellcheck disable=SC2086 # scenario and variant
	cuts $box 3 300
	{ [ "$lost" -eq 0 ] && [ "$missed" -eq 0 ]; } || fail "$box lost $lost, $missed missed"
done

# worst VARIANT: what `powercut` finds at the worst of 1000 cuts.
"$sloglab" powercut box.yaml --variant none,ram,consumer --json model.json >/dev/null 2>&1
worst() {
	awk -v want="\"$1\"," '/"variant":/ { ours = $2 == want }
		ours && /"lost_writes":/ { sub(",", "", $2); print $2; exit }' model.json
}

# Boxes that lie: the order of the loss is that of the model, which cuts at its full rate; a busy machine writes less.
while read -r variant count cause; do
	cuts box.yaml "$variant" "$count" 400
	[ "$lost" -gt 0 ] || fail "$variant: $n cuts lost nothing"
	agree "$variant"
	grep -q "^why .*$cause" reply || fail "$variant: the cause is not named: $(cat reply)"
	[ "$lost" -le $((2 * $(worst "$variant"))) ] || fail "$variant: lost $lost, the model at most $(worst "$variant")"
done <<EOT
none 40 hdd-7200-desktop kept it in its volatile cache: flushes do not reach it (pool.data.flush: ignored)
ram 1 ramdisk-8 is volatile memory
consumer 1 samsung-850-pro-256 kept it in its volatile cache: flushes do not reach it (pool.log_flush: ignored)
EOT
cuts b3n.yaml none 40 50
[ "$lost" -gt 0 ] || fail "b3n none: $n cuts lost nothing"
agree "b3n none"
# A log device that is dead stays dead, and what it held alone is no loss where commits went to txgs instead.
serve box.yaml slog
"$sloglab" ctl "$control" log fail || fail "log fail"
"$sloglab" ctl "$control" powercut >reply || fail "powercut after log fail"
grep -qx 'lost_writes 0' reply || fail "an idle box lost something: $(cat reply)"
sleep 0.5
"$sloglab" ctl "$control" status >reply
grep -q '(dead)' reply || fail "a cut repaired the log device: $(cat reply)"
kill -TERM "$main"
end_within 60 "$main"
finish
