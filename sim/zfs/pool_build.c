/* Puts a pool together from a box: its vdevs and disks, log, txgs, caches. */
#include <errno.h>
#include <stdio.h>

#include "sim/device/iops.h"
#include "sim/zfs/pool_inner.h"

#define ARC_SHARE 0.7               /* of the storage VM's memory */
#define DIRTY_MAX_SHARE 0.1         /* zfs_dirty_data_max_percent */
#define DIRTY_MAX_MAX 4294967296.0  /* zfs_dirty_data_max_max since 2.0 */
#define DIRTY_SYNC_BYTES (64 << 20) /* zfs_dirty_data_sync of 0.6.3 */
#define DIRTY_SYNC_SHARE 0.2        /* zfs_dirty_data_sync_percent since 0.8 */
#define RECORD_UNIT 131072.0        /* the record size that zfs.record_cpu is stated for */
#define BATCH_PCT_OLD 75            /* zio_taskq_batch_pct */
#define BATCH_PCT 80                /* since 2.1 */
#define SYNC_TASKQ_PCT 75           /* zfs_sync_taskq_batch_pct, since 0.8 */
#define JOIN_BYTES (128 << 10)      /* zfs_vdev_aggregation_limit of 2014, ..._non_rotating since */
#define JOIN_ROTATING (1 << 20)     /* zfs_vdev_aggregation_limit of 2.1 */
#define PREFETCH_RECORDS_OLD 256    /* zfetch_block_cap of 0.6.3 */
#define PREFETCH_DOUBLE (4 << 20)   /* zfetch_min_distance since 2.1.6 */
#define PREFETCH_MAX (64 << 20)     /* zfetch_max_distance since 2.1.6 */
#define ALIQUOT_21 INT64_C(524288)  /* metaslab_aliquot */
#define ALIQUOT_23 INT64_C(1048576) /* since 2.2 */
#define CPUS_PER_ALLOCATOR 4        /* spa_cpus_per_allocator */
#define BULK_21 (768 << 10)         /* zil_slog_bulk */
#define BULK_22 (64 << 20)          /* since 2.2.1 */
#define LONE_BLOCK 8192             /* of the log, with a record of 4 KiB */
#define LONE_BLOCKS 32

static bool is_old(const struct sl_box *box)
{
	return box->zil == SL_ZIL_2014;
}

static int add_disks(struct sl_vdev *vdev, const struct sl_dev_spec *specs, int n, const char *what,
		     uint64_t seed, struct sl_err *err)
{
	for (int i = 0; i < n; i++) {
		int64_t bytes =
		    specs[i].kind == SL_DEV_NULL ? INT64_C(1) << 40 : (int64_t)specs[i].capacity_bytes;
		struct sl_dev *disk;
		char name[32];
		int rc;

		if (bytes < SL_VDEV_DISK_MIN) {
			return sl_err_set(err, -EINVAL,
					  "%s device %d (%s): ZFS takes no device of less than 64 MiB", what,
					  i, specs[i].name);
		}
		(void)snprintf(name, sizeof(name), "%s%d", what, i);
		rc = sl_dev_new(&specs[i], vdev->loop, seed, name, &disk, err);
		if (rc < 0) {
			return rc;
		}
		sl_vdev_add_disk(vdev, disk, bytes);
	}
	return 0;
}

static bool rotates(const struct sl_dev_spec *disk)
{
	bool any = disk->kind == SL_DEV_HDD || disk->kind == SL_DEV_RAID10;

	for (int i = 0; i < disk->n_members; i++) {
		any |= rotates(disk->members[i]);
	}
	return any;
}

/* zfs_vdev_aggregation_limit: since 0.8 larger for disks that rotate. */
static int64_t join_bytes(const struct sl_box *box, const struct sl_dev_spec *disks, int n)
{
	return !is_old(box) && n > 0 && rotates(&disks[0]) ? JOIN_ROTATING : JOIN_BYTES;
}

/* spa_allocators since 0.8; since 2.3 spa_num_allocators, but one for each spa_cpus_per_allocator at most. */
static int allocators(const struct sl_box *box)
{
	int64_t by_cpus = box->nas_vcpus / CPUS_PER_ALLOCATOR;

	if (is_old(box)) {
		return 1;
	}
	if (box->zil < SL_ZIL_23 || by_cpus > SL_ALLOCATORS_MAX) {
		return SL_ALLOCATORS_MAX;
	}
	return by_cpus > 1 ? (int)by_cpus : 1;
}

static void init_vdevs(struct sl_pool *pool, const struct sl_box *box)
{
	struct sl_vdev_config config = {
	    .layout = (enum sl_vdev_layout)box->data_layout,
	    .tops = (int)box->data_vdevs,
	    .layer = "data vdev",
	    .alloc = {.allocators = allocators(box),
		      .far_copies = is_old(box),
		      .embedded_log = box->zil >= SL_ZIL_21,
		      .filled = box->pool_filled,
		      .fragmentation = box->pool_fragmentation},
	    .async_write_min = is_old(box) ? 1 : 2,
	    .join_bytes = join_bytes(box, box->data, box->n_data),
	    .join_sync = !is_old(box),
	    .ashift = (int)box->ashift,
	    .flush_honoured = box->data_flush == SL_FLUSH_HONOURED,
	    .parity_bps = box->parity_bps,
	    .flush_cpu_ns = (int64_t)box->zil_flush_cpu_ns,
	};

	if (sl_box_encrypts_disks(box)) {
		config.leaf_cpu_ns = (int64_t)box->crypto_io_cpu_ns;
		config.leaf_cpu_bps = box->crypto_bps;
	}
	sl_vdev_init(&pool->data, &config, pool->loop, pool->cpu, pool->trace);
	config.layout = SL_VDEV_STRIPE;
	config.alloc = (struct sl_alloc_config){
	    .allocators = allocators(box), .far_copies = is_old(box), .embedded_log = box->zil >= SL_ZIL_24};
	config.join_bytes = JOIN_BYTES;
	config.layer = "special vdev";
	sl_vdev_init(&pool->special, &config, pool->loop, pool->cpu, pool->trace);
	config.alloc.embedded_log = false;
	config.layer = "cache vdev";
	sl_vdev_init(&pool->cache, &config, pool->loop, pool->cpu, pool->trace);
	config.join_bytes = join_bytes(box, box->log, box->n_log);
	config.is_log = true;
	config.fastwrite = box->zil < SL_ZIL_22;
	config.layer = "log vdev";
	config.flush_honoured = box->log_flush == SL_FLUSH_HONOURED;
	sl_vdev_init(&pool->log, &config, pool->loop, pool->cpu, pool->trace);
}

static int add_all_disks(struct sl_pool *pool, const struct sl_box *box, uint64_t seed, struct sl_err *err)
{
	struct sl_dev_spec data[SL_BOX_DATA_MAX], log[SL_BOX_LOG_MAX];
	int rc;

	sl_box_data_disks(box, data);
	sl_box_log_disks(box, log);
	rc = add_disks(&pool->data, data, box->n_data, "data", seed, err);
	rc = rc == 0 ? add_disks(&pool->log, log, box->n_log, "log", seed, err) : rc;
	rc = rc == 0 ? add_disks(&pool->special, box->special, box->n_special, "special", seed, err) : rc;
	return rc == 0 ? add_disks(&pool->cache, box->cache, box->n_cache, "cache", seed, err) : rc;
}

/* What is written of a record: compressed, in whole sectors, unless that saves less than an eighth
 * (zio_compress_data) or no sector. */
static int64_t stored_bytes(const struct sl_box *box)
{
	int64_t size = (int64_t)box->recordsize_bytes, sector = INT64_C(1) << box->ashift, stored;

	if (box->compression == SL_COMPRESS_OFF) {
		return size;
	}
	stored = (int64_t)((double)size / box->compress_ratio);
	stored += (double)stored * box->compress_ratio < (double)size;
	stored = stored <= size - size / 8 ? (stored + sector - 1) / sector * sector : size;
	return stored < size ? stored : size;
}

/* Logical size / physical size of records. */
static double stored_ratio(const struct sl_box *box)
{
	return box->recordsize_bytes / (double)stored_bytes(box);
}

/* zfs_dirty_data_max */
static int64_t dirty_max(const struct sl_box *box)
{
	double bytes = box->nas_memory_bytes * DIRTY_MAX_SHARE;

	if (box->dirty_max_bytes > 0) {
		return (int64_t)box->dirty_max_bytes;
	}
	return (int64_t)(!is_old(box) && bytes > DIRTY_MAX_MAX ? DIRTY_MAX_MAX : bytes);
}

/* Where records go: small ones to the special vdevs, when there are some (special_small_blocks). */
static struct sl_vdev *records_vdev(struct sl_pool *pool, const struct sl_box *box)
{
	bool small = (double)stored_bytes(box) <= box->special_small_bytes;

	return small && box->n_special > 0 ? &pool->special : &pool->data;
}

static void txg_progress(void *arg, int64_t now_ns)
{
	struct sl_pool *pool = arg;

	sl_throttle_progress(&pool->throttle, now_ns);
}

static void txg_synced(void *arg, uint64_t txg, int64_t closed_ns, int64_t now_ns)
{
	struct sl_pool *pool = arg;

	sl_zil_synced(&pool->zil, txg);
	txg_progress(pool, now_ns);
	if (pool->store.on_synced) {
		pool->store.on_synced(pool->store.on_synced_arg, closed_ns);
	}
}

/* Time of going over so many bytes; a rate of 0 = free. */
static double bytes_ns(double bytes, double bps)
{
	return bps > 0 ? bytes * 1e9 / bps : 0;
}

/* CPU of the zio pipeline for a record that is written: what each costs, a try to compress it, checksum, and
 * native encryption. */
static int64_t record_cpu_ns(const struct sl_pool *pool, const struct sl_box *box)
{
	double size = box->recordsize_bytes, stored = (double)stored_bytes(box), ns = box->zfs_sync_cpu_ns;

	if (box->compression == SL_COMPRESS_LZ4) {
		ns += bytes_ns(size, stored < size ? box->zfs_lz4_bps : box->zfs_lz4_skip_bps);
	}
	return (int64_t)(ns + bytes_ns(stored, box->zfs_checksum_bps) + bytes_ns(stored, pool->crypt_bps));
}

/* The same for one that turns out to be all zero: it is looked through, at the pace of a checksum. */
static int64_t hole_cpu_ns(const struct sl_box *box)
{
	return (int64_t)(box->zfs_sync_cpu_ns + bytes_ns(box->recordsize_bytes, box->zfs_checksum_bps));
}

/* So many per cent of the CPUs, but one at least. */
static uint32_t threads(const struct sl_box *box, int64_t percent)
{
	int64_t n = box->nas_vcpus * percent / 100;

	return n > 0 ? (uint32_t)n : 1;
}

/* What one metaslab of the data vdevs holds of records. */
static int64_t metaslab_of_records(const struct sl_pool *pool, const struct sl_box *box)
{
	const struct sl_vdev *vdev = &pool->data;
	double stored = box->recordsize_bytes / stored_ratio(box);
	double metaslab = (double)sl_alloc_metaslab_bytes(sl_vdev_top_bytes(vdev));

	return (int64_t)(metaslab * box->recordsize_bytes / (double)sl_vdev_asize(vdev, (int64_t)stored));
}

static void init_txg(struct sl_pool *pool, const struct sl_box *box, const struct sl_pool_env *env)
{
	struct sl_txg_config config = {
	    .data = records_vdev(pool, box),
	    .meta = box->n_special > 0 ? &pool->special : &pool->data,
	    .timeout_ns = (int64_t)box->txg_timeout_ns,
	    .async_write_min = pool->data.config.async_write_min,
	    .feeders = is_old(box) ? 1 : threads(box, SYNC_TASKQ_PCT),
	    .workers = threads(box, is_old(box) ? BATCH_PCT_OLD : BATCH_PCT),
	    .issue_cpu_ns = (int64_t)box->zfs_issue_cpu_ns,
	    .record_cpu_ns = record_cpu_ns(pool, box),
	    .hole_cpu_ns = hole_cpu_ns(box),
	    .recordsize_bytes = (uint32_t)box->recordsize_bytes,
	    .stored_bytes = stored_bytes(box),
	    .old = is_old(box),
	    .metaslab_bytes = metaslab_of_records(pool, box),
	    .holes = pool->holes,
	    .dirty_max_bytes = dirty_max(box),
	    .dirty_sync_bytes =
		is_old(box) ? DIRTY_SYNC_BYTES : (int64_t)(DIRTY_SYNC_SHARE * (double)dirty_max(box)),
	};

	sl_txg_init(&pool->txg, &config, pool->loop, pool->cpu, pool->trace);
	pool->txg.history = pool->txg.sync.meta.history = env->history;
	pool->txg.on_synced = txg_synced;
	pool->txg.on_progress = txg_progress;
	pool->txg.arg = pool;
	sl_throttle_init(&pool->throttle, pool->loop, &pool->txg, pool->trace);
}

/* zil_slog_bulk */
static uint64_t bulk_bytes(const struct sl_box *box)
{
	if (box->zil_slog_bulk_bytes > 0) {
		return (uint64_t)box->zil_slog_bulk_bytes;
	}
	return box->zil < SL_ZIL_22 ? BULK_21 : BULK_22;
}

/*
 * How long blocks of one writer of 4 KiB took, who used the log before: whoever measures has made his files
 * first. It decides how long the first blocks are open, and so who begins together; who did, stays together.
 */
static int lone_latency_ns(const struct sl_box *box, uint64_t seed, int64_t *ret_ns, struct sl_err *err)
{
	struct sl_dev_spec disks[SL_BOX_DATA_MAX > SL_BOX_LOG_MAX ? SL_BOX_DATA_MAX : SL_BOX_LOG_MAX];
	int flush = box->n_log > 0 ? box->log_flush : box->data_flush;
	struct sl_iops_load load = {.write = true,
				    .flush = flush == SL_FLUSH_HONOURED,
				    .block_bytes = LONE_BLOCK,
				    .span_bytes = LONE_BLOCKS * LONE_BLOCK,
				    .depth = 1,
				    .duration_ns = INT64_C(10000000000),
				    .requests = LONE_BLOCKS,
				    .seed = seed};
	double rate = 0;
	int rc;

	*ret_ns = 0;
	if (is_old(box)) {
		return 0;
	}
	if (box->n_log > 0) {
		sl_box_log_disks(box, disks);
	} else {
		sl_box_data_disks(box, disks);
	}
	disks[0].raw_bytes = 0; /* no flash to fill */
	rc = sl_dev_iops(&disks[0], &load, &rate, err);
	*ret_ns = (int64_t)(box->zil_commit_delay_ns + (rate > 0 ? 1e9 / rate : 0));
	return rc;
}

static int init_zil(struct sl_pool *pool, const struct sl_box *box, const struct sl_pool_env *env,
		    struct sl_err *err)
{
	struct sl_zil_config config = {
	    .generation = (enum sl_zil_generation)box->zil,
	    .broken = env->broken,
	    .history = env->history,
	    .log = box->n_log > 0 ? &pool->log : &pool->data,
	    .special = box->zil >= SL_ZIL_24 && box->n_special > 0 ? &pool->special : NULL,
	    .data = &pool->data,
	    .records = pool->txg.config.data,
	    .placed = &pool->txg.placed,
	    .throttle = box->zil == SL_ZIL_20 || box->zil == SL_ZIL_21 ? &pool->throttle : NULL,
	    .has_slog = box->n_log > 0,
	    .throughput = box->logbias == SL_LOGBIAS_THROUGHPUT,
	    .bulk_bytes = bulk_bytes(box),
	    .txg = &pool->txg,
	    .commit_cpu_ns = (int64_t)box->zil_commit_cpu_ns,
	    .commit_delay_ns = (int64_t)box->zil_commit_delay_ns,
	    .delay_p99 = box->zil_delay_p99,
	    .delay_p999 = box->zil_delay_p999,
	    .seed = env->seed,
	    .indirect_cpu_ns = pool->txg.config.record_cpu_ns,
	    .copy_bps = box->zfs_copy_bps,
	    .crypt_bps = pool->crypt_bps,
	    .recordsize_bytes = pool->txg.config.recordsize_bytes,
	    .compress_ratio = stored_ratio(box),
	};
	int rc = lone_latency_ns(box, env->seed, &config.lone_latency_ns, err);

	pool->throttle.wrlog = box->zil >= SL_ZIL_21 ? &pool->zil.wrlog : NULL;
	sl_zil_init(&pool->zil, &config, pool->loop, pool->cpu, pool->trace);
	return rc;
}

/* Before 0.7 records in memory were not compressed. */
static double memory_ratio(const struct sl_box *box)
{
	return is_old(box) ? 1 : stored_ratio(box);
}

/* zfs_arc_max */
static double arc_max(const struct sl_box *box)
{
	return box->arc_max_bytes > 0 ? box->arc_max_bytes : box->nas_memory_bytes * ARC_SHARE;
}

double sl_pool_arc_bytes(const struct sl_box *box)
{
	return arc_max(box) * memory_ratio(box);
}

static void init_arc(struct sl_pool *pool, const struct sl_box *box, const struct sl_pool_env *env)
{
	struct sl_arc_config config = {
	    .memory_bytes = arc_max(box),
	    .working_set_bytes = (double)env->working_set_bytes / memory_ratio(box),
	    .record_bytes = stored_bytes(box),
	    .cache = box->n_cache > 0 ? &pool->cache : NULL,
	    .filled = box->l2arc_filled,
	    .feed_bytes = (int64_t)box->l2arc_write_max_bytes,
	};

	sl_arc_init(&pool->arc, &config, pool->loop, env->seed);
}

/* metaslab_aliquot, for each disk of a top-level vdev; since 2.2 larger, and parity does not count. */
static int64_t aliquot_bytes(const struct sl_vdev *vdev, const struct sl_box *box)
{
	if (box->zil < SL_ZIL_22) {
		return ALIQUOT_21 * sl_vdev_width(vdev);
	}
	return ALIQUOT_23 * (sl_vdev_width(vdev) - sl_vdev_parity(vdev));
}

static void init_reader(struct sl_pool *pool, const struct sl_box *box, const struct sl_pool_env *env)
{
	int64_t record = (int64_t)box->recordsize_bytes;
	int64_t farthest = is_old(box) ? PREFETCH_RECORDS_OLD * record : PREFETCH_MAX;
	struct sl_zfetch_config zfetch = {
	    .record_bytes = record,
	    .double_bytes = is_old(box) ? farthest : PREFETCH_DOUBLE,
	    .max_bytes = farthest,
	    .keep_bytes =
		(int64_t)(pool->arc.config.memory_bytes / (double)pool->arc.config.record_bytes) * record,
	    .unhit_give_way = !is_old(box),
	};
	struct sl_reader_config config = {
	    .data = pool->txg.config.data,
	    .cache = &pool->cache,
	    .arc = &pool->arc,
	    .cpu = pool->cpu,
	    .crypt_bps = pool->crypt_bps,
	    .record_bytes = pool->arc.config.record_bytes,
	    .aliquot_bytes = aliquot_bytes(pool->txg.config.data, box),
	    .recordsize_bytes = (uint32_t)record,
	    .seed = env->seed,
	};

	sl_reader_init(&pool->reader, &config, &zfetch);
}

static void all_logs_fail(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_pool *pool = sl_container_of(timer, struct sl_pool, log_fails);

	for (int i = 0; i < pool->log.n_disks; i++) {
		/* One that died before is no news. */
		(void)sl_pool_fail_log(pool, now_ns, i, -1);
	}
}

int sl_pool_build(struct sl_pool *pool, const struct sl_box *box, const struct sl_pool_env *env,
		  struct sl_err *err)
{
	int rc;

	pool->sync = box->sync;
	pool->holes = box->compression != SL_COMPRESS_OFF;
	pool->copy_bps = box->zfs_copy_bps;
	pool->crypt_bps = box->encryption == SL_ENCRYPT_ZFS ? box->zfs_crypt_bps : 0;
	pool->dirty_cpu_ns = (int64_t)box->zfs_dirty_cpu_ns;
	pool->whole_cpu_ns = (int64_t)bytes_ns(box->recordsize_bytes, box->zfs_buffer_bps);
	pool->partial_cpu_ns = (int64_t)(box->zfs_record_cpu_ns * box->recordsize_bytes / RECORD_UNIT);
	init_vdevs(pool, box);
	rc = add_all_disks(pool, box, env->seed, err);
	if (rc < 0) {
		return rc;
	}
	init_txg(pool, box, env);
	rc = init_zil(pool, box, env, err);
	init_arc(pool, box, env);
	init_reader(pool, box, env);
	if (box->log_fail_at_ns > 0 && box->n_log > 0) {
		pool->log_fails.fire = all_logs_fail;
		sl_loop_arm(pool->loop, &pool->log_fails, (int64_t)box->log_fail_at_ns);
	}
	return rc;
}
