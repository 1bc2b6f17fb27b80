#!/bin/sh
# Writes a seed corpus for nfs3_fuzz into the folder $1: one well-formed call of each procedure.
set -eu
folder=${1:?usage: make_corpus.sh FOLDER}
mkdir -p "$folder"

# words NUMBER...: big-endian 32-bit words
words() {
	for word in "$@"; do
		# shellcheck disable=SC2059
		printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $((word >> 24 & 255)) $((word >> 16 & 255)) \
			$((word >> 8 & 255)) $((word & 255)))"
	done
}

# call FILE PROGRAM VERSION PROCEDURE ARGUMENT-WORD...
call() {
	out=$folder/$1 program=$2 version=$3 procedure=$4
	shift 4
	{
		printf '\000'
		words $((0x80000000 + 60 + 4 * $#)) 1 0 2 "$program" "$version" "$procedure" 1 20 0 0 0 0 0 0 0 "$@"
	} >"$out"
}

root="24 0x01010101 0x01010101 0x01010101 0x01010101 0x01010101 0x01010101"
file="24 0x02020202 0x02020202 0x02020202 0x02020202 0x02020202 0x02020202"
dir="24 0x03030303 0x03030303 0x03030303 0x03030303 0x03030303 0x03030303"
link="24 0x04040404 0x04040404 0x04040404 0x04040404 0x04040404 0x04040404"
name="1 0x66000000"
fresh="1 0x67000000"
nothing="0 0 0 0 0 0"

# Word lists: splitting is what is wanted.
# shellcheck disable=SC2086
{
	call null 100003 3 0
	call getattr 100003 3 1 $file
	call setattr 100003 3 2 $file 1 0644 1 7 1 8 1 0 99 1 2 5 6 0
	call lookup 100003 3 3 $root $name
	call access 100003 3 4 $root 63
	call read 100003 3 6 $file 0 0 512
	call write 100003 3 7 $file 0 4096 8 2 8 0x64617461 0x64617461
	call create 100003 3 8 $root $fresh 0 $nothing
	call exclusive 100003 3 8 $root $fresh 2 1 2
	call mkdir 100003 3 9 $root $fresh $nothing
	call readlink 100003 3 5 $link
	call symlink 100003 3 10 $root $fresh $nothing 4 0x2e2e2f78
	call mknod 100003 3 11 $root $fresh 7 $nothing
	call device 100003 3 11 $root $fresh 4 $nothing 1 2
	call rename 100003 3 14 $root $name $dir $fresh
	call replace 100003 3 14 $root $name $root 1 0x6c000000
	call link 100003 3 15 $file $dir $fresh
	call remove 100003 3 12 $root $name
	call rmdir 100003 3 13 $root 1 0x64000000
	call readdir 100003 3 16 $root 0 0 0 0 1024
	call readdirplus 100003 3 17 $root 0 0 0 0 512 1024
	call fsstat 100003 3 18 $root
	call fsinfo 100003 3 19 $root
	call pathconf 100003 3 20 $root
	call commit 100003 3 21 $file 0 0 0
	call mnt 100005 3 1 4 0x2f652f64
	call umnt 100005 3 3 4 0x2f652f64
	call umntall 100005 3 4
	call dump 100005 3 2
	call export 100005 3 5
	call getport 100000 2 3 100003 3 6 0
	call mappings 100000 2 4
}
