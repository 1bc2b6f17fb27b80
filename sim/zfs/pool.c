#include "sim/zfs/pool.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/rng.h"
#include "sim/base/slab.h"
#include "sim/zfs/txg.h"
#include "sim/zfs/zil.h"

#define ARC_SHARE 0.7               /* of the storage VM's memory */
#define DIRTY_MAX_SHARE 0.1         /* zfs_dirty_data_max_percent */
#define DIRTY_SYNC_BYTES (64 << 20) /* zfs_dirty_data_sync of 0.6.3 */
#define DELAY_FROM_SHARE 0.6        /* zfs_delay_min_dirty_percent */
#define DELAY_SCALE_NS 500000.0     /* zfs_delay_scale */
#define DELAY_MAX_NS 1e8            /* zfs_delay_max_ns */
#define RECORD_UNIT 131072.0        /* the record size that the per-record CPU costs are stated for */
#define META_RECORD 256u            /* bytes of a TX_CREATE and the like */

struct sl_pool {
	struct sl_store store;
	struct sl_loop *loop;
	struct sl_cpu *cpu;
	struct sl_trace *trace;
	struct sl_vdev data, log;
	struct sl_zil zil;
	struct sl_txg txg;
	struct sl_slab calls;
	struct sl_rng rng;
	double miss_share; /* of reads of data that is not a hole */
	double copy_bps;
	int64_t record_cpu_ns;
	int sync;
	bool holes;
	int64_t last_wakeup_ns; /* dp_last_wakeup: delayed writers go one after the other */
	struct pool_call *blocked, **blocked_tail; /* writers that found the pool full of dirty data */
	struct sl_timer log_fails;
};

/* One store request on its way through the pool. */
struct pool_call {
	void *pool_link;
	struct sl_pool *pool;
	struct sl_store_req *req;
	struct sl_cpu_job job;
	struct sl_zil_waiter waiter;
	struct sl_txg_waiter synced; /* when the log failed */
	struct sl_vdev_io io;
	struct sl_timer delay;
	struct pool_call *next; /* blocked */
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

static void read_done(struct sl_timer *timer, int64_t now_ns)
{
	call_finish(sl_container_of(timer, struct pool_call, io.done), now_ns);
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

static void log_change(struct sl_pool *pool, const struct sl_store_req *req, uint32_t bytes, bool sync)
{
	struct sl_zil_itx itx = {
	    .file = req->file,
	    .txg = pool->txg.open,
	    .bytes = bytes,
	    .first_record = (uint64_t)req->offset_bytes / pool->txg.config.recordsize_bytes,
	    .records = sl_txg_records(&pool->txg, req->offset_bytes, bytes),
	    .write = sl_history_arrived(pool->txg.history, req->op == SL_STORE_WRITE ? req->write : 0,
					pool->txg.open),
	};

	if (pool->sync != SL_SYNC_DISABLED) {
		sl_zil_log(&pool->zil, &itx, sync);
	}
}

static void write_ready(struct pool_call *call, int64_t now_ns)
{
	struct sl_store_req *req = call->req;
	struct sl_pool *pool = call->pool;
	bool stable = req->stable != SL_UNSTABLE || pool->sync == SL_SYNC_ALWAYS;

	log_change(pool, req, req->bytes, stable);
	if (stable) {
		req->stable = SL_FILE_SYNC;
		commit(call, now_ns);
	} else {
		call_finish(call, now_ns);
	}
}

/* Anywhere in the first half of the vdevs. */
static void place_read(struct sl_pool *pool, struct sl_vdev_io *io)
{
	int64_t half = sl_vdev_top_bytes(&pool->data) / 2;
	uint64_t at = sl_rng_below(&pool->rng, (uint64_t)(half * sl_vdev_tops(&pool->data)));

	io->top = (int)(at / (uint64_t)half);
	io->offset_bytes = (int64_t)(at % (uint64_t)half);
}

static void read_ready(struct pool_call *call, int64_t now_ns)
{
	struct sl_pool *pool = call->pool;
	bool hole = call->req->zero && pool->holes;

	if (hole || pool->miss_share <= 0 || sl_rng_uniform(&pool->rng) >= pool->miss_share) {
		call_finish(call, now_ns);
		return;
	}
	call->io.done.fire = read_done;
	call->io.op = SL_DEV_READ;
	call->io.bytes = pool->txg.config.recordsize_bytes;
	place_read(pool, &call->io);
	call->io.tag = call->req->tag;
	sl_vdev_submit(&pool->data, now_ns, &call->io);
}

/* The CPU work of the call is done. */
static void call_ready(struct sl_timer *timer, int64_t now_ns)
{
	struct pool_call *call = sl_container_of(timer, struct pool_call, job.done);
	struct sl_store_req *req = call->req;

	switch (req->op) {
	case SL_STORE_WRITE:
		write_ready(call, now_ns);
		break;
	case SL_STORE_READ:
		read_ready(call, now_ns);
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

static int64_t call_cpu_ns(struct sl_pool *pool, int64_t now_ns, const struct sl_store_req *req)
{
	int64_t copy_ns = (int64_t)((double)req->bytes * 1e9 / pool->copy_bps);

	switch (req->op) {
	case SL_STORE_WRITE:
		return copy_ns + pool->record_cpu_ns * sl_txg_dirty(&pool->txg, now_ns, req->file,
								    req->offset_bytes, req->bytes, req->zero);
	case SL_STORE_READ:
		return copy_ns;
	case SL_STORE_META:
		sl_txg_dirty(&pool->txg, now_ns, req->file, 0, 1, false);
		break;
	case SL_STORE_COMMIT:
	case SL_STORE_GETATTR:
		break;
	}
	return 0;
}

static void start_call(struct pool_call *call, int64_t now_ns)
{
	call->job.done.fire = call_ready;
	sl_cpu_run(call->pool->cpu, now_ns, &call->job, call_cpu_ns(call->pool, now_ns, call->req));
}

static void delay_over(struct sl_timer *timer, int64_t now_ns)
{
	start_call(sl_container_of(timer, struct pool_call, delay), now_ns);
}

/*
 * The write throttle (dmu_tx_delay): above 60 % of zfs_dirty_data_max each write waits
 * delay_scale x (dirty - 60 %) / (max - dirty), at most 100 ms, one after the other; at the maximum writers
 * block until the syncing txg has written something.
 */
static void admit_write(struct pool_call *call, int64_t now_ns)
{
	struct sl_pool *pool = call->pool;
	double max = (double)pool->txg.config.dirty_max_bytes, dirty = (double)sl_txg_unsynced(&pool->txg);
	double over = dirty - max * DELAY_FROM_SHARE, delay_ns;

	if (dirty >= max) {
		call->next = NULL;
		*pool->blocked_tail = call;
		pool->blocked_tail = &call->next;
		return;
	}
	if (over <= 0) {
		start_call(call, now_ns);
		return;
	}
	delay_ns = DELAY_SCALE_NS * over / (max - dirty);
	delay_ns = delay_ns < DELAY_MAX_NS ? delay_ns : DELAY_MAX_NS;
	pool->last_wakeup_ns =
	    (pool->last_wakeup_ns > now_ns ? pool->last_wakeup_ns : now_ns) + (int64_t)delay_ns;
	call->delay.fire = delay_over;
	sl_loop_arm(pool->loop, &call->delay, pool->last_wakeup_ns);
}

/* The syncing txg has made room: blocked writers try again, in order. */
static void txg_progress(void *arg, int64_t now_ns)
{
	struct sl_pool *pool = arg;
	struct pool_call *call = pool->blocked;

	pool->blocked = NULL;
	pool->blocked_tail = &pool->blocked;
	while (call) {
		struct pool_call *next = call->next;

		admit_write(call, now_ns);
		call = next;
	}
}

static void pool_submit(struct sl_store *store, int64_t now_ns, struct sl_store_req *req)
{
	struct sl_pool *pool = sl_container_of(store, struct sl_pool, store);
	struct pool_call *call = sl_slab_get(&pool->calls);

	call->pool = pool;
	call->req = req;
	call->start_ns = now_ns;
	if (req->op == SL_STORE_WRITE) {
		admit_write(call, now_ns);
	} else {
		start_call(call, now_ns);
	}
}

static void pool_store_free(struct sl_store *store)
{
	sl_pool_free(sl_container_of(store, struct sl_pool, store));
}

static const struct sl_store_ops pool_ops = {.submit = pool_submit, .free = pool_store_free};

static void txg_synced(void *arg, uint64_t txg, int64_t closed_ns, int64_t now_ns)
{
	struct sl_pool *pool = arg;

	sl_zil_synced(&pool->zil, txg);
	txg_progress(pool, now_ns);
	if (pool->store.on_synced) {
		pool->store.on_synced(pool->store.on_synced_arg, closed_ns);
	}
}

static int add_disks(struct sl_vdev *vdev, const struct sl_dev_spec *specs, int n, const char *what,
		     uint64_t seed, struct sl_err *err)
{
	for (int i = 0; i < n; i++) {
		struct sl_dev *disk;
		char name[32];
		int rc;

		(void)snprintf(name, sizeof(name), "%s%d", what, i);
		rc = sl_dev_new(&specs[i], vdev->loop, seed, name, &disk, err);
		if (rc < 0) {
			return rc;
		}
		sl_vdev_add_disk(vdev, disk,
				 specs[i].kind == SL_DEV_NULL ? INT64_C(1) << 40
							      : (int64_t)specs[i].capacity_bytes);
	}
	return 0;
}

/* The data disks with this box's own figures in place of the catalogue's. */
static void override_data_disks(const struct sl_box *box, struct sl_dev_spec *disks)
{
	for (int i = 0; i < box->n_data; i++) {
		disks[i] = box->data[i];
		if (disks[i].kind != SL_DEV_HDD) {
			continue;
		}
		if (box->data_write_ack_ns > 0) {
			disks[i].write_ack_ns = box->data_write_ack_ns;
		}
		if (box->data_write_bps > 0) {
			disks[i].write_bps = box->data_write_bps;
		}
	}
}

/* The log devices behind this box's own link. */
static void override_log_disks(const struct sl_box *box, struct sl_dev_spec *disks)
{
	for (int i = 0; i < box->n_log; i++) {
		disks[i] = box->log[i];
		if (box->log_link_bps > 0) {
			disks[i].link_bps = box->log_link_bps;
		}
	}
}

static void init_vdevs(struct sl_pool *pool, const struct sl_box *box)
{
	struct sl_vdev_config config = {
	    .layout = (enum sl_vdev_layout)box->data_layout,
	    .tops = (int)box->data_vdevs,
	    .layer = "data vdev",
	    .ashift = (int)box->ashift,
	    .flush_honoured = box->data_flush == SL_FLUSH_HONOURED,
	    .parity_bps = box->parity_bps,
	    .flush_cpu_ns = (int64_t)box->zil_flush_cpu_ns,
	};

	if (box->encryption == SL_ENCRYPT_GELI) {
		config.leaf_cpu_ns = (int64_t)box->crypto_io_cpu_ns;
		config.leaf_cpu_bps = box->crypto_bps;
	}
	sl_vdev_init(&pool->data, &config, pool->loop, pool->cpu, pool->trace);
	config.layout = SL_VDEV_STRIPE;
	config.fastwrite = box->zil != SL_ZIL_23;
	config.is_log = true;
	config.layer = "log vdev";
	config.flush_honoured = box->log_flush == SL_FLUSH_HONOURED;
	sl_vdev_init(&pool->log, &config, pool->loop, pool->cpu, pool->trace);
}

static void all_logs_fail(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_pool *pool = sl_container_of(timer, struct sl_pool, log_fails);

	for (int i = 0; i < pool->log.n_disks; i++) {
		/* One that died before is no news. */
		(void)sl_pool_fail_log(pool, now_ns, i, -1);
	}
}

static void init_log(struct sl_pool *pool, const struct sl_box *box, const struct sl_pool_env *env)
{
	double records = box->recordsize_bytes / RECORD_UNIT;
	/* However well it compresses, something is written. */
	double ratio =
	    box->compress_ratio < box->recordsize_bytes ? box->compress_ratio : box->recordsize_bytes;
	struct sl_txg_config txg = {
	    .data = &pool->data,
	    .timeout_ns = (int64_t)box->txg_timeout_ns,
	    .record_sync_cpu_ns = (int64_t)(box->zfs_sync_cpu_ns * records),
	    .recordsize_bytes = (uint32_t)box->recordsize_bytes,
	    .compress_ratio = box->compression == SL_COMPRESS_LZ4 ? ratio : 1,
	    .holes = box->compression != SL_COMPRESS_OFF,
	    .dirty_max_bytes = (int64_t)(box->nas_memory_bytes * DIRTY_MAX_SHARE),
	    .dirty_sync_bytes = DIRTY_SYNC_BYTES,
	};
	struct sl_zil_config zil = {
	    .generation = (enum sl_zil_generation)box->zil,
	    .broken = env->broken,
	    .history = env->history,
	    .log = box->n_log > 0 ? &pool->log : &pool->data,
	    .data = &pool->data,
	    .has_slog = box->n_log > 0,
	    .throughput = box->logbias == SL_LOGBIAS_THROUGHPUT,
	    .commit_cpu_ns = (int64_t)box->zil_commit_cpu_ns,
	    .indirect_cpu_ns = txg.record_sync_cpu_ns,
	    .copy_bps = box->zfs_copy_bps,
	    .recordsize_bytes = txg.recordsize_bytes,
	    .compress_ratio = txg.compress_ratio,
	};

	pool->record_cpu_ns = (int64_t)(box->zfs_record_cpu_ns * records);
	sl_zil_init(&pool->zil, &zil, pool->loop, pool->cpu, pool->trace);
	sl_txg_init(&pool->txg, &txg, pool->loop, pool->cpu, pool->trace);
	pool->txg.history = env->history;
	pool->txg.on_synced = txg_synced;
	pool->txg.on_progress = txg_progress;
	pool->blocked_tail = &pool->blocked;
	pool->txg.arg = pool;
	if (box->log_fail_at_ns > 0 && box->n_log > 0) {
		pool->log_fails.fire = all_logs_fail;
		sl_loop_arm(pool->loop, &pool->log_fails, (int64_t)box->log_fail_at_ns);
	}
}

int sl_pool_new(const struct sl_box *box, const struct sl_pool_env *env, struct sl_pool **ret,
		struct sl_err *err)
{
	struct sl_pool *pool = calloc(1, sizeof(*pool));
	struct sl_dev_spec data[SL_BOX_DATA_MAX], log[SL_BOX_LOG_MAX];
	double arc = box->nas_memory_bytes * ARC_SHARE, read_bytes = (double)env->working_set_bytes;
	int rc;

	if (!pool) {
		return sl_err_set(err, -ENOMEM, "pool: out of memory");
	}
	pool->store.ops = &pool_ops;
	pool->loop = env->loop;
	pool->cpu = env->cpu;
	pool->trace = env->trace;
	pool->sync = box->sync;
	pool->holes = box->compression != SL_COMPRESS_OFF;
	pool->copy_bps = box->zfs_copy_bps;
	pool->miss_share = read_bytes > arc ? 1 - arc / read_bytes : 0;
	sl_rng_init(&pool->rng, env->seed, "arc");
	sl_slab_init(&pool->calls, sizeof(struct pool_call));
	init_vdevs(pool, box);
	init_log(pool, box, env);
	override_data_disks(box, data);
	override_log_disks(box, log);
	rc = add_disks(&pool->data, data, box->n_data, "data", env->seed, err);
	if (rc == 0) {
		rc = add_disks(&pool->log, log, box->n_log, "log", env->seed, err);
	}
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
	sl_vdev_fini(&pool->data);
	sl_vdev_fini(&pool->log);
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
	    .log_bytes = zil->log_bytes,
	    .log_requests = log.writes + log.flushes,
	    .data_bytes = data.bytes_written,
	    .data = data,
	    .log = log,
	    .dirty_bytes = pool->txg.dirty_bytes,
	    .zil_utilisation = now_ns > 0 ? (double)busy_ns / (double)now_ns : 0,
	    .log_utilisation = sl_vdev_utilisation(&pool->log, now_ns),
	    .data_utilisation = sl_vdev_utilisation(&pool->data, now_ns),
	};
}
