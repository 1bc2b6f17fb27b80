#include "sim/zfs/pool.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/zfs/pool_inner.h"

#define META_RECORD 256u     /* bytes of a TX_CREATE and the like */
#define WRLOG_SYNC_SHARE 0.3 /* of zfs_dirty_data_max: zfs_wrlog_data_max x (20 + 10) / 200 */

/* One store request on its way through the pool. */
struct pool_call {
	void *pool_link;
	struct sl_pool *pool;
	struct sl_store_req *req;
	struct sl_cpu_job job;
	struct sl_throttled entry;
	struct sl_zil_waiter waiter;
	struct sl_txg_waiter synced; /* when the log failed */
	struct sl_read_waiter records;
	uint32_t transactions; /* write: left to begin */
	uint32_t partial;      /* write: records to be filled from what is stored: ... */
	uint64_t first, last;  /* ... these */
	int64_t start_ns;
};

static void call_finish(struct pool_call *call, int64_t now_ns)
{
	struct sl_store_req *req = call->req;
	struct sl_pool *pool = call->pool;

	if (pool->trace) {
		static const char *const names[] = {"read", "write", "commit", "getattr", "meta"};

		sl_trace_span(pool->trace, "ZFS", names[req->op], req->tag, call->start_ns, now_ns);
	}
	sl_slab_put(&pool->calls, call);
	sl_timer_fire(&req->done, now_ns);
}

static void txgs_synced(struct sl_timer *timer, int64_t now_ns)
{
	call_finish(sl_container_of(timer, struct pool_call, synced.done), now_ns);
}

static void committed(struct sl_timer *timer, int64_t now_ns)
{
	struct pool_call *call = sl_container_of(timer, struct pool_call, waiter.done);

	if (call->waiter.failed) {
		call->synced.done.fire = txgs_synced;
		sl_txg_wait(&call->pool->txg, now_ns, &call->synced);
	} else {
		call_finish(call, now_ns);
	}
}

static void commit(struct pool_call *call, int64_t now_ns)
{
	struct sl_pool *pool = call->pool;

	if (pool->sync == SL_SYNC_DISABLED) {
		call_finish(call, now_ns);
		return;
	}
	call->waiter.done.fire = committed;
	call->waiter.tag = call->req->tag;
	sl_zil_commit(&pool->zil, now_ns, call->req->file, &call->waiter);
}

/* dsl_pool_wrlog_count: much in the log is a reason to sync, like much that is dirty. */
static void kick_txg(struct sl_pool *pool, int64_t now_ns)
{
	const struct sl_zil_space *wrlog = pool->throttle.wrlog;
	double logged = wrlog ? (double)wrlog->of_txg[pool->txg.open % SL_ZIL_SPACE_TXGS] : 0;

	if (logged > WRLOG_SYNC_SHARE * (double)pool->txg.config.dirty_max_bytes) {
		sl_txg_kick(&pool->txg, now_ns);
	}
}

static void log_change(struct sl_pool *pool, const struct sl_store_req *req, uint32_t bytes, bool sync)
{
	struct sl_zil_change change = {
	    .file = req->file,
	    .txg = pool->txg.open,
	    .offset_bytes = req->offset_bytes,
	    .bytes = bytes,
	    .meta = req->op == SL_STORE_META,
	    .hole = req->zero && pool->holes,
	    .write = sl_history_arrived(pool->txg.history, req->op == SL_STORE_WRITE ? req->write : 0,
					pool->txg.open),
	};

	if (pool->sync != SL_SYNC_DISABLED) {
		sl_zil_log(&pool->zil, &change, sync);
	}
}

static void write_filled(struct pool_call *call, int64_t now_ns)
{
	struct sl_store_req *req = call->req;
	struct sl_pool *pool = call->pool;
	bool stable = req->stable != SL_UNSTABLE || pool->sync == SL_SYNC_ALWAYS;

	log_change(pool, req, req->bytes, stable);
	kick_txg(pool, now_ns);
	if (stable) {
		req->stable = SL_FILE_SYNC;
		commit(call, now_ns);
	} else {
		call_finish(call, now_ns);
	}
}

static int64_t copy_ns(const struct pool_call *call)
{
	return (int64_t)((double)call->req->bytes * 1e9 / call->pool->copy_bps);
}

static void read_copied(struct sl_timer *timer, int64_t now_ns)
{
	call_finish(sl_container_of(timer, struct pool_call, job.done), now_ns);
}

/* The call has all data it needs in memory: a READ copies it. */
static void call_filled(struct pool_call *call, int64_t now_ns)
{
	if (call->req->op == SL_STORE_WRITE) {
		write_filled(call, now_ns);
	} else {
		call->job.done.fire = read_copied;
		sl_cpu_run(call->pool->cpu, now_ns, &call->job, copy_ns(call));
	}
}

static void records_there(struct sl_timer *timer, int64_t now_ns)
{
	call_filled(sl_container_of(timer, struct pool_call, records.done), now_ns);
}

/* Waits for the records that the call needs and that are not in memory. */
static void fill(struct pool_call *call, int64_t now_ns)
{
	struct sl_store_req *req = call->req;
	struct sl_reader *reader = &call->pool->reader;
	bool in_memory = req->hot || (req->zero && call->pool->holes), waits = false;

	call->records = (struct sl_read_waiter){.done.fire = records_there, .tag = req->tag};
	if (!in_memory && req->op == SL_STORE_READ && req->bytes > 0) {
		waits =
		    sl_reader_read(reader, now_ns, req->file, req->offset_bytes, req->bytes, &call->records);
	} else if (!in_memory && call->partial > 0) {
		waits = sl_reader_fill(reader, now_ns, req->file, call->first, call->last, &call->records);
	}
	if (!waits) {
		call_filled(call, now_ns);
	}
}

/* The CPU work of the call is done. */
static void call_ready(struct sl_timer *timer, int64_t now_ns)
{
	struct pool_call *call = sl_container_of(timer, struct pool_call, job.done);
	struct sl_store_req *req = call->req;

	switch (req->op) {
	case SL_STORE_WRITE:
	case SL_STORE_READ:
		fill(call, now_ns);
		break;
	case SL_STORE_COMMIT:
		commit(call, now_ns);
		break;
	case SL_STORE_META:
		log_change(call->pool, req, META_RECORD, true);
		commit(call, now_ns);
		break;
	case SL_STORE_GETATTR:
		call_finish(call, now_ns);
		break;
	}
}

/* Which records a write covers in part: its first and its last, or that one of them whose edge it does not
 * reach. */
static void note_partial(struct pool_call *call, uint32_t partial)
{
	const struct sl_store_req *req = call->req;
	int64_t size = call->pool->txg.config.recordsize_bytes;

	call->partial = partial;
	if (partial == 0) {
		return;
	}
	call->first = (uint64_t)(req->offset_bytes / size);
	call->last = (uint64_t)((req->offset_bytes + req->bytes - 1) / size);
	if (partial == 1 && req->offset_bytes % size != 0) {
		call->last = call->first;
	} else if (partial == 1) {
		call->first = call->last;
	}
}

/* CPU of a writer for the records that its write has made dirty: those covered whole get a new buffer, the
 * others are looked up and filled. */
static int64_t dirty_cpu_ns(const struct sl_pool *pool, struct sl_txg_touch touch)
{
	return pool->dirty_cpu_ns * touch.fresh + pool->whole_cpu_ns * (touch.fresh - touch.partial) +
	       pool->partial_cpu_ns * touch.partial;
}

/* Marks what the call changes dirty. Returns its CPU time. */
static int64_t call_begin(struct pool_call *call, int64_t now_ns)
{
	const struct sl_store_req *req = call->req;
	struct sl_pool *pool = call->pool;
	struct sl_txg_touch touch;

	switch (req->op) {
	case SL_STORE_WRITE:
		touch = sl_txg_dirty(&pool->txg, now_ns, req->file, req->offset_bytes, req->bytes, req->zero);
		note_partial(call, touch.partial);
		return copy_ns(call) + dirty_cpu_ns(pool, touch);
	case SL_STORE_META:
		sl_txg_dirty_dnode(&pool->txg, now_ns, req->file);
		break;
	case SL_STORE_READ:
	case SL_STORE_COMMIT:
	case SL_STORE_GETATTR:
		break;
	}
	return 0;
}

static void start_call(struct pool_call *call, int64_t now_ns)
{
	call->job.done.fire = call_ready;
	sl_cpu_run(call->pool->cpu, now_ns, &call->job, call_begin(call, now_ns));
}

/* Transactions of a write: one per record up to 2.1, one for all since 2.2 (zfs_write). */
static uint32_t transactions(const struct sl_pool *pool, const struct sl_store_req *req)
{
	uint32_t records = sl_txg_records(&pool->txg, req->offset_bytes, req->bytes);

	return pool->zil.config.generation <= SL_ZIL_21 && records > 1 ? records : 1;
}

/* One transaction more may begin. Their CPU time follows in one piece, after the last. */
static void let_in(struct sl_timer *timer, int64_t now_ns)
{
	struct pool_call *call = sl_container_of(timer, struct pool_call, entry.go);

	call->transactions--;
	if (call->transactions > 0) {
		sl_throttle_enter(&call->pool->throttle, now_ns, &call->entry);
	} else {
		start_call(call, now_ns);
	}
}

static void pool_submit(struct sl_store *store, int64_t now_ns, struct sl_store_req *req)
{
	struct sl_pool *pool = sl_container_of(store, struct sl_pool, store);
	struct pool_call *call = sl_slab_get(&pool->calls);

	call->pool = pool;
	call->req = req;
	call->partial = 0;
	call->start_ns = now_ns;
	if (req->op == SL_STORE_WRITE) {
		call->entry.go.fire = let_in;
		call->entry.tag = req->tag;
		call->transactions = transactions(pool, req);
		sl_throttle_enter(&pool->throttle, now_ns, &call->entry);
	} else {
		start_call(call, now_ns);
	}
}

static void pool_store_free(struct sl_store *store)
{
	sl_pool_free(sl_container_of(store, struct sl_pool, store));
}

static const struct sl_store_ops pool_ops = {.submit = pool_submit, .free = pool_store_free};

int sl_pool_new(const struct sl_box *box, const struct sl_pool_env *env, struct sl_pool **ret,
		struct sl_err *err)
{
	struct sl_pool *pool = calloc(1, sizeof(*pool));
	int rc;

	if (!pool) {
		return sl_err_set(err, -ENOMEM, "pool: out of memory");
	}
	pool->store.ops = &pool_ops;
	pool->loop = env->loop;
	pool->cpu = env->cpu;
	pool->trace = env->trace;
	sl_slab_init(&pool->calls, sizeof(struct pool_call));
	rc = sl_pool_build(pool, box, env, err);
	if (rc < 0) {
		sl_pool_free(pool);
		return rc;
	}
	*ret = pool;
	return 0;
}

void sl_pool_free(struct sl_pool *pool)
{
	if (!pool) {
		return;
	}
	sl_txg_fini(&pool->txg);
	sl_zil_fini(&pool->zil);
	sl_reader_fini(&pool->reader);
	sl_arc_fini(&pool->arc);
	sl_vdev_fini(&pool->data);
	sl_vdev_fini(&pool->log);
	sl_vdev_fini(&pool->special);
	sl_vdev_fini(&pool->cache);
	sl_slab_fini(&pool->calls);
	free(pool);
}

struct sl_store *sl_pool_store(struct sl_pool *pool)
{
	return &pool->store;
}

int sl_pool_fail_log(struct sl_pool *pool, int64_t now_ns, int device, int side)
{
	return sl_vdev_fail_disk(&pool->log, now_ns, device, side);
}

bool sl_pool_log_dead(const struct sl_pool *pool, int device)
{
	return device >= 0 && device < pool->log.n_disks && pool->log.dead[device];
}

void sl_pool_catch_up(struct sl_pool *pool)
{
	int64_t now_ns = sl_loop_now(pool->loop);

	sl_vdev_catch_up(&pool->data, now_ns);
	sl_vdev_catch_up(&pool->log, now_ns);
	sl_vdev_catch_up(&pool->special, now_ns);
}

void sl_pool_stats(const struct sl_pool *pool, int64_t now_ns, struct sl_pool_stats *ret)
{
	const struct sl_zil *zil = &pool->zil;
	int64_t busy_ns = zil->busy_ns + (zil->busy ? now_ns - zil->batch_start_ns : 0);
	struct sl_dev_stats data, log;

	sl_vdev_totals(&pool->data, &data);
	sl_vdev_totals(&pool->log, &log);
	*ret = (struct sl_pool_stats){
	    .zil_commits = zil->commits,
	    .zil_batches = zil->batches,
	    .zil_blocks = zil->blocks,
	    .zil_indirect = zil->indirect,
	    .zil_failures = zil->failures,
	    .txgs = pool->txg.synced,
	    .arc_hits = pool->arc.hits,
	    .l2arc_hits = pool->arc.cache_hits,
	    .arc_misses = pool->arc.misses,
	    .log_bytes = zil->log_bytes,
	    .log_peak_bytes = zil->log_space.peak,
	    .log_room_bytes =
		pool->log.n_disks > 0 ? sl_vdev_top_bytes(&pool->log) * sl_vdev_tops(&pool->log) : 0,
	    .log_need_bytes = zil->all_space.peak,
	    .log_requests = log.writes + log.flushes,
	    .data_bytes = data.bytes_written,
	    .data = data,
	    .log = log,
	    .dirty_bytes = pool->txg.dirty_bytes,
	    .throttle_utilisation = sl_throttle_utilisation(&pool->throttle, now_ns),
	    .zil_utilisation = now_ns > 0 ? (double)busy_ns / (double)now_ns : 0,
	    .log_utilisation = sl_vdev_utilisation(&pool->log, now_ns),
	    .data_utilisation = sl_vdev_utilisation(&pool->data, now_ns),
	    .special_utilisation = sl_vdev_utilisation(&pool->special, now_ns),
	    .cache_utilisation = sl_vdev_utilisation(&pool->cache, now_ns),
	};
}
