/* Memory that lives as long as its owner: many small pieces, freed at once, so that no error path has to free
 * parts. */
#ifndef SL_SCENARIO_ARENA_H
#define SL_SCENARIO_ARENA_H

#include <stddef.h>

struct sl_arena_chunk;

/* Zero-initialise; release with sl_arena_free. */
struct sl_arena {
	struct sl_arena_chunk *head;
};

/* `size` zeroed bytes, aligned for any type; NULL when out of memory. */
void *sl_arena_alloc(struct sl_arena *arena, size_t size);
/* A copy of `text`; NULL when out of memory. */
char *sl_arena_strdup(struct sl_arena *arena, const char *text);
void sl_arena_free(struct sl_arena *arena);

#endif
