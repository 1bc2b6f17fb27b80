/*
 * Where InnoDB finds a page: in its buffer pool, in the guest's page cache (when the data files are
 * buffered), or below, where ZFS looks into the ARC. Only how often, not which pages are where: a page's
 * chance follows from the popularity of its keys (sim/workload/popularity.h) and the sizes of the caches
 * (sim/workload/lru.h), as it is after a long run. Constant memory for any table.
 *
 * The pages of a table are its clustered index (leaves with the rows, branches above them) and the secondary
 * index on k (the same); roots and what is above the branches are in the pool. The LRU list is taken for
 * plain: that new pages enter it at 3/8 from its end protects it from scans, which sysbench does not do; for
 * its keys it is worth nothing (uniform) to a few points. Not modelled: merges of the change buffer, the
 * adaptive hash index, undo that is read.
 */
#ifndef SL_GUEST_BUFFER_POOL_H
#define SL_GUEST_BUFFER_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/rng.h"
#include "sim/workload/oltp.h"
#include "sim/workload/popularity.h"

#define SL_PAGE_BYTES 16384

enum sl_page_kind {
	SL_PAGE_LEAF,   /* rows */
	SL_PAGE_BRANCH, /* pointers to leaves */
	SL_PAGE_INDEX,  /* entries of the secondary index */
	SL_PAGE_INDEX_BRANCH,
	SL_PAGE_KINDS
};

struct sl_buffer_pool_config {
	struct sl_oltp_config load;
	int64_t row_bytes;
	double pool_bytes;
	double page_cache_bytes; /* of the guest, for the data file; 0 = opened with O_DIRECT */
	bool change_buffer;      /* changes of index pages that are not there are kept until they are */
	double log_txns;         /* transactions after which a page is flushed to make room in the redo log */
};

/* Per page, of all strips; the unit of time is a transaction. */
struct sl_page_class {
	double pages, reads, writes;     /* how many, uses per page, flushes per page */
	double pool_hit, page_cache_hit; /* the latter: of what misses the pool */
	double toll;                     /* -ln(pool_hit), see sl_buffer_pool_find */
};

enum sl_page_place {
	SL_PAGE_IN_POOL,
	SL_PAGE_IN_PAGE_CACHE,
	SL_PAGE_BELOW
};

/* Tolls of a statement's pages, of a strip: its classes' again, all that most statements look at. */
struct sl_tolls {
	double branch, leaf, index; /* index: with its branch */
};

/* The page of a row, row * pages / rows, without a division: see sl_row_page. */
struct sl_row_pages {
	uint64_t whole, part; /* pages per row; part: in 2^-64 pages, rounded up */
};

#define SL_BUFFER_POOL_CUTS 4096 /* so many that few rows share one with the next strip */

struct sl_buffer_pool {
	struct sl_buffer_pool_config config;
	struct sl_popularity popularity;
	struct sl_page_class classes[SL_PAGE_KINDS][SL_POPULARITY_STRIPS];
	double kept_txns, cached_txns; /* how long pool and page cache keep a page that nobody uses */
	struct sl_tolls tolls[SL_POPULARITY_STRIPS];
	uint32_t leaf_pages, index_pages;
	struct sl_row_pages leaf_of, index_of;
	uint32_t strip_end[SL_POPULARITY_STRIPS]; /* first row behind the strip */
	uint8_t cut[SL_BUFFER_POOL_CUTS + 1];     /* strip of row i << cut_shift: where to begin to look */
	int cut_shift;
	struct sl_rng rng;
	double patience; /* tolls to pay until the next miss */
};

/* Number of pages of a kind: leaves and index pages hold whole rows, each has at least one. */
uint32_t sl_table_leaf_pages(uint32_t rows, int64_t row_bytes);
uint32_t sl_table_index_pages(uint32_t rows);

void sl_buffer_pool_init(struct sl_buffer_pool *pool, const struct sl_buffer_pool_config *config,
			 uint64_t seed);

/* floor(row * pages / rows) for pages of a table of `rows`, at least 1, row < rows. Exact: the quotient is at
 * least 1 / rows below the next whole number, and what rounding adds is below rows / 2^64. */
struct sl_row_pages sl_row_pages_of(uint32_t pages, uint32_t rows);

static inline uint32_t sl_row_page(const struct sl_row_pages *pages, uint32_t row)
{
	return (uint32_t)(row * pages->whole + (uint64_t)(((unsigned __int128)row * pages->part) >> 64));
}

/* The strip of `row` (from 0), for the calls below. */
static inline int sl_buffer_pool_strip(const struct sl_buffer_pool *pool, uint32_t row)
{
	const uint8_t *cut = &pool->cut[row >> pool->cut_shift];
	int low = cut[0], high = cut[1];

	while (low < high) {
		int middle = (low + high) / 2;

		if (row < pool->strip_end[middle]) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	return low;
}

/* Draws where a page is. */
enum sl_page_place sl_buffer_pool_find(struct sl_buffer_pool *pool, enum sl_page_kind kind, int strip);

/* Are a statement's pages all in the pool: a branch and `leaves` below it, and a page of the secondary index
 * with its branch? False says no more than that one of them may not be: then they are to be asked for. */
static inline bool sl_buffer_pool_finds_all(struct sl_buffer_pool *pool, int strip, uint32_t leaves,
					    bool index)
{
	const struct sl_tolls *tolls = &pool->tolls[strip];
	double toll = tolls->branch + leaves * tolls->leaf;

	if (index) {
		toll += tolls->index;
	}
	if (toll >= pool->patience) {
		return false;
	}
	pool->patience -= toll;
	return true;
}

/* Is the page used so often that it is likely never to leave the pool? */
bool sl_buffer_pool_keeps(const struct sl_buffer_pool *pool, enum sl_page_kind kind, int strip);

/* Share of the reads of an ARC that keeps `arc_bytes` in records of `record_bytes` that hit: pages that are
 * in no cache above, and records that flushed pages change in part. 1 when there are none. */
double sl_buffer_pool_arc_hit(const struct sl_buffer_pool *pool, double arc_bytes, double record_bytes);

#endif
