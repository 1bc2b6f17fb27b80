/*
 * The restart after a cut: import of the pool and replay of its intent log, as a pure function of the history
 * and the time of the cut. Import takes the last txg whose writes are all on the disks; the log is read from
 * the first block that this txg does not cover, block by block, up to the first that is not there.
 */
#ifndef SL_ZFS_IMPORT_H
#define SL_ZFS_IMPORT_H

#include "sim/zfs/history.h"

/* The times that matter, worked out once for many cuts. */
struct sl_import {
	const struct sl_history *history; /* borrowed */
	struct sl_cut cut;
	int64_t *blocks_ns;  /* from when on a block is there after the cut; owned, as the others */
	int64_t *strides_ns; /* the latest of each stride of blocks: whole ones are stepped over */
	uint64_t *until_txg; /* of a block and all before it: the latest txg */
	uint32_t *records;   /* in all blocks before this one */
	int64_t *txgs_ns;    /* from when on a txg, and all before it, can be imported */
};

/* How the pool came back. */
struct sl_imported {
	uint64_t txg;         /* imported */
	uint64_t believed;    /* synced, as ZFS saw it before the cut: later than txg when disks lied */
	uint32_t first, stop; /* replayed: blocks first to stop - 1 */
	uint32_t records;     /* in them */
};

/* Errors: -ENOMEM. Release with sl_import_fini, also after an error. */
int sl_import_init(struct sl_import *import, const struct sl_history *history, const struct sl_cut *cut);
void sl_import_fini(struct sl_import *import);

/* Plays the restart after a cut at `at_ns`: what happened at that instant had happened. */
void sl_import_play(const struct sl_import *import, int64_t at_ns, struct sl_imported *ret);

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
