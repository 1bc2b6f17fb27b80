/* Private to the room: what the parts of a txg share: its life (txg.c), what is dirty (txg_dirty.c) and how
 * it is written (txg_sync.c). */
#ifndef SL_ZFS_TXG_INNER_H
#define SL_ZFS_TXG_INNER_H

#include "sim/zfs/txg.h"

/* Takes what is dirty: the open txg starts anew, empty. Returns it, as the work of a sync. */
struct sl_txg_work sl_txg_take_dirty(struct sl_txg *txg);

void sl_txg_dirty_fini(struct sl_txg *txg);

/* Starts to write `work`; sl_txg_written is called when all of it is on disk. */
void sl_txg_sync_start(struct sl_txg *txg, int64_t now_ns, const struct sl_txg_work *work);

void sl_txg_sync_init(struct sl_txg *txg);
void sl_txg_sync_fini(struct sl_txg *txg);

/* The uberblock is on disk. */
void sl_txg_written(struct sl_txg *txg, int64_t now_ns);

/* More is dirty: starts the clock of the open txg, or its sync when it is enough. */
void sl_txg_note_dirty(struct sl_txg *txg, int64_t now_ns);

#endif
