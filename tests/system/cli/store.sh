#!/bin/sh
# `sloglab store`: ten damaged folders. The server refuses or says, check names the damage, a dry run changes nothing, and
# after the repair every file whose data is there can be read again over NFS.
# shellcheck source=tests/system/cli/lib.sh
. "$(dirname "$0")/lib.sh"
command -v nfs-cp >/dev/null 2>&1 || skip "nfs-cp is not installed (Debian package libnfs-utils)"
cd "$work" || exit 1
cat >box.yaml <<'YAML'
format: sloglab-scenario/1
title: a box to serve
pool: {data: {layout: mirror, disks: [hdd-7200-desktop x 2]}}
workloads: {w: {kind: syncwrite}}
variants: {none: {}}
YAML

serve() {
	serve_start box.yaml --dir "$1" --quiet --latency-off
}

serve_stop() {
	kill "$main" || fail "serve died: $(cat err)"
	end_within 60 "$main"
}

url() {
	echo "nfs://127.0.0.1/tank/vm$1?$ports"
}

# bit_flip FILE BYTE
bit_flip() {
	byte=$(od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' ')
	# shellcheck disable=SC2059 # the format is the byte
	printf "\\$(printf %o $((byte ^ 4)))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

# store ARGS...: what it prints is in the file said.
store() {
	"$sloglab" store "$@" >said 2>err
}

# The sum of every file that lies in the folder, and of every file that the server serves.
kept() {
	find "$1/data" -type f -name '0000*' -exec cksum {} + 2>/dev/null | cut -d ' ' -f 1,2 | sort
}
served() {
	serve "$1"
	nfs-ls -R "$(url /)" >list || fail "nfs-ls: $1"
	awk '/^-/ { print $NF }' list | while read -r name; do
		rm -f got && timeout 60 nfs-cp "$(url "/${name#/}")" got >/dev/null 2>&1 </dev/null || echo "not readable: $name"
		cksum <got
	done | cut -d ' ' -f 1,2 | sort
	serve_stop
}

serve whole
for i in 1 2 3 4 5 6; do
	echo "contents of file $i" >a
	timeout 60 nfs-cp a "$(url /file$i)" >/dev/null || fail "copy in"
done
serve_stop
store check whole || fail "check of a whole store: $(cat said)"
grep -q '^whole: sound, 6 names$' said || fail "a whole store: $(cat said)"
[ "$(kept whole)" = "$(served whole)" ] || fail "the test itself: $(kept whole) / $(served whole)"

# damaged NAME WORDS: copies are in NAME already; check says WORDS, a dry run leaves it, the repair returns what there is.
damaged() {
	data=$(kept "$1")
	find "$1" -type f -exec cksum {} + | sort >before
	store check "$1" && fail "$1: check finds nothing: $(cat said)"
	grep -q "^damage  $2" said || fail "$1: check says: $(cat said err)"
	store repair "$1" && fail "$1: a dry run exits 0"
	grep -q '^  mend  ' said || fail "$1: repair plans: $(cat said err)"
	find "$1" -type f -exec cksum {} + | sort >after
	cmp -s before after || fail "$1: a dry run has changed it"
	store repair "$1" --write || fail "$1: repair: $(cat said err)"
	store check "$1" || fail "$1: after the repair: $(cat said)"
	[ "$data" = "$(served "$1")" ] || fail "$1: not all is back: $(cat said list)"
}
refused() {
	"$sloglab" serve box.yaml --dir "$1" --port 0 --portmap-port 0 >out 2>err && fail "$1: served"
	grep -q "$2" err || fail "$1: serve says: $(cat err)"
}
copy() {
	cp -r whole "$1" && chmod 700 "$1"
}
size=$(wc -c <whole/journal)

copy head && bit_flip head/journal 3
refused head 'journal: damaged in its first 16 bytes'
damaged head 'journal: its first 16 bytes'

copy middle && bit_flip middle/journal $((size / 2))
refused middle 'journal: damaged at byte .* store check'
damaged middle 'journal: bytes [0-9]* to [0-9]* are no record, whole ones follow'

copy last && bit_flip last/journal $((size - 3))
refused last 'journal: damaged at byte .* no kill explains it'
damaged last 'journal: bytes [0-9]* to [0-9]* are no record, and no kill explains them'

copy length && bit_flip length/journal 17
refused length 'journal: damaged at byte 16 '
damaged length 'journal: bytes 16 to [0-9]* are no record'

copy nojournal && rm nojournal/journal
refused nojournal 'journal: missing'
damaged nojournal 'journal: missing'

copy nodata && rm -r nodata/data
refused nodata 'data: missing'
damaged nodata 'data: missing'

mkdir -m 700 interrupted interrupted/data
cp whole/data/000000000000000[2-5] interrupted/data
refused interrupted 'journal: missing, but data/ has 4 files'
damaged interrupted 'journal: missing'

copy onefile && rm onefile/data/0000000000000003
refused onefile 'the contents of 1 files are missing (/file'
damaged onefile 'data: the contents of /file[0-9] (0000000000000003) are missing'

# An older journal beside newer files: the server puts these aside itself; before it, check names them.
copy older && head -c $((size / 2)) whole/journal >older/journal
damaged older 'data/000000000000000[0-9]: no name leads to it'

copy shortkey && printf short >shortkey/key
damaged shortkey 'key: has 5 bytes, not 16'

copy shortkey2 && printf short >shortkey2/key
serve shortkey2
serve_stop
grep -q 'key: not 16 bytes.*mount again' err || fail "a short key: serve says: $(cat err)"

# Usage.
store check && fail "no folder"
grep -q 'folder missing; usage: sloglab store check DIR' err || fail "$(cat err)"
store check /usr
[ $? -eq 2 ] || fail "a foreign folder is taken"
grep -q '/usr: not a datastore' err || fail "a foreign folder: $(cat err)"
finish
