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
refuses 2 'the input ended at --hypervisor; nothing was written'
printf 'esxi\n\n\n' >answers
refuses 2 'the input ended at --cores'
printf 'esxj\n' >answers
refuses 2 '--hypervisor: "esxj" is none of esxi, proxmox, qemu; did you mean esxi?'
: >answers
refuses 2 '--threads: "many" is not a whole number from 1 to 1024' --yes --threads many
refuses 2 '--nas-vcpus: "0" is not a whole number from 1 to 128' --yes --nas-vcpus 0
refuses 2 '--nas-memory: "16" has no unit; did you mean 16GiB?' --yes --nas-memory 16
refuses 2 '--link: "10" is neither virtual (a VM on the same host) nor a line rate' --yes --link 10
refuses 2 '--slog: "{mirror: x}" is no drive of the catalogue' --yes --slog '{mirror: x}'
refuses 2 '--disks: "a]" is no drive of the catalogue' --yes --disks 'a], b: [c'
refuses 2 'did you mean intel-dc-s3500-80?' --yes --slog intel-dc-s3501-80
refuses 2 '--slog: "s3700" fits intel-dc-s3700-100, intel-dc-s3700-200' --yes --slog s3700
refuses 2 'write mirror intel-dc-s3700-100 for a mirror of two' --yes --slog '2x s3700-100'
refuses 2 '--slog: optane-900p-280 is named twice' --yes --slog '900p-280, optane-900p-280'
refuses 2 '--disks: 33 disks; a pool has at most 32 here' --yes --disks '33x hdd-7200-desktop'
refuses 2 '--zil: "x: y" is no release' --yes --zil 'x: y'
refuses 2 'nas.zil' --yes --zil 9.9
refuses 2 'raidz1 needs at least 3 disks, not 2' --yes --disks 'hdd-7200-desktop x 2' --layout raidz1
refuses 2 '--vdevs: 6 disks are not 4 x mirror of equal size, 2 disks each at least; 3 would be 2 disks each' \
	--yes --disks 'hdd-7200-desktop x 6' --layout mirror --vdevs 4
refuses 2 'nowhere/x.yaml: cannot write' --yes --output nowhere/x.yaml
refuses 2 '--output: name a file' --yes --output -
refuses 2 'x: takes no argument' --yes x

# means FLAG TYPED LINE: what was typed is understood as what stands in the file.
means() {
	"$sloglab" init --yes --force --output means.yaml "$1" "$2" >out 2>err || fail "$1 '$2': $(cat err)"
	has means.yaml "$3"
}
means --hypervisor Proxmox 'hypervisor: proxmox, client: linux'
means --hypervisor VMware 'hypervisor: esxi, client: esxi'
means --hypervisor kvm 'hypervisor: qemu, client: libnfs'
means --link '10 Gbit/s' 'link: 10GbE'
means --nas-memory '16 gb' 'memory: 16GiB'
means --nas-memory 64G 'memory: 64GiB'
means --disks '6x hdd-7200-desktop' 'layout: mirror, disks: [hdd-7200-desktop x 6], vdevs: 3'
means --disks 'constellation * 4' 'disks: [hdd-constellation-es3-2tb x 4], vdevs: 2'
means --disks '4 7200-desktop' 'layout: mirror, disks: [hdd-7200-desktop x 4], vdevs: 2'
means --disks 'HDD 7200 Desktop 3' 'layout: raidz1, disks: [hdd-7200-desktop x 3], vdevs: 1'
means --layout '2 x raidz2' 'layout: raidz2, disks: [hdd-7200-desktop x 8], vdevs: 2'
means --layout pairs 'layout: mirror, disks: [hdd-7200-desktop x 4], vdevs: 2'
means --flush no 'flush: ignored'
means --slog 'intel s3700 200GB' 'intel-dc-s3700-200: {set: {pool.log: intel-dc-s3700-200}}'
means --slog 'mirror 900p-280, zeusram' 'mirror-optane-900p-280: {set: {pool.log: [{mirror: [optane-900p-280, optane-900p-280]}]}}'
means --slog 'mirror 900p-280, zeusram' 'stec-zeusram-8: {set: {pool.log: stec-zeusram-8}}'
means --rows 100k 'rows: 100000'
rm means.yaml

# All flags, or questions: the same file.
"$sloglab" init --yes --hypervisor esxi --cores 6 --nas-vcpus 4 --disks 'hdd-7200-desktop x 2' --slog intel-dc-s3700-100 \
	--guest-vcpus 3 --threads 8 --rows 50000 --output flags.yaml >out 2>err || fail "flags: $(cat err)"
printf 'esxi\n\n\n6\n4\n\n\nhdd-7200-desktop x 2\n\n\ns3700-100\n3\n\n\n8\n 50000 \n' >answers
"$sloglab" init --output asked.yaml >out 2>err <answers || fail "questions: $(cat err)"
[ -s err ] && fail "questions without a terminal are printed: $(cat err)"
cmp -s flags.yaml asked.yaml || fail "flags and questions differ: $(diff flags.yaml asked.yaml)"
has out 'sloglab run asked.yaml'
has flags.yaml 'layout: mirror, disks: [hdd-7200-desktop x 2]'
has flags.yaml 'hypervisor: esxi, client: esxi, link: virtual, nic: vmxnet3, cores: 6'
"$sloglab" run flags.yaml >out 2>err || fail "run: $(cat err)"
has out 'oltp, 8 threads: '
has out 'intel-dc-s3700-100'
"$sloglab" advise flags.yaml --workload commit4k --repeat 1 --catalogue optane-p4800x-375 >out 2>err ||
	fail "advise: $(cat err)"
has out 'Buy optane-p4800x-375'

# Each load runs.
for load in files copy vms; do
	"$sloglab" init --yes --load $load --size 64M --output $load.yaml >out 2>err || fail "$load: $(cat err)"
	"$sloglab" run $load.yaml --workload $load >out 2>err || fail "run $load: $(cat err)"
done

# What is there stays, unless --force; no SLOG is fine too.
printf 'mine\n' >mine.yaml
: >answers
before=$(ls -A)
refuses 2 'mine.yaml: exists; name another with --output, or use --force' --yes --output mine.yaml
has mine.yaml mine
refuses 2 'did you mean intel-dc-s3500-80?' --yes --force --slog intel-dc-s3501-80 --output mine.yaml
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

# talk FILE: a conversation on a terminal that ends with the file written, which runs.
talk() {
	"$bin/pty_talk" script "$sloglab" init --output "$1" >shown 2>&1 || fail "$1: exit $?: $(cat shown)"
	[ -e "$1" ] || fail "$1: no file: $(cat shown)"
	"$sloglab" run "$1" >out 2>err || fail "run $1: $(cat err)"
}

# Three boxes, each with wrong answers between the right ones: no answer is lost. ESXi and hard disks:
cat >script <<'END'
> Hypervisor (esxi|proxmox|qemu) [proxmox]:
< esxj
> did you mean esxi?
> [esxi]:
<
> Network
<
> CPU that the host's is most like [modern-xeon]:
< ?
> mini-pc-n100
> most like [modern-xeon]:
< e3
> = xeon-e3-v3
> CPU cores
< four
> not a whole number
> CPU cores
< 4
> Virtual CPUs of the storage
< 2
> Memory of the storage
< 16
> did you mean 16GiB?
> [16GiB]:
<
> ZFS of the storage
< TrueNAS
> nas.zil
> ZFS of the storage
< TrueNAS SCALE 24.04
> Disks of the pool
< hdd x 4
> write more of one
> Disks of the pool
< 6x hdd-7200-deskop
> did you mean hdd-7200-desktop?
> [hdd-7200-desktop x 6]:
<
> Layout of the pool [mirror]:
< raidz4
> Layout of the pool [
< mirror
> Vdevs of that layout which share the disks [3]:
< 4
> 3 would be 2 disks each
> [3]:
<
> Does a cache flush
< no
> = ignored
> SLOGs to compare
< s3700
> fits intel-dc-s3700-100
> SLOGs to compare
< s3700-200
> = intel-dc-s3700-200
> Virtual CPUs of the guest
<
> Memory of the guest
<
> What the guests do
< db
> = database
> Threads
< 2
> Rows
< 100k
> written. Next:
END
talk esxi.yaml
has esxi.yaml 'host: {profile: xeon-e3-v3, hypervisor: esxi, client: esxi, link: virtual, nic: vmxnet3, cores: 4}'
has esxi.yaml 'data: {layout: mirror, disks: [hdd-7200-desktop x 6], vdevs: 3, flush: ignored}'
has esxi.yaml 'nas: {vcpus: 2, memory: 16GiB, nfsd_threads: 8, zil: TrueNAS SCALE 24.04}'
has esxi.yaml 'intel-dc-s3700-200: {set: {pool.log: intel-dc-s3700-200}}'
has esxi.yaml 'oltp: {kind: oltp, threads: 2, rows: 100000,'

# Proxmox and Optane: the kernel's client; names completed by Tab.
cat >script <<'END'
> Hypervisor
< Proxmox
> = proxmox
> NFS client of the virtual disks (linux|libnfs|esxi) [linux]:
<
> Network
< same host
> = virtual
> CPU that
<
> CPU cores
<
> Virtual CPUs of the storage
< 4
> Memory of the storage
< 32g
> ZFS of the storage
< Proxmox 8.3
> Disks of the pool
~ 7200-d\t
> hdd-7200-desktop
<  x 4
> Layout of the pool [mirror]:
<
> [2]:
<
> Does a cache flush
<
> SLOGs to compare
~ 900p-2\t
> optane-900p-280
< , mirror 900p 280
> = optane-900p-280, mirror optane-900p-280
> Virtual CPUs of the guest
<
> Memory of the guest
<
> What the guests do
<
> Threads
<
> Rows
< 1e5
> not a whole number
> Rows
< 100000
> written. Next:
END
talk proxmox.yaml
has proxmox.yaml 'hypervisor: proxmox, client: linux, link: virtual'
has proxmox.yaml 'data: {layout: mirror, disks: [hdd-7200-desktop x 4], vdevs: 2, flush: honoured}'
has proxmox.yaml 'optane-900p-280: {set: {pool.log: optane-900p-280}}'
has proxmox.yaml 'mirror-optane-900p-280: {set:'

# A NAS of its own behind 10 GbE: no cores of the host, and the wire is in each call: 11 us of modern-xeon and 50.
cat >script <<'END'
> Hypervisor
< esx
> Network
< 10
> did you mean 10GbE?
> [10GbE]:
<
> CPU that
<
> Virtual CPUs of the storage VM, or cores of the NAS
< 8
> Memory of the storage
< 64G
> ZFS of the storage
<
> Disks of the pool
< const x 8
> = hdd-constellation-es3-2tb x 8
> Layout of the pool [mirror]:
< raid6
> = raidz2
> Vdevs of that layout which share the disks [1]:
< 2
> Does a cache flush
<
> SLOGs to compare
< p3700-400
> Virtual CPUs of the guest
<
> Memory of the guest
< 4gb
> What the guests do
< vms
> Threads
< 16
> Size of the files
< 256M
> written. Next:
END
talk nas.yaml
has nas.yaml 'host: {profile: modern-xeon, hypervisor: esxi, client: esxi, link: 10GbE, nic: vmxnet3}'
has nas.yaml 'hyp.op_delay: {value: 61us, kind: assumed'
has nas.yaml 'data: {layout: raidz2, disks: [hdd-constellation-es3-2tb x 8], vdevs: 2, flush: honoured}'
has nas.yaml 'vms: {kind: syncwrite, block: 4KiB, file_total: 256MiB, pattern: random, depth: 16,'

# Ctrl-C or the end of the input at any question: nothing is left behind, and what was answered can be gone on with.
: >script
: >answered
before=$(ls -A)
for question in 'Hypervisor' 'NFS client' 'Network' 'CPU that' 'CPU cores' 'Virtual CPUs of the st' 'Memory of the st' \
	'ZFS of' 'Disks of' 'Layout' 'Vdevs' 'Does a cache' 'SLOGs' 'Virtual CPUs of the g' 'Memory of the g' 'What' \
	'Threads' 'Rows'; do
	for end in ^C:130 ^D:2; do
		{ cat answered && printf '> %s\n%s\n' "$question" "${end%:*}"; } >script
		"$bin/pty_talk" script "$sloglab" init --output half.yaml >shown 2>&1
		got=$?
		[ "$got" -eq "${end#*:}" ] || fail "$end at $question: exit $got: $(cat shown)"
		has shown 'nothing was written'
		has shown 'sloglab init'
	done
	printf '> %s\n<\n' "$question" >>answered
done
has shown "sloglab init --hypervisor proxmox --client linux --link virtual --profile modern-xeon --cores 8"
left=$(ls -A)
[ "$left" = "$before" ] || fail "Ctrl-C or the end of the input left $left"
finish
