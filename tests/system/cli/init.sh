#!/bin/sh
# Questions to a scenario: it loads and runs as it is, and whatever goes wrong leaves nothing behind.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

# has FILE PATTERN: a fixed string is in the file.
has() {
	grep -qF -- "$2" "$1" || fail "\"$2\" is not in: $(head -c 3000 "$1")"
}

# refuses CODE PATTERN ARGS...: one line, that exit code, nothing written. Standard input is the file `answers`.
refuses() {
	code=$1
	pattern=$2
	shift 2
	timeout 60 "$sloglab" init "$@" >out 2>err <answers
	got=$?
	[ "$got" -eq "$code" ] || fail "init $*: exit $got, not $code"
	[ "$(wc -l <err)" -eq 1 ] || fail "init $*: not one line: $(cat err)"
	has err "$pattern"
	left=$(ls -A)
	[ "$left" = "$before" ] || fail "init $*: left $left"
}

: >answers
: >out
: >err
before=$(ls -A)
refuses 2 'the input ended at question 1 of 9 (--hypervisor); nothing was written'
printf 'esxi\n\n\n' >answers
refuses 2 'the input ended at question 4 of 9 (--layout)'
printf 'esxj\n' >answers
refuses 2 '--hypervisor: "esxj" is none of esxi, qemu, proxmox; did you mean esxi?'
: >answers
refuses 2 '--threads: "many" is not a whole number from 1 to 1024' --yes --threads many
refuses 2 '--nas-vcpus: "0" is not a whole number from 1 to 128' --yes --nas-vcpus 0
refuses 2 '--slog: "{mirror: x}" is no drive of the catalogue' --yes --slog '{mirror: x}'
refuses 2 '--disks: "a], b: [c" is no list of disks' --yes --disks 'a], b: [c'
refuses 2 "did you mean 'intel-dc-s3500-80'" --yes --slog intel-dc-s3501-80
refuses 2 'my-box.yaml:' --yes --slog intel-dc-s3501-80
refuses 2 'raidz1 needs at least 3 disks, not 2' --yes --disks 'hdd-7200-desktop x 2' --layout raidz1
refuses 2 'nowhere/x.yaml: cannot write' --yes --output nowhere/x.yaml
refuses 2 '--output: name a file' --yes --output -
refuses 2 'x: takes no argument' --yes x

# All flags, or questions: the same file.
"$sloglab" init --yes --hypervisor esxi --nas-vcpus 4 --disks 'hdd-7200-desktop x 2' --slog intel-dc-s3700-100 \
	--guest-vcpus 3 --threads 8 --rows 50000 --output flags.yaml >out 2>err || fail "flags: $(cat err)"
printf 'esxi\n4\nhdd-7200-desktop x 2\n\n\nintel-dc-s3700-100\n3\n8\n 50000 \n' >answers
"$sloglab" init --output asked.yaml >out 2>err <answers || fail "questions: $(cat err)"
[ -s err ] && fail "questions without a terminal are printed: $(cat err)"
cmp -s flags.yaml asked.yaml || fail "flags and questions differ: $(diff flags.yaml asked.yaml)"
has out 'sloglab run asked.yaml'
has flags.yaml 'layout: mirror, disks: [hdd-7200-desktop x 2]'
has flags.yaml 'hypervisor: esxi, nic: vmxnet3'
"$sloglab" run flags.yaml >out 2>err || fail "run: $(cat err)"
has out 'oltp, 8 threads: '
has out 'with-slog'
"$sloglab" advise flags.yaml --workload commit4k --repeat 1 --catalogue optane-p4800x-375 >out 2>err ||
	fail "advise: $(cat err)"
has out 'Buy optane-p4800x-375'

# What is there stays, unless --force; no SLOG is fine too.
printf 'mine\n' >mine.yaml
: >answers
before=$(ls -A)
refuses 2 'mine.yaml: exists; name another with --output, or use --force' --yes --output mine.yaml
has mine.yaml mine
refuses 2 "did you mean 'intel-dc-s3500-80'" --yes --force --slog intel-dc-s3501-80 --output mine.yaml
has mine.yaml mine
"$sloglab" init --yes --force --slog none --output mine.yaml >out 2>err || fail "--force: $(cat err)"
has mine.yaml 'format: sloglab-scenario/1'
"$sloglab" run mine.yaml --workload commit4k >out 2>err || fail "run without a SLOG: $(cat err)"

# Ctrl-C while it waits for an answer.
mkfifo questions
"$sloglab" init --output late.yaml <questions >out 2>err &
pid=$!
PIDS=$pid
exec 3>questions
printf 'esxi\n' >&3
interrupt "$pid" || fail "it ended before Ctrl-C"
end_within 60 "$pid"
[ "$rc" -eq 130 ] || fail "Ctrl-C: exit $rc, not 130: $(cat err)"
exec 3>&-
has err 'interrupted: nothing was written'
[ -e late.yaml ] && fail "Ctrl-C left a file"

# On a terminal a wrong answer is asked again.
if command -v script >/dev/null; then
	printf 'esxj\nesxi\n\n\n\n\n\n\n\n\n' | timeout 60 script -qec "$sloglab init --output tty.yaml" /dev/null >shown 2>&1
	has shown 'did you mean esxi?'
	has shown 'Layout of the pool (stripe|mirror|raidz1|raidz2|raidz3) [raidz1]: '
	[ -e tty.yaml ] && has tty.yaml 'hypervisor: esxi'
	[ -e tty.yaml ] || fail "no file from a terminal: $(cat shown)"
else
	in_part "script is not installed (Debian package bsdutils)"
fi
finish
