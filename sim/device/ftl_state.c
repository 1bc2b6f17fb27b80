/* The state of a flash translation layer as a whole: checked, hashed, saved and restored. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/outfile.h"
#include "sim/device/ftl_inner.h"

#define MAGIC "sloglab-ftl/1\n\0\0" /* 16 bytes with the terminator */

/* What a file starts with. A file is only good for the same geometry, on machines of the same byte order. */
struct header {
	char magic[16];
	uint64_t tag;
	int64_t logical_pages;
	int32_t dies, superblocks, superblock_pages, unit_pages, buffer_units;
	int32_t tree, cost_benefit;
	uint32_t die, unit_left, ring, clock, stream_end;
	int64_t used_pages, extents;
	uint64_t hash; /* of the tables and of what is above */
};

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	for (; n >= 8; n -= 8, at += 8) {
		uint64_t word;

		memcpy(&word, at, 8);
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	for (; n > 0; n--, at++) {
		hash = (hash ^ *at) * UINT64_C(0x9e3779b97f4a7c15);
	}
	return hash;
}

struct table {
	void *data;
	size_t bytes;
};

enum {
	N_TABLES = 6
};

/* The tables that make the state; the others follow from them. Absent ones have no bytes. */
static void list_tables(const struct sl_ftl *ftl, struct table tables[N_TABLES])
{
	const struct sl_ftl_config *c = &ftl->config;
	size_t rows = (size_t)c->dies * ftl->row * sizeof(uint32_t);

	tables[0] = (struct table){ftl->map, (size_t)c->logical_pages * sizeof(uint32_t)};
	tables[1] = (struct table){ftl->erases, rows};
	tables[2] = (struct table){ftl->closed, ftl->closed ? rows : 0};
	tables[3] = (struct table){ftl->pool, rows};
	tables[4] = (struct table){ftl->joined, ftl->joined ? ((size_t)c->logical_pages / 64 + 1) * 8 : 0};
	tables[5] = (struct table){ftl->dies, (size_t)c->dies * sizeof(*ftl->dies)};
}

static uint64_t hash_tables(const struct sl_ftl *ftl)
{
	struct table tables[N_TABLES];
	uint64_t hash = 0;

	list_tables(ftl, tables);
	for (int i = 0; i < N_TABLES; i++) {
		hash = hash_bytes(hash, tables[i].data, tables[i].bytes);
	}
	return hash;
}

static struct header make_header(const struct sl_ftl *ftl, uint64_t tag)
{
	const struct sl_ftl_config *c = &ftl->config;
	struct header h;

	memset(&h, 0, sizeof(h));
	memcpy(h.magic, MAGIC, sizeof(h.magic));
	h.tag = tag;
	h.logical_pages = c->logical_pages;
	h.dies = c->dies;
	h.superblocks = c->superblocks;
	h.superblock_pages = c->superblock_pages;
	h.unit_pages = c->unit_pages;
	h.buffer_units = c->buffer_units;
	h.tree = ftl->joined != NULL;
	h.cost_benefit = ftl->closed != NULL;
	h.die = ftl->die;
	h.unit_left = ftl->unit_left;
	h.ring = ftl->ring;
	h.clock = ftl->clock;
	h.stream_end = ftl->stream_end;
	h.used_pages = ftl->used_pages;
	h.extents = ftl->extents;
	h.hash = hash_bytes(hash_tables(ftl), &h, offsetof(struct header, hash));
	return h;
}

uint64_t sl_ftl_hash(const struct sl_ftl *ftl)
{
	struct header h = make_header(ftl, 0);

	return hash_bytes(0, &h, sizeof(h));
}

int sl_ftl_save(const struct sl_ftl *ftl, uint64_t tag, const char *path, struct sl_err *err)
{
	struct header h = make_header(ftl, tag);
	struct table tables[N_TABLES];
	struct sl_outfile out;
	int rc = sl_outfile_open(&out, path, err);
	bool good;

	if (rc) {
		return rc;
	}
	list_tables(ftl, tables);
	good = fwrite(&h, sizeof(h), 1, out.file) == 1;
	for (int i = 0; i < N_TABLES && good; i++) {
		good = tables[i].bytes == 0 || fwrite(tables[i].data, tables[i].bytes, 1, out.file) == 1;
	}
	if (!good) {
		return sl_outfile_abort(&out, errno != 0 ? -errno : -EIO, err);
	}
	return sl_outfile_commit(&out, err);
}

/* True when the frontier lies in one superblock of its die. */
static bool frontier_ok(const struct sl_ftl *ftl, uint32_t die, uint32_t next, uint32_t end)
{
	uint64_t pages = (uint64_t)ftl->config.superblock_pages;
	uint64_t first = (uint64_t)die * ftl->row * pages;

	if (end == 0) {
		return next == 0;
	}
	return end % pages == 0 && end > first && end <= first + (uint64_t)ftl->config.superblocks * pages &&
	       next <= end && end - next <= pages;
}

static bool die_ok(const struct sl_ftl *ftl, uint32_t at)
{
	const struct sl_ftl_die *die = &ftl->dies[at];
	uint32_t superblocks = (uint32_t)ftl->config.superblocks;

	if (die->free_head >= ftl->row || die->free_count > superblocks ||
	    die->channel >= (uint32_t)ftl->config.channels || (int)die->pool < SL_FTL_LAZY ||
	    (int)die->pool > SL_FTL_PACED) {
		return false;
	}
	for (uint32_t i = 0; i < ftl->row; i++) {
		if (ftl->pool[sl_ftl_superblock(ftl, at, i)] >= superblocks && i < superblocks) {
			return false;
		}
	}
	return frontier_ok(ftl, at, die->host_next, die->host_end) &&
	       frontier_ok(ftl, at, die->move_next, die->move_end);
}

/* A superblock in use for writing: what is not written yet counts as valid. */
static void count_open(struct sl_ftl *ftl, uint32_t next, uint32_t end)
{
	if (end == 0) {
		return;
	}
	for (uint32_t page = next; page < end; page++) {
		ftl->bits[page >> 6] |= UINT64_C(1) << (page & 63);
	}
	ftl->valid[(end - 1) >> ftl->shift] =
	    (int16_t)(ftl->valid[(end - 1) >> ftl->shift] + SL_FTL_OPEN + (int)(end - next));
}

static bool count_mapped(struct sl_ftl *ftl)
{
	int64_t used = 0;

	for (int64_t page = 0; page < ftl->config.logical_pages; page++) {
		uint32_t at = ftl->map[page];
		uint64_t bit;

		if (at == 0) {
			continue;
		}
		at--;
		bit = UINT64_C(1) << (at & 63);
		if (at >= sl_ftl_nand_pages(ftl) || (ftl->bits[at >> 6] & bit) != 0 ||
		    (at >> ftl->shift) % ftl->row >= (uint32_t)ftl->config.superblocks) {
			return false;
		}
		ftl->bits[at >> 6] |= bit;
		ftl->reverse[at] = (uint32_t)page;
		ftl->valid[at >> ftl->shift]++;
		used++;
	}
	return used == ftl->used_pages;
}

/* Rebuilds reverse map, valid bits and counts from what was loaded. False when that contradicts itself. */
static bool rebuild(struct sl_ftl *ftl)
{
	const struct sl_ftl_config *c = &ftl->config;

	memset(ftl->bits, 0, sl_ftl_nand_pages(ftl) / 8);
	ftl->wanting = ftl->at_work = 0;
	for (uint32_t d = 0; d < (uint32_t)c->dies; d++) {
		if (!die_ok(ftl, d)) {
			return false;
		}
		for (uint32_t s = 0; s < ftl->row; s++) {
			ftl->valid[sl_ftl_superblock(ftl, d, s)] =
			    s < (uint32_t)c->superblocks ? 0 : SL_FTL_ABSENT;
		}
		ftl->wanting += ftl->dies[d].free_count < (uint32_t)c->pool_high;
		ftl->at_work += ftl->dies[d].pool != SL_FTL_LAZY;
	}
	if (!count_mapped(ftl)) {
		return false;
	}
	for (uint32_t d = 0; d < (uint32_t)c->dies; d++) {
		struct sl_ftl_die *die = &ftl->dies[d];

		count_open(ftl, die->host_next, die->host_end);
		count_open(ftl, die->move_next, die->move_end);
		for (uint32_t i = 0; i < die->free_count; i++) {
			uint32_t place = (die->free_head + i) % ftl->row;
			uint32_t superblock =
			    sl_ftl_superblock(ftl, d, ftl->pool[sl_ftl_superblock(ftl, d, place)]);

			if (ftl->valid[superblock] != 0) {
				return false; /* free, but holds data or is listed twice */
			}
			ftl->valid[superblock] = SL_FTL_OPEN;
		}
	}
	return true;
}

static int read_all(FILE *file, const char *path, void *data, size_t bytes, struct sl_err *err)
{
	if (bytes == 0 || fread(data, bytes, 1, file) == 1) {
		return 0;
	}
	return ferror(file) ? sl_err_set(err, -EIO, "%s: cannot be read", path)
			    : sl_err_set(err, -EINVAL, "%s: too short for a drive's state; delete it", path);
}

static int load_from(struct sl_ftl *ftl, uint64_t tag, FILE *file, const char *path, struct sl_err *err)
{
	struct table tables[N_TABLES];
	struct header want = make_header(ftl, tag), h;
	int rc = read_all(file, path, &h, sizeof(h), err);

	if (rc) {
		return rc;
	}
	if (memcmp(&h, &want, offsetof(struct header, die)) != 0) {
		return sl_err_set(err, -EINVAL, "%s: another state, or of another drive or scale; delete it",
				  path);
	}
	list_tables(ftl, tables);
	for (int i = 0; i < N_TABLES; i++) {
		rc = read_all(file, path, tables[i].data, tables[i].bytes, err);
		if (rc) {
			return rc;
		}
	}
	ftl->die = h.die;
	ftl->unit_left = h.unit_left;
	ftl->ring = h.ring;
	ftl->clock = h.clock;
	ftl->stream_end = h.stream_end;
	ftl->used_pages = h.used_pages;
	ftl->extents = h.extents;
	if (hash_bytes(hash_tables(ftl), &h, offsetof(struct header, hash)) != h.hash ||
	    h.die >= (uint32_t)ftl->config.dies || h.unit_left < 1 ||
	    h.unit_left > (uint32_t)ftl->config.unit_pages || h.ring >= (uint32_t)ftl->config.buffer_units ||
	    !rebuild(ftl)) {
		return sl_err_set(err, -EINVAL, "%s: damaged; delete it", path);
	}
	sl_ftl_restart_clock(ftl);
	sl_ftl_forget_counters(ftl);
	return 0;
}

int sl_ftl_load(struct sl_ftl *ftl, uint64_t tag, const char *path, struct sl_err *err)
{
	FILE *file = fopen(path, "rb");
	int rc;

	if (!file) {
		rc = -errno;
		return sl_err_set(err, rc, "%s: %s", path, strerror(-rc));
	}
	rc = load_from(ftl, tag, file, path, err);
	(void)fclose(file);
	return rc;
}

/* Pages of a superblock that are open and not written yet: they count as valid without being mapped. */
static uint32_t unwritten(const struct sl_ftl *ftl, uint32_t superblock)
{
	const struct sl_ftl_die *die = &ftl->dies[superblock / ftl->row];
	uint32_t n = 0;

	if (die->host_end != 0 && (die->host_end - 1) >> ftl->shift == superblock) {
		n += die->host_end - die->host_next;
	}
	if (die->move_end != 0 && (die->move_end - 1) >> ftl->shift == superblock) {
		n += die->move_end - die->move_next;
	}
	return n;
}

static int check_superblock(const struct sl_ftl *ftl, uint32_t superblock, uint32_t mapped,
			    struct sl_err *err)
{
	uint32_t bits = 0, count = (uint32_t)ftl->valid[superblock];
	uint64_t first = (uint64_t)superblock << ftl->shift;

	if (superblock % ftl->row >= (uint32_t)ftl->config.superblocks) {
		return 0;
	}
	count -= count >= SL_FTL_OPEN ? SL_FTL_OPEN : 0;
	for (uint64_t word = first >> 6; word < (first + (uint64_t)ftl->config.superblock_pages) >> 6;
	     word++) {
		bits += (uint32_t)__builtin_popcountll(ftl->bits[word]);
	}
	if (bits != count || mapped + unwritten(ftl, superblock) != count) {
		return sl_err_set(err, -EUCLEAN,
				  "flash: superblock %u counts %u valid pages, has %u bits and %u mapped",
				  superblock, count, bits, mapped);
	}
	return 0;
}

int sl_ftl_check(const struct sl_ftl *ftl, struct sl_err *err)
{
	uint32_t rows = (uint32_t)ftl->config.dies * ftl->row;
	uint32_t *mapped = calloc(rows, sizeof(*mapped));
	int64_t used = 0, extents = 0;
	int rc = 0;

	if (!mapped) {
		return sl_err_set(err, -ENOMEM, "flash: out of memory");
	}
	for (int64_t page = 0; rc == 0 && page < ftl->config.logical_pages; page++) {
		uint32_t at = ftl->map[page] - 1;

		if (ftl->map[page] == 0) {
			continue;
		}
		used++;
		extents += ftl->joined && (ftl->joined[page >> 6] >> (page & 63) & 1) == 0;
		if (ftl->reverse[at] != (uint32_t)page || (ftl->bits[at >> 6] >> (at & 63) & 1) == 0) {
			rc = sl_err_set(err, -EUCLEAN, "flash: page %lld lies at %u, which does not know it",
					(long long)page, at);
		} else {
			mapped[at >> ftl->shift]++;
		}
	}
	for (uint32_t s = 0; rc == 0 && s < rows; s++) {
		rc = check_superblock(ftl, s, mapped[s], err);
	}
	if (rc == 0 && (used != ftl->used_pages || extents != ftl->extents)) {
		rc = sl_err_set(err, -EUCLEAN, "flash: %lld pages and %lld extents, counted %lld and %lld",
				(long long)ftl->used_pages, (long long)ftl->extents, (long long)used,
				(long long)extents);
	}
	free(mapped);
	return rc;
}
