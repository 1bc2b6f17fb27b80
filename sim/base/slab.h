/* A pool of equal objects: no allocation in steady state, and all are freed at the end, those in use
 * included. */
#ifndef SL_BASE_SLAB_H
#define SL_BASE_SLAB_H

#include <stddef.h>

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

/* Takes an object, its content as it was left (zero the first time, but for its first word, which the pool
 * uses while the object is idle). Aborts when memory is out: objects are small and bounded by the requests in
 * flight. */
void *sl_slab_get(struct sl_slab *slab);

/* Gives an object back. */
void sl_slab_put(struct sl_slab *slab, void *object);

#endif
