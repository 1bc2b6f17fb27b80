/*
 * InnoDB's flush list: dirty pages, oldest first change first. Memory grows with what is dirty, not with the
 * table.
 */
#ifndef SL_GUEST_DIRTY_PAGES_H
#define SL_GUEST_DIRTY_PAGES_H

#include <stdbool.h>
#include <stdint.h>

struct sl_dirty_page {
	uint32_t page;
	int64_t lsn;  /* of its first change */
	uint64_t txn; /* transactions before that change */
};

struct sl_dirty_pages {
	struct sl_dirty_page *ring; /* count of them from `tail` on */
	uint32_t *slots; /* open-addressing set of page + 1, 0 = empty; twice as many as in the ring */
	uint32_t room, tail, count; /* room: a power of two, 0 = none yet */
	int64_t lsn_sum;            /* of all pages in the list */
};

/* All zero is an empty list. */
void sl_dirty_pages_fini(struct sl_dirty_pages *pages);

bool sl_dirty_pages_has(const struct sl_dirty_pages *pages, uint32_t page);

/* Appends a page that is not in the list; it stays where it is if it was. Aborts when memory is out. */
void sl_dirty_pages_add(struct sl_dirty_pages *pages, uint32_t page, int64_t lsn, uint64_t txn);

/* The n-th oldest, n < count. */
const struct sl_dirty_page *sl_dirty_pages_get(const struct sl_dirty_pages *pages, uint32_t n);

/* Takes the oldest out; count > 0. */
struct sl_dirty_page sl_dirty_pages_pop(struct sl_dirty_pages *pages);

#endif
