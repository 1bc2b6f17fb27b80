/*
 * What a read of data finds: the ARC in memory, the L2ARC on cache devices, or the vdevs. Accesses are even
 * over the working set, so the ARC holds a share of it, and the L2ARC a share of the rest; a pass over a file
 * in its order is no such access: the least recently used record is what it needs next, so it finds all or
 * nothing, but for what was read ahead. From 2.1 on both hold records as they are stored (compressed). The
 * L2ARC takes what reads have brought in, but not ahead (l2arc_noprefetch), every second at most
 * l2arc_write_max, sequentially on its devices; each record it holds costs a header in memory, taken from the
 * ARC. Not modelled: MRU against MFU, l2arc_write_boost (the ARC is full from the start).
 */
#ifndef SL_ZFS_ARC_H
#define SL_ZFS_ARC_H

#include "sim/base/rng.h"
#include "sim/zfs/vdev.h"

enum sl_arc_hit {
	SL_ARC_MEMORY,
	SL_ARC_CACHE,
	SL_ARC_MISS
};

struct sl_arc_config {
	double memory_bytes;      /* of the ARC, headers of the L2ARC included */
	double working_set_bytes; /* as the ARC holds it; 0 = fits */
	int64_t record_bytes;     /* as it is stored */
	struct sl_vdev *cache;    /* cache devices; NULL = no L2ARC */
	double filled;            /* share of what the L2ARC can hold that it holds at the start */
	int64_t feed_bytes;       /* l2arc_write_max, per second */
};

struct sl_arc {
	struct sl_arc_config config;
	struct sl_loop *loop;
	struct sl_rng rng;
	double cached_bytes;  /* in the L2ARC */
	double unfed_bytes;   /* brought in by reads since the last feed */
	struct sl_timer feed; /* armed while there is something to feed */
	struct sl_slab ios;
	uint64_t hits, cache_hits, misses; /* counters */
};

void sl_arc_init(struct sl_arc *arc, const struct sl_arc_config *config, struct sl_loop *loop, uint64_t seed);
void sl_arc_fini(struct sl_arc *arc);

/* Bytes the L2ARC can hold: its devices, its headers (a third of the ARC at most) or what the ARC does not.
 */
double sl_arc_cache_room(const struct sl_arc *arc);

/* Does all of the working set find room in memory? */
bool sl_arc_fits(const struct sl_arc *arc);

/* A read of one record in the course of a pass over its file, which has brought it before (`held`) or not. */
enum sl_arc_hit sl_arc_read_on(struct sl_arc *arc, int64_t now_ns, bool held);

/* Where a read of one record is served from. */
enum sl_arc_hit sl_arc_read(struct sl_arc *arc, int64_t now_ns);

#endif
