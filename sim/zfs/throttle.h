/*
 * The write throttle (dmu_tx_delay): above 60 % of zfs_dirty_data_max writes are let in one after the other,
 * zfs_delay_scale (500 us) x (dirty - 60 %) / (max - dirty) apart, at most 100 ms; at the maximum they wait
 * until the syncing txg has written something. Since 2.1 the same distance holds for data that is in the log
 * and whose txgs are not on disk, against zfs_wrlog_data_max = 2 x zfs_dirty_data_max: it is more than what
 * is dirty where the same records are written again and again. There nobody blocks. Who came first goes
 * first: nobody passes those who wait. Simplified: the distance to the write before is what holds when a
 * write becomes the next one, not when it came; so that a crowd that came at the maximum is not spaced by its
 * 100 ms long after it has passed.
 */
#ifndef SL_ZFS_THROTTLE_H
#define SL_ZFS_THROTTLE_H

#include "sim/base/trace.h"
#include "sim/zfs/txg.h"
#include "sim/zfs/zil_space.h"

/* Embedded in a write; `go` fires when it is let in. */
struct sl_throttled {
	struct sl_timer go;
	uint64_t tag;              /* for the trace */
	int64_t start_ns;          /* private */
	struct sl_throttled *next; /* private */
};

struct sl_throttle {
	struct sl_loop *loop;
	const struct sl_txg *txg;
	struct sl_trace *trace;           /* borrowed, may be NULL */
	const struct sl_zil_space *wrlog; /* borrowed: data in the log; NULL = nobody counts it */
	struct sl_timer timer;            /* of the first one, while it is spaced */
	int64_t last_wakeup_ns;           /* dp_last_wakeup */
	struct sl_throttled *first, **last;
	int64_t busy_from_ns, busy_ns; /* time with somebody waiting */
};

void sl_throttle_init(struct sl_throttle *throttle, struct sl_loop *loop, const struct sl_txg *txg,
		      struct sl_trace *trace);

/* Lets the write in: at once, from inside this call, or when its turn has come. */
void sl_throttle_enter(struct sl_throttle *throttle, int64_t now_ns, struct sl_throttled *write);

/* Share of time with somebody waiting since time 0. */
double sl_throttle_utilisation(const struct sl_throttle *throttle, int64_t now_ns);

/* Something has been written: who waits at the maximum is looked at again. */
void sl_throttle_progress(struct sl_throttle *throttle, int64_t now_ns);

#endif
