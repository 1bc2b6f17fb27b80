/*
 * An ordered set of byte ranges of a file: dirty pages, pages that are in the cache. Ranges that touch or
 * overlap are one. A treap: every operation takes O(log n) for n ranges.
 */
#ifndef SL_GUEST_EXTENTS_H
#define SL_GUEST_EXTENTS_H

#include <stdbool.h>
#include <stdint.h>

struct sl_extent {
	int64_t start, end; /* bytes; end is the first one behind it */
};

struct sl_extents_node; /* private */

/* Zero is empty. */
struct sl_extents {
	struct sl_extents_node *nodes; /* node 0 stands for none */
	uint32_t root, idle;           /* private; idle: free list */
	uint32_t used, room;           /* private */
	uint32_t count;                /* ranges */
	int64_t bytes;                 /* in all of them */
};

/* Accepts an empty set. */
void sl_extents_fini(struct sl_extents *set);

/* Adds [start, end). Returns how many bytes of it were not in the set. Aborts when memory is out. */
int64_t sl_extents_add(struct sl_extents *set, int64_t start, int64_t end);

/* Takes [start, end) out. Returns how many bytes of it were in the set. */
int64_t sl_extents_remove(struct sl_extents *set, int64_t start, int64_t end);

/* The first range that ends behind `from`, whole; false when there is none. */
bool sl_extents_find(const struct sl_extents *set, int64_t from, struct sl_extent *ret);

/* Is all of [start, end) in the set? */
bool sl_extents_covers(const struct sl_extents *set, int64_t start, int64_t end);

#endif
