#include "sim/zfs/throttle.h"

#define DELAY_FROM_SHARE 0.6    /* zfs_delay_min_dirty_percent */
#define DELAY_SCALE_NS 500000.0 /* zfs_delay_scale */
#define DELAY_MAX_NS 1e8        /* zfs_delay_max_ns */
#define WRLOG_MAX_SHARE 2.0     /* zfs_wrlog_data_max, of zfs_dirty_data_max */

void sl_throttle_init(struct sl_throttle *throttle, struct sl_loop *loop, const struct sl_txg *txg)
{
	*throttle = (struct sl_throttle){.loop = loop, .txg = txg};
	throttle->blocked_tail = &throttle->blocked;
}

/* dmu_tx_delay: for so much of what may be at most `max`. */
static double delay_of(double used, double max)
{
	double over = used - max * DELAY_FROM_SHARE, delay_ns;

	if (over <= 0) {
		return 0;
	}
	if (used >= max) {
		return DELAY_MAX_NS;
	}
	delay_ns = DELAY_SCALE_NS * over / (max - used);
	return delay_ns < DELAY_MAX_NS ? delay_ns : DELAY_MAX_NS;
}

void sl_throttle_enter(struct sl_throttle *throttle, int64_t now_ns, struct sl_throttled *write)
{
	double max = (double)throttle->txg->config.dirty_max_bytes;
	double dirty = (double)sl_txg_unsynced(throttle->txg), delay_ns = delay_of(dirty, max), wrlog_ns = 0;

	if (dirty >= max) {
		write->next = NULL;
		*throttle->blocked_tail = write;
		throttle->blocked_tail = &write->next;
		return;
	}
	if (throttle->wrlog) {
		wrlog_ns = delay_of((double)throttle->wrlog->used, WRLOG_MAX_SHARE * max);
	}
	delay_ns = delay_ns > wrlog_ns ? delay_ns : wrlog_ns;
	if (delay_ns <= 0) {
		sl_timer_fire(&write->go, now_ns);
		return;
	}
	throttle->last_wakeup_ns =
	    (throttle->last_wakeup_ns > now_ns ? throttle->last_wakeup_ns : now_ns) + (int64_t)delay_ns;
	sl_loop_arm(throttle->loop, &write->go, throttle->last_wakeup_ns);
}

void sl_throttle_progress(struct sl_throttle *throttle, int64_t now_ns)
{
	struct sl_throttled *write = throttle->blocked;

	throttle->blocked = NULL;
	throttle->blocked_tail = &throttle->blocked;
	while (write) {
		struct sl_throttled *next = write->next;

		sl_throttle_enter(throttle, now_ns, write);
		write = next;
	}
}
