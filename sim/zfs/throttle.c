#include "sim/zfs/throttle.h"

#define DELAY_FROM_SHARE 0.6    /* zfs_delay_min_dirty_percent */
#define DELAY_SCALE_NS 500000.0 /* zfs_delay_scale */
#define DELAY_MAX_NS 1e8        /* zfs_delay_max_ns */
#define WRLOG_MAX_SHARE 2.0     /* zfs_wrlog_data_max, of zfs_dirty_data_max */

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

/* How far apart writes are let in while so much is dirty and in the log. */
static int64_t spacing_ns(const struct sl_throttle *throttle, double dirty, double max)
{
	double dirty_ns = delay_of(dirty, max), wrlog_ns = 0;

	if (throttle->wrlog) {
		wrlog_ns = delay_of((double)throttle->wrlog->used, WRLOG_MAX_SHARE * max);
	}
	return (int64_t)(dirty_ns > wrlog_ns ? dirty_ns : wrlog_ns);
}

/* The first one goes in. */
static void let_in(struct sl_throttle *throttle, int64_t now_ns)
{
	struct sl_throttled *write = throttle->first;

	throttle->first = write->next;
	if (!throttle->first) {
		throttle->last = &throttle->first;
		throttle->busy_ns += now_ns - throttle->busy_from_ns;
	}
	if (throttle->trace && now_ns > write->start_ns) {
		sl_trace_add(throttle->trace, &(struct sl_span){"write throttle", "wait", write->tag,
								write->start_ns, now_ns, 0});
	}
	sl_timer_fire(&write->go, now_ns);
}

/* Lets in who may go now, and sets the clock for the next one. */
static void look(struct sl_throttle *throttle, int64_t now_ns)
{
	double max = (double)throttle->txg->config.dirty_max_bytes;

	while (throttle->first && !throttle->timer.armed) {
		double dirty = (double)sl_txg_unsynced(throttle->txg);
		int64_t from_ns = throttle->first->start_ns, wakeup_ns;

		if (dirty >= max) {
			return; /* until something is written */
		}
		from_ns = throttle->last_wakeup_ns > from_ns ? throttle->last_wakeup_ns : from_ns;
		wakeup_ns = from_ns + spacing_ns(throttle, dirty, max);
		if (wakeup_ns > now_ns) {
			throttle->last_wakeup_ns = wakeup_ns;
			sl_loop_arm(throttle->loop, &throttle->timer, wakeup_ns);
			return;
		}
		throttle->last_wakeup_ns = now_ns;
		let_in(throttle, now_ns);
	}
}

static void woken(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_throttle *throttle = sl_container_of(timer, struct sl_throttle, timer);

	let_in(throttle, now_ns);
	look(throttle, now_ns);
}

void sl_throttle_init(struct sl_throttle *throttle, struct sl_loop *loop, const struct sl_txg *txg,
		      struct sl_trace *trace)
{
	*throttle = (struct sl_throttle){.loop = loop, .txg = txg, .trace = trace, .timer.fire = woken};
	throttle->last = &throttle->first;
}

void sl_throttle_enter(struct sl_throttle *throttle, int64_t now_ns, struct sl_throttled *write)
{
	if (!throttle->first) {
		throttle->busy_from_ns = now_ns;
	}
	write->start_ns = now_ns;
	write->next = NULL;
	*throttle->last = write;
	throttle->last = &write->next;
	look(throttle, now_ns);
}

void sl_throttle_progress(struct sl_throttle *throttle, int64_t now_ns)
{
	look(throttle, now_ns);
}

double sl_throttle_utilisation(const struct sl_throttle *throttle, int64_t now_ns)
{
	int64_t busy_ns = throttle->busy_ns + (throttle->first ? now_ns - throttle->busy_from_ns : 0);

	return now_ns > 0 ? (double)busy_ns / (double)now_ns : 0;
}
