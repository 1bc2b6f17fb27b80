#include "sim/scenario/arena.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES 16384u

struct sl_arena_chunk {
	struct sl_arena_chunk *next;
	size_t used, size;
	alignas(max_align_t) char bytes[];
};

void *sl_arena_alloc(struct sl_arena *arena, size_t size)
{
	size_t rounded = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	struct sl_arena_chunk *chunk = arena->head;
	void *ret;

	if (!chunk || chunk->size - chunk->used < rounded) {
		size_t room = rounded > CHUNK_BYTES ? rounded : CHUNK_BYTES;

		chunk = calloc(1, sizeof(*chunk) + room);
		if (!chunk) {
			return NULL;
		}
		chunk->size = room;
		chunk->next = arena->head;
		arena->head = chunk;
	}
	ret = chunk->bytes + chunk->used;
	chunk->used += rounded;
	return ret;
}

char *sl_arena_strdup(struct sl_arena *arena, const char *text)
{
	size_t size = strlen(text) + 1;
	char *ret = sl_arena_alloc(arena, size);

	if (ret) {
		memcpy(ret, text, size);
	}
	return ret;
}

void sl_arena_free(struct sl_arena *arena)
{
	while (arena->head) {
		struct sl_arena_chunk *next = arena->head->next;

		free(arena->head);
		arena->head = next;
	}
}
