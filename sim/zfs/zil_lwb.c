/*
 * The intent log of OpenZFS 2.1 and 2.3: log blocks (lwbs) in a pipeline. A commit packs all synchronous
 * records into the open block, issuing each that is full, and waits on the last. Blocks are written side by
 * side; their flushes and their waiters follow in the order of the chain.
 *
 * A record to be written in place whose txg is syncing comes too late for that: its data is written beside
 * it, in a transaction of its own (dmu_sync_late_arrival). Up to 2.1 that transaction waits at the write
 * throttle like a writer's, and all commits wait with it (zl_issuer_lock); what its txg has synced meanwhile
 * is left out. Since 2.2 it does not wait, and all that the syncing txg holds is written twice.
 */
#include "sim/zfs/zil_inner.h"

#define LATENCY_PCT_21 5      /* zfs_commit_timeout_pct up to 2.2.3 */
#define LATENCY_PCT_23 10     /* since 2.2.4 */
#define MIN_TIMEOUT_NS 5000   /* zil_min_commit_timeout */
#define PARALLEL_SEEN 8u      /* ZIL_BURSTS: company expected once an open block was found */
#define PARALLEL_UNFLUSHED 4u /* ... once the block before was still on its way */
#define FULL_NUMERATOR 7      /* 2.1 issues a block that is more than 7/8 full */
#define FULL_DENOMINATOR 8

struct sl_zil_lwb {
	void *pool_link;
	struct sl_zil *zil;
	struct sl_zil_lwb *next; /* in the chain */
	struct sl_zil_waiter *waiters, **waiters_tail;
	uint32_t size, used, copied; /* bytes */
	uint32_t n_records;          /* records written in place with it */
	uint32_t preparing;          /* CPU work outstanding before the block can be written */
	uint32_t writing;            /* writes outstanding */
	uint64_t number;             /* in the chain */
	uint64_t txg;                /* of its records, the last */
	bool issued, written, flushing, flushed, failed;
	struct sl_vdev *target;  /* where it goes */
	struct sl_vdev *left_by; /* where the block before went, whose flush is left to this one; or NULL */
	uint64_t tag;
	int64_t issue_ns;
	int64_t on_way_ns; /* lwb_issued_timestamp: sent out, the CPU work for that done */
	struct sl_timer timeout;
	struct sl_cpu_job job;
	struct sl_timer hand_off; /* after the job */
	struct sl_vdev_io block;
	int64_t spent_ns; /* CPU time of whoever woke to send it out, while it was open */
	bool bulk;        /* goes out while the burst is beyond zil_slog_bulk */
	bool timed_out;   /* somebody is about to send it out */
	bool overdue;     /* its time was over while zl_issuer_lock was held */
	bool in_place;    /* its flush has records in place to cover */
	struct sl_zil_flush flush;
};

/* A committer whose time is up: his thread wakes to send out a block that is still open. */
struct wake {
	void *pool_link;
	struct sl_zil *zil;
	uint64_t number; /* of the block */
	int64_t cpu_ns;
	struct sl_cpu_job job;
};

/* A record written in place on behalf of a block. */
struct in_place {
	void *pool_link;
	struct sl_zil_lwb *lwb;
	struct sl_cpu_job job;
	struct sl_vdev_io io;
};

static void advance(struct sl_zil *zil, int64_t now_ns);

static struct sl_zil_lwb *open_lwb(const struct sl_zil *zil)
{
	return zil->newest && !zil->newest->issued ? zil->newest : NULL;
}

/* Everything before is complete, so this one's waiters may go: in the order of the chain. */
static void complete(struct sl_zil *zil, int64_t now_ns)
{
	struct sl_zil_lwb *lwb = zil->oldest;
	struct sl_zil_waiter *waiters = lwb->waiters;
	bool failed = lwb->failed;

	/* zil_lwb_flush_vdevs_done: an average over four blocks, since 2.2 over eight. */
	if (zil->config.generation >= SL_ZIL_22) {
		zil->lwb_latency_ns = (7 * zil->lwb_latency_ns + now_ns - lwb->on_way_ns) / 8;
	} else {
		zil->lwb_latency_ns = (3 * zil->lwb_latency_ns + now_ns - lwb->on_way_ns) / 4;
	}
	if (zil->trace) {
		sl_trace_span(zil->trace, "ZIL", "log block", lwb->tag, lwb->issue_ns, now_ns);
	}
	zil->oldest = lwb->next;
	if (!zil->oldest) {
		zil->newest = NULL;
		zil->busy_ns += now_ns - zil->batch_start_ns;
		zil->busy = false;
	}
	sl_slab_put(&zil->lwbs, lwb);
	sl_zil_wake(zil, now_ns, waiters, failed);
}

/* Against the rules. */
static void wake_early(struct sl_zil_lwb *lwb, int64_t now_ns)
{
	struct sl_zil_waiter *waiters = lwb->waiters;

	lwb->waiters = NULL;
	lwb->waiters_tail = &lwb->waiters;
	sl_zil_wake(lwb->zil, now_ns, waiters, false);
}

static void flush_done(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_zil_lwb *lwb = sl_container_of(timer, struct sl_zil_lwb, flush.done);

	lwb->flushed = true;
	if (lwb->zil->config.broken == SL_ZIL_UNORDERED) {
		wake_early(lwb, now_ns);
	}
	if (!lwb->zil->advancing) {
		advance(lwb->zil, now_ns);
	}
}

/* Nobody waits for the block: the next one's flush will cover it, with one kind of vdevs beside its own.
 * Since 2.2 only when the next is on its way. */
static bool leaves_flush(const struct sl_zil_lwb *lwb)
{
	return !lwb->waiters && lwb->next && (lwb->next->issued || lwb->zil->config.generation < SL_ZIL_22) &&
	       (!lwb->left_by || lwb->left_by == lwb->target);
}

/* Flushes what is written, in order, and completes what is flushed. */
static void advance(struct sl_zil *zil, int64_t now_ns)
{
	bool unordered = zil->config.broken == SL_ZIL_UNORDERED;

	zil->advancing = true;
	for (struct sl_zil_lwb *lwb = zil->oldest; lwb && (lwb->written || unordered); lwb = lwb->next) {
		if (lwb->flushing || !lwb->written) {
			continue;
		}
		lwb->flushing = true;
		if (lwb->failed && lwb->next && lwb->next->issued) {
			lwb->next->failed = true; /* the chain is broken here */
		}
		if (lwb->failed || leaves_flush(lwb)) {
			lwb->flushed = true; /* nothing to flush, or the next block's flush will cover it */
			if (lwb->next) {
				lwb->next->in_place |= lwb->in_place;
				lwb->next->left_by = lwb->target;
			}
			continue;
		}
		lwb->flush.done.fire = flush_done;
		sl_zil_flush(zil, now_ns, &lwb->flush, lwb->target, lwb->left_by, lwb->in_place, lwb->tag);
	}
	zil->advancing = false;
	while (zil->oldest && zil->oldest->flushed) {
		complete(zil, now_ns);
	}
}

static void lwb_write_done(struct sl_zil_lwb *lwb, int64_t now_ns)
{
	lwb->writing--;
	if (lwb->writing == 0) {
		lwb->written = true;
		advance(lwb->zil, now_ns);
	}
}

static void block_done(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_zil_lwb *lwb = sl_container_of(timer, struct sl_zil_lwb, block.done);

	lwb->failed |= lwb->block.error != 0;
	lwb_write_done(lwb, now_ns);
}

static void record_done(struct sl_timer *timer, int64_t now_ns)
{
	struct in_place *record = sl_container_of(timer, struct in_place, io.done);
	struct sl_zil_lwb *lwb = record->lwb;

	sl_slab_put(&lwb->zil->ios, record);
	lwb_write_done(lwb, now_ns);
}

static void lwb_ready(struct sl_zil_lwb *lwb, int64_t now_ns);

/* One of the things that the block waits for is done: its own CPU work, or that of a record in place, whose
 * address it holds. */
static void lwb_prepared(struct sl_zil_lwb *lwb, int64_t now_ns)
{
	lwb->preparing--;
	if (lwb->preparing == 0) {
		lwb_ready(lwb, now_ns);
	}
}

/* The record is compressed and has its checksum and its place. */
static void record_ready(struct sl_timer *timer, int64_t now_ns)
{
	struct in_place *record = sl_container_of(timer, struct in_place, job.done);
	struct sl_zil_lwb *lwb = record->lwb;
	struct sl_zil *zil = lwb->zil;

	record->io.done.fire = record_done;
	record->io.op = SL_DEV_WRITE;
	record->io.bytes = sl_zil_record_bytes(zil);
	record->io.tag = lwb->tag;
	record->io.mark = sl_history_block_mark(zil->config.history, lwb->number);
	sl_vdev_alloc(zil->config.records, &record->io);
	sl_vdev_submit(zil->config.records, now_ns, &record->io);
	lwb_prepared(lwb, now_ns);
}

static void start_record(struct sl_zil_lwb *lwb, int64_t now_ns)
{
	struct in_place *record = sl_slab_get(&lwb->zil->ios);

	record->lwb = lwb;
	record->job.done.fire = record_ready;
	sl_cpu_run(lwb->zil->cpu, now_ns, &record->job, lwb->zil->config.indirect_cpu_ns);
}

static void lwb_handed_off(struct sl_timer *timer, int64_t now_ns)
{
	lwb_prepared(sl_container_of(timer, struct sl_zil_lwb, hand_off), now_ns);
}

static void process_list(struct sl_zil *zil, int64_t now_ns);

/* Up to 2.1 a block is allocated, filled and sent out under zl_issuer_lock; since 2.2 after it. The model has
 * one time for all CPU work of a block, and so holds the lock for the part that follows, too. */
static bool holds_issuer(const struct sl_zil *zil)
{
	return zil->config.generation < SL_ZIL_22;
}

static void lwb_filled(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_zil_lwb *lwb = sl_container_of(timer, struct sl_zil_lwb, job.done);
	struct sl_zil *zil = lwb->zil;

	lwb->on_way_ns = now_ns;
	lwb->hand_off.fire = lwb_handed_off;
	sl_zil_hand_off(zil, now_ns, &lwb->hand_off, lwb->tag);
	if (holds_issuer(zil) && --zil->issuing == 0 && !zil->walk.active) {
		process_list(zil, now_ns);
	}
}

/* The block is allocated, filled and through the pipeline: it goes to the vdev. */
static void lwb_ready(struct sl_zil_lwb *lwb, int64_t now_ns)
{
	struct sl_zil *zil = lwb->zil;
	uint32_t bytes;

	lwb->target = sl_zil_target(zil, lwb->size);
	bytes = sl_zil_written_bytes(lwb->target, lwb->size, lwb->used);
	zil->log_bytes += bytes;
	lwb->block.done.fire = block_done;
	lwb->block.op = SL_DEV_WRITE;
	lwb->block.bytes = bytes;
	lwb->block.log = sl_zil_allocate(zil, lwb->target, lwb->txg, lwb->size);
	lwb->block.async = lwb->bulk && lwb->target == zil->config.log && zil->config.has_slog;
	lwb->block.tag = lwb->tag;
	lwb->block.mark = sl_history_block_mark(zil->config.history, lwb->number);
	if (lwb->block.async && zil->config.txg) {
		sl_vdev_limit_async_writes(lwb->target, sl_txg_async_limit(zil->config.txg));
	}
	sl_vdev_alloc(lwb->target, &lwb->block);
	sl_vdev_submit(lwb->target, now_ns, &lwb->block);
	if (zil->config.broken == SL_ZIL_EARLY_ACK) {
		wake_early(lwb, now_ns);
	}
}

static int64_t crypt_ns(const struct sl_zil *zil, uint32_t bytes)
{
	return zil->config.crypt_bps > 0 ? (int64_t)(bytes * 1e9 / zil->config.crypt_bps) : 0;
}

/* The block goes out; the size of the next is chosen now, since this one points to it. */
static void issue(struct sl_zil_lwb *lwb, int64_t now_ns)
{
	struct sl_zil *zil = lwb->zil;
	int64_t cpu_ns = zil->config.commit_cpu_ns +
			 (int64_t)((double)lwb->copied * 1e9 / zil->config.copy_bps) +
			 crypt_ns(zil, lwb->used);

	sl_loop_cancel(zil->loop, &lwb->timeout);
	lwb->issued = true;
	lwb->issue_ns = lwb->on_way_ns = now_ns;
	zil->issuing += holds_issuer(zil);
	if (zil->config.generation >= SL_ZIL_23) {
		lwb->bulk = zil->burst.size > zil->config.bulk_bytes; /* zil_lwb_write_issue */
	}
	zil->burst.next_bytes = sl_zil_next_size(zil);
	zil->batches++;
	lwb->number = zil->blocks++;
	zil->indirect += lwb->n_records;
	lwb->in_place |= lwb->n_records > 0;
	lwb->writing = lwb->preparing = 1 + lwb->n_records;
	lwb->job.done.fire = lwb_filled;
	sl_cpu_run(zil->cpu, now_ns, &lwb->job, cpu_ns - lwb->spent_ns);
	for (uint32_t i = 0; i < lwb->n_records; i++) {
		start_record(lwb, now_ns);
	}
}

/* The block goes out before it is full: no more is coming, the burst has ended. Only 2.3 knows that when it
 * chooses the size of the next. */
static void issue_last(struct sl_zil_lwb *lwb, int64_t now_ns)
{
	struct sl_zil *zil = lwb->zil;

	if (zil->config.generation >= SL_ZIL_23) {
		sl_zil_burst_done(zil);
		issue(lwb, now_ns);
	} else {
		issue(lwb, now_ns);
		zil->burst.size = 0;
	}
}

/* Its time is over: it goes out, once nobody is packing records. */
static void send_overdue(struct sl_zil_lwb *lwb, int64_t now_ns)
{
	if (lwb->zil->walk.active) {
		lwb->overdue = true;
	} else {
		issue_last(lwb, now_ns);
	}
}

/* He has his turn: if nobody has filled the block and sent it out meanwhile, he does. */
static void awake(struct sl_timer *timer, int64_t now_ns)
{
	struct wake *wake = sl_container_of(timer, struct wake, job.done);
	struct sl_zil *zil = wake->zil;
	struct sl_zil_lwb *lwb = open_lwb(zil);

	if (lwb && zil->blocks == wake->number) {
		lwb->spent_ns = wake->cpu_ns;
		send_overdue(lwb, now_ns);
	}
	sl_slab_put(&zil->wakes, wake);
}

/*
 * zil_commit_waiter_timeout. Where more threads are runnable than there are CPUs, he waits for his turn, and
 * the block is open for as long. The CPUs here are shared, all jobs progress at once: so of his time there he
 * waits first, for the others' share of it, and then works as if alone.
 */
static void timed_out(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_zil_lwb *lwb = sl_container_of(timer, struct sl_zil_lwb, timeout);
	struct sl_zil *zil = lwb->zil;
	int runnable = zil->cpu->jobs + 1;
	struct wake *wake;

	if (runnable <= zil->cpu->count || zil->config.commit_cpu_ns == 0) {
		send_overdue(lwb, now_ns);
		return;
	}
	lwb->timed_out = true;
	wake = sl_slab_get(&zil->wakes);
	wake->zil = zil;
	wake->number = zil->blocks;
	wake->cpu_ns = (int64_t)((double)zil->config.commit_cpu_ns * (runnable - zil->cpu->count) / runnable);
	wake->job.done.fire = awake;
	sl_cpu_run(zil->cpu, now_ns, &wake->job, wake->cpu_ns);
}

static struct sl_zil_lwb *new_lwb(struct sl_zil *zil, int64_t now_ns)
{
	struct sl_zil_lwb *lwb = sl_slab_get(&zil->lwbs);

	*lwb = (struct sl_zil_lwb){.zil = zil, .used = SL_ZIL_CHAIN_HEADER, .issue_ns = now_ns};
	/* The chain's very first block is of 4 KiB, and goes out empty (zil_create): left out. */
	lwb->size = zil->burst.next_bytes > 0 ? zil->burst.next_bytes : sl_zil_next_size(zil);
	lwb->waiters_tail = &lwb->waiters;
	lwb->timeout.fire = timed_out;
	if (zil->newest) {
		zil->newest->next = lwb;
	} else {
		zil->oldest = lwb;
		zil->busy = true;
		zil->batch_start_ns = now_ns;
	}
	zil->newest = lwb;
	return lwb;
}

/* Puts a record of `data` bytes, or a part of it, into the open block, or issues that and opens the next.
 * Returns the bytes packed. */
static uint32_t pack(struct sl_zil *zil, int64_t now_ns, const struct sl_zil_itx *itx, uint32_t data)
{
	struct sl_zil_lwb *lwb = open_lwb(zil);
	bool whole = itx->copied && data <= SL_ZIL_MAX_DATA;
	uint64_t txg = sl_zil_is_late(zil, itx) ? zil->config.placed->txg : itx->txg; /* zil_lwb_add_txg */
	uint32_t now;

	if (lwb && (data > 0 ? sl_zil_fits(zil, lwb->size - lwb->used, data, whole) == 0
			     : lwb->used + SL_ZIL_WRITE_HEADER > lwb->size)) {
		issue(lwb, now_ns);
		lwb = new_lwb(zil, now_ns);
		lwb->bulk = zil->burst.size > zil->config.bulk_bytes; /* zil_lwb_write_open of 2.1 */
	} else if (!lwb) {
		lwb = new_lwb(zil, now_ns);
	}
	now = data > 0 ? sl_zil_fits(zil, lwb->size - lwb->used, data, whole) : 0;
	if (data > 0 && now == 0) {
		return 0; /* predicted too small: the next is larger */
	}
	lwb->used += SL_ZIL_WRITE_HEADER + now;
	lwb->copied += now;
	lwb->txg = txg > lwb->txg ? txg : lwb->txg;
	sl_history_packed(zil->config.history, zil->blocks, itx->write, itx->txg);
	return now;
}

/* Packs one record, in parts where it does not fit into a block. */
static void pack_record(struct sl_zil *zil, int64_t now_ns, const struct sl_zil_itx *itx)
{
	uint32_t left = itx->bytes;

	if (zil->config.generation < SL_ZIL_23) {
		zil->burst.size += SL_ZIL_WRITE_HEADER + left;
	}
	do {
		uint32_t now = pack(zil, now_ns, itx, left);

		left -= now;
		sl_zil_burst_packed(zil, now + (left == 0 ? SL_ZIL_WRITE_HEADER : 0));
	} while (left > 0);
	zil->newest->n_records += sl_zil_place(zil, itx);
}

/* zil_commit_waiter_link_lwb: the waiter goes with the newest block, which has all that was logged before;
 * when there is none all of it is stable. */
static void link_waiter(struct sl_zil *zil, int64_t now_ns, struct sl_zil_waiter *waiter)
{
	struct sl_zil_lwb *lwb = zil->newest;

	zil->n_committers--;
	if (!lwb) {
		sl_loop_arm(zil->loop, &waiter->done, now_ns);
		return;
	}
	if (!lwb->waiters) {
		lwb->tag = waiter->tag;
	}
	*lwb->waiters_tail = waiter;
	lwb->waiters_tail = &waiter->next;
}

/* Is it not worth waiting for company? `alone`: nothing was open or in flight before this commit. */
static bool issue_at_once(const struct sl_zil *zil, const struct sl_zil_lwb *lwb, bool alone)
{
	int64_t timeout_ns = zil->lwb_latency_ns * LATENCY_PCT_21 / 100;

	if (zil->config.generation >= SL_ZIL_23) {
		return zil->burst.parallel == 0;
	}
	return alone &&
	       (timeout_ns < MIN_TIMEOUT_NS || lwb->used > lwb->size / FULL_DENOMINATOR * FULL_NUMERATOR);
}

/* Signs of other committers (zil_process_commit_list of 2.3); each burst that ends counts down. */
static void note_company(struct sl_zil *zil, bool was_open, bool was_busy)
{
	uint32_t seen = was_open ? PARALLEL_SEEN : was_busy ? PARALLEL_UNFLUSHED : 0;

	zil->burst.parallel = zil->burst.parallel > seen ? zil->burst.parallel : seen;
}

/* All is in blocks: does the last one go out, or wait for company? */
static void walk_end(struct sl_zil *zil, int64_t now_ns)
{
	int64_t pct = zil->config.generation >= SL_ZIL_23 ? LATENCY_PCT_23 : LATENCY_PCT_21;
	struct sl_zil_lwb *lwb = open_lwb(zil);

	zil->walk.active = false;
	zil->walk.list.count = zil->walk.at = 0;
	if (!lwb || !lwb->waiters || lwb->timeout.armed || (lwb->timed_out && !lwb->overdue)) {
		return;
	}
	if (lwb->overdue || issue_at_once(zil, lwb, zil->walk.alone)) {
		issue_last(lwb, now_ns);
	} else if (zil->issuing == 0) {
		/* zil_commit_waiter: its time runs from when the lock is given back. */
		sl_loop_arm(zil->loop, &lwb->timeout, now_ns + zil->lwb_latency_ns * pct / 100);
	}
}

/* May the record at hand be packed? If not, late_let_in goes on with it. */
static bool pass_throttle(struct sl_zil *zil, int64_t now_ns)
{
	struct sl_zil_walk *walk = &zil->walk;

	if (!walk->let_in && sl_zil_is_late(zil, &walk->list.items[walk->at])) {
		walk->entering = true;
		sl_throttle_enter(zil->config.throttle, now_ns, &walk->late);
		walk->entering = false;
		return walk->let_in;
	}
	return true;
}

/* Goes on through the list, up to its end or to a record that has to wait. */
static void walk_on(struct sl_zil *zil, int64_t now_ns)
{
	struct sl_zil_walk *walk = &zil->walk;

	for (; walk->at < walk->list.count; walk->at++) {
		const struct sl_zil_itx *itx = &walk->list.items[walk->at];

		if (itx->waiter) {
			link_waiter(zil, now_ns, itx->waiter);
		} else if (walk->let_in || itx->txg > zil->synced_txg) { /* else it needs no log any more */
			if (!pass_throttle(zil, now_ns)) {
				return;
			}
			walk->let_in = false;
			pack_record(zil, now_ns, itx);
		}
	}
	walk_end(zil, now_ns);
}

/* zil_commit_writer, by whoever has zl_issuer_lock now: for all who wait for it. 2.3 counts the records first
 * (zil_get_commit_list). */
static void process_list(struct sl_zil *zil, int64_t now_ns)
{
	struct sl_zil_walk *walk = &zil->walk;
	struct sl_zil_list list = walk->list;

	walk->active = true;
	walk->alone = zil->newest == NULL;
	if (zil->n_committers > 0) {
		note_company(zil, open_lwb(zil) != NULL, !walk->alone);
		walk->list = zil->sync;
		zil->sync = list;
	}
	for (uint32_t i = 0; zil->config.generation >= SL_ZIL_23 && i < walk->list.count; i++) {
		const struct sl_zil_itx *itx = &walk->list.items[i];

		if (!itx->waiter) {
			sl_zil_burst_grows(zil, itx->bytes, itx->copied);
		}
	}
	walk_on(zil, now_ns);
}

static void late_let_in(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_zil *zil = sl_container_of(timer, struct sl_zil, walk.late.go);

	zil->walk.let_in = true;
	if (zil->walk.entering) {
		return;
	}
	walk_on(zil, now_ns);
	if (!zil->walk.active && zil->issuing == 0 && zil->n_committers > 0) {
		process_list(zil, now_ns);
	}
}

void sl_zil_lwb_commit(struct sl_zil *zil, int64_t now_ns, struct sl_zil_waiter *waiter)
{
	sl_zil_add_commit(zil, waiter);
	zil->n_committers++;
	if (zil->issuing == 0 && !zil->walk.active) {
		process_list(zil, now_ns);
	}
}

void sl_zil_lwb_init(struct sl_zil *zil)
{
	sl_slab_init(&zil->lwbs, sizeof(struct sl_zil_lwb));
	zil->lwb_latency_ns = zil->config.lone_latency_ns;
	zil->walk.late.go.fire = late_let_in;
	sl_zil_sizes_init(zil);
	if (zil->config.generation != SL_ZIL_2014) {
		sl_slab_init(&zil->ios, sizeof(struct in_place));
		sl_slab_init(&zil->wakes, sizeof(struct wake));
	}
}
