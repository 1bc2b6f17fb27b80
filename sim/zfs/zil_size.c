/*
 * Sizes of the log blocks of OpenZFS 2.1 and 2.3. The size of a block is chosen when the one before it goes
 * out. 2.1 (zil_lwb_write_issue): the bucket that holds the burst so far, never below the largest of the last
 * 16 choices. 2.3 (zil_lwb_write_close): what is left of the burst, and more if other committers were seen;
 * at the end of a burst what the bursts before needed.
 */
#include "sim/zfs/zil_inner.h"

#define BLOCK_DATA (SL_ZIL_MAX_BLOCK - SL_ZIL_CHAIN_HEADER)
#define WASTE_SHARE_21 8u
#define WASTE_SHARE_22 16u
#define BIG_BURST 8u /* blocks: larger bursts use the largest blocks */

static uint32_t min_of(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t max_of(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

uint32_t sl_zil_max_waste(const struct sl_zil *zil)
{
	return SL_ZIL_MAX_DATA / (zil->config.generation >= SL_ZIL_22 ? WASTE_SHARE_22 : WASTE_SHARE_21);
}

/* zil_block_buckets */
static uint32_t bucket_21(uint64_t bytes)
{
	static const struct {
		uint32_t limit, size;
	} buckets[] = {{4096, 4096},   {12288, 12288},   {36864, 36864},
		       {69632, 69632}, {131072, 131072}, {135168, 69632}};

	for (size_t i = 0; i < sizeof(buckets) / sizeof(buckets[0]); i++) {
		if (bytes <= buckets[i].limit) {
			return buckets[i].size;
		}
	}
	return SL_ZIL_MAX_BLOCK;
}

static uint32_t next_size_21(struct sl_zil *zil)
{
	uint32_t size = 0;

	zil->prev_blocks[zil->prev_at] = bucket_21(zil->burst.size + SL_ZIL_CHAIN_HEADER);
	zil->prev_at = (zil->prev_at + 1) % SL_ZIL_PREV_BLOCKS;
	for (int i = 0; i < SL_ZIL_PREV_BLOCKS; i++) {
		size = max_of(size, zil->prev_blocks[i]);
	}
	return size;
}

/* zil_lwb_plan: the first block of a burst of `bytes`, without its chain header. *ret_least: what it needs at
 * least so that the burst takes no more blocks. Medium bursts are divided evenly. */
static uint32_t plan(const struct sl_zil *zil, uint64_t bytes, uint32_t *ret_least)
{
	uint32_t blocks, chunk, waste, size = (uint32_t)bytes;

	*ret_least = 0;
	if (bytes <= BLOCK_DATA) {
		*ret_least = size;
		return size;
	}
	if (bytes > (uint64_t)BIG_BURST * BLOCK_DATA) {
		return BLOCK_DATA;
	}
	blocks = (size + SL_ZIL_MAX_DATA - 1) / SL_ZIL_MAX_DATA;
	chunk = (size + blocks - 1) / blocks;
	waste = max_of(sl_zil_max_waste(zil), zil->burst.largest);
	if (chunk > BLOCK_DATA - waste) {
		return BLOCK_DATA;
	}
	blocks--;
	*ret_least = size > (BLOCK_DATA - waste) * blocks ? size - (BLOCK_DATA - waste) * blocks : 0;
	*ret_least = max_of(*ret_least, waste);
	return chunk;
}

/* zil_lwb_predict: enough for seven of the last eight bursts, and for all of them unless that would be twice
 * as much. */
static uint32_t predict(const struct sl_zil *zil)
{
	const struct sl_zil_burst *burst = &zil->burst;
	uint32_t least = 0, optimal = burst->size > 0 ? plan(zil, burst->size, &least) : UINT32_MAX, first,
		 second;

	for (int i = 0; i < SL_ZIL_BURSTS; i++) {
		optimal = min_of(optimal, burst->optimal[i]);
	}
	first = max_of(least, optimal);
	second = optimal;
	for (int i = 0; i < SL_ZIL_BURSTS; i++) {
		if (burst->least[i] >= first) {
			second = first;
			first = burst->least[i];
		} else {
			second = max_of(second, burst->least[i]);
		}
	}
	return first < 2 * second ? first : second;
}

static uint32_t next_size_23(const struct sl_zil *zil)
{
	const struct sl_zil_burst *burst = &zil->burst;
	uint32_t least, bytes;

	if (burst->left == 0) {
		bytes = predict(zil);
	} else if (burst->parallel == 0) {
		bytes = plan(zil, burst->left, &least);
	} else {
		bytes = max_of(plan(zil, burst->left, &least), plan(zil, burst->left + predict(zil), &least));
	}
	bytes = (bytes + SL_ZIL_CHAIN_HEADER + SL_ZIL_SLIM_ROUND - 1) / SL_ZIL_SLIM_ROUND * SL_ZIL_SLIM_ROUND;
	return min_of(bytes, SL_ZIL_MAX_BLOCK);
}

uint32_t sl_zil_next_size(struct sl_zil *zil)
{
	return zil->config.generation >= SL_ZIL_23 ? next_size_23(zil) : next_size_21(zil);
}

void sl_zil_burst_grows(struct sl_zil *zil, uint32_t data_bytes, bool copied)
{
	struct sl_zil_burst *burst = &zil->burst;

	burst->size += SL_ZIL_WRITE_HEADER + data_bytes;
	burst->left += SL_ZIL_WRITE_HEADER + data_bytes;
	burst->largest = max_of(burst->largest, SL_ZIL_WRITE_HEADER + (copied ? data_bytes : 0));
}

void sl_zil_burst_packed(struct sl_zil *zil, uint32_t bytes)
{
	zil->burst.left -= bytes < zil->burst.left ? bytes : zil->burst.left;
}

void sl_zil_burst_done(struct sl_zil *zil)
{
	struct sl_zil_burst *burst = &zil->burst;

	if (burst->size == 0) {
		return;
	}
	burst->parallel -= burst->parallel > 0;
	burst->at = (burst->at + 1) % SL_ZIL_BURSTS;
	burst->optimal[burst->at] = plan(zil, burst->size, &burst->least[burst->at]);
	burst->size = burst->left = 0;
	burst->largest = 0;
}

void sl_zil_sizes_init(struct sl_zil *zil)
{
	for (int i = 0; i < SL_ZIL_BURSTS; i++) {
		zil->burst.optimal[i] = BLOCK_DATA;
	}
}

uint32_t sl_zil_fits(const struct sl_zil *zil, uint32_t room, uint32_t data, bool whole)
{
	uint32_t record = SL_ZIL_WRITE_HEADER + data;

	if (record <= room) {
		return data;
	}
	if (whole || room <= SL_ZIL_WRITE_HEADER) {
		return 0;
	}
	if (room < sl_zil_max_waste(zil) &&
	    (data % SL_ZIL_MAX_DATA == 0 || room < SL_ZIL_WRITE_HEADER + data % SL_ZIL_MAX_DATA)) {
		return 0;
	}
	return room - SL_ZIL_WRITE_HEADER;
}
