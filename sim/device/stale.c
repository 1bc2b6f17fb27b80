#include "sim/device/stale.h"

#include <errno.h>
#include <stdlib.h>

static bool has(const struct sl_stale *stale, int64_t region)
{
	return stale->bits[region / 64] >> (region % 64) & 1;
}

int sl_stale_init(struct sl_stale *stale, int64_t bytes)
{
	if (!stale->bits) {
		stale->regions = (bytes + SL_STALE_REGION - 1) / SL_STALE_REGION;
		stale->bits = calloc((size_t)(stale->regions + 63) / 64 + 1, sizeof(*stale->bits));
	}
	return stale->bits ? 0 : -ENOMEM;
}

void sl_stale_fini(struct sl_stale *stale)
{
	free(stale->bits);
	*stale = (struct sl_stale){0};
}

void sl_stale_add(struct sl_stale *stale, int64_t offset_bytes, int64_t bytes)
{
	int64_t end = (offset_bytes + bytes + SL_STALE_REGION - 1) / SL_STALE_REGION;

	for (int64_t r = offset_bytes / SL_STALE_REGION; r < end && r < stale->regions; r++) {
		stale->count += !has(stale, r);
		stale->bits[r / 64] |= UINT64_C(1) << (r % 64);
	}
}

void sl_stale_remove(struct sl_stale *stale, int64_t region)
{
	stale->count -= has(stale, region);
	stale->bits[region / 64] &= ~(UINT64_C(1) << (region % 64));
}

int64_t sl_stale_next(const struct sl_stale *stale, int64_t region)
{
	for (int64_t i = 0; stale->count > 0 && i < stale->regions; i++) {
		int64_t r = (region + i) % stale->regions;

		if (has(stale, r)) {
			return r;
		}
	}
	return -1;
}
