#!/bin/sh
# The write log: any image built from it is one that a power cut at that record could have left.
# shellcheck source=tests/system/disk/lib.sh
. "${0%/*}/lib.sh"
device plp 200us yes
device volatile 200us no
device careless 200us no

# careless is a volatile disk whose writer never flushes: wherever the cut falls, it has something to lose.
flush_every() {
	case $1 in
	careless) echo 0 ;;
	*) echo 100 ;;
	esac
}

disks_start plp,size=8MiB volatile,size=8MiB careless,size=8MiB --write-log trace.log
for name in plp volatile careless; do
	timeout 60 "$audit" write d/nbd.sock $name state.$name 500 16 "$(flush_every $name)" 30 $$ >writer.$name 2>&1 &
	PIDS="$PIDS $!"
done
wait_for 60 writes_reach 1000 plp volatile careless || fail "few writes: $(cat told)"
ctl powercut 5
for name in plp volatile careless; do
	wait_for 60 test -s state.$name || fail "the writer of $name goes on"
done
disks_stop

for seed in 1 2 3; do
	rm -rf d
	mkdir d
	for name in plp volatile careless; do
		"$sloglab" disk replay trace.log --disk $name --seed $seed --out d/$name.img >counts || fail "replay of $name"
		[ "$(field writes counts)" -gt 100 ] || fail "few records: $(cat counts)"
	done
	disks_start plp,size=8MiB volatile,size=8MiB careless,size=8MiB --latency-off
	timeout 60 "$audit" check d/nbd.sock plp state.plp 4096 >verdict || fail "check"
	grep -q ' lost 0 illegal 0$' verdict || fail "plp: $(cat verdict)"
	timeout 60 "$audit" check d/nbd.sock volatile state.volatile 4096 >verdict || fail "check"
	[ "$(field illegal verdict)" -eq 0 ] || fail "volatile: $(cat verdict)"
	timeout 60 "$audit" check d/nbd.sock careless state.careless 4096 >verdict || fail "check"
	[ "$(field lost verdict)" -gt 0 ] || fail "careless lost nothing: $(cat verdict)"
	disks_stop
done

# The same seed gives the same image, another one another; the first record alone is nearly nothing.
for out in one two; do
	"$sloglab" disk replay trace.log --disk volatile --seed 4 --out $out >/dev/null
done
cmp one two || fail "the same seed gave two images"
# A guest's disk is nobody else's to read, whatever the umask.
for file in trace.log one d/plp.img; do
	[ "$(stat -c %a "$file")" = 600 ] || fail "$file: others may read it: $(stat -c %a "$file")"
done
"$sloglab" disk replay trace.log --disk volatile --seed 5 --out two >/dev/null
! cmp -s one two || fail "another seed gave the same image"
"$sloglab" disk replay trace.log --disk volatile --cut 0 --out early >counts
[ "$(field stable counts)" -eq 0 ] || fail "stable before the first record: $(cat counts)"

# A log cut off in mid-record is read up to there; a damaged one is refused. Its data is random: one fixed byte may
# be there already.
head -c 1000000 trace.log >short.log
expect_rc 0 "$sloglab" disk replay short.log --disk plp --out early
cp trace.log bad.log
printf 'damaged.' | dd of=bad.log bs=1 seek=300000 conv=notrunc 2>/dev/null
expect_rc 2 "$sloglab" disk replay bad.log --disk plp --out early
one_line "$SCRATCH/err"
grep -q 'bad.log: byte [0-9]*: ' "$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"
expect_rc 2 "$sloglab" disk replay trace.log --disk absent
one_line "$SCRATCH/err"
expect_rc 2 "$sloglab" disk replay "$0" --disk plp
one_line "$SCRATCH/err"
expect_rc 2 "$sloglab" disk replay trace.log
one_line "$SCRATCH/err"
