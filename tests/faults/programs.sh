#!/bin/sh
# Whole programs of which one call fails after another (drive.c): a message and exit code 1, or the same bytes as without.
. "${0%/*}/../system/lib.sh"
: "${FAULTS:?set FAULTS to libsl_faults.so}"
drive=$BIN/faults_drive
sloglab=$BIN/sloglab
kinds=eio,enospc,short,eintr,emfile,nomem
case ${SL_FAULTS:-} in
long) share=100 ;;
*) share=${SHARE:-6} ;;
esac

# each SHARES RESULT ARGS...: so many shares of the cycles for `sloglab ARGS`.
each() {
	cycles=$(($1 * share))
	result=$2
	shift 2
	"$drive" "$FAULTS" "$result" "$kinds" "$cycles" "$sloglab" "$@" >"$SCRATCH/said" 2>&1 ||
		fail "$*: $(cat "$SCRATCH/said")"
	echo "$1: $(tail -1 "$SCRATCH/said")"
}

small="quick --variant s3700 --workload seq4k"
# shellcheck disable=SC2086 # words
{
	each 3 "$SCRATCH/r" run $small --json "$SCRATCH/r"
	each 2 "$SCRATCH/r" run $small --html "$SCRATCH/r"
	each 1 "$SCRATCH/r" run $small --csv "$SCRATCH/r"
	each 1 "$SCRATCH/r" run $small --trace "$SCRATCH/r"
	each 1 - run $small --json -
	each 1 "$SCRATCH/r" powercut $small --random 3 --json "$SCRATCH/r"
	if [ "${SL_FAULTS:-}" = long ]; then
		each 1 "$SCRATCH/r" explain $small --json "$SCRATCH/r" # takes ten times as long
	fi
}
