/*
 * The write cache of a hard disk: ranges that are not on the platters yet, by address, neighbours grown
 * together; the one that the mechanism is writing; and who follows the writes in them. Which range goes when
 * is the disk's business (hdd.c).
 */
#ifndef SL_DEVICE_HDD_CACHE_H
#define SL_DEVICE_HDD_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/device/mark.h"

struct sl_hdd_extent {
	int64_t start, end;
	uint64_t seq;    /* of the oldest write in it */
	uint64_t newest; /* and of the latest */
};

/* A write in the cache that somebody follows. */
struct sl_hdd_held {
	struct sl_mark *mark;
	int64_t start, end;
	uint64_t seq;
};

struct sl_hdd_cache {
	int64_t size_bytes;
	struct sl_hdd_extent *dirty; /* owned, by address */
	int n_dirty;
	bool moving; /* `out` is on its way to the platters */
	struct sl_hdd_extent out;
	int64_t bytes; /* dirty and on their way */
	uint64_t seq;  /* of the latest write */
	struct sl_hdd_held *held;
	int n_held, held_room;
};

/* 0 or -ENOMEM. Release with sl_hdd_cache_fini. */
int sl_hdd_cache_init(struct sl_hdd_cache *cache, int64_t size_bytes);
void sl_hdd_cache_fini(struct sl_hdd_cache *cache);

bool sl_hdd_cache_has_room(const struct sl_hdd_cache *cache, int64_t bytes);

/* Takes a range in. */
void sl_hdd_cache_add(struct sl_hdd_cache *cache, int64_t start, int64_t end);

/* Follows the write added last: it was acknowledged at done_ns. Accepts NULL. */
void sl_hdd_cache_hold(struct sl_hdd_cache *cache, const struct sl_hdd_held *write, int64_t done_ns,
		       enum sl_risk risk);

/* Position of the first range that ends at or behind `offset`. */
int sl_hdd_cache_at(const struct sl_hdd_cache *cache, int64_t offset);

/* Takes the range at position `at` out: it is on its way. */
void sl_hdd_cache_start(struct sl_hdd_cache *cache, int at);

/* It is on the platters at at_ns. */
void sl_hdd_cache_finish(struct sl_hdd_cache *cache, int64_t at_ns);

/* Is anything of the writes up to the one numbered `seq` not on the platters? */
bool sl_hdd_cache_lacks(const struct sl_hdd_cache *cache, uint64_t seq);

#endif
