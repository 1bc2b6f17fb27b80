#include "sim/base/slab.h"

#include <stdlib.h>

#include "sim/base/oom.h"

#define OBJECTS_PER_BLOCK 32

struct sl_slab_block {
	struct sl_slab_block *next;
	_Alignas(max_align_t) unsigned char objects[];
};

void sl_slab_init(struct sl_slab *slab, size_t object_size)
{
	size_t align = _Alignof(max_align_t);

	*slab = (struct sl_slab){.object_size = (object_size + align - 1) / align * align};
}

void sl_slab_fini(struct sl_slab *slab)
{
	while (slab->blocks) {
		struct sl_slab_block *block = slab->blocks;

		slab->blocks = block->next;
		free(block);
	}
	slab->idle = NULL;
}

void sl_slab_grow(struct sl_slab *slab)
{
	struct sl_slab_block *block = calloc(1, sizeof(*block) + OBJECTS_PER_BLOCK * slab->object_size);

	if (!block) {
		sl_oom();
	}
	block->next = slab->blocks;
	slab->blocks = block;
	for (size_t i = OBJECTS_PER_BLOCK; i > 0; i--) {
		sl_slab_put(slab, block->objects + (i - 1) * slab->object_size);
	}
}
