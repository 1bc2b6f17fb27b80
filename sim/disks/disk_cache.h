/*
 * What a disk holds in its volatile cache: sectors that were acknowledged but are not on the medium yet. Each
 * write is kept by itself, page by page, and lies over older ones and the backing file, since the medium may
 * take an older write of a place while a newer one is still in the cache. The model notes in a write's mark
 * when the medium has it.
 */
#ifndef SL_DISKS_DISK_CACHE_H
#define SL_DISKS_DISK_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/rng.h"
#include "sim/base/slab.h"
#include "sim/disks/fates.h"

#define SL_CACHE_PAGE 4096
#define SL_CACHE_SECTOR 512

struct sl_cache_piece; /* private: the sectors of one page that one write changed */

/* Init with sl_cache_init, then set fd; release with sl_cache_fini. Functions return 0 or a negative errno.
 */
struct sl_cache {
	int fd;             /* borrowed: the medium */
	int64_t held_bytes; /* of all pieces, in whole sectors */
	uint32_t n_pieces;
	struct sl_cache_piece **buckets;
	uint32_t bucket_count; /* 0 or a power of two */
	struct sl_cache_piece *oldest, *youngest;
	struct sl_slab writes;
	struct sl_fates fates; /* where the marks of writes come from */
};

struct sl_cache_put {
	int64_t offset_bytes, bytes;
	const void *buf;      /* NULL = zeroes */
	struct sl_mark *mark; /* of the cache's fates, taken over; NULL or unseen: nobody tells */
	uint64_t seq;         /* never less than that of the write before */
};

void sl_cache_init(struct sl_cache *cache);
/* Only when the disks that note in marks are gone. */
void sl_cache_fini(struct sl_cache *cache);

int sl_cache_put(struct sl_cache *cache, const struct sl_cache_put *put);
/* Lays what is cached over `buf`, which came from the medium. */
void sl_cache_overlay(const struct sl_cache *cache, int64_t offset_bytes, void *buf, int64_t bytes);

/* These put writes on the medium, and forget them with what is older in the same sectors. Pages of zeroes
 * become holes. What could not be written stays cached. */
/* The latest write of each page of a range. */
int sl_cache_destage_latest(struct sl_cache *cache, int64_t offset_bytes, int64_t bytes);
/* What, by its mark, the model's medium has at at_ns. */
int sl_cache_destage_reached(struct sl_cache *cache, int64_t at_ns);
/* What no mark tells about. */
int sl_cache_destage_unseen(struct sl_cache *cache);
/* Up to write `seq`. */
int sl_cache_destage_until(struct sl_cache *cache, uint64_t seq);
/* The oldest until at most keep_bytes are left. */
int sl_cache_destage_oldest(struct sl_cache *cache, int64_t keep_bytes);

/* The range is zero: forgets or zeroes what is cached there. */
void sl_cache_zero(struct sl_cache *cache, int64_t offset_bytes, int64_t bytes);
/* Power cut: of the dirty units of unit_bytes (512 or 4096) each reaches the medium with probability `odds` /
 * 256; the rest is lost. */
int sl_cache_cut(struct sl_cache *cache, struct sl_rng *rng, uint32_t odds, int unit_bytes);
/* Indices of the pages of all pieces in rising order, one per piece, to be freed by the caller; NULL when
 * empty or out of memory. */
int64_t *sl_cache_indices(const struct sl_cache *cache);

#endif
