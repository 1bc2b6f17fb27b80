#include "sim/store/pages.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NODE_BITS 8
#define NODE_SLOTS (1u << NODE_BITS)
/* 63-bit offsets: 51 bits of page number in steps of 8. */
#define HEIGHT_MAX 7

struct node {
	void *slot[NODE_SLOTS];
};

static void *take_zeroed(struct sl_budget *budget, size_t bytes)
{
	void *memory;

	if (sl_budget_take(budget, bytes) < 0) {
		return NULL;
	}
	memory = calloc(1, bytes);
	if (!memory) {
		sl_budget_give(budget, bytes);
	}
	return memory;
}

/* Number of pages a tree of this height can address. */
static uint64_t height_span(unsigned height)
{
	return (uint64_t)1 << (NODE_BITS * height);
}

/* Adds levels until page number `index` has a place. */
static int pages_grow(struct sl_pages *pages, uint64_t index)
{
	while (pages->height < HEIGHT_MAX && index >= height_span(pages->height)) {
		if (pages->root) {
			struct node *node = take_zeroed(pages->budget, sizeof(*node));

			if (!node) {
				return -ENOSPC;
			}
			node->slot[0] = pages->root;
			pages->root = node;
		}
		pages->height++;
	}
	return 0;
}

static uint8_t *page_find(const struct sl_pages *pages, uint64_t index)
{
	void *at = pages->root;
	unsigned level;

	if (pages->height < HEIGHT_MAX && index >= height_span(pages->height)) {
		return NULL;
	}
	for (level = pages->height; at && level > 0; level--) {
		at = ((struct node *)at)->slot[(index >> (NODE_BITS * (level - 1))) % NODE_SLOTS];
	}
	return at;
}

static uint8_t *page_get(struct sl_pages *pages, uint64_t index)
{
	void **at = &pages->root;
	unsigned level;

	if (pages_grow(pages, index) < 0) {
		return NULL;
	}
	for (level = pages->height; level > 0; level--) {
		if (!*at) {
			*at = take_zeroed(pages->budget, sizeof(struct node));
		}
		if (!*at) {
			return NULL;
		}
		at = &((struct node *)*at)->slot[(index >> (NODE_BITS * (level - 1))) % NODE_SLOTS];
	}
	if (!*at) {
		*at = take_zeroed(pages->budget, SL_PAGE_BYTES);
		pages->page_count += *at ? 1 : 0;
	}
	return *at;
}

/* Frees the pages of the subtree at *at from page number `keep` (relative to the subtree) on; the depth is at
 * most HEIGHT_MAX + 1. Returns whether the subtree is gone. */
static bool subtree_cut(struct sl_pages *pages, void **at, unsigned level, uint64_t keep)
{
	struct node *node = *at;
	uint64_t span;
	unsigned i;

	if (!node) {
		return true;
	}
	if (level > 0) {
		span = height_span(level - 1);
		for (i = (unsigned)(keep / span); i < NODE_SLOTS; i++) {
			uint64_t start = (uint64_t)i * span;

			(void)subtree_cut(pages, &node->slot[i], level - 1, keep > start ? keep - start : 0);
		}
	}
	if (keep > 0) {
		return false;
	}
	pages->page_count -= level == 0 ? 1 : 0;
	sl_budget_give(pages->budget, level == 0 ? SL_PAGE_BYTES : sizeof(*node));
	free(*at);
	*at = NULL;
	return true;
}

int sl_budget_take(struct sl_budget *budget, uint64_t bytes)
{
	if (budget->left_bytes < bytes) {
		return -ENOSPC;
	}
	budget->left_bytes -= bytes;
	return 0;
}

void sl_budget_give(struct sl_budget *budget, uint64_t bytes)
{
	budget->left_bytes += bytes;
}

void sl_pages_init(struct sl_pages *pages, struct sl_budget *budget)
{
	memset(pages, 0, sizeof(*pages));
	pages->budget = budget;
}

int sl_pages_write(struct sl_pages *pages, uint64_t offset, const void *buf, size_t bytes)
{
	const uint8_t *from = buf;

	while (bytes > 0) {
		size_t in_page = (size_t)(offset % SL_PAGE_BYTES);
		size_t n = SL_PAGE_BYTES - in_page < bytes ? SL_PAGE_BYTES - in_page : bytes;
		uint8_t *page = page_get(pages, offset >> SL_PAGE_BITS);

		if (!page) {
			return -ENOSPC;
		}
		memcpy(page + in_page, from, n);
		from += n;
		offset += n;
		bytes -= n;
	}
	return 0;
}

void sl_pages_read(const struct sl_pages *pages, uint64_t offset, void *buf, size_t bytes)
{
	uint8_t *to = buf;

	while (bytes > 0) {
		size_t in_page = (size_t)(offset % SL_PAGE_BYTES);
		size_t n = SL_PAGE_BYTES - in_page < bytes ? SL_PAGE_BYTES - in_page : bytes;
		const uint8_t *page = page_find(pages, offset >> SL_PAGE_BITS);

		if (page) {
			memcpy(to, page + in_page, n);
		} else {
			memset(to, 0, n);
		}
		to += n;
		offset += n;
		bytes -= n;
	}
}

void sl_pages_truncate(struct sl_pages *pages, uint64_t size)
{
	size_t in_page = (size_t)(size % SL_PAGE_BYTES);
	uint64_t keep = (size >> SL_PAGE_BITS) + (in_page ? 1 : 0);

	if (in_page) {
		uint8_t *page = page_find(pages, size >> SL_PAGE_BITS);

		if (page) {
			memset(page + in_page, 0, SL_PAGE_BYTES - in_page);
		}
	}
	if (pages->height == HEIGHT_MAX || keep < height_span(pages->height)) {
		(void)subtree_cut(pages, &pages->root, pages->height, keep);
	}
	if (!pages->root) {
		pages->height = 0;
	}
}
