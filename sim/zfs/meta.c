/* Writes the plan of meta_plan.c, and the uberblock. */
#include "sim/zfs/meta.h"

#define SYNC_MIN_VDEVS 3   /* SPA_SYNC_MIN_VDEVS: top-level vdevs that get an uberblock */
#define IN_FLIGHT_MAX 100u /* blocks in the queues of a top-level vdev: zfs_vdev_queue_depth_pct */

enum {
	STEP_BLOCKS,
	STEP_FLUSH,
	STEP_UBERBLOCK,
	STEP_END
};

struct meta_io {
	void *pool_link;
	struct sl_zmeta *meta;
	struct sl_vdev_io io;
};

static void step(struct sl_zmeta *meta, int64_t now_ns);

static void write_done(struct sl_timer *timer, int64_t now_ns)
{
	struct meta_io *io = sl_container_of(timer, struct meta_io, io.done);
	struct sl_zmeta *meta = io->meta;

	sl_slab_put(&meta->ios, io);
	meta->in_flight--;
	if (meta->on_progress) {
		meta->on_progress(meta->arg, now_ns);
	}
	step(meta, now_ns);
}

static struct meta_io *new_write(struct sl_zmeta *meta, int64_t bytes)
{
	struct meta_io *io = sl_slab_get(&meta->ios);

	io->meta = meta;
	io->io = (struct sl_vdev_io){
	    .done.fire = write_done,
	    .op = SL_DEV_WRITE,
	    .async = true,
	    .bytes = bytes,
	    .tag = meta->txg,
	    .mark = sl_history_txg_mark(meta->history, meta->txg),
	};
	meta->in_flight++;
	return io;
}

/* A block of an earlier pass that keeps its size stays where it is; others are allocated. */
static void place_block(struct sl_zmeta *meta, struct sl_vdev_io *io)
{
	const struct sl_zmeta_part *part = &meta->parts[meta->issue];
	uint32_t at = meta->issued, known = 0;
	struct sl_zmeta_place *place;

	if (part->again > 0) {
		known = meta->parts[part->again - 1].blocks * (uint32_t)part->copies;
	}
	if (at < known && at < SL_ZMETA_PLACES) {
		place = &meta->places[part->again - 1][at];
		io->top = place->top;
		io->offset_bytes = place->offset_bytes;
	} else {
		sl_vdev_alloc(meta->config.meta, io);
	}
	if (at < SL_ZMETA_PLACES) {
		meta->places[meta->issue][at] = (struct sl_zmeta_place){io->top, io->offset_bytes};
	}
}

static void issue_block(struct sl_zmeta *meta, int64_t now_ns)
{
	const struct sl_zmeta_part *part = &meta->parts[meta->issue];
	struct meta_io *io = new_write(meta, part->bytes);

	io->io.copy = (uint8_t)(meta->issued % (uint32_t)part->copies);
	io->io.home = (unsigned)meta->issue + 1;
	place_block(meta, &io->io);
	meta->issued++;
	sl_vdev_submit(meta->config.meta, now_ns, &io->io);
}

static bool part_is_out(const struct sl_zmeta *meta)
{
	const struct sl_zmeta_part *part = &meta->parts[meta->issue];

	return meta->issued == part->blocks * (uint32_t)part->copies;
}

/* Issues what the queues take of the running round, goes on to the next when it is on the disks. false: there
 * is no more. */
static bool issue_round(struct sl_zmeta *meta, int64_t now_ns)
{
	uint32_t limit = IN_FLIGHT_MAX * (uint32_t)sl_vdev_tops(meta->config.meta);

	while (meta->issue < meta->n_parts) {
		bool last = !meta->parts[meta->issue].more;

		while (!part_is_out(meta) && meta->in_flight < limit) {
			issue_block(meta, now_ns);
		}
		if (!part_is_out(meta) || (last && meta->in_flight > 0)) {
			return true;
		}
		meta->issue++;
		meta->issued = 0;
	}
	return meta->in_flight > 0;
}

/* Into the next place of the ring, on vdevs that take turns. */
static void write_uberblocks(struct sl_zmeta *meta, int64_t now_ns, struct sl_vdev *vdev, int n)
{
	int tops = sl_vdev_tops(vdev);
	int64_t bytes = sl_vdev_uberblock_bytes(vdev);

	for (int i = 0; i < tops && i < n; i++) {
		struct meta_io *io = new_write(meta, bytes);

		io->io.async = false;
		io->io.label = true;
		io->io.top = (int)((meta->txg + (uint64_t)i) % (uint64_t)tops);
		io->io.offset_bytes =
		    (int64_t)(meta->txg % (uint64_t)(SL_VDEV_UBERBLOCK_RING / bytes)) * bytes;
		sl_vdev_submit(vdev, now_ns, &io->io);
	}
}

static void write_all_uberblocks(struct sl_zmeta *meta, int64_t now_ns)
{
	int special = meta->config.meta != meta->config.data ? 1 : 0;

	if (special) {
		write_uberblocks(meta, now_ns, meta->config.meta, 1);
	}
	write_uberblocks(meta, now_ns, meta->config.data, SYNC_MIN_VDEVS - special);
}

static void one_flushed(struct sl_zmeta *meta, int64_t now_ns)
{
	meta->flushing--;
	if (meta->flushing == 0) {
		step(meta, now_ns);
	}
}

static void flush_done(struct sl_timer *timer, int64_t now_ns)
{
	one_flushed(sl_container_of(timer, struct sl_zmeta, flush.done), now_ns);
}

static void meta_flush_done(struct sl_timer *timer, int64_t now_ns)
{
	one_flushed(sl_container_of(timer, struct sl_zmeta, meta_flush.done), now_ns);
}

static void flush_all(struct sl_zmeta *meta, int64_t now_ns)
{
	bool both = meta->config.meta != meta->config.data;

	meta->flushing = both ? 2 : 1;
	if (both) {
		sl_vdev_submit(meta->config.meta, now_ns, &meta->meta_flush);
	}
	sl_vdev_submit(meta->config.data, now_ns, &meta->flush);
}

/* Blocks, flush, uberblock, flush (vdev_config_sync). */
static void step(struct sl_zmeta *meta, int64_t now_ns)
{
	if (meta->step == STEP_BLOCKS && issue_round(meta, now_ns)) {
		return;
	}
	if (meta->in_flight > 0) {
		return;
	}
	switch (meta->step++) {
	case STEP_BLOCKS:
	case STEP_UBERBLOCK:
		flush_all(meta, now_ns);
		break;
	case STEP_FLUSH:
		write_all_uberblocks(meta, now_ns);
		break;
	default:
		sl_timer_fire(meta->done, now_ns);
		break;
	}
}

void sl_zmeta_init(struct sl_zmeta *meta, const struct sl_zmeta_config *config)
{
	*meta = (struct sl_zmeta){.config = *config};
	meta->flush.done.fire = flush_done;
	meta->meta_flush.done.fire = meta_flush_done;
	meta->flush.op = meta->meta_flush.op = SL_DEV_FLUSH;
	sl_slab_init(&meta->ios, sizeof(struct meta_io));
}

void sl_zmeta_fini(struct sl_zmeta *meta)
{
	sl_slab_fini(&meta->ios);
}

void sl_zmeta_sync(struct sl_zmeta *meta, int64_t now_ns, uint64_t txg,
		   const struct sl_touched_counts *counts, struct sl_timer *done)
{
	meta->done = done;
	meta->txg = txg;
	meta->n_parts = sl_zmeta_plan(&meta->config, counts, meta->parts);
	meta->issue = 0;
	meta->issued = 0;
	/* A txg in which nothing changed writes nothing (spa_sync: "this TXG is a no-op"). */
	meta->step = counts->dnode_blocks > 0 ? STEP_BLOCKS : STEP_END;
	step(meta, now_ns);
}
