#!/bin/bash
# Usage: check_includes.sh [ROOT]
# The rooms of sloglab and who may know whom: a room may include itself, what its line names, and what those may
# include in turn. Also: includes are written from the root, and x.c includes its own x.h first.
set -eu

root=${1:-$(dirname "$(dirname "$(readlink -f "$0")")")}
cd "$root"

arrows='
base
workload  base
store     base
device    base
box       base device
scenario  base device box
zfs       base device store box
wire      base box
hyp       base store box wire
guest     base workload box hyp
stack     base workload store scenario zfs wire hyp guest
nfs3      base store
nbd       base device
report    base device scenario stack
serve     base
datastore base store box stack nfs3 serve
disks     base device nbd serve
guests    base box
engine    base scenario stack datastore disks guests
loadgen   base workload
'

folders=()
for folder in sim guests engine loadgen cli; do
	[ -d "$folder" ] && folders+=("$folder")
done
[ ${#folders[@]} -eq 0 ] && exit 0

check='
function room_of(path,    part) {
	split(path, part, "/")
	return part[1] == "sim" ? part[2] : part[1]
}
function complain(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text
	bad = 1
}
BEGIN {
	count = split(arrows, line, "\n")
	for (i = 1; i <= count; i++) {
		words = split(line[i], word, " ")
		if (words == 0) continue
		known[word[1]] = 1
		for (w = 1; w <= words; w++) allowed[word[1], word[w]] = 1
	}
	for (k in known) for (a in known) for (b in known)
		if (((a, k) in allowed) && ((k, b) in allowed)) allowed[a, b] = 1
}
FNR == 1 {
	room = room_of(FILENAME)
	own = FILENAME
	sub(/\.c$/, ".h", own)
	if (own == FILENAME || (getline ignored < own) < 0) own = ""
	else close(own)
	if (room != "cli" && !(room in known)) complain("unknown room \"" room "\"; add its arrows to check_includes.sh")
}
/^[ \t]*#[ \t]*include/ {
	path = $0
	sub(/^[ \t]*#[ \t]*include[ \t]*/, "", path)
	quoted = path ~ /^"/
	path = substr(path, 2)
	sub(/[">].*/, "", path)
	if (own != "" && path != own) complain("the first include must be its own header \"" own "\"")
	own = ""
	if (!quoted) next
	if (path !~ /\//) { complain("\"" path "\" is not written from the root of the project"); next }
	target = room_of(path)
	if (room == "cli" || target == room) next
	if (target == "tests" || target == "bench" || !((room, target) in allowed))
		complain("room \"" room "\" must not know \"" target "\"")
}
END { exit bad }
'

find "${folders[@]}" -type f \( -name '*.c' -o -name '*.h' -o -name '*.def' \) -print0 | sort -z |
	xargs -0 -r awk -v arrows="$arrows" "$check"
