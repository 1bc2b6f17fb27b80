/* A queue of equal items that keep their numbers: what is dropped in front leaves its numbers unused. */
#ifndef SL_BASE_RING_H
#define SL_BASE_RING_H

#include <stddef.h>
#include <stdint.h>

struct sl_ring {
	unsigned char *items; /* owned */
	size_t size;          /* of an item */
	uint64_t first, end;  /* numbers: of the oldest item, and of the next to come */
	uint64_t room;        /* a power of two, or 0 */
};

/* For items of `size` bytes; the first one gets the number `first`. Release with sl_ring_fini. */
void sl_ring_init(struct sl_ring *ring, size_t size, uint64_t first);
void sl_ring_fini(struct sl_ring *ring);

/* Private: room for more items. */
__attribute__((cold)) void sl_ring_grow(struct sl_ring *ring);

/* Appends an item, whose content the caller sets. Other items may move. Aborts when memory is out. */
static inline void *sl_ring_push(struct sl_ring *ring)
{
	if (ring->end - ring->first == ring->room) {
		sl_ring_grow(ring);
	}
	ring->end++;
	return ring->items + ((ring->end - 1) & (ring->room - 1)) * ring->size;
}

/* Item `number`; NULL when it was dropped, or is still to come. */
static inline void *sl_ring_at(const struct sl_ring *ring, uint64_t number)
{
	if (number < ring->first || number >= ring->end) {
		return NULL;
	}
	return ring->items + (number & (ring->room - 1)) * ring->size;
}

/* Drops all items before `number`. */
void sl_ring_drop(struct sl_ring *ring, uint64_t number);

#endif
