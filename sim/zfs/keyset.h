/* A set of 64-bit keys that is filled and cleared again and again: what a transaction group has touched. */
#ifndef SL_ZFS_KEYSET_H
#define SL_ZFS_KEYSET_H

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialised: empty. Open addressing: key + 1, 0 = free. */
struct sl_keyset {
	uint64_t *slots;
	uint32_t room, count; /* room: a power of two */
};

/* true when the key was not there. Aborts when memory is out. */
bool sl_keyset_add(struct sl_keyset *set, uint64_t key);

/* true when the key was there. */
bool sl_keyset_drop(struct sl_keyset *set, uint64_t key);

/* Forgets all keys and keeps the room. */
void sl_keyset_clear(struct sl_keyset *set);
void sl_keyset_fini(struct sl_keyset *set);

#endif
