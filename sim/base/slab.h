/* A pool of equal objects: no allocation in steady state, and all are freed at the end, those in use
 * included. */
#ifndef SL_BASE_SLAB_H
#define SL_BASE_SLAB_H

#include <stddef.h>
#include <string.h>

struct sl_slab_block; /* private */

struct sl_slab {
	size_t object_size; /* rounded up */
	void *idle;         /* free list, linked through the objects' first word */
	struct sl_slab_block *blocks;
};

/* For objects of `object_size` bytes. */
void sl_slab_init(struct sl_slab *slab, size_t object_size);

/* Frees all objects. */
void sl_slab_fini(struct sl_slab *slab);

/* Private: more idle objects. */
__attribute__((cold)) void sl_slab_grow(struct sl_slab *slab);

/* Takes an object, its content as it was left (zero the first time, but for its first word, which the pool
 * uses while the object is idle). Aborts when memory is out: objects are small and bounded by the requests in
 * flight. */
static inline void *sl_slab_get(struct sl_slab *slab)
{
	void *object;

	if (!slab->idle) {
		sl_slab_grow(slab);
	}
	object = slab->idle;
	memcpy(&slab->idle, object, sizeof(slab->idle));
	return object;
}

/* Gives an object back. */
static inline void sl_slab_put(struct sl_slab *slab, void *object)
{
	memcpy(object, &slab->idle, sizeof(slab->idle));
	slab->idle = object;
}

#endif
