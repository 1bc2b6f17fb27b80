/*
 * The write throttle (dmu_tx_delay): above 60 % of zfs_dirty_data_max each write waits zfs_delay_scale (500
 * us) x (dirty - 60 %) / (max - dirty), at most 100 ms, one after the other; at the maximum writers block
 * until the syncing txg has written something. Since 2.1 the same delay holds for data that is in the log and
 * whose txgs are not on disk, against zfs_wrlog_data_max = 2 x zfs_dirty_data_max: it is more than what is
 * dirty where the same records are written again and again. There nobody blocks.
 */
#ifndef SL_ZFS_THROTTLE_H
#define SL_ZFS_THROTTLE_H

#include "sim/zfs/txg.h"
#include "sim/zfs/zil_space.h"

/* Embedded in a write; `go` fires when it is let in. */
struct sl_throttled {
	struct sl_timer go;
	struct sl_throttled *next; /* private */
};

struct sl_throttle {
	struct sl_loop *loop;
	const struct sl_txg *txg;
	const struct sl_zil_space *wrlog; /* borrowed: data in the log; NULL = nobody counts it */
	int64_t last_wakeup_ns;           /* dp_last_wakeup */
	struct sl_throttled *blocked, **blocked_tail;
};

void sl_throttle_init(struct sl_throttle *throttle, struct sl_loop *loop, const struct sl_txg *txg);

/* Lets the write in: at once, from inside this call, or when its turn has come. */
void sl_throttle_enter(struct sl_throttle *throttle, int64_t now_ns, struct sl_throttled *write);

/* Something has been written: blocked writes try again, in order. */
void sl_throttle_progress(struct sl_throttle *throttle, int64_t now_ns);

#endif
