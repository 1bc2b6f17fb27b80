/*
 * The restart after a cut: import of the pool and replay of its intent log, worked out from the history and
 * the time of the cut. Import takes the last txg whose writes are all on the disks; the log is read from
 * the first block that this txg does not cover, block by block, up to the first that is not there.
 *
 * Cuts are played in the order of their times: what was there once is not looked at again.
 */
#ifndef SL_ZFS_IMPORT_H
#define SL_ZFS_IMPORT_H

#include "sim/zfs/history.h"

/* How far the last cut came. */
struct sl_import {
	const struct sl_history *history; /* borrowed */
	struct sl_cut cut;
	uint64_t txg, believed; /* see below */
	uint64_t stop;          /* blocks before it are there, or not needed */
	uint64_t present;       /* writes before it are in the pool, now and after any later cut */
};

/* How the pool came back. */
struct sl_imported {
	uint64_t txg;         /* imported */
	uint64_t believed;    /* synced, as ZFS saw it before the cut: later than txg when disks lied */
	uint64_t first, stop; /* replayed: blocks first to stop - 1 */
	uint64_t records;     /* in them */
};

void sl_import_init(struct sl_import *import, const struct sl_history *history, const struct sl_cut *cut);

/* Plays the restart after a cut at `at_ns`, not before that of the last call: what happened at that instant
 * had happened. */
void sl_import_play(struct sl_import *import, int64_t at_ns, struct sl_imported *ret);

/* Is the write in the pool, by the imported txg or by replay? */
static inline bool sl_imported_has(const struct sl_imported *imported, const struct sl_history_write *write)
{
	return write->txg <= imported->txg || write->block < imported->stop;
}

/* Why the replay ended before the log did: the disk that did not have the next block; NULL when none is to
 * blame (the block was never written, or not yet). */
const struct sl_mark *sl_import_culprit(const struct sl_import *import, const struct sl_imported *imported,
					int64_t at_ns);

/* Why the import did not take a later txg: the disk that did not have a part of the next one although ZFS
 * believed it synced; NULL when none is to blame. */
const struct sl_mark *sl_import_txg_culprit(const struct sl_import *import,
					    const struct sl_imported *imported, int64_t at_ns);

#endif
