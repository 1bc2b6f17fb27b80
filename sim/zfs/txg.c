/* The life of transaction groups: when one closes, and who waits for it. */
#include "sim/zfs/txg.h"

#include <assert.h>

#include "sim/zfs/txg_inner.h"

#define DEFER_TXGS 2 /* TXG_DEFER_SIZE */
#define POINTERS \
	10 /* log2 of the block pointers of 128 bytes in an indirect block: DN_MAX_INDBLKSHIFT 17 ... */
#define POINTERS_OLD 7 /* ... and 14 */

static void start_sync(struct sl_txg *txg, int64_t now_ns)
{
	struct sl_txg_work work = sl_txg_take_dirty(txg);

	txg->syncing = true;
	txg->timer_missed = false;
	txg->sync_start_ns = txg->closed_ns = now_ns;
	txg->open++;
	sl_txg_sync_start(txg, now_ns, &work);
}

static void timeout(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_txg *txg = sl_container_of(timer, struct sl_txg, timer);

	if (txg->syncing) {
		txg->timer_missed = true;
		return;
	}
	start_sync(txg, now_ns);
}

/* Fires those whose txgs are on disk, in the order they came. */
static void wake_waiters(struct sl_txg *txg, int64_t now_ns)
{
	struct sl_txg_waiter **link = &txg->waiters, *ready = NULL, **ready_tail = &ready;

	while (*link) {
		struct sl_txg_waiter *waiter = *link;

		if (waiter->txg < txg->open) {
			*link = waiter->next;
			waiter->next = NULL;
			*ready_tail = waiter;
			ready_tail = &waiter->next;
		} else {
			link = &waiter->next;
		}
	}
	while (ready) {
		struct sl_txg_waiter *next = ready->next;

		sl_timer_fire(&ready->done, now_ns);
		ready = next;
	}
}

/* Somebody waits for the open txg, its time is over, or enough is dirty (txg_kick): those who wait for less
 * dirty data make nothing dirty. */
static bool is_due(const struct sl_txg *txg)
{
	return txg->timer_missed || txg->wanted >= txg->open ||
	       txg->dirty_bytes >= txg->config.dirty_sync_bytes;
}

void sl_txg_written(struct sl_txg *txg, int64_t now_ns)
{
	txg->syncing = false;
	txg->sync.work = (struct sl_txg_work){0};
	txg->synced++;
	sl_history_synced(txg->history, txg->open - 1, now_ns);
	if (txg->trace) {
		sl_trace_thread(txg->trace, "txg sync", "sync", txg->synced, txg->sync_start_ns, now_ns);
	}
	if (txg->on_synced) {
		txg->on_synced(txg->arg, txg->open - 1, txg->closed_ns, now_ns);
	}
	wake_waiters(txg, now_ns);
	if (is_due(txg) && !txg->syncing) {
		sl_loop_cancel(txg->loop, &txg->timer);
		start_sync(txg, now_ns);
	}
}

void sl_txg_init(struct sl_txg *txg, const struct sl_txg_config *config, struct sl_loop *loop,
		 struct sl_cpu *cpu, struct sl_trace *trace)
{
	assert(config->workers > 0 && config->feeders > 0 && config->stored_bytes > 0);
	*txg = (struct sl_txg){.config = *config, .loop = loop, .cpu = cpu, .trace = trace, .open = 1};
	txg->placed.txg = txg->open;
	txg->timer.fire = timeout;
	sl_touched_init(&txg->touched, &(struct sl_touched_config){
					   .recordsize_bytes = config->recordsize_bytes,
					   .pointer_shift = config->old ? POINTERS_OLD : POINTERS,
					   .metaslab_bytes = config->metaslab_bytes,
				       });
	sl_txg_sync_init(txg);
}

void sl_txg_fini(struct sl_txg *txg)
{
	sl_txg_dirty_fini(txg);
	sl_txg_sync_fini(txg);
}

void sl_txg_wait(struct sl_txg *txg, int64_t now_ns, struct sl_txg_waiter *waiter)
{
	struct sl_txg_waiter **tail = &txg->waiters;

	while (*tail) {
		tail = &(*tail)->next;
	}
	*tail = waiter;
	waiter->next = NULL;
	waiter->txg = txg->open + DEFER_TXGS;
	txg->wanted = waiter->txg;
	if (!txg->syncing) {
		sl_loop_cancel(txg->loop, &txg->timer);
		start_sync(txg, now_ns);
	}
}

void sl_txg_kick(struct sl_txg *txg, int64_t now_ns)
{
	if (!txg->syncing) {
		sl_loop_arm(txg->loop, &txg->timer, now_ns);
	}
}

/* The clock of a txg starts with its first change; an early sync comes when much is dirty. */
void sl_txg_note_dirty(struct sl_txg *txg, int64_t now_ns)
{
	if (txg->dirty_bytes >= txg->config.dirty_sync_bytes && !txg->syncing) {
		sl_loop_arm(txg->loop, &txg->timer, now_ns);
	} else if (!txg->timer.armed && !txg->timer_missed) {
		sl_loop_arm(txg->loop, &txg->timer, now_ns + txg->config.timeout_ns);
	}
}
