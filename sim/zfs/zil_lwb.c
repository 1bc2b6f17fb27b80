/*
 * The intent log of OpenZFS 2.1 and 2.3: log blocks (lwbs) in a pipeline. A commit packs all synchronous
 * records into the open block, issuing each that is full, and waits on the last. Blocks are written side by
 * side; their flushes and their waiters follow in the order of the chain.
 */
#include "sim/zfs/zil_inner.h"

#define LATENCY_PCT_21 5      /* zfs_commit_timeout_pct up to 2.2.3 */
#define LATENCY_PCT_23 10     /* since 2.2.4 */
#define MIN_TIMEOUT_NS 5000   /* zil_min_commit_timeout */
#define PARALLEL_SEEN 8u      /* bursts of company expected once an open block was found */
#define PARALLEL_UNFLUSHED 4u /* ... once the block before was still on its way */
#define BURSTS 8              /* remembered by the size prediction of 2.3 */
#define WASTE_SHARE 8u        /* zil_max_waste_space: an eighth of the largest record */
#define FULL_NUMERATOR 7      /* 2.1 issues a block that is more than 7/8 full */
#define FULL_DENOMINATOR 8

struct sl_zil_lwb {
	void *pool_link;
	struct sl_zil *zil;
	struct sl_zil_lwb *next; /* in the chain */
	struct sl_zil_waiter *waiters, **waiters_tail;
	uint32_t size, used, copied; /* bytes */
	uint32_t n_records;          /* records written in place with it */
	uint32_t writing;            /* writes outstanding */
	uint64_t number;             /* in the chain */
	bool issued, written, flushing, flushed, failed;
	struct sl_vdev *target; /* where it goes */
	uint64_t tag;
	int64_t issue_ns;
	struct sl_timer timeout;
	struct sl_cpu_job job;
	struct sl_vdev_io block;
	bool bulk;     /* opened when the burst was beyond zil_slog_bulk */
	bool in_place; /* its flush has records in place to cover */
	struct sl_zil_flush flush;
};

/* A record written in place on behalf of a block. */
struct in_place {
	void *pool_link;
	struct sl_zil_lwb *lwb;
	struct sl_vdev_io io;
};

static void advance(struct sl_zil *zil, int64_t now_ns);

static uint32_t bucket_21(uint32_t bytes)
{
	static const struct {
		uint32_t limit, size;
	} buckets[] = {{4096, 4096},   {12288, 12288},   {36864, 36864},
		       {69632, 69632}, {131072, 131072}, {135168, 69632}};

	for (size_t i = 0; i < sizeof(buckets) / sizeof(buckets[0]); i++) {
		if (bytes <= buckets[i].limit) {
			return buckets[i].size;
		}
	}
	return SL_ZIL_MAX_BLOCK;
}

/* Size of the next block for a burst of `bytes`, headers included: never below what was needed lately. */
static uint32_t choose_size(struct sl_zil *zil, uint64_t bytes)
{
	uint32_t need =
	    bytes < SL_ZIL_MAX_BLOCK + SL_ZIL_SLIM_ROUND ? (uint32_t)bytes : SL_ZIL_MAX_BLOCK + 8192;
	uint32_t remembered = zil->config.generation == SL_ZIL_23 ? BURSTS : SL_ZIL_PREV_BLOCKS, size = 0;

	if (zil->config.generation == SL_ZIL_23) {
		need = (need + SL_ZIL_SLIM_ROUND - 1) / SL_ZIL_SLIM_ROUND * SL_ZIL_SLIM_ROUND;
		need = need < SL_ZIL_MAX_BLOCK ? need : SL_ZIL_MAX_BLOCK;
	} else {
		need = bucket_21(need);
	}
	zil->prev_blocks[zil->prev_at % remembered] = need;
	zil->prev_at++;
	for (uint32_t i = 0; i < remembered; i++) {
		size = zil->prev_blocks[i] > size ? zil->prev_blocks[i] : size;
	}
	return size;
}

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

	zil->lwb_latency_ns = (3 * zil->lwb_latency_ns + now_ns - lwb->issue_ns) / 4;
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
		if (lwb->failed || (!lwb->waiters && lwb->next && lwb->next->issued)) {
			lwb->flushed = true; /* nothing to flush, or the next block's flush covers it */
			if (lwb->next) {
				lwb->next->in_place |= lwb->in_place;
			}
			continue;
		}
		lwb->flush.done.fire = flush_done;
		sl_zil_flush(zil, now_ns, &lwb->flush, lwb->target, lwb->in_place, lwb->tag);
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

static void submit_record(struct sl_zil_lwb *lwb, int64_t now_ns)
{
	struct sl_zil *zil = lwb->zil;
	struct in_place *record = sl_slab_get(&zil->ios);
	int64_t bytes = sl_zil_record_bytes(zil);

	record->lwb = lwb;
	record->io.done.fire = record_done;
	record->io.op = SL_DEV_WRITE;
	record->io.bytes = bytes;
	record->io.tag = lwb->tag;
	record->io.mark = sl_history_block_mark(zil->config.history, lwb->number);
	sl_vdev_alloc(zil->config.records, &record->io);
	sl_vdev_submit(zil->config.records, now_ns, &record->io);
}

/* The block is allocated, filled and through the pipeline: it goes to the vdev. */
static void lwb_ready(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_zil_lwb *lwb = sl_container_of(timer, struct sl_zil_lwb, job.done);
	struct sl_zil *zil = lwb->zil;
	uint32_t bytes;

	lwb->target = sl_zil_target(zil);
	bytes = sl_zil_written_bytes(lwb->target, lwb->size, lwb->used);
	zil->log_bytes += bytes;
	lwb->writing = 1 + lwb->n_records;
	lwb->block.done.fire = block_done;
	lwb->block.op = SL_DEV_WRITE;
	lwb->block.bytes = bytes;
	lwb->block.log = true;
	lwb->block.async = lwb->bulk && lwb->target == zil->config.log && zil->config.has_slog;
	lwb->block.tag = lwb->tag;
	lwb->block.mark = sl_history_block_mark(zil->config.history, lwb->number);
	for (uint32_t i = 0; i < lwb->n_records; i++) {
		submit_record(lwb, now_ns);
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

static void issue(struct sl_zil_lwb *lwb, int64_t now_ns)
{
	struct sl_zil *zil = lwb->zil;
	int64_t cpu_ns = zil->config.commit_cpu_ns + lwb->n_records * zil->config.indirect_cpu_ns +
			 (int64_t)((double)lwb->copied * 1e9 / zil->config.copy_bps) +
			 crypt_ns(zil, lwb->used);

	sl_loop_cancel(zil->loop, &lwb->timeout);
	lwb->issued = true;
	lwb->issue_ns = now_ns;
	zil->batches++;
	lwb->number = zil->blocks++;
	zil->indirect += lwb->n_records;
	lwb->in_place |= lwb->n_records > 0;
	lwb->job.done.fire = lwb_ready;
	sl_cpu_run(zil->cpu, now_ns, &lwb->job, cpu_ns);
}

static void timed_out(struct sl_timer *timer, int64_t now_ns)
{
	issue(sl_container_of(timer, struct sl_zil_lwb, timeout), now_ns);
}

static struct sl_zil_lwb *new_lwb(struct sl_zil *zil, int64_t now_ns, uint64_t burst_bytes)
{
	struct sl_zil_lwb *lwb = sl_slab_get(&zil->lwbs);

	*lwb = (struct sl_zil_lwb){.zil = zil, .used = SL_ZIL_CHAIN_HEADER, .issue_ns = now_ns};
	lwb->size = choose_size(zil, burst_bytes + SL_ZIL_CHAIN_HEADER);
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

/* A burst of records on its way into blocks. */
struct burst {
	uint64_t packed, left; /* bytes, headers included */
};

/*
 * How much of `data` goes into the open block. A record that is copied, or has no data, goes as a whole.
 * Others fill the block, unless its rest is small (less than an eighth, zil_max_waste_space) and leaving it
 * unused needs no more blocks. 0: nothing, the next block is needed.
 */
static uint32_t fits(const struct sl_zil_lwb *lwb, uint32_t data, bool whole)
{
	uint32_t room = lwb->size - lwb->used, record = SL_ZIL_WRITE_HEADER + data;

	if (record <= room) {
		return data;
	}
	if (whole || room <= SL_ZIL_WRITE_HEADER) {
		return 0;
	}
	if (room < SL_ZIL_MAX_DATA / WASTE_SHARE &&
	    (data % SL_ZIL_MAX_DATA == 0 || room < SL_ZIL_WRITE_HEADER + data % SL_ZIL_MAX_DATA)) {
		return 0;
	}
	return room - SL_ZIL_WRITE_HEADER;
}

/* Puts a record of `data` bytes, or a part of it, into the open block, or issues that and opens the next.
 * Returns the bytes packed. */
static uint32_t pack(struct sl_zil *zil, int64_t now_ns, const struct sl_zil_itx *itx, uint32_t data,
		     struct burst *burst)
{
	struct sl_zil_lwb *lwb = open_lwb(zil);
	bool whole = itx->copied && data <= SL_ZIL_MAX_DATA;
	uint32_t now;

	if (lwb && (data > 0 ? fits(lwb, data, whole) == 0 : lwb->used + SL_ZIL_WRITE_HEADER > lwb->size)) {
		issue(lwb, now_ns);
		lwb = NULL;
	}
	if (!lwb) {
		lwb = new_lwb(zil, now_ns, burst->left);
		lwb->bulk = burst->packed > zil->config.bulk_bytes;
	}
	now = data > 0 ? fits(lwb, data, whole) : 0;
	lwb->used += SL_ZIL_WRITE_HEADER + now;
	lwb->copied += now;
	burst->packed += SL_ZIL_WRITE_HEADER + now;
	burst->left -= now + (now == data ? SL_ZIL_WRITE_HEADER : 0); /* its header counts once, at its end */
	sl_history_packed(zil->config.history, zil->blocks, itx->write, itx->txg);
	return now;
}

/* Packs all synchronous records. */
static void pack_all(struct sl_zil *zil, int64_t now_ns)
{
	struct burst burst = {0};

	for (uint32_t i = 0; i < zil->sync.count; i++) {
		const struct sl_zil_itx *itx = &zil->sync.items[i];

		burst.left += SL_ZIL_WRITE_HEADER + (sl_zil_is_indirect(zil, itx) ? 0 : itx->bytes);
	}
	for (uint32_t i = 0; i < zil->sync.count; i++) {
		const struct sl_zil_itx *itx = &zil->sync.items[i];
		bool indirect = sl_zil_is_indirect(zil, itx);
		uint32_t left = indirect ? 0 : itx->bytes;

		do {
			left -= pack(zil, now_ns, itx, left, &burst);
			zil->newest->n_records += indirect ? itx->records : 0;
		} while (left > 0);
	}
	zil->sync.count = 0;
}

/* Is it not worth waiting for company? `alone`: nothing was open or in flight before this commit. */
static bool issue_at_once(const struct sl_zil *zil, const struct sl_zil_lwb *lwb, bool alone)
{
	int64_t timeout_ns = zil->lwb_latency_ns * LATENCY_PCT_21 / 100;

	if (zil->config.generation == SL_ZIL_23) {
		return zil->parallel == 0;
	}
	return alone &&
	       (timeout_ns < MIN_TIMEOUT_NS || lwb->used > lwb->size / FULL_DENOMINATOR * FULL_NUMERATOR);
}

/* 2.3 counts down from the last sign of other committers. */
static void note_company(struct sl_zil *zil, bool was_open, bool was_busy)
{
	if (was_open) {
		zil->parallel = PARALLEL_SEEN;
	} else if (was_busy) {
		zil->parallel = zil->parallel > PARALLEL_UNFLUSHED ? zil->parallel : PARALLEL_UNFLUSHED;
	} else if (zil->parallel > 0) {
		zil->parallel--;
	}
}

void sl_zil_lwb_commit(struct sl_zil *zil, int64_t now_ns, struct sl_zil_waiter *waiter)
{
	struct sl_zil_lwb *lwb = open_lwb(zil);
	bool was_open = lwb != NULL, was_busy = zil->newest != NULL;
	int64_t pct = zil->config.generation == SL_ZIL_23 ? LATENCY_PCT_23 : LATENCY_PCT_21;

	note_company(zil, was_open, was_busy);
	pack_all(zil, now_ns);
	lwb = zil->newest;
	if (!lwb) {
		/* Nothing to log: what was logged is already stable. */
		sl_loop_arm(zil->loop, &waiter->done, now_ns);
		return;
	}
	if (!lwb->waiters) {
		lwb->tag = waiter->tag;
	}
	*lwb->waiters_tail = waiter;
	lwb->waiters_tail = &waiter->next;
	if (lwb->issued) {
		return;
	}
	if (issue_at_once(zil, lwb, !was_busy)) {
		issue(lwb, now_ns);
	} else if (!lwb->timeout.armed) {
		sl_loop_arm(zil->loop, &lwb->timeout, now_ns + zil->lwb_latency_ns * pct / 100);
	}
}

void sl_zil_lwb_init(struct sl_zil *zil)
{
	sl_slab_init(&zil->lwbs, sizeof(struct sl_zil_lwb));
	if (zil->config.generation != SL_ZIL_2014) {
		sl_slab_init(&zil->ios, sizeof(struct in_place));
	}
}
