/*
 * What a disk holds in its volatile cache: sectors that were acknowledged but are not on the medium yet.
 * Whole pages in memory lie over the backing file; each knows which of its sectors are dirty.
 */
#ifndef SL_SERVE_DISK_CACHE_H
#define SL_SERVE_DISK_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/rng.h"

#define SL_CACHE_PAGE 4096
#define SL_CACHE_SECTOR 512

struct sl_cache_page {
	int64_t index; /* offset / SL_CACHE_PAGE */
	struct sl_cache_page *chain;
	struct sl_cache_page *older, *younger; /* by first write */
	uint8_t dirty;                         /* a bit per sector */
	uint8_t bytes[SL_CACHE_PAGE];
};

/* Zero-initialise, then set fd and size_bytes; release with sl_cache_clear. Functions return 0 or a negative
 * errno. */
struct sl_cache {
	int fd;             /* borrowed: the medium */
	int64_t size_bytes; /* of the disk */
	struct sl_cache_page **buckets;
	uint32_t bucket_count; /* 0 or a power of two */
	uint32_t count;
	struct sl_cache_page *oldest, *youngest;
};

int sl_cache_write(struct sl_cache *cache, int64_t offset_bytes, const void *buf, int64_t bytes);
/* Lays what is cached over `buf`, which came from the medium. */
void sl_cache_overlay(const struct sl_cache *cache, int64_t offset_bytes, void *buf, int64_t bytes);
/* Puts the pages of a range (those partly in it too) on the medium, and forgets them. */
int sl_cache_destage_range(struct sl_cache *cache, int64_t offset_bytes, int64_t bytes);
/* Puts the oldest pages on the medium until at most `keep` are left. Pages of zeroes become holes. */
int sl_cache_destage(struct sl_cache *cache, uint32_t keep);
/* Forgets the pages that lie wholly in the range, and zeroes the range in the others. */
void sl_cache_zero(struct sl_cache *cache, int64_t offset_bytes, int64_t bytes);
/* Power cut: of the dirty units of unit_bytes (512 or 4096) each reaches the medium with probability `odds` /
 * 256; the rest is lost. */
int sl_cache_cut(struct sl_cache *cache, struct sl_rng *rng, uint32_t odds, int unit_bytes);
/* Indices of all pages in rising order, to be freed by the caller; NULL when empty or out of memory. */
int64_t *sl_cache_indices(const struct sl_cache *cache);
void sl_cache_clear(struct sl_cache *cache);

/* pread and pwrite of everything; what lies beyond the end of the file reads as zeroes. */
int sl_disk_pread(int fd, void *buf, int64_t bytes, int64_t offset_bytes);
int sl_disk_pwrite(int fd, const void *buf, int64_t bytes, int64_t offset_bytes);
/* Makes a hole, or writes zeroes where the file system has none (or `keep`). */
int sl_disk_punch(int fd, int64_t offset_bytes, int64_t bytes, bool keep);

#endif
