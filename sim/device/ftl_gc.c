/*
 * Garbage collection: which superblock, how many, and what it costs.
 *
 * Greedy takes the fewest valid pages, found by a vectorised minimum over the die's row of counts; no list of
 * victims is kept. Cost-benefit takes the best age * free / valid (Rosenblum and Ousterhout 1992). Free
 * superblocks are used in the order in which they were erased, which spreads wear.
 *
 * The free pool: a drive that is fresh, or had time to fill its pool up, collects nothing until the pool is
 * down to pool_low. From there on it keeps pool_high: when that is more, the pool first grows again by
 * pool_refill superblocks for each that the host writes - the dip in throughput some drives show when they
 * first run out of erased flash.
 */
#include <assert.h>
#include <string.h>

#include "sim/device/ftl_inner.h"

typedef int16_t vec16 __attribute__((vector_size(16)));

/* What a round of collection moved. */
struct work {
	int64_t moved, runs, erases;
};

static vec16 vec_min(vec16 a, vec16 b)
{
	vec16 less = a < b;

	return (a & less) | (b & ~less);
}

/* The first of the fewest valid pages in the row; the row is aligned and whole vectors long. */
static uint32_t fewest_valid(const int16_t *row, uint32_t n)
{
	const vec16 *vecs = (const vec16 *)(const void *)row;
	vec16 low[4] = {vecs[0], vecs[1], vecs[2], vecs[3]};
	int16_t best = SL_FTL_ABSENT;

	for (uint32_t i = 4; i < n / 8; i += 4) {
		low[0] = vec_min(low[0], vecs[i]);
		low[1] = vec_min(low[1], vecs[i + 1]);
		low[2] = vec_min(low[2], vecs[i + 2]);
		low[3] = vec_min(low[3], vecs[i + 3]);
	}
	low[0] = vec_min(vec_min(low[0], low[1]), vec_min(low[2], low[3]));
	for (int i = 0; i < 8; i++) {
		best = (int16_t)(low[0][i] < best ? low[0][i] : best);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (row[i] == best) {
			return i;
		}
	}
	return 0;
}

static uint32_t best_benefit(const struct sl_ftl *ftl, uint32_t die)
{
	const int16_t *row = &ftl->valid[sl_ftl_superblock(ftl, die, 0)];
	const uint32_t *closed = &ftl->closed[sl_ftl_superblock(ftl, die, 0)];
	uint32_t best = 0;
	double most = -1;

	for (uint32_t i = 0; i < (uint32_t)ftl->config.superblocks; i++) {
		double valid = row[i], age = (double)(ftl->clock - closed[i]) + 1;

		if (row[i] < SL_FTL_OPEN) {
			double benefit = age * (ftl->config.superblock_pages - valid) / (valid + 1);

			if (benefit > most) {
				most = benefit;
				best = i;
			}
		}
	}
	return best;
}

static void set_bits(struct sl_ftl *ftl, uint32_t superblock, int value)
{
	memset(&ftl->bits[(uint64_t)superblock << ftl->shift >> 6], value,
	       (size_t)ftl->config.superblock_pages / 8);
}

/* Takes the die's next free superblock into use; all its pages count as valid until they are not. */
static uint32_t open_free(struct sl_ftl *ftl, uint32_t at)
{
	struct sl_ftl_die *die = &ftl->dies[at];
	uint32_t superblock;

	assert(die->free_count > 0);
	superblock = sl_ftl_superblock(ftl, at, ftl->pool[sl_ftl_superblock(ftl, at, die->free_head)]);
	die->free_head = die->free_head + 1 == ftl->row ? 0 : die->free_head + 1;
	ftl->wanting += die->free_count == (uint32_t)ftl->config.pool_high;
	die->free_count--;
	ftl->valid[superblock] = (int16_t)(SL_FTL_OPEN + ftl->config.superblock_pages);
	set_bits(ftl, superblock, 0xff);
	return superblock << ftl->shift;
}

static void erase(struct sl_ftl *ftl, uint32_t at, uint32_t index)
{
	struct sl_ftl_die *die = &ftl->dies[at];
	uint32_t superblock = sl_ftl_superblock(ftl, at, index);
	uint32_t tail = die->free_head + die->free_count;

	ftl->valid[superblock] = SL_FTL_OPEN;
	ftl->erases[superblock]++;
	ftl->counters.erases++;
	ftl->pool[sl_ftl_superblock(ftl, at, tail >= ftl->row ? tail - ftl->row : tail)] = index;
	die->free_count++;
	ftl->wanting -= die->free_count == (uint32_t)ftl->config.pool_high;
}

/* The superblock that ends at nand_end is full and may be collected. */
static void close_full(struct sl_ftl *ftl, uint32_t nand_end)
{
	uint32_t superblock = (nand_end - 1) >> ftl->shift;

	ftl->valid[superblock] = (int16_t)(ftl->valid[superblock] - SL_FTL_OPEN);
	ftl->clock++;
	if (ftl->closed) {
		ftl->closed[superblock] = ftl->clock;
	}
}

/* Lists the host pages of the victim in ftl->moving, and starts fetching their map entries. */
static int list_valid(struct sl_ftl *ftl, uint32_t superblock)
{
	const uint32_t *reverse = &ftl->reverse[(uint64_t)superblock << ftl->shift];
	uint64_t *bits = &ftl->bits[(uint64_t)superblock << ftl->shift >> 6];
	int n = 0;

	for (int word = 0; word < ftl->config.superblock_pages / 64; word++) {
		for (uint64_t left = bits[word]; left != 0; left &= left - 1) {
			uint32_t page = reverse[word * 64 + __builtin_ctzll(left)];

			__builtin_prefetch(&ftl->map[page], 1);
			ftl->moving[n++] = page;
		}
		bits[word] = 0;
	}
	return n;
}

static int64_t count_runs(const uint32_t *pages, int n)
{
	int64_t runs = n > 0;

	for (int i = 1; i < n; i++) {
		runs += pages[i] != pages[i - 1] + 1;
	}
	return runs;
}

static void move_pages(struct sl_ftl *ftl, uint32_t at, int n)
{
	struct sl_ftl_die *die = &ftl->dies[at];
	const uint32_t *pages = ftl->moving;

	while (n > 0) {
		int chunk;

		if (die->move_next == die->move_end) {
			if (die->move_end != 0) {
				close_full(ftl, die->move_end);
			}
			die->move_next = open_free(ftl, at);
			die->move_end = die->move_next + (uint32_t)ftl->config.superblock_pages;
		}
		chunk = (int)(die->move_end - die->move_next) < n ? (int)(die->move_end - die->move_next) : n;
		for (int i = 0; i < chunk; i++) {
			ftl->map[pages[i]] = die->move_next + (uint32_t)i + 1;
		}
		memcpy(&ftl->reverse[die->move_next], pages, (size_t)chunk * sizeof(*pages));
		die->move_next += (uint32_t)chunk;
		pages += chunk;
		n -= chunk;
	}
}

/* Collects one superblock of the die and adds what that took. False when no superblock is worth it. */
static bool collect(struct sl_ftl *ftl, uint32_t at, struct work *work)
{
	const struct sl_ftl_config *c = &ftl->config;
	uint32_t index = c->cost_benefit ? best_benefit(ftl, at)
					 : fewest_valid(&ftl->valid[sl_ftl_superblock(ftl, at, 0)], ftl->row);
	uint32_t superblock = sl_ftl_superblock(ftl, at, index);
	int n = ftl->valid[superblock];

	if (n > c->superblock_pages - c->superblock_pages / 64) {
		return false;
	}
	n = list_valid(ftl, superblock);
	assert(n == ftl->valid[superblock]);
	work->moved += n;
	work->runs += ftl->joined ? count_runs(ftl->moving, n) : 0;
	work->erases++;
	ftl->counters.moved_pages += (uint64_t)n;
	move_pages(ftl, at, n);
	erase(ftl, at, index);
	return true;
}

static struct sl_ftl_cost cost_of(const struct sl_ftl *ftl, const struct work *work)
{
	const struct sl_ftl_config *c = &ftl->config;

	return (struct sl_ftl_cost){
	    .path_ns = work->moved * 2 * c->path_ns + work->runs * sl_ftl_update_ns(ftl),
	    .channel_ns = work->moved * 2 * c->channel_ns,
	    .die_ns = work->moved * c->read_ns + work->moved * c->program_ns / c->unit_pages +
		      work->erases * c->erase_ns,
	};
}

/* Free superblocks the die should have before the host takes one. */
static uint32_t pool_goal(struct sl_ftl *ftl, struct sl_ftl_die *die)
{
	uint32_t low = (uint32_t)ftl->config.pool_low, high = (uint32_t)ftl->config.pool_high;
	uint32_t gain;

	if (die->pool == SL_FTL_LAZY) {
		if (die->free_count > low) {
			return 0;
		}
		die->pool = high > low ? SL_FTL_REFILL : SL_FTL_PACED;
		ftl->at_work++;
	}
	if (die->pool == SL_FTL_REFILL && die->free_count >= high) {
		die->pool = SL_FTL_PACED;
	}
	if (die->pool == SL_FTL_PACED) {
		return high;
	}
	die->refill_credit += ftl->config.pool_refill;
	gain = (uint32_t)die->refill_credit;
	die->refill_credit -= gain;
	return die->free_count + 1 + gain < high ? die->free_count + 1 + gain : high;
}

bool sl_ftl_open_host(struct sl_ftl *ftl, uint32_t at)
{
	struct sl_ftl_die *die = &ftl->dies[at];
	uint32_t goal = pool_goal(ftl, die),
		 units = (uint32_t)(ftl->config.superblock_pages / ftl->config.unit_pages);
	struct work work = {0};
	struct sl_ftl_cost cost;

	while (die->free_count < goal && collect(ftl, at, &work)) {
	}
	cost = cost_of(ftl, &work);
	die->gc = (struct sl_ftl_cost){cost.path_ns / units, cost.channel_ns / units, cost.die_ns / units};
	/* The last one is for collection, or no more would ever become free. */
	if (die->free_count < 2) {
		ftl->path_free_ns += cost.path_ns;
		die->free_ns += cost.die_ns;
		return false;
	}
	if (die->host_end != 0) {
		close_full(ftl, die->host_end);
	}
	die->host_next = open_free(ftl, at);
	die->host_end = die->host_next + (uint32_t)ftl->config.superblock_pages;
	return true;
}

void sl_ftl_idle(struct sl_ftl *ftl, int64_t from_ns, int64_t until_ns)
{
	int64_t at_ns = from_ns > ftl->path_free_ns ? from_ns : ftl->path_free_ns;

	if (ftl->wanting == 0 && ftl->at_work == 0) {
		return;
	}
	for (uint32_t d = 0; d < (uint32_t)ftl->config.dies && at_ns < until_ns; d++) {
		struct sl_ftl_die *die = &ftl->dies[d];

		while (die->free_count < (uint32_t)ftl->config.pool_high && at_ns < until_ns) {
			struct work work = {0};
			struct sl_ftl_cost cost;

			if (!collect(ftl, d, &work)) {
				break;
			}
			cost = cost_of(ftl, &work);
			die->free_ns = (die->free_ns > at_ns ? die->free_ns : at_ns) + cost.die_ns;
			at_ns += cost.path_ns;
			ftl->path_free_ns = at_ns;
		}
		if (die->pool != SL_FTL_LAZY && die->free_count >= (uint32_t)ftl->config.pool_high) {
			die->pool = SL_FTL_LAZY;
			ftl->at_work--;
		}
	}
}
