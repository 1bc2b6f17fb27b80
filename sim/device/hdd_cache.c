#include "sim/device/hdd_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/oom.h"

#define EXTENTS 2048         /* pieces the cache keeps apart */
#define EXTENT_MAX (1 << 20) /* neighbours grow together up to this */

int sl_hdd_cache_init(struct sl_hdd_cache *cache, int64_t size_bytes)
{
	*cache = (struct sl_hdd_cache){.size_bytes = size_bytes};
	cache->dirty = calloc(EXTENTS + 1, sizeof(*cache->dirty));
	return cache->dirty ? 0 : -ENOMEM;
}

void sl_hdd_cache_fini(struct sl_hdd_cache *cache)
{
	free(cache->dirty);
	free(cache->held);
}

int sl_hdd_cache_at(const struct sl_hdd_cache *cache, int64_t offset)
{
	int low = 0, high = cache->n_dirty;

	while (low < high) {
		int middle = (low + high) / 2;

		if (cache->dirty[middle].end < offset) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

void sl_hdd_cache_add(struct sl_hdd_cache *cache, int64_t start, int64_t end)
{
	struct sl_hdd_extent merged = {start, end, cache->seq + 1, cache->seq + 1};
	int at = sl_hdd_cache_at(cache, start), last = at;

	cache->seq++;
	while (last < cache->n_dirty && cache->dirty[last].start <= end) {
		const struct sl_hdd_extent *old = &cache->dirty[last];
		bool large = old->end - old->start + end - start > EXTENT_MAX;

		if (large && old->end == start) {
			at = ++last;
			continue;
		}
		if (large && old->start == end) {
			break;
		}
		merged.start = old->start < merged.start ? old->start : merged.start;
		merged.end = old->end > merged.end ? old->end : merged.end;
		merged.seq = old->seq < merged.seq ? old->seq : merged.seq;
		cache->bytes -= old->end - old->start;
		last++;
	}
	memmove(&cache->dirty[at + 1], &cache->dirty[last],
		(size_t)(cache->n_dirty - last) * sizeof(cache->dirty[0]));
	cache->n_dirty += 1 - (last - at);
	cache->dirty[at] = merged;
	cache->bytes += merged.end - merged.start;
}

bool sl_hdd_cache_has_room(const struct sl_hdd_cache *cache, int64_t bytes)
{
	bool empty = cache->n_dirty == 0 && !cache->moving;

	return empty || (cache->n_dirty < EXTENTS - 1 && cache->bytes + bytes <= cache->size_bytes);
}

void sl_hdd_cache_hold(struct sl_hdd_cache *cache, const struct sl_hdd_held *write, int64_t done_ns,
		       enum sl_risk risk)
{
	if (!write->mark) {
		return;
	}
	if (cache->n_held == cache->held_room) {
		int room = cache->held_room ? 2 * cache->held_room : 64;
		struct sl_hdd_held *held = realloc(cache->held, (size_t)room * sizeof(*held));

		if (!held) {
			sl_oom();
		}
		cache->held = held;
		cache->held_room = room;
	}
	sl_mark_at_risk(write->mark, done_ns, risk);
	cache->held[cache->n_held] = *write;
	cache->held[cache->n_held++].seq = cache->seq;
}

/* The writes in `out` are on the platters. Later ones to the same place are not. */
static void release(struct sl_hdd_cache *cache, int64_t at_ns)
{
	const struct sl_hdd_extent *out = &cache->out;
	int kept = 0;

	for (int i = 0; i < cache->n_held; i++) {
		const struct sl_hdd_held *held = &cache->held[i];

		if (held->start >= out->start && held->end <= out->end && held->seq <= out->newest) {
			held->mark->safe_ns = at_ns;
		} else {
			cache->held[kept++] = *held;
		}
	}
	cache->n_held = kept;
}

void sl_hdd_cache_start(struct sl_hdd_cache *cache, int at)
{
	cache->out = cache->dirty[at];
	cache->moving = true;
	cache->n_dirty--;
	memmove(&cache->dirty[at], &cache->dirty[at + 1],
		(size_t)(cache->n_dirty - at) * sizeof(cache->dirty[0]));
}

void sl_hdd_cache_finish(struct sl_hdd_cache *cache, int64_t at_ns)
{
	cache->moving = false;
	cache->bytes -= cache->out.end - cache->out.start;
	release(cache, at_ns);
}

bool sl_hdd_cache_lacks(const struct sl_hdd_cache *cache, uint64_t seq)
{
	if (cache->moving && cache->out.seq <= seq) {
		return true;
	}
	for (int i = 0; i < cache->n_dirty; i++) {
		if (cache->dirty[i].seq <= seq) {
			return true;
		}
	}
	return false;
}
