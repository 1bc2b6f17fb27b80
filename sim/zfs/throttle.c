#include "sim/zfs/throttle.h"

#define DELAY_FROM_SHARE 0.6    /* zfs_delay_min_dirty_percent */
#define DELAY_SCALE_NS 500000.0 /* zfs_delay_scale */
#define DELAY_MAX_NS 1e8        /* zfs_delay_max_ns */

void sl_throttle_init(struct sl_throttle *throttle, struct sl_loop *loop, const struct sl_txg *txg)
{
	*throttle = (struct sl_throttle){.loop = loop, .txg = txg};
	throttle->blocked_tail = &throttle->blocked;
}

void sl_throttle_enter(struct sl_throttle *throttle, int64_t now_ns, struct sl_throttled *write)
{
	double max = (double)throttle->txg->config.dirty_max_bytes;
	double dirty = (double)sl_txg_unsynced(throttle->txg), over = dirty - max * DELAY_FROM_SHARE,
	       delay_ns;

	if (dirty >= max) {
		write->next = NULL;
		*throttle->blocked_tail = write;
		throttle->blocked_tail = &write->next;
		return;
	}
	if (over <= 0) {
		sl_timer_fire(&write->go, now_ns);
		return;
	}
	delay_ns = DELAY_SCALE_NS * over / (max - dirty);
	delay_ns = delay_ns < DELAY_MAX_NS ? delay_ns : DELAY_MAX_NS;
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
