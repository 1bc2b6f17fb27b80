#!/bin/sh
# The lab without OpenZFS and guest: a storage VM with an ext4 export. What holds it together, and that nothing is left
# of it, however it ends.
# shellcheck source=tests/lab/lib.sh
. "$(dirname "$0")/lib.sh"
images_ready
[ -e /run/libvirt ] || no_libvirt=1

up b3n-2014 --variant none --ext4 --no-guest
"$sloglab" vm status >"$work/status" 2>&1 || fail "status: $(cat "$work/status")"
grep -q '^storage running$' "$work/status" || fail "status: $(cat "$work/status")"
storage 'grep /tank/vm /proc/mounts' | grep -q ext4 || fail "no ext4 on the export"
storage 'exit 3'
[ $? -eq 3 ] || fail "the exit code of a command is not passed on"
[ "$(storage 'echo out; echo err >&2' 2>/dev/null)" = out ] || fail "output of a command"
# The datastore check of vm up wrote through libnfs what is now here.
storage 'ls -l /tank/vm/check' | grep -q 65536 || fail "nothing came through the export: $(storage 'ls -l /tank/vm')"

"$sloglab" vm up b3n-2014 --ext4 --no-guest --name t >"$work/out" 2>&1 && fail "a second vm up succeeds"
{ [ "$(wc -l <"$work/out")" -eq 1 ] && grep -q 'is up; see sloglab vm status' "$work/out"; } ||
	fail "second vm up: $(cat "$work/out")"

note "death of the storage VM"
storage 'echo kept >/tank/vm/kept && sync'
kill -KILL "$(qemu_of storage)"
await 20 sh -c "'$sloglab' vm status | grep -q '^storage died'" || fail "a dead storage VM: $("$sloglab" vm status)"
storage true >"$work/out" 2>&1 && fail "a command in a dead machine succeeds"
[ "$(wc -l <"$work/out")" -eq 1 ] || fail "a command in a dead machine: $(cat "$work/out")"
up b3n-2014 --ext4 --no-guest
grep -q 'storage VM: started again' "$work/up.err" || fail "vm up after its death: $(cat "$work/up.err")"
[ "$(storage 'cat /tank/vm/kept')" = kept ] || fail "the datastore is not what it was"

note "kill -9 of the lab's first process"
kill -KILL "$(cat "$lab/host.pid")"
await 20 sh_empty qemu_of storage || fail "a machine outlives its lab"
"$sloglab" vm status >"$work/out" 2>&1 && fail "status of a dead lab: $(cat "$work/out")"
timeout 120 "$sloglab" vm down >"$work/out" 2>&1 || fail "down of a dead lab: $(cat "$work/out")"
nothing_left "kill -9 of process 1"

# Ctrl-C, kill -9 of the command and of the host at moments of the way up.
for moment in libvirt 'storage VM' pool; do
	note "Ctrl-C at $moment"
	up_start b3n-2014 --variant none --ext4 --no-guest
	await 300 grep -q "lab: $moment" "$work/up.err" || fail "$moment: never came: $(cat "$work/up.err")"
	kill -INT "$main"
	ended 120
	code=$?
	[ "$code" -eq 130 ] || fail "Ctrl-C at $moment: exit $code: $(cat "$work/up.err")"
	nothing_left "Ctrl-C at $moment"
done

note "kill -9 of vm up"
up_start b3n-2014 --variant none --ext4 --no-guest
await 300 grep -q "lab: storage VM" "$work/up.err" || fail "storage VM: never came: $(cat "$work/up.err")"
kill -KILL "$main"
ended 20
timeout 120 "$sloglab" vm down >"$work/out" 2>&1 || fail "down after kill -9: $(cat "$work/out")"
nothing_left "kill -9 of vm up"

note "kill -9 of the lab's host"
up_start b3n-2014 --variant none --ext4 --no-guest
await 300 grep -q "lab: storage VM" "$work/up.err" || fail "storage VM: never came: $(cat "$work/up.err")"
pgrep -P "$(cat "$lab/host.pid")" -x sloglab | head -1 | xargs kill -KILL
ended 120
code=$?
{ [ "$code" -eq 1 ] && [ "$(grep -c '^sloglab: ' "$work/up.err")" -eq 1 ]; } ||
	fail "host killed: exit $code: $(cat "$work/up.err")"
timeout 120 "$sloglab" vm down >"$work/out" 2>&1 || fail "down of a killed host: $(cat "$work/out")"
nothing_left "kill -9 of the host"

note "no lab"
[ "$("$sloglab" vm down 2>&1)" = "no lab is there" ] || fail "down without a lab"
"$sloglab" vm status >"$work/out" 2>&1 && fail "status without a lab"
[ "$(wc -l <"$work/out")" -eq 1 ] || fail "status without a lab: $(cat "$work/out")"
# As a reboot leaves it: the folder, and a number that is somebody else's by now.
mkdir -p "$lab"
sleep 300 &
bystander=$!
echo "$bystander" >"$lab/host.pid"
touch "$lab/lock" "$lab/control.sock"
timeout 120 "$sloglab" vm down >"$work/out" 2>&1 || fail "down after a reboot: $(cat "$work/out")"
kill "$bystander" 2>/dev/null || fail "vm down killed a process that is not its own"
nothing_left "a reboot"
[ -z "${no_libvirt:-}" ] || [ ! -e /run/libvirt ] || fail "/run/libvirt has come"
finish
