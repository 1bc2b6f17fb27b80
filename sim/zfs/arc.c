#include "sim/zfs/arc.h"

#define HEADER_BYTES                                                                                        \
	96.0               /* HDR_L2ONLY_SIZE of 2.1: address, birth, sizes, hash chain, place in the L2ARC \
			    */
#define HEADERS_SHARE 0.33 /* l2arc_meta_percent */
#define FEED_NS INT64_C(1000000000) /* l2arc_feed_secs */

struct feed_io {
	void *pool_link;
	struct sl_arc *arc;
	struct sl_vdev_io io;
};

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* Memory that is left for records when the L2ARC holds `cached` bytes. */
static double memory_left(const struct sl_arc *arc, double cached)
{
	return arc->config.memory_bytes - cached / (double)arc->config.record_bytes * HEADER_BYTES;
}

double sl_arc_cache_room(const struct sl_arc *arc)
{
	const struct sl_arc_config *config = &arc->config;
	double record = (double)config->record_bytes, rest, room;

	if (!config->cache || config->working_set_bytes <= config->memory_bytes) {
		return 0;
	}
	/* What is not in memory, which the headers of just that make smaller: rest = set - (memory - rest x
	 * h). */
	rest = (config->working_set_bytes - config->memory_bytes) / (1 - HEADER_BYTES / record);
	room = (double)sl_vdev_top_bytes(config->cache) * sl_vdev_tops(config->cache);
	room = least(room, config->memory_bytes * HEADERS_SHARE / HEADER_BYTES * record);
	return rest > 0 ? least(room, rest) : room;
}

static void feed_done(struct sl_timer *timer, int64_t now_ns)
{
	struct feed_io *io = sl_container_of(timer, struct feed_io, io.done);

	(void)now_ns;
	sl_slab_put(&io->arc->ios, io);
}

/* l2arc_feed_thread: what reads have brought in and the L2ARC lacks, as far as a second's share goes. */
static void feed(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_arc *arc = sl_container_of(timer, struct sl_arc, feed);
	double room = sl_arc_cache_room(arc);
	double bytes = least(arc->unfed_bytes, (double)arc->config.feed_bytes);
	int64_t records = (int64_t)bytes / arc->config.record_bytes;

	arc->unfed_bytes = 0;
	for (int64_t i = 0; i < records; i++) {
		struct feed_io *io = sl_slab_get(&arc->ios);

		io->arc = arc;
		io->io = (struct sl_vdev_io){.done.fire = feed_done,
					     .op = SL_DEV_WRITE,
					     .async = true,
					     .bytes = arc->config.record_bytes};
		sl_vdev_alloc(arc->config.cache, &io->io);
		sl_vdev_submit(arc->config.cache, now_ns, &io->io);
	}
	arc->cached_bytes = least(arc->cached_bytes + (double)(records * arc->config.record_bytes), room);
}

static void note_miss(struct sl_arc *arc, int64_t now_ns)
{
	arc->misses++;
	if (!arc->config.cache) {
		return;
	}
	arc->unfed_bytes += (double)arc->config.record_bytes;
	if (!arc->feed.armed) {
		sl_loop_arm(arc->loop, &arc->feed, now_ns + FEED_NS);
	}
}

/* Of the working set, what memory does not hold. */
static double beyond_memory(const struct sl_arc *arc)
{
	return arc->config.working_set_bytes - memory_left(arc, arc->cached_bytes);
}

bool sl_arc_fits(const struct sl_arc *arc)
{
	return arc->config.working_set_bytes <= 0 || beyond_memory(arc) <= 0;
}

enum sl_arc_hit sl_arc_read_on(struct sl_arc *arc, int64_t now_ns, bool held)
{
	if (held || sl_arc_fits(arc)) {
		arc->hits++;
		return SL_ARC_MEMORY;
	}
	note_miss(arc, now_ns);
	return SL_ARC_MISS;
}

enum sl_arc_hit sl_arc_read(struct sl_arc *arc, int64_t now_ns)
{
	double beyond = beyond_memory(arc), draw;

	if (sl_arc_fits(arc)) {
		arc->hits++;
		return SL_ARC_MEMORY;
	}
	draw = sl_rng_uniform(&arc->rng) * arc->config.working_set_bytes;
	if (draw >= beyond) {
		arc->hits++;
		return SL_ARC_MEMORY;
	}
	if (draw >= beyond - arc->cached_bytes) {
		arc->cache_hits++;
		return SL_ARC_CACHE;
	}
	note_miss(arc, now_ns);
	return SL_ARC_MISS;
}

void sl_arc_init(struct sl_arc *arc, const struct sl_arc_config *config, struct sl_loop *loop, uint64_t seed)
{
	*arc = (struct sl_arc){.config = *config, .loop = loop, .feed.fire = feed};
	sl_rng_init(&arc->rng, seed, "arc");
	sl_slab_init(&arc->ios, sizeof(struct feed_io));
	arc->cached_bytes = config->filled * sl_arc_cache_room(arc);
}

void sl_arc_fini(struct sl_arc *arc)
{
	sl_slab_fini(&arc->ios);
}
