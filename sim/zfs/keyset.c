#include "sim/zfs/keyset.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/oom.h"

static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	return x;
}

/* Where the key is, or the free slot where it would be. */
static uint32_t slot_of(const uint64_t *slots, uint32_t room, uint64_t key)
{
	uint32_t at = (uint32_t)mix(key) & (room - 1);

	while (slots[at] != 0 && slots[at] != key) {
		at = (at + 1) & (room - 1);
	}
	return at;
}

static void grow(struct sl_keyset *set)
{
	uint32_t room = set->room ? 2 * set->room : 1024;
	uint64_t *slots = calloc(room, sizeof(*slots));

	if (!slots) {
		sl_oom();
	}
	for (uint32_t i = 0; i < set->room; i++) {
		if (set->slots[i] != 0) {
			slots[slot_of(slots, room, set->slots[i])] = set->slots[i];
		}
	}
	free(set->slots);
	set->slots = slots;
	set->room = room;
}

bool sl_keyset_add(struct sl_keyset *set, uint64_t key)
{
	uint32_t at;

	if (2 * set->count >= set->room) {
		grow(set);
	}
	key++;
	at = slot_of(set->slots, set->room, key);
	if (set->slots[at] == key) {
		return false;
	}
	set->slots[at] = key;
	set->count++;
	return true;
}

/* Moves up what would not be found behind an empty slot. */
static void close_gap(struct sl_keyset *set, uint32_t gap)
{
	uint32_t mask = set->room - 1;

	for (uint32_t at = (gap + 1) & mask; set->slots[at] != 0; at = (at + 1) & mask) {
		uint32_t home = (uint32_t)mix(set->slots[at]) & mask;

		if (((at - home) & mask) >= ((at - gap) & mask)) {
			set->slots[gap] = set->slots[at];
			gap = at;
		}
	}
	set->slots[gap] = 0;
}

bool sl_keyset_drop(struct sl_keyset *set, uint64_t key)
{
	uint32_t at;

	if (set->count == 0) {
		return false;
	}
	at = slot_of(set->slots, set->room, key + 1);
	if (set->slots[at] == 0) {
		return false;
	}
	close_gap(set, at);
	set->count--;
	return true;
}

void sl_keyset_clear(struct sl_keyset *set)
{
	if (set->count > 0) {
		memset(set->slots, 0, set->room * sizeof(*set->slots));
		set->count = 0;
	}
}

void sl_keyset_fini(struct sl_keyset *set)
{
	free(set->slots);
	*set = (struct sl_keyset){0};
}
