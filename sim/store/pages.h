/*
 * Sparse file contents in memory: a radix tree of pages. Absent pages read as zeros. All memory is charged to
 * a budget shared by the files of one tree, so that far offsets and many files are bounded alike.
 */
#ifndef SL_STORE_PAGES_H
#define SL_STORE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#define SL_PAGE_BITS 12
#define SL_PAGE_BYTES (1u << SL_PAGE_BITS)

/* Bytes that may still be allocated. */
struct sl_budget {
	uint64_t left_bytes;
};

struct sl_pages {
	void *root;      /* a page when height == 0, else a node of pointers; NULL when empty */
	unsigned height; /* levels of nodes above the pages */
	uint64_t page_count;
	struct sl_budget *budget; /* borrowed */
};

/* Takes `bytes` from the budget: 0, or -ENOSPC and nothing taken. */
int sl_budget_take(struct sl_budget *budget, uint64_t bytes);
void sl_budget_give(struct sl_budget *budget, uint64_t bytes);

/* An empty content; release with sl_pages_truncate(pages, 0). */
void sl_pages_init(struct sl_pages *pages, struct sl_budget *budget);

/* Copies `bytes` from buf to offset (offset + bytes <= 2^63). -ENOSPC when the budget or memory is out: a
 * front part of the data may have been written then. */
int sl_pages_write(struct sl_pages *pages, uint64_t offset, const void *buf, size_t bytes);

/* Copies `bytes` from offset to buf; what was never written is zero. */
void sl_pages_read(const struct sl_pages *pages, uint64_t offset, void *buf, size_t bytes);

/* Forgets everything from `size` on: later growth reads zeros there. */
void sl_pages_truncate(struct sl_pages *pages, uint64_t size);

#endif
