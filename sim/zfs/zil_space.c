#include "sim/zfs/zil_space.h"

void sl_zil_space_take(struct sl_zil_space *space, uint64_t txg, int64_t bytes)
{
	space->of_txg[txg % SL_ZIL_SPACE_TXGS] += bytes;
	space->used += bytes;
	space->peak = space->used > space->peak ? space->used : space->peak;
}

void sl_zil_space_free(struct sl_zil_space *space, uint64_t txg)
{
	while (space->freed < txg) {
		int64_t *bytes;

		space->freed++;
		bytes = &space->of_txg[space->freed % SL_ZIL_SPACE_TXGS];
		space->used -= *bytes;
		*bytes = 0;
	}
}
