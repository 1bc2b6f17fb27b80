/*
 * Where blocks go within a top-level vdev (metaslab.c). It is cut into metaslabs of equal size; allocation
 * moves forward in a few active ones and takes a fresh one when one is full. A block is written to the
 * metaslab of its allocator (blocks of one object and level share one; zio_dva_throttle), its further copies
 * (ditto blocks) to others: until 0.7 an eighth of the vdev away and more (ditto_same_vdev_distance_shift),
 * since then to the allocator's secondary metaslab and to any third one. Log blocks have a metaslab of their
 * own where the vdev has an embedded log. So metadata costs a disk that rotates head moves.
 *
 * A pool that has aged: what is used of it and never freed lies outside (the outermost metaslabs are taken
 * first). Where it is fragmented, used and free segments alternate in each metaslab instead; free ones have a
 * mean length that belongs to the percentage (zfs_frag_table) and are, to keep no list, exponentially
 * distributed. A block goes to the first segment from the cursor on that holds it, up to 16 MiB away
 * (metaslab_df_max_search), else, and always when less than 4 % is free (metaslab_df_free_pct), to whatever
 * segment fits best, anywhere in the metaslab. Not modelled: gang blocks, loading of space maps.
 */
#ifndef SL_ZFS_ALLOC_H
#define SL_ZFS_ALLOC_H

#include <stdbool.h>
#include <stdint.h>

#define SL_ALLOCATORS_MAX 4 /* spa_allocators */
#define SL_ALLOC_COPIES 3   /* SPA_DVAS_PER_BP */
#define SL_ALLOC_STREAMS (SL_ALLOCATORS_MAX * SL_ALLOC_COPIES)

/* Of a vdev class. */
struct sl_alloc_config {
	int allocators;       /* spa_allocators; 0 and 1 = one, as before 0.8 */
	bool far_copies;      /* up to 0.7: copies an eighth of the vdev apart */
	bool embedded_log;    /* since 2.1: log blocks among the data have a metaslab of their own */
	double filled;        /* share of the vdev that is in use */
	double fragmentation; /* FRAG of zpool list, as a share; 0 = free space is in one piece */
};

/* An active metaslab: the next place in it, and its end. end 0 = none yet. */
struct sl_alloc_stream {
	int64_t at, end;
};

/* Of one top-level vdev; zero-initialised: nothing is allocated. */
struct sl_alloc {
	struct sl_alloc_stream streams[SL_ALLOC_STREAMS];
	int64_t next_log;                               /* in the embedded log */
	int64_t taken;                                  /* metaslabs, so far */
	uint64_t draws;                                 /* of segments, so far */
	int64_t top_bytes, metaslab_bytes, n_metaslabs; /* of a vdev of top_bytes; 0 = not known yet */
};

/* What a block is, as far as its place depends on it. */
struct sl_alloc_block {
	bool log;      /* a log block */
	int copy;      /* 0, 1, 2: copies of the block on this top-level vdev so far */
	unsigned home; /* blocks of the same go to the same metaslab: hash of object and level */
};

/* Mean length of a free segment at a FRAG of `fragmentation`: zfs_frag_table read the other way round. */
double sl_alloc_segment_bytes(double fragmentation);

/* vdev_metaslab_set_size: metaslabs of 512 MiB; larger ones where that would be more than 200, up to 16 GiB.
 */
int64_t sl_alloc_metaslab_bytes(int64_t top_bytes);

/* Size of the embedded log, the first metaslab; 0 = there is none: too old, or the vdev is too small
 * (zfs_embedded_slog_min_ms). */
int64_t sl_alloc_embedded_bytes(const struct sl_alloc_config *config, int64_t top_bytes);

/* The next place for `asize` bytes (parity and padding included) on a vdev of `top_bytes`; wraps at its end.
 */
int64_t sl_alloc_place(struct sl_alloc *alloc, const struct sl_alloc_config *config, int64_t top_bytes,
		       const struct sl_alloc_block *block, int64_t asize);

#endif
