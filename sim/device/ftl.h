/*
 * A page-mapped flash translation layer: where each 4 KiB page of the host lies in the NAND, what writing it
 * costs there, and when it is done. ftl.c holds the theory of operation.
 *
 * Time enters as an argument and comes back as next-free times of the controller's data path, the channels
 * and the dies: no event per NAND operation. Writing pages in one call or one by one gives the same state.
 */
#ifndef SL_DEVICE_FTL_H
#define SL_DEVICE_FTL_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

#define SL_FTL_PAGE_BYTES 4096
#define SL_FTL_BATCH_MAX 128

struct sl_ftl_config {
	int64_t logical_pages; /* what the host may use */
	int dies, channels;
	int superblocks;      /* per die; one is the same block of all its planes, erased at once */
	int superblock_pages; /* a power of two, 16..8192 */
	int unit_pages;       /* programmed at once by a die; a power of two, 1..16 */
	int buffer_units;     /* write buffer in front, at least 2 */
	int64_t path_ns;      /* controller's data path, a page in one direction */
	int64_t channel_ns;   /* bus of one channel, a page in one direction */
	int64_t read_ns;      /* die, a page read for garbage collection */
	int64_t program_ns;   /* die, a unit */
	int64_t erase_ns;     /* die, a superblock */
	int pool_low;         /* free superblocks of a die at which collection starts, at least 2 */
	int pool_high;        /* ... and that it then keeps */
	double pool_refill;   /* superblocks gained per superblock written until pool_high is reached again */
	bool cost_benefit;    /* victims by age and free space instead of free space alone (greedy) */
	int64_t map_ns; /* tree-shaped map: an update whose part of the map is not in memory; 0: flat map */
	int64_t map_cached;   /* extents that the drive's memory holds */
	int map_extent_pages; /* longest run of a sequential stream that one extent covers */
	bool huge_pages;      /* asks for huge pages: faster when most of the drive is touched */
};

/* Counters since creation or sl_ftl_forget_counters. */
struct sl_ftl_counters {
	uint64_t host_pages;   /* written by the host */
	uint64_t moved_pages;  /* copied by garbage collection */
	uint64_t padded_pages; /* programmed empty, to drain a part of a unit */
	uint64_t erases;       /* superblocks */
};

struct sl_ftl;

/* Builds an empty (fresh) drive. Errors: -EINVAL (impossible geometry; the message says which), -ENOMEM. */
int sl_ftl_new(const struct sl_ftl_config *config, struct sl_ftl **ret, struct sl_err *err);

/* Accepts NULL. */
void sl_ftl_free(struct sl_ftl *ftl);

/* Starts fetching what writing these pages will touch. Changes nothing. */
void sl_ftl_prefetch(const struct sl_ftl *ftl, const uint32_t *pages, int n);

/* Time at which the write buffer has room for the host's next page but `ahead`; ahead < SL_FTL_BATCH_MAX and
 * less than the buffer but one unit. */
int64_t sl_ftl_room_ns(const struct sl_ftl *ftl, int ahead);

/* The most pages that may be written at once, given the buffer: 1..SL_FTL_BATCH_MAX. */
int sl_ftl_batch_max(const struct sl_ftl *ftl);

/* Writes n host pages (< logical_pages, repeats allowed) in this order; page i is in the buffer at
 * ready_ns[i], which rises. */
void sl_ftl_write(struct sl_ftl *ftl, const uint32_t *pages, const int64_t *ready_ns, int n);

/* Tree-shaped map only: enters one host command of n pages from `first` and occupies the data path for it. */
void sl_ftl_map_command(struct sl_ftl *ftl, int64_t now_ns, uint32_t first, int n);

/* Forgets n pages from `first`. */
void sl_ftl_trim(struct sl_ftl *ftl, uint32_t first, int64_t n);

/* Collects garbage while nothing else is to do between from_ns and until_ns, up to pool_high. */
void sl_ftl_idle(struct sl_ftl *ftl, int64_t from_ns, int64_t until_ns);

/* Programs what lies in the buffer, a last unit in part, and returns when that is done. */
int64_t sl_ftl_drain_ns(struct sl_ftl *ftl, int64_t now_ns);

/* Writes `first` .. first + n - 1 in order, at no time: the state a drive has after a sequential fill. */
void sl_ftl_fill(struct sl_ftl *ftl, uint32_t first, int64_t n);

/* Overwrites n pages of the first `span` at random, at no time: n of a few times the span gives steady state.
 * False when `stopped` (NULL: never), asked every few milliseconds, wanted no more of it. */
bool sl_ftl_churn(struct sl_ftl *ftl, uint64_t seed, uint32_t span, int64_t n, bool (*stopped)(void));

/* Back to time 0 with everything idle; the state stays. */
void sl_ftl_restart_clock(struct sl_ftl *ftl);

void sl_ftl_forget_counters(struct sl_ftl *ftl);
struct sl_ftl_counters sl_ftl_counters(const struct sl_ftl *ftl);

/* Pages of the host that hold data. */
int64_t sl_ftl_used_pages(const struct sl_ftl *ftl);

/* Extents of a tree-shaped map; 0 for a flat one. */
int64_t sl_ftl_extents(const struct sl_ftl *ftl);

/* Least, mean and most erases of a superblock. */
void sl_ftl_wear(const struct sl_ftl *ftl, uint32_t *ret_min, double *ret_mean, uint32_t *ret_max);

/* Bytes of memory that the state takes when all of the drive was touched. */
int64_t sl_ftl_memory_bytes(const struct sl_ftl *ftl);

/* Hash over map, wear and positions: equal states, equal hashes. */
uint64_t sl_ftl_hash(const struct sl_ftl *ftl);

/* Compares map, reverse map, valid bits and counts. 0, or -EUCLEAN with the first contradiction. */
int sl_ftl_check(const struct sl_ftl *ftl, struct sl_err *err);

/* Saves the state (not the clock) to `path`, whole or not at all; `tag` says what it is. 0 or negative errno.
 */
int sl_ftl_save(const struct sl_ftl *ftl, uint64_t tag, const char *path, struct sl_err *err);

/* Restores a state that was saved with the same geometry and tag into `ftl`; on failure `ftl` is only good
 * for sl_ftl_free. Errors: -ENOENT and other errno of reading, -EINVAL (another geometry or tag, damaged). */
int sl_ftl_load(struct sl_ftl *ftl, uint64_t tag, const char *path, struct sl_err *err);

#endif
