/*
 * How a txg is written (spa_sync), as a pipeline whose stages overlap:
 *
 *   sync threads -> issue threads -> vdevs -> metadata -> flush, uberblock, flush
 *
 * A sync thread walks the dirty records of a file one after the other and makes a zio of each
 * (dbuf_sync_list, dbuf_write); up to 0.7 there is one thread, since 0.8 (dp_sync_taskq,
 * zfs_sync_taskq_batch_pct) files are shared among as many threads as 75 % of the CPUs. The zio's CPU work,
 * compression, checksum and allocation, is done by the issue threads (z_wr_iss, zio_taskq_batch_pct: 75 % of
 * the CPUs, later 80 %), parity by whoever issues to the vdev. What has been worked on is written, as many
 * blocks at a time as the allocation throttle lets through.
 */
#include "sim/zfs/txg_inner.h"

#define ASYNC_MAX 10.0               /* zfs_vdev_async_write_max_active */
#define ASYNC_DIRTY_LOW 0.3          /* share of dirty_max where the limit begins to grow */
#define ASYNC_DIRTY_HIGH 0.6         /* and where it ends */
#define WORK_SLICE_BYTES (256 << 10) /* records an issue thread works on before others get their turn */
#define FEED_SLICES 4u               /* and so many times as many for a sync thread */
#define IN_FLIGHT_MAX 100u           /* blocks in the queues of a top-level vdev: zfs_vdev_queue_depth_pct */

/* A slice of records in the hands of a thread. */
struct slice {
	void *pool_link;
	struct sl_txg *txg;
	struct sl_cpu_job job;
	struct sl_txg_lot lot;
};

struct txg_io {
	void *pool_link;
	struct sl_txg *txg;
	struct sl_vdev_io io;
};

static void sync_step(struct sl_txg *txg, int64_t now_ns);

static uint32_t lot_size(const struct sl_txg_lot *lot)
{
	return lot->records + lot->holes;
}

/* Takes up to `most` out of a lot: what will be written first, so that the disks have something to do. */
static struct sl_txg_lot lot_take(struct sl_txg_lot *from, uint32_t most)
{
	struct sl_txg_lot taken = {.records = from->records < most ? from->records : most};

	most -= taken.records;
	taken.holes = from->holes < most ? from->holes : most;
	from->records -= taken.records;
	from->holes -= taken.holes;
	return taken;
}

static void lot_add(struct sl_txg_lot *to, const struct sl_txg_lot *lot)
{
	to->records += lot->records;
	to->holes += lot->holes;
}

static uint32_t slice_records(const struct sl_txg *txg)
{
	uint32_t records = WORK_SLICE_BYTES / txg->config.recordsize_bytes;

	return records > 0 ? records : 1;
}

static void run_slice(struct sl_txg *txg, int64_t now_ns, const struct sl_txg_lot *lot, int64_t cpu_ns,
		      void (*done)(struct sl_timer *timer, int64_t now_ns))
{
	struct slice *slice = sl_slab_get(&txg->sync.slices);

	slice->txg = txg;
	slice->lot = *lot;
	slice->job.done.fire = done;
	sl_cpu_run(txg->cpu, now_ns, &slice->job, cpu_ns);
}

static void fed(struct sl_timer *timer, int64_t now_ns)
{
	struct slice *slice = sl_container_of(timer, struct slice, job.done);
	struct sl_txg *txg = slice->txg;

	txg->sync.feeding--;
	lot_add(&txg->sync.fed, &slice->lot);
	sl_slab_put(&txg->sync.slices, slice);
	sync_step(txg, now_ns);
}

/* So many records are on disk, or holes that need not go there. */
static void records_done(struct sl_txg *txg, int64_t now_ns, uint32_t n)
{
	txg->sync.records_left -= n;
	if (n > 0 && txg->on_progress) {
		txg->on_progress(txg->arg, now_ns);
	}
}

static void worked(struct sl_timer *timer, int64_t now_ns)
{
	struct slice *slice = sl_container_of(timer, struct slice, job.done);
	struct sl_txg *txg = slice->txg;

	txg->sync.working--;
	txg->sync.worked += slice->lot.records;
	records_done(txg, now_ns, slice->lot.holes);
	sl_slab_put(&txg->sync.slices, slice);
	sync_step(txg, now_ns);
}

static void feed(struct sl_txg *txg, int64_t now_ns)
{
	struct sl_txg_sync *sync = &txg->sync;

	while (lot_size(&sync->dirty) > 0 && sync->feeding < sync->feeders) {
		struct sl_txg_lot lot = lot_take(&sync->dirty, FEED_SLICES * slice_records(txg));

		sync->feeding++;
		run_slice(txg, now_ns, &lot, (int64_t)lot_size(&lot) * txg->config.issue_cpu_ns, fed);
	}
}

static void work(struct sl_txg *txg, int64_t now_ns)
{
	const struct sl_txg_config *config = &txg->config;
	struct sl_txg_sync *sync = &txg->sync;

	while (lot_size(&sync->fed) > 0 && sync->working < config->workers) {
		struct sl_txg_lot lot = lot_take(&sync->fed, slice_records(txg));

		sync->working++;
		run_slice(txg, now_ns, &lot,
			  (int64_t)lot.records * config->record_cpu_ns +
			      (int64_t)lot.holes * config->hole_cpu_ns,
			  worked);
	}
}

static void write_done(struct sl_timer *timer, int64_t now_ns)
{
	struct txg_io *io = sl_container_of(timer, struct txg_io, io.done);
	struct sl_txg *txg = io->txg;

	sl_slab_put(&txg->sync.ios, io);
	txg->sync.in_flight--;
	records_done(txg, now_ns, 1);
	sync_step(txg, now_ns);
}

static void issue_record(struct sl_txg *txg, int64_t now_ns)
{
	struct txg_io *io = sl_slab_get(&txg->sync.ios);

	io->txg = txg;
	io->io = (struct sl_vdev_io){
	    .done.fire = write_done,
	    .op = SL_DEV_WRITE,
	    .async = true,
	    .bytes = txg->config.stored_bytes,
	    .tag = txg->open - 1,
	    .mark = sl_history_txg_mark(txg->history, txg->open - 1),
	};
	sl_vdev_alloc(txg->config.data, &io->io);
	txg->sync.in_flight++;
	sl_vdev_submit(txg->config.data, now_ns, &io->io);
}

/* All records have been issued, so that what points to them can be. */
static bool all_issued(const struct sl_txg_sync *sync)
{
	return lot_size(&sync->dirty) + lot_size(&sync->fed) + sync->worked + sync->feeding + sync->working ==
	       0;
}

static void write_blocks(struct sl_txg *txg, int64_t now_ns)
{
	uint32_t limit = IN_FLIGHT_MAX * (uint32_t)sl_vdev_tops(txg->config.data);
	struct sl_txg_sync *sync = &txg->sync;

	while (sync->worked > 0 && sync->in_flight < limit) {
		sync->worked--;
		issue_record(txg, now_ns);
	}
}

int sl_txg_async_limit(const struct sl_txg *txg)
{
	double dirty =
	    (double)(txg->dirty_bytes + txg->sync.work.bytes) / (double)txg->config.dirty_max_bytes;
	double share = (dirty - ASYNC_DIRTY_LOW) / (ASYNC_DIRTY_HIGH - ASYNC_DIRTY_LOW);

	share = share < 0 ? 0 : share > 1 ? 1 : share;
	return (int)(txg->config.async_write_min + share * (ASYNC_MAX - txg->config.async_write_min));
}

static void limit_writes(struct sl_txg *txg)
{
	sl_vdev_limit_async_writes(txg->config.data, sl_txg_async_limit(txg));
	sl_vdev_limit_async_writes(txg->config.meta, sl_txg_async_limit(txg));
}

/* Whatever has become possible: each stage takes what the one before has finished. */
static void sync_step(struct sl_txg *txg, int64_t now_ns)
{
	struct sl_txg_sync *sync = &txg->sync;

	limit_writes(txg);
	feed(txg, now_ns);
	work(txg, now_ns);
	write_blocks(txg, now_ns);
	if (all_issued(sync) && sync->in_flight == 0) {
		sl_zmeta_sync(&sync->meta, now_ns, txg->open - 1, &sync->touched, &sync->meta_done);
	}
}

static void meta_progress(void *arg, int64_t now_ns)
{
	(void)now_ns;
	limit_writes(arg);
}

static void meta_done(struct sl_timer *timer, int64_t now_ns)
{
	sl_txg_written(sl_container_of(timer, struct sl_txg, sync.meta_done), now_ns);
}

void sl_txg_sync_start(struct sl_txg *txg, int64_t now_ns, const struct sl_txg_work *work)
{
	struct sl_txg_sync *sync = &txg->sync;

	sync->work = *work;
	/* What the log has written in place costs its metadata only. */
	sync->dirty = (struct sl_txg_lot){work->records - work->placed, work->holes};
	sync->records_left = lot_size(&sync->dirty);
	sync->feeders = work->files < txg->config.feeders ? work->files : txg->config.feeders;
	sync->feeders = sync->feeders > 0 ? sync->feeders : 1;
	sync_step(txg, now_ns);
}

void sl_txg_sync_init(struct sl_txg *txg)
{
	struct sl_txg_sync *sync = &txg->sync;

	sync->meta_done.fire = meta_done;
	sl_zmeta_init(&sync->meta, &(struct sl_zmeta_config){
				       .data = txg->config.data,
				       .meta = txg->config.meta,
				       .old = txg->config.old,
				   });
	sync->meta.on_progress = meta_progress;
	sync->meta.arg = txg;
	sl_slab_init(&sync->ios, sizeof(struct txg_io));
	sl_slab_init(&sync->slices, sizeof(struct slice));
}

void sl_txg_sync_fini(struct sl_txg *txg)
{
	sl_slab_fini(&txg->sync.ios);
	sl_slab_fini(&txg->sync.slices);
	sl_zmeta_fini(&txg->sync.meta);
}
