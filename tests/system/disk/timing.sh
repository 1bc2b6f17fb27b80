#!/bin/sh
# Modelled latencies on the wall: never shorter than the model, more at a time with depth; and on a machine that is not too
# busy to tell (else it skips, after the rest) not 10 % longer, dilated or not.
# shellcheck source=tests/system/disk/lib.sh
. "${0%/*}/lib.sh"
device us500 500us yes
device ms5 5ms yes
disks_start us500 ms5 us500=dilated --dilate 1

# within LOW HIGH WORD COMMAND...: one of three runs has the word's number between the two.
within() {
	low=$1 high=$2 word=$3
	shift 3
	for attempt in 1 2 3; do
		timeout 60 "$@" >run || fail "$*"
		value=$(field "$word" run)
		echo "attempt $attempt: $* -> $(cat run)"
		if awk -v v="$value" -v low="$low" -v high="$high" 'BEGIN { exit !(v >= low && v <= high) }'; then
			return 0
		fi
	done
	return 1
}

# Never faster than the model, whatever the machine does: closed loop, one request at a time.
within 450 550 mean_us "$audit" bench d/nbd.sock us500 1 2 || busy=1
[ "$(field mean_us run | cut -d. -f1)" -ge 490 ] || fail "faster than the disk: $(cat run)"
ctl slow dilated 4
within 1800 2200 mean_us "$audit" bench d/nbd.sock dilated 1 2 || busy=1
[ "$(field mean_us run | cut -d. -f1)" -ge 1960 ] || fail "faster than the disk: $(cat run)"
# 32 at a time is many times the rate of one at a time; 5 ms are more than a busy machine takes from either.
deep_pays() {
	timeout 60 "$audit" bench d/nbd.sock ms5 1 1 >run || fail "depth 1"
	one=$(field iops run)
	timeout 60 "$audit" bench d/nbd.sock ms5 32 2 >run || fail "depth 32"
	many=$(field iops run)
	awk -v one="$one" -v many="$many" 'BEGIN { exit !(many > 4 * one) }'
}
deep_pays || deep_pays || deep_pays || fail "depth 32: $many, depth 1: $one IOPS, the third time"
disks_stop
[ -z "${busy:-}" ] || skip "the machine is too busy: latencies are not within 10 %"
