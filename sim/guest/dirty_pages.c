#include "sim/guest/dirty_pages.h"

#include <assert.h>
#include <stdlib.h>

#include "sim/base/oom.h"

#define ROOM_MIN 1024u

static uint32_t slot_mask(const struct sl_dirty_pages *pages)
{
	return 2 * pages->room - 1;
}

/* Where a page is looked for first (Fibonacci hashing). */
static uint32_t home(const struct sl_dirty_pages *pages, uint32_t page)
{
	return (uint32_t)((page * 0x9e3779b97f4a7c15u) >> 32) & slot_mask(pages);
}

/* The slot that holds the page, or the empty one where it would go. */
static uint32_t find(const struct sl_dirty_pages *pages, uint32_t page)
{
	uint32_t at = home(pages, page);

	while (pages->slots[at] != 0 && pages->slots[at] != page + 1) {
		at = (at + 1) & slot_mask(pages);
	}
	return at;
}

static void grow(struct sl_dirty_pages *pages)
{
	struct sl_dirty_pages bigger = {.room = pages->room ? 2 * pages->room : ROOM_MIN,
					.lsn_sum = pages->lsn_sum};

	bigger.ring = malloc(bigger.room * sizeof(*bigger.ring));
	bigger.slots = calloc(2 * (size_t)bigger.room, sizeof(*bigger.slots));
	if (!bigger.ring || !bigger.slots) {
		sl_oom();
	}
	for (uint32_t i = 0; i < pages->count; i++) {
		bigger.ring[i] = *sl_dirty_pages_get(pages, i);
		bigger.slots[find(&bigger, bigger.ring[i].page)] = bigger.ring[i].page + 1;
	}
	bigger.count = pages->count;
	sl_dirty_pages_fini(pages);
	*pages = bigger;
}

bool sl_dirty_pages_has(const struct sl_dirty_pages *pages, uint32_t page)
{
	return pages->count > 0 && pages->slots[find(pages, page)] != 0;
}

void sl_dirty_pages_add(struct sl_dirty_pages *pages, uint32_t page, int64_t lsn, uint64_t txn)
{
	uint32_t at;

	if (pages->count == pages->room) {
		grow(pages);
	}
	at = find(pages, page);
	if (pages->slots[at] != 0) {
		return;
	}
	pages->slots[at] = page + 1;
	pages->ring[(pages->tail + pages->count) & (pages->room - 1)] =
	    (struct sl_dirty_page){.page = page, .lsn = lsn, .txn = txn};
	pages->count++;
	pages->lsn_sum += lsn;
}

const struct sl_dirty_page *sl_dirty_pages_get(const struct sl_dirty_pages *pages, uint32_t n)
{
	return &pages->ring[(pages->tail + n) & (pages->room - 1)];
}

/* Closes the gap at `at`: what was pushed past it by others moves up. */
static void remove_slot(struct sl_dirty_pages *pages, uint32_t at)
{
	uint32_t mask = slot_mask(pages);

	for (uint32_t next = (at + 1) & mask; pages->slots[next] != 0; next = (next + 1) & mask) {
		uint32_t from_home = (next - home(pages, pages->slots[next] - 1)) & mask;

		if (from_home >= ((next - at) & mask)) {
			pages->slots[at] = pages->slots[next];
			at = next;
		}
	}
	pages->slots[at] = 0;
}

struct sl_dirty_page sl_dirty_pages_pop(struct sl_dirty_pages *pages)
{
	struct sl_dirty_page page;

	assert(pages->count > 0);
	page = pages->ring[pages->tail];
	pages->tail = (pages->tail + 1) & (pages->room - 1);
	pages->count--;
	pages->lsn_sum -= page.lsn;
	remove_slot(pages, find(pages, page.page));
	return page;
}

void sl_dirty_pages_fini(struct sl_dirty_pages *pages)
{
	free(pages->ring);
	free(pages->slots);
	*pages = (struct sl_dirty_pages){0};
}
