#include "sim/base/ring.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/oom.h"

#define FIRST_ROOM 256u

void sl_ring_init(struct sl_ring *ring, size_t size, uint64_t first)
{
	*ring = (struct sl_ring){.size = size, .first = first, .end = first};
}

void sl_ring_fini(struct sl_ring *ring)
{
	free(ring->items);
	ring->items = NULL;
	ring->room = 0;
	ring->first = ring->end;
}

void sl_ring_grow(struct sl_ring *ring)
{
	struct sl_ring larger = *ring;

	larger.room = ring->room ? 2 * ring->room : FIRST_ROOM;
	larger.items = malloc(larger.room * larger.size);
	if (!larger.items) {
		sl_oom();
	}
	for (uint64_t i = ring->first; i < ring->end; i++) {
		memcpy(sl_ring_at(&larger, i), sl_ring_at(ring, i), ring->size);
	}
	free(ring->items);
	*ring = larger;
}

void sl_ring_drop(struct sl_ring *ring, uint64_t number)
{
	if (number > ring->first) {
		ring->first = number < ring->end ? number : ring->end;
	}
}
