#include "sim/zfs/placed.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_MIN 256u

static uint64_t key_of(uint64_t file, uint64_t record)
{
	return (file << 40 ^ record) + 1;
}

static uint32_t home_of(const struct sl_placed *placed, uint64_t key)
{
	key *= 0x9e3779b97f4a7c15ULL;
	return (uint32_t)(key >> 32) & (placed->room - 1);
}

/* Where the key is, or the empty slot where it would be. */
static uint32_t find(const struct sl_placed *placed, uint64_t key)
{
	uint32_t at = home_of(placed, key);

	while (placed->slots[at] != 0 && placed->slots[at] != key) {
		at = (at + 1) & (placed->room - 1);
	}
	return at;
}

static void grow(struct sl_placed *placed)
{
	struct sl_placed old = *placed;

	placed->room = old.room > 0 ? 2 * old.room : ROOM_MIN;
	placed->slots = calloc(placed->room, sizeof(*placed->slots));
	if (!placed->slots) {
		abort();
	}
	for (uint32_t i = 0; i < old.room; i++) {
		if (old.slots[i] != 0) {
			placed->slots[find(placed, old.slots[i])] = old.slots[i];
		}
	}
	free(old.slots);
}

void sl_placed_fini(struct sl_placed *placed)
{
	free(placed->slots);
	*placed = (struct sl_placed){0};
}

bool sl_placed_add(struct sl_placed *placed, uint64_t txg, uint64_t file, uint64_t record)
{
	uint64_t key = key_of(file, record);
	uint32_t at;

	if (txg != placed->txg) {
		return true;
	}
	if (2 * placed->count >= placed->room) {
		grow(placed);
	}
	at = find(placed, key);
	if (placed->slots[at] == key) {
		return false;
	}
	placed->slots[at] = key;
	placed->count++;
	return true;
}

/* Moves up what would not be found behind an empty slot. */
static void close_gap(struct sl_placed *placed, uint32_t gap)
{
	uint32_t mask = placed->room - 1;

	for (uint32_t at = (gap + 1) & mask; placed->slots[at] != 0; at = (at + 1) & mask) {
		uint32_t home = home_of(placed, placed->slots[at]);

		if (((at - home) & mask) >= ((at - gap) & mask)) {
			placed->slots[gap] = placed->slots[at];
			gap = at;
		}
	}
	placed->slots[gap] = 0;
}

bool sl_placed_drop(struct sl_placed *placed, uint64_t file, uint64_t record)
{
	uint64_t key = key_of(file, record);
	uint32_t at;

	if (placed->count == 0) {
		return false;
	}
	at = find(placed, key);
	if (placed->slots[at] != key) {
		return false;
	}
	close_gap(placed, at);
	placed->count--;
	return true;
}

uint32_t sl_placed_close(struct sl_placed *placed, uint64_t next)
{
	uint32_t count = placed->count;

	if (count > 0) {
		memset(placed->slots, 0, placed->room * sizeof(*placed->slots));
	}
	placed->count = 0;
	placed->txg = next;
	return count;
}
