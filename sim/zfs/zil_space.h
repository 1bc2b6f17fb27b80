/*
 * What the log holds, by the txg that makes it needless.
 *
 * Space of log blocks: a block is freed when the txg of its last record has synced (zil_sync), and what is
 * freed can be allocated again two txgs later (TXG_DEFER_SIZE, metaslab_sync_done): a log device holds what
 * is logged in five txgs, of which one is open and one syncs.
 */
#ifndef SL_ZFS_ZIL_SPACE_H
#define SL_ZFS_ZIL_SPACE_H

#include <stdint.h>

#define SL_ZIL_SPACE_TXGS 16 /* a power of two, more than can be alive */

struct sl_zil_space {
	int64_t of_txg[SL_ZIL_SPACE_TXGS]; /* blocks whose last record is of that txg */
	int64_t used, peak;
	uint64_t freed; /* all txgs up to this one are */
};

/* A block of `bytes` with records up to `txg` is allocated. */
void sl_zil_space_take(struct sl_zil_space *space, uint64_t txg, int64_t bytes);

/* What was taken for txgs up to this one is given back. */
void sl_zil_space_free(struct sl_zil_space *space, uint64_t txg);

#endif
