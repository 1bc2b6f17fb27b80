#!/bin/bash
# shellcheck source=tests/lint/lib.sh
. "$(dirname "$0")/lib.sh" "$1"
lint=$project/scripts/check_tags.sh

# Uses and forward declarations are no definitions, and what a file keeps to itself has no prefix.
put sim/zfs/zil.h 'struct sl_pool;' 'struct sl_zil {' '	struct sl_pool *pool;' '};' 'enum sl_when {' '};'
put sim/zfs/pool.c 'struct sl_zil *zil;' 'struct job {' '};'
put cli/run.c 'struct job {' '};'
passes "$lint" "$tree"

put engine/live.h 'struct sl_zil {' '};'
fails 'struct sl_zil is defined in' "$lint" "$tree"
put engine/live.h 'struct sl_when {' '};'
fails 'sl_when is defined in' "$lint" "$tree"
