/*
 * Flash translation layer: theory of operation.
 *
 * The NAND is `dies` x `superblocks` x `superblock_pages` pages of 4 KiB. The host's pages fill a unit (what
 * a die programs at once) and move on to the next die, so that a stream and random writes use all dies alike.
 * Each die has one superblock open for the host and one for collected pages. An overwritten page clears one
 * valid bit and lowers one 16-bit count; nothing else is touched, which leaves two random accesses to memory
 * per host write (map and valid bit) and one per copy.
 *
 * Collection (ftl_gc.c) happens when the host opens a superblock: the state changes at once, the time it
 * takes is spread over the units that go into this superblock, as drives pace it. In idle time it runs ahead.
 *
 * Time: a unit occupies the controller's data path (its sustained sequential rate), then its channel, then
 * its die; a collected page crosses path and channel twice, out and in. The write buffer is a ring of the
 * times at which its units will be programmed.
 *
 * Tree-shaped map (Intel 320): an extent is a run of pages written by one command, or by a sequential stream
 * up to map_extent_pages. Memory holds map_cached extents; an update elsewhere, random as the writes are,
 * occupies the data path for map_ns. What collection does to the number of extents is not modelled. Also not
 * modelled: static wear levelling, bad blocks, read disturb, parity.
 */
#include "sim/device/ftl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sim/base/rng.h"
#include "sim/device/ftl_inner.h"

#define ASK_EVERY_PAGES 65536
#define HUGE_PAGE (UINT64_C(2) << 20)

static int64_t later(int64_t a_ns, int64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

/* Zeroed memory that costs nothing until it is touched. NULL when out of memory. */
static void *table_new(uint64_t bytes, bool huge)
{
	void *table =
	    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (table == MAP_FAILED) {
		return NULL;
	}
	if (huge && bytes >= HUGE_PAGE) {
		/* Only speed depends on it. */
		(void)madvise(table, bytes, MADV_HUGEPAGE);
	}
	return table;
}

static void table_free(void *table, uint64_t bytes)
{
	if (table) {
		(void)munmap(table, bytes);
	}
}

static bool power_of_two(int n)
{
	return n > 0 && (n & (n - 1)) == 0;
}

static int check_config(const struct sl_ftl_config *c, struct sl_err *err)
{
	double pages;
	int row;

	if (c->dies < 1 || c->dies > 65536 || c->channels < 1 || c->superblocks < 8 ||
	    c->superblocks > 1 << 20) {
		return sl_err_set(err, -EINVAL,
				  "flash: %d dies, %d channels, %d superblocks a die; write sensible ones",
				  c->dies, c->channels, c->superblocks);
	}
	if (!power_of_two(c->superblock_pages) || c->superblock_pages < 64 || c->superblock_pages > 8192 ||
	    !power_of_two(c->unit_pages) || c->unit_pages > 16) {
		return sl_err_set(
		    err, -EINVAL,
		    "flash: a superblock has 64 to 8192 pages of 4 KiB, a unit 1 to 16, powers of two");
	}
	if (c->buffer_units < 2 || c->path_ns < 0 || c->channel_ns < 0 || c->read_ns < 0 ||
	    c->program_ns < 0 || c->erase_ns < 0 || c->map_ns < 0 || c->map_cached < 0 ||
	    c->map_extent_pages < 1) {
		return sl_err_set(err, -EINVAL,
				  "flash: a time is negative, or the buffer is below two units");
	}
	if (c->pool_low < 2 || c->pool_high < c->pool_low || c->pool_high > c->superblocks / 2 ||
	    !(c->pool_refill >= 0)) {
		return sl_err_set(err, -EINVAL,
				  "flash: the free pool is 2 superblocks to half of a die, low to high");
	}
	row = (c->superblocks + SL_FTL_ROW - 1) / SL_FTL_ROW * SL_FTL_ROW;
	pages = (double)c->dies * row * c->superblock_pages;
	if (pages > 4e9) {
		return sl_err_set(err, -EINVAL, "flash: more than 16 TB of NAND; simulate a part (scale)");
	}
	/* Each die must be able to gain a 64th of a superblock per collection, with three of them in use. */
	if (c->logical_pages < 1 || (double)c->logical_pages >= (double)c->dies * (c->superblocks - 3.0) *
								    c->superblock_pages * 63 / 64) {
		return sl_err_set(err, -EINVAL,
				  "flash: raw size leaves no spare area for the usable size; raise raw_size");
	}
	return 0;
}

/* Sizes in bytes of the tables that scale with the drive. */
struct sizes {
	uint64_t map, reverse, bits, joined;
};

static struct sizes table_sizes(const struct sl_ftl *ftl)
{
	uint64_t nand = sl_ftl_nand_pages(ftl), logical = (uint64_t)ftl->config.logical_pages;

	return (struct sizes){.map = logical * sizeof(uint32_t),
			      .reverse = nand * sizeof(uint32_t),
			      .bits = nand / 8,
			      .joined = ftl->config.map_ns > 0 ? (logical / 64 + 1) * 8 : 0};
}

static bool new_tables(struct sl_ftl *ftl)
{
	const struct sl_ftl_config *c = &ftl->config;
	size_t rows = (size_t)c->dies * ftl->row;
	struct sizes sizes = table_sizes(ftl);

	ftl->map = table_new(sizes.map, c->huge_pages);
	ftl->reverse = table_new(sizes.reverse, c->huge_pages);
	ftl->bits = table_new(sizes.bits, c->huge_pages);
	ftl->joined = sizes.joined > 0 ? table_new(sizes.joined, c->huge_pages) : NULL;
	ftl->valid = aligned_alloc(64, rows * sizeof(*ftl->valid));
	ftl->erases = calloc(rows, sizeof(*ftl->erases));
	ftl->closed = c->cost_benefit ? calloc(rows, sizeof(*ftl->closed)) : NULL;
	ftl->pool = calloc(rows, sizeof(*ftl->pool));
	ftl->moving = calloc((size_t)c->superblock_pages, sizeof(*ftl->moving));
	ftl->dies = calloc((size_t)c->dies, sizeof(*ftl->dies));
	ftl->channel_free_ns = calloc((size_t)c->channels, sizeof(*ftl->channel_free_ns));
	ftl->drained_ns = calloc((size_t)c->buffer_units, sizeof(*ftl->drained_ns));
	return ftl->map && ftl->reverse && ftl->bits && (ftl->joined || sizes.joined == 0) && ftl->valid &&
	       ftl->erases && (ftl->closed || !c->cost_benefit) && ftl->pool && ftl->moving && ftl->dies &&
	       ftl->channel_free_ns && ftl->drained_ns;
}

static void all_free(struct sl_ftl *ftl)
{
	const struct sl_ftl_config *c = &ftl->config;

	for (uint32_t d = 0; d < (uint32_t)c->dies; d++) {
		for (uint32_t s = 0; s < ftl->row; s++) {
			bool there = s < (uint32_t)c->superblocks;

			ftl->valid[sl_ftl_superblock(ftl, d, s)] = there ? SL_FTL_OPEN : SL_FTL_ABSENT;
			ftl->pool[sl_ftl_superblock(ftl, d, s)] = s;
		}
		ftl->dies[d].free_count = (uint32_t)c->superblocks;
		ftl->dies[d].channel = d % (uint32_t)c->channels;
	}
}

int sl_ftl_new(const struct sl_ftl_config *config, struct sl_ftl **ret, struct sl_err *err)
{
	int rc = check_config(config, err);
	struct sl_ftl *ftl;

	if (rc) {
		return rc;
	}
	ftl = calloc(1, sizeof(*ftl));
	if (!ftl) {
		return sl_err_set(err, -ENOMEM, "flash: out of memory");
	}
	ftl->config = *config;
	ftl->shift = (uint32_t)__builtin_ctz((unsigned)config->superblock_pages);
	ftl->row = (uint32_t)((config->superblocks + SL_FTL_ROW - 1) / SL_FTL_ROW * SL_FTL_ROW);
	ftl->unit_left = (uint32_t)config->unit_pages;
	if (!new_tables(ftl)) {
		sl_ftl_free(ftl);
		return sl_err_set(err, -ENOMEM, "flash: out of memory; simulate a smaller part (scale)");
	}
	all_free(ftl);
	*ret = ftl;
	return 0;
}

void sl_ftl_free(struct sl_ftl *ftl)
{
	struct sizes sizes;

	if (!ftl) {
		return;
	}
	sizes = table_sizes(ftl);
	table_free(ftl->map, sizes.map);
	table_free(ftl->reverse, sizes.reverse);
	table_free(ftl->bits, sizes.bits);
	table_free(ftl->joined, sizes.joined);
	free(ftl->valid);
	free(ftl->erases);
	free(ftl->closed);
	free(ftl->pool);
	free(ftl->moving);
	free(ftl->dies);
	free(ftl->channel_free_ns);
	free(ftl->drained_ns);
	free(ftl);
}

int64_t sl_ftl_memory_bytes(const struct sl_ftl *ftl)
{
	struct sizes sizes = table_sizes(ftl);
	uint64_t rows = (uint64_t)ftl->config.dies * ftl->row;

	return (int64_t)(sizes.map + sizes.reverse + sizes.bits + sizes.joined + rows * (2 + 4 + 4) +
			 (ftl->closed ? rows * 4 : 0));
}

void sl_ftl_prefetch(const struct sl_ftl *ftl, const uint32_t *pages, int n)
{
	for (int i = 0; i < n; i++) {
		__builtin_prefetch(&ftl->map[pages[i]], 1);
	}
}

int sl_ftl_batch_max(const struct sl_ftl *ftl)
{
	int room = (ftl->config.buffer_units - 1) * ftl->config.unit_pages;

	return room < SL_FTL_BATCH_MAX ? room : SL_FTL_BATCH_MAX;
}

int64_t sl_ftl_room_ns(const struct sl_ftl *ftl, int ahead)
{
	uint32_t units = 0, at, n = (uint32_t)ftl->config.buffer_units;

	if ((uint32_t)ahead >= ftl->unit_left) {
		units = 1 + ((uint32_t)ahead - ftl->unit_left) / (uint32_t)ftl->config.unit_pages;
	}
	at = ftl->ring + units;
	return ftl->drained_ns[at >= n ? at - n : at];
}

/* The unit is complete: charges path, channel and die, and moves on to the next die. */
static void finish_unit(struct sl_ftl *ftl, int64_t ready_ns)
{
	const struct sl_ftl_config *c = &ftl->config;
	struct sl_ftl_die *die = &ftl->dies[ftl->die];
	int64_t *channel_ns = &ftl->channel_free_ns[die->channel];

	ftl->path_free_ns = later(ftl->path_free_ns, ready_ns) + c->unit_pages * c->path_ns + die->gc.path_ns;
	*channel_ns =
	    later(*channel_ns, ftl->path_free_ns) + c->unit_pages * c->channel_ns + die->gc.channel_ns;
	die->free_ns = later(die->free_ns, *channel_ns) + c->program_ns + die->gc.die_ns;
	ftl->drained_ns[ftl->ring] = die->free_ns;
	ftl->last_ns = later(ftl->last_ns, die->free_ns);
	ftl->ring = ftl->ring + 1 == (uint32_t)c->buffer_units ? 0 : ftl->ring + 1;
	ftl->die = ftl->die + 1 == (uint32_t)c->dies ? 0 : ftl->die + 1;
	ftl->unit_left = (uint32_t)c->unit_pages;
}

/* The die that takes the next unit: the present one, or the next that is not full of live data. */
static struct sl_ftl_die *die_with_room(struct sl_ftl *ftl)
{
	for (;;) {
		struct sl_ftl_die *die = &ftl->dies[ftl->die];

		if (die->host_next != die->host_end || sl_ftl_open_host(ftl, ftl->die)) {
			return die;
		}
		ftl->die = ftl->die + 1 == (uint32_t)ftl->config.dies ? 0 : ftl->die + 1;
	}
}

static void put_page(struct sl_ftl *ftl, struct sl_ftl_die *die, uint32_t page)
{
	uint32_t old = ftl->map[page], to = die->host_next++;

	if (old != 0) {
		sl_ftl_invalidate(ftl, old - 1);
	} else {
		ftl->used_pages++;
	}
	ftl->map[page] = to + 1;
	ftl->reverse[to] = page;
}

void sl_ftl_write(struct sl_ftl *ftl, const uint32_t *pages, const int64_t *ready_ns, int n)
{
	int at = 0;

	for (int i = 0; i < n; i++) {
		uint32_t old = ftl->map[pages[i]];

		__builtin_prefetch(&ftl->bits[(old - (old != 0)) >> 6], 1);
	}
	while (at < n) {
		struct sl_ftl_die *die = die_with_room(ftl);
		int end = n - at < (int)ftl->unit_left ? n : at + (int)ftl->unit_left;

		ftl->unit_left -= (uint32_t)(end - at);
		for (; at < end; at++) {
			put_page(ftl, die, pages[at]);
		}
		if (ftl->unit_left == 0) {
			finish_unit(ftl, ready_ns[at - 1]);
		}
	}
	ftl->counters.host_pages += (uint64_t)n;
}

int64_t sl_ftl_drain_ns(struct sl_ftl *ftl, int64_t now_ns)
{
	struct sl_ftl_die *die = &ftl->dies[ftl->die];

	if (ftl->unit_left < (uint32_t)ftl->config.unit_pages) {
		/* The rest of the unit is programmed empty: nothing can be added to it later. */
		ftl->counters.padded_pages += ftl->unit_left;
		for (; ftl->unit_left > 0; ftl->unit_left--) {
			sl_ftl_invalidate(ftl, die->host_next++);
		}
		finish_unit(ftl, now_ns);
	}
	return later(now_ns, ftl->last_ns);
}

static bool is_joined(const struct sl_ftl *ftl, uint32_t page)
{
	return (ftl->joined[page >> 6] >> (page & 63) & 1) != 0;
}

/* Sets whether `page` continues the extent of the one before, and counts the extents that start. */
static void set_joined(struct sl_ftl *ftl, uint32_t page, bool joined)
{
	uint64_t bit = UINT64_C(1) << (page & 63);

	if (joined) {
		ftl->joined[page >> 6] |= bit;
	} else {
		ftl->joined[page >> 6] &= ~bit;
		ftl->extents++;
	}
}

void sl_ftl_map_command(struct sl_ftl *ftl, int64_t now_ns, uint32_t first, int n)
{
	uint32_t end = first + (uint32_t)n;
	bool stream = first == ftl->stream_end && first % (uint32_t)ftl->config.map_extent_pages != 0;

	if (!ftl->joined) {
		return;
	}
	for (uint32_t page = first; page < end; page++) {
		if (ftl->map[page] != 0 && !is_joined(ftl, page)) {
			ftl->extents--;
		}
		set_joined(ftl, page,
			   page == first ? stream : page % (uint32_t)ftl->config.map_extent_pages != 0);
	}
	if (end < (uint32_t)ftl->config.logical_pages && ftl->map[end] != 0 && is_joined(ftl, end)) {
		set_joined(ftl, end, false);
	}
	ftl->stream_end = end;
	ftl->path_free_ns = later(ftl->path_free_ns, now_ns) + sl_ftl_update_ns(ftl);
}

void sl_ftl_trim(struct sl_ftl *ftl, uint32_t first, int64_t n)
{
	int64_t end = first + n < ftl->config.logical_pages ? first + n : ftl->config.logical_pages;

	for (int64_t page = first; page < end; page++) {
		uint32_t old = ftl->map[page];

		if (old == 0) {
			continue;
		}
		sl_ftl_invalidate(ftl, old - 1);
		ftl->map[page] = 0;
		ftl->used_pages--;
		if (ftl->joined && !is_joined(ftl, (uint32_t)page)) {
			ftl->extents--;
		}
	}
	if (ftl->joined && end > first && end < ftl->config.logical_pages && ftl->map[end] != 0 &&
	    is_joined(ftl, (uint32_t)end)) {
		set_joined(ftl, (uint32_t)end, false);
	}
}

void sl_ftl_fill(struct sl_ftl *ftl, uint32_t first, int64_t n)
{
	static const int64_t no_time[SL_FTL_BATCH_MAX];
	uint32_t pages[SL_FTL_BATCH_MAX];

	for (int64_t at = 0; at < n;) {
		int batch = n - at < SL_FTL_BATCH_MAX ? (int)(n - at) : SL_FTL_BATCH_MAX;

		for (int i = 0; i < batch; i++) {
			pages[i] = first + (uint32_t)(at + i);
		}
		sl_ftl_map_command(ftl, 0, pages[0], batch);
		sl_ftl_write(ftl, pages, no_time, batch);
		at += batch;
	}
	sl_ftl_restart_clock(ftl);
}

bool sl_ftl_churn(struct sl_ftl *ftl, uint64_t seed, uint32_t span, int64_t n, bool (*stopped)(void))
{
	static const int64_t no_time[SL_FTL_BATCH_MAX];
	uint32_t pages[SL_FTL_BATCH_MAX];
	struct sl_rng rng;

	sl_rng_init(&rng, seed, "flash churn");
	for (int64_t at = 0; at < n;) {
		int batch = n - at < SL_FTL_BATCH_MAX ? (int)(n - at) : SL_FTL_BATCH_MAX;

		if (stopped && at % ASK_EVERY_PAGES == 0 && stopped()) {
			return false;
		}
		for (int i = 0; i < batch; i++) {
			pages[i] = (uint32_t)sl_rng_below(&rng, span);
			__builtin_prefetch(&ftl->map[pages[i]], 1);
		}
		for (int i = 0; ftl->joined && i < batch; i++) {
			sl_ftl_map_command(ftl, 0, pages[i], 1);
			sl_ftl_write(ftl, &pages[i], no_time, 1);
		}
		if (!ftl->joined) {
			sl_ftl_write(ftl, pages, no_time, batch);
		}
		at += batch;
	}
	sl_ftl_restart_clock(ftl);
	return true;
}

void sl_ftl_restart_clock(struct sl_ftl *ftl)
{
	ftl->path_free_ns = 0;
	ftl->last_ns = 0;
	for (int d = 0; d < ftl->config.dies; d++) {
		ftl->dies[d].free_ns = 0;
	}
	memset(ftl->channel_free_ns, 0, (size_t)ftl->config.channels * sizeof(*ftl->channel_free_ns));
	memset(ftl->drained_ns, 0, (size_t)ftl->config.buffer_units * sizeof(*ftl->drained_ns));
}

void sl_ftl_forget_counters(struct sl_ftl *ftl)
{
	memset(&ftl->counters, 0, sizeof(ftl->counters));
}

struct sl_ftl_counters sl_ftl_counters(const struct sl_ftl *ftl)
{
	return ftl->counters;
}

int64_t sl_ftl_used_pages(const struct sl_ftl *ftl)
{
	return ftl->used_pages;
}

int64_t sl_ftl_extents(const struct sl_ftl *ftl)
{
	return ftl->extents;
}

void sl_ftl_wear(const struct sl_ftl *ftl, uint32_t *ret_min, double *ret_mean, uint32_t *ret_max)
{
	uint32_t least = UINT32_MAX, most = 0;
	double sum = 0;

	for (uint32_t d = 0; d < (uint32_t)ftl->config.dies; d++) {
		for (uint32_t s = 0; s < (uint32_t)ftl->config.superblocks; s++) {
			uint32_t erases = ftl->erases[sl_ftl_superblock(ftl, d, s)];

			least = erases < least ? erases : least;
			most = erases > most ? erases : most;
			sum += erases;
		}
	}
	*ret_min = least;
	*ret_mean = sum / ((double)ftl->config.dies * ftl->config.superblocks);
	*ret_max = most;
}
