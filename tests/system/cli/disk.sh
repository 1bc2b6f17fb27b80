# shellcheck shell=sh
# `disk list`, `disk show`, `disk test`: the catalogue, models, a real file, an NBD export of our own.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

# 1. Every device of the catalogue has a row in its group; a user's own has one too and says that it is assumed.
"$sloglab" disk list >list.txt || fail "disk list"
for file in "$src"/sim/scenario/catalogue/*.yaml; do
	name=$(basename "$file" .yaml)
	grep -q "^$name " list.txt || fail "disk list: $name is missing"
done
grep -q '^ramdisk-8 .*assumed' list.txt || fail "disk list: ramdisk-8 is not marked"
# What a reader looks for comes first, and a drive stands under what it is.
awk '/^[a-zA-Z, ]*:$/ { group = $0 } /^[a-z0-9.-]+ +(nvram|ssd|hdd) / { print group $1 }' list.txt >groups.txt
for row in 'memory, Optane:optane-p4800x-375' 'NVMe SSDs with PLP:intel-dc-p3700-400' 'SSDs without PLP:samsung-950-pro-512' \
	'other SSDs with PLP:intel-dc-s3700-100' 'hard disks:hdd-7200-desktop' 'NVMe SSDs with PLP:kingston-dc1000b-480' \
	'other SSDs with PLP:samsung-pm893-480' 'SSDs without PLP:crucial-mx500-2000' 'SSDs without PLP:samsung-990-pro-2000'; do
	grep -qx "$row" groups.txt || fail "disk list: not in its group: $row"
done
[ "$(grep -c ':$' list.txt)" -eq 6 ] || fail "disk list: not six groups"
awk 'length > 100 { exit 1 }' list.txt || fail "disk list: wider than 100 columns"
# The flush of an S3700 is assumed, that of a 950 PRO was measured, and an NVMe drive with PLP is sent none.
grep -q '^intel-dc-s3700-100 .* ~121us ' list.txt || fail "disk list: an assumed flush is not marked"
grep -q '^samsung-950-pro-512 .* 2.03ms ' list.txt || fail "disk list: a measured flush is marked"
grep -q '^intel-dc-p3700-400 .* 9.54us ' list.txt || fail "disk list: a flush that is not sent is marked"
mkdir catalogue
# One bad file is named and leaves the others listed.
printf 'format: sloglab-device/1\nkind: sdd\n' >catalogue/broken.yaml
"$sloglab" disk list >list.txt 2>bad.txt
[ $? -eq 1 ] || fail "disk list with a bad file: exit $?"
{ [ "$(wc -l <bad.txt)" -eq 1 ] && grep -q "catalogue/broken.yaml:2" bad.txt; } || fail "disk list: $(cat bad.txt)"
grep -q '^intel-dc-s3700-100 ' list.txt || fail "disk list: a bad file empties it"
rm catalogue/broken.yaml
sed 's/kind: spec/kind: assumed/' "$src/sim/scenario/catalogue/stec-zeusram-8.yaml" |
	sed 's/kind: derived/kind: assumed/' >catalogue/mine.yaml
"$sloglab" disk list | grep -q '^mine .*assumed' || fail "disk list: ./catalogue"
"$sloglab" disk show mine >mine.txt || fail "disk show mine"
grep -q 'no figure of its speed is public' mine.txt || fail "disk show: assumed is not said"
sed 's/value: 8GB/value: 8/' catalogue/mine.yaml >catalogue/broken.yaml
"$sloglab" disk list 2>err.txt && fail "disk list: a broken file passes"
grep -q 'catalogue/broken.yaml:[0-9]*:[0-9]*: capacity' err.txt || fail "disk list: $(cat err.txt)"
rm -r catalogue

# 2. show gives every figure with its origin.
"$sloglab" disk show hdd-10k-sas-300 raid10-8x-15k-sas --json show.json >show.txt || fail "disk show"
grep -q 'seek_curve .*measured .*DiskSim' show.txt || fail "disk show: no seek curve"
grep -q 'made of: hdd-15k-sas-600 ' show.txt || fail "disk show: no members"
grep -q '"schema": "sloglab-devices/1"' show.json || fail "disk show --json"

# 3. test of models: the shape of diskinfo, the same bytes each time, whole files.
"$sloglab" disk test optane-m10-16 hdd-7200-desktop --csv a.csv --json a.json >test.txt || fail "disk test"
grep -q '4 kbytes:     47.6 usec/IO' test.txt || fail "disk test: $(grep ' 4 kbytes' test.txt)"
[ "$(grep -c 'usec/IO' test.txt)" -eq 30 ] || fail "disk test: not 15 sizes a disk"
[ "$(wc -l <a.csv)" -eq 55 ] || fail "disk test --csv: $(wc -l <a.csv) lines"
"$sloglab" disk test optane-m10-16 hdd-7200-desktop --csv b.csv >/dev/null || fail "disk test again"
cmp -s a.csv b.csv || fail "disk test: not reproducible"
"$sloglab" disk test optane-m10-16 --json - 2>/dev/null | grep -q '"sloglab-disk-test/1"' || fail "disk test --json -"

# 4. saturation of a small drive.
"$sloglab" disk test --saturate intel-dc-s3500-80 --minutes 20 --csv s.csv --svg s.svg >sat.txt || fail "saturate"
grep -q 'write amplification' sat.txt || fail "saturate: no write amplification"
grep -q '<polyline' s.svg || fail "saturate --svg"
[ "$(wc -l <s.csv)" -gt 100 ] || fail "saturate --csv"

# 5. Usage.
expect() {
	code=$1
	text=$2
	shift 2
	"$sloglab" disk "$@" >out.txt 2>err.txt
	got=$?
	[ "$got" -eq "$code" ] || fail "disk $*: exit code $got, not $code"
	grep -q -- "$text" err.txt || fail "disk $*: $(cat err.txt)"
}
expect 2 'name missing' show
expect 2 'name missing' test
expect 2 'not in any catalogue' show nope
expect 2 'takes no argument' list x
expect 2 'nothing to measure' test null
expect 2 'works with devices of the catalogue only' test --file x --saturate
expect 2 'not several of them' test --file x optane-m10-16
expect 2 'works with --saturate only' test optane-m10-16 --svg x.svg
expect 2 '--minutes: works with --saturate only' test optane-m10-16 --minutes 5
expect 2 'no figures of its flash' test --saturate optane-m10-16
expect 2 'works with --file and --nbd only' test optane-m10-16 --yes-destroy-data
expect 2 'out of range' test --file x --size 1MiB

# 6. A real file: a new one is removed, an existing one is not touched without leave.
"$sloglab" disk test --file new.dat --size 16MiB --time 5 >real.txt || fail "disk test --file"
grep -q '(measured)' real.txt || fail "disk test --file: not said to be measured"
[ -e new.dat ] && fail "disk test --file leaves its file"
head -c 16777216 /dev/zero >old.dat
cp old.dat copy.dat
expect 2 'would overwrite it' test --file old.dat
cmp -s old.dat copy.dat || fail "disk test --file: touched without leave"
"$sloglab" disk test --file old.dat --time 5 --yes-destroy-data >real.txt || fail "--yes-destroy-data"
cmp -s old.dat copy.dat && fail "disk test --file: wrote nothing"
expect 2 'neither a file nor a block device' test --file . --yes-destroy-data

# 6a. A real drive becomes one of the user's catalogue, measured, which runs as any other.
expect 2 'no valid name' test --file new.dat --save 'My Drive'
expect 2 '--save: works with --file and --nbd only' test optane-m10-16 --save own
mkdir -p catalogue
echo taken >catalogue/taken.yaml
expect 2 'catalogue/taken.yaml exists' test --file new.dat --save taken
rm catalogue/taken.yaml
"$sloglab" disk test --file new.dat --size 96MiB --time 300 --save own-1 >real.txt 2>err.txt || fail "--save: $(cat err.txt)"
grep -q 'catalogue/own-1.yaml: written' err.txt || fail "--save says nothing: $(cat err.txt)"
"$sloglab" disk show own-1 >own.txt || fail "disk show own-1"
for figure in read_latency write_latency flush_latency read_rate write_rate read_iops; do
	grep -q "^  $figure .* measured " own.txt || fail "--save: $figure is not measured: $(cat own.txt)"
done
grep -q '^  plp .* assumed ' own.txt || fail "--save: plp is claimed: $(cat own.txt)"
"$sloglab" run quick --log own-1 --workload seq4k >run.txt 2>err.txt || fail "run --log own-1: $(cat err.txt)"
rm catalogue/own-1.yaml

# 7. An export of our own: what the model says comes back over NBD, and a little more.
"$sloglab" disk serve stec-mach16-slc-100,size=64MiB --dir served >serve.txt 2>&1 &
server=$!
PIDS=$server
wait_for 60 grep -q ready serve.txt || fail "disk serve: $(cat serve.txt)"
expect 2 'would overwrite the export' test --nbd "nbd+unix:///stec-mach16-slc-100?socket=$work/served/nbd.sock"
"$sloglab" disk test --nbd "nbd+unix:///stec-mach16-slc-100?socket=$work/served/nbd.sock" --time 50 \
	--yes-destroy-data --csv nbd.csv >nbd.txt 2>&1 || fail "disk test --nbd: $(cat nbd.txt serve.txt)"
kill "$server" || fail "disk serve died: $(cat serve.txt)"
end_within 60 "$server"
ns=$(awk -F, '$3 == "sync_write" && $4 == 4096 { printf "%d", $5 }' nbd.csv)
[ "${ns:-0}" -gt 500000 ] || fail "disk test --nbd: 4 KiB in ${ns:-no} ns, modelled 637 us"
expect 2 'connect' test --nbd "nbd+unix:///?socket=$work/gone" --yes-destroy-data
finish
