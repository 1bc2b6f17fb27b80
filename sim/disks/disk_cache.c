#include "sim/disks/disk_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "sim/base/loop.h"
#include "sim/disks/disk_file.h"
#include "sim/serve/overlay.h"

#define CACHE_FIRST_BUCKETS 64u
#define CACHE_RUN 256 /* pieces per system call */
#define SECTORS (SL_CACHE_PAGE / SL_CACHE_SECTOR)
#define ALL_SECTORS 0xffu

static const uint8_t zero_page[SL_CACHE_PAGE];

/* What the pieces of one write share. */
struct write {
	void *pool_link;
	struct sl_mark *mark; /* NULL: nobody tells */
	uint64_t seq;
	uint32_t refs;
};

struct sl_cache_piece {
	int64_t index;                /* offset / SL_CACHE_PAGE */
	struct sl_cache_piece *chain; /* of the bucket: younger before older */
	struct sl_cache_piece *older, *younger;
	struct write *write;
	uint8_t dirty;          /* a bit per sector that this write has to bring to the medium */
	uint8_t first, sectors; /* what `bytes` holds of the page; nothing when zero */
	bool zero;
	bool leaving; /* chosen to go to the medium */
	uint8_t bytes[];
};

void sl_cache_init(struct sl_cache *cache)
{
	*cache = (struct sl_cache){.fd = -1};
	sl_slab_init(&cache->writes, sizeof(struct write));
	sl_fates_init(&cache->fates);
}

static void write_release(struct sl_cache *cache, struct write *write)
{
	write->refs--;
	if (write->refs == 0) {
		sl_fates_return(&cache->fates, write->mark);
		sl_slab_put(&cache->writes, write);
	}
}

static struct sl_cache_piece **bucket_of(const struct sl_cache *cache, int64_t index)
{
	uint32_t hash = (uint32_t)(((uint64_t)index * 0x9e3779b97f4a7c15u) >> 32);

	return &cache->buckets[hash & (cache->bucket_count - 1)];
}

/* `piece`, or the first behind it in its chain, that is of this page. */
static struct sl_cache_piece *skip_to(struct sl_cache_piece *piece, int64_t index)
{
	while (piece && piece->index != index) {
		piece = piece->chain;
	}
	return piece;
}

/* The youngest piece of a page; older ones follow with older_of. */
static struct sl_cache_piece *latest_of(const struct sl_cache *cache, int64_t index)
{
	return cache->n_pieces > 0 ? skip_to(*bucket_of(cache, index), index) : NULL;
}

static struct sl_cache_piece *older_of(const struct sl_cache_piece *piece)
{
	return skip_to(piece->chain, piece->index);
}

static int buckets_grow(struct sl_cache *cache)
{
	uint32_t count = cache->bucket_count ? cache->bucket_count * 2 : CACHE_FIRST_BUCKETS;
	struct sl_cache_piece **grown = calloc(count, sizeof(struct sl_cache_piece *));

	if (!grown) {
		return cache->bucket_count ? 0 : -ENOMEM;
	}
	free(cache->buckets);
	cache->buckets = grown;
	cache->bucket_count = count;
	for (struct sl_cache_piece *piece = cache->oldest; piece; piece = piece->younger) {
		struct sl_cache_piece **slot = bucket_of(cache, piece->index);

		piece->chain = *slot;
		*slot = piece;
	}
	return 0;
}

static int64_t held_bytes(const struct sl_cache_piece *piece)
{
	return (int64_t)piece->sectors * SL_CACHE_SECTOR;
}

static void piece_add(struct sl_cache *cache, struct sl_cache_piece *piece)
{
	struct sl_cache_piece **slot = bucket_of(cache, piece->index);

	piece->chain = *slot;
	*slot = piece;
	piece->older = cache->youngest;
	*(cache->youngest ? &cache->youngest->younger : &cache->oldest) = piece;
	cache->youngest = piece;
	cache->n_pieces++;
	cache->held_bytes += held_bytes(piece);
	piece->write->refs++;
}

static void piece_remove(struct sl_cache *cache, struct sl_cache_piece *piece)
{
	struct sl_cache_piece **slot = bucket_of(cache, piece->index);

	while (*slot != piece) {
		slot = &(*slot)->chain;
	}
	*slot = piece->chain;
	*(piece->older ? &piece->older->younger : &cache->oldest) = piece->younger;
	*(piece->younger ? &piece->younger->older : &cache->youngest) = piece->older;
	cache->n_pieces--;
	cache->held_bytes -= held_bytes(piece);
	write_release(cache, piece->write);
	free(piece);
}

/* Bits of the sectors that bytes [from, to) of a page touch. */
static uint8_t sector_bits(int64_t from, int64_t to)
{
	unsigned first = (unsigned)(from / SL_CACHE_SECTOR);
	unsigned end = (unsigned)((to + SL_CACHE_SECTOR - 1) / SL_CACHE_SECTOR);

	return (uint8_t)(((1u << end) - 1) & ~((1u << first) - 1));
}

/* Where `bytes` has a sector of the page. */
static size_t place_of(const struct sl_cache_piece *piece, int sector)
{
	return (size_t)(sector - piece->first) * SL_CACHE_SECTOR;
}

static const uint8_t *sector_of(const struct sl_cache_piece *piece, int sector)
{
	return piece->zero ? zero_page : piece->bytes + place_of(piece, sector);
}

/* Bytes [from, to) of a page, from `buf` (NULL = zeroes). Parts of sectors are completed with what is there.
 */
static int piece_new(struct sl_cache *cache, int64_t index, int64_t from, int64_t to, const void *buf,
		     struct sl_cache_piece **ret)
{
	int64_t first = from / SL_CACHE_SECTOR, end = (to + SL_CACHE_SECTOR - 1) / SL_CACHE_SECTOR;
	int64_t start = first * SL_CACHE_SECTOR, bytes = (end - first) * SL_CACHE_SECTOR;
	bool whole = to - from == bytes;
	size_t store = buf || !whole ? (size_t)bytes : 0;
	int rc = cache->n_pieces >= cache->bucket_count ? buckets_grow(cache) : 0;
	struct sl_cache_piece *piece = rc == 0 ? malloc(sizeof(*piece) + store) : NULL;

	if (!piece) {
		return -ENOMEM;
	}
	*piece = (struct sl_cache_piece){.index = index,
					 .dirty = sector_bits(from, to),
					 .first = (uint8_t)first,
					 .sectors = (uint8_t)(end - first),
					 .zero = store == 0};
	if (!whole) {
		rc = sl_disk_pread(cache->fd, piece->bytes, bytes, index * SL_CACHE_PAGE + start);
		sl_cache_overlay(cache, index * SL_CACHE_PAGE + start, piece->bytes, bytes);
	}
	if (rc < 0) {
		free(piece);
		return rc;
	}
	if (store > 0) {
		memcpy(piece->bytes + (from - start), buf ? buf : zero_page, (size_t)(to - from));
	}
	*ret = piece;
	return 0;
}

/* Of writes that only a flush takes to the medium the latest will do: it goes where the one before is. */
static bool overwrite(const struct sl_cache *cache, int64_t index, int64_t from, int64_t to, const void *buf)
{
	struct sl_cache_piece *piece = latest_of(cache, index);
	unsigned bits = sector_bits(from, to);

	if (!buf || !piece || piece->zero || piece->write->mark || (piece->dirty & bits) != bits) {
		return false;
	}
	memcpy(piece->bytes + (from - (int64_t)piece->first * SL_CACHE_SECTOR), buf, (size_t)(to - from));
	return true;
}

int sl_cache_put(struct sl_cache *cache, const struct sl_cache_put *put)
{
	int64_t at = put->offset_bytes, end = at + put->bytes;
	struct write *write = sl_slab_get(&cache->writes);
	int rc = 0;

	*write = (struct write){.mark = put->mark, .seq = put->seq, .refs = 1};
	if (write->mark && sl_fate_is_unseen(write->mark)) {
		sl_fates_return(&cache->fates, write->mark);
		write->mark = NULL;
	}
	while (at < end && rc == 0) {
		int64_t from = at % SL_CACHE_PAGE;
		int64_t to = SL_CACHE_PAGE - from < end - at ? SL_CACHE_PAGE : from + end - at;
		const uint8_t *buf = put->buf ? (const uint8_t *)put->buf + (at - put->offset_bytes) : NULL;
		struct sl_cache_piece *piece;

		at += to - from;
		if (!write->mark && overwrite(cache, (at - 1) / SL_CACHE_PAGE, from, to, buf)) {
			continue;
		}
		rc = piece_new(cache, (at - 1) / SL_CACHE_PAGE, from, to, buf, &piece);
		if (rc == 0) {
			piece->write = write;
			piece_add(cache, piece);
		}
	}
	write_release(cache, write);
	return rc;
}

/* Copies those sectors of `bits` that lie in [from, to) of the page to `at`, which stands for `from`. */
static void piece_copy(const struct sl_cache_piece *piece, unsigned bits, int64_t from, int64_t to,
		       uint8_t *at)
{
	for (int i = 0; i < SECTORS; i++) {
		int64_t start = (int64_t)i * SL_CACHE_SECTOR, end = start + SL_CACHE_SECTOR;
		int64_t first = start > from ? start : from, last = end < to ? end : to;

		if (bits & 1u << i) {
			memcpy(at + (first - from), sector_of(piece, i) + (first - start),
			       (size_t)(last - first));
		}
	}
}

void sl_cache_overlay(const struct sl_cache *cache, int64_t offset_bytes, void *buf, int64_t bytes)
{
	uint8_t *at = buf;

	while (bytes > 0 && cache->n_pieces > 0) {
		int64_t from = offset_bytes % SL_CACHE_PAGE;
		int64_t size = SL_CACHE_PAGE - from < bytes ? SL_CACHE_PAGE - from : bytes;
		unsigned need = sector_bits(from, from + size);

		for (const struct sl_cache_piece *piece = latest_of(cache, offset_bytes / SL_CACHE_PAGE);
		     piece && need; piece = older_of(piece)) {
			piece_copy(piece, piece->dirty & need, from, from + size, at);
			need &= ~(unsigned)piece->dirty;
		}
		at += size;
		bytes -= size;
		offset_bytes += size;
	}
}

/* Writes the dirty sectors of `bits`. */
static int piece_write(const struct sl_cache *cache, const struct sl_cache_piece *piece, unsigned bits)
{
	int rc = 0;

	for (int i = 0; i < SECTORS && rc == 0; i++) {
		if (piece->dirty & bits & 1u << i) {
			rc = sl_disk_pwrite(cache->fd, sector_of(piece, i), SL_CACHE_SECTOR,
					    piece->index * SL_CACHE_PAGE + (int64_t)i * SL_CACHE_SECTOR);
		}
	}
	return rc;
}

static int first_sector(const struct sl_cache_piece *piece)
{
	return piece->dirty ? __builtin_ctz(piece->dirty) : SECTORS;
}

static int64_t piece_start(const struct sl_cache_piece *piece)
{
	return piece->index * SL_CACHE_PAGE + (int64_t)first_sector(piece) * SL_CACHE_SECTOR;
}

static int64_t piece_size(const struct sl_cache_piece *piece)
{
	return (int64_t)__builtin_popcount(piece->dirty) * SL_CACHE_SECTOR;
}

static int piece_order(const void *a, const void *b)
{
	const struct sl_cache_piece *const *left = a, *const *right = b;
	int64_t from = piece_start(*left), other = piece_start(*right);

	return (from > other) - (from < other);
}

static bool is_hole(const struct sl_cache_piece *piece)
{
	return piece->dirty == ALL_SECTORS &&
	       (piece->zero || memcmp(piece->bytes, zero_page, SL_CACHE_PAGE) == 0);
}

/* One stretch of bytes, or a hole. */
static bool is_solid(const struct sl_cache_piece *piece)
{
	unsigned bits = piece->dirty, lowest = bits & (~bits + 1);

	return bits != 0 && (bits & (bits + lowest)) == 0 && (!piece->zero || bits == ALL_SECTORS);
}

/* How many of pieces[0..count) go in one call: neighbours on the disk and of one kind. */
static uint32_t run_length(struct sl_cache_piece *const *pieces, uint32_t count)
{
	bool hole = is_hole(pieces[0]);
	uint32_t n = 1;

	while (n < count && n < CACHE_RUN && is_solid(pieces[n - 1]) && is_solid(pieces[n]) &&
	       piece_start(pieces[n]) == piece_start(pieces[n - 1]) + piece_size(pieces[n - 1]) &&
	       is_hole(pieces[n]) == hole) {
		n++;
	}
	return n;
}

static int run_write(const struct sl_cache *cache, struct sl_cache_piece *const *pieces, uint32_t count)
{
	struct iovec iov[CACHE_RUN];
	int64_t start = piece_start(pieces[0]);

	if (!is_solid(pieces[0])) {
		return piece_write(cache, pieces[0], ALL_SECTORS);
	}
	if (is_hole(pieces[0])) {
		return sl_disk_punch(cache->fd, start, (int64_t)count * SL_CACHE_PAGE, false);
	}
	for (uint32_t i = 0; i < count; i++) {
		struct sl_cache_piece *piece = pieces[i];

		iov[i] = (struct iovec){piece->bytes + place_of(piece, first_sector(piece)),
					(size_t)piece_size(piece)};
	}
	return sl_pwrite_all(cache->fd, iov, (int)count, (uint64_t)start);
}

/* The medium gets `piece`: what is older there no longer matters. */
static void supersede(struct sl_cache *cache, const struct sl_cache_piece *piece)
{
	for (struct sl_cache_piece *old = older_of(piece), *next; old; old = next) {
		next = older_of(old);
		old->dirty &= (uint8_t)~piece->dirty;
		if (old->dirty == 0 && !old->leaving) {
			piece_remove(cache, old);
		}
	}
}

/* Puts pieces[0..count) on the medium, and forgets those that got there. */
static int pieces_destage(struct sl_cache *cache, struct sl_cache_piece **pieces, uint32_t count)
{
	int rc = 0;

	for (uint32_t i = 0; i < count; i++) {
		pieces[i]->leaving = true;
	}
	for (uint32_t i = 0; i < count; i++) {
		supersede(cache, pieces[i]);
	}
	qsort(pieces, count, sizeof(struct sl_cache_piece *), piece_order);
	for (uint32_t start = 0, n; start < count; start += n) {
		n = run_length(pieces + start, count - start);
		rc = rc ? rc : run_write(cache, pieces + start, n);
		for (uint32_t i = start; i < start + n; i++) {
			pieces[i]->leaving = false;
			if (rc == 0) {
				piece_remove(cache, pieces[i]);
			}
		}
	}
	return rc;
}

int sl_cache_destage_latest(struct sl_cache *cache, int64_t offset_bytes, int64_t bytes)
{
	int64_t first = offset_bytes / SL_CACHE_PAGE;
	int64_t end = (offset_bytes + bytes + SL_CACHE_PAGE - 1) / SL_CACHE_PAGE;
	struct sl_cache_piece *pieces[CACHE_RUN];
	int rc = 0;

	while (first < end && rc == 0 && cache->n_pieces > 0) {
		uint32_t count = 0;

		for (; first < end && count < CACHE_RUN; first++) {
			struct sl_cache_piece *piece = latest_of(cache, first);

			if (piece) {
				pieces[count++] = piece;
			}
		}
		rc = pieces_destage(cache, pieces, count);
	}
	return rc;
}

/* Which pieces go: those that `is_due` says, of which bound->held_bytes are not counted yet. */
struct bound {
	int64_t at_ns, held_bytes, keep_bytes;
	uint64_t seq;
	const struct write *judged; /* the latest write that was asked for its mark, and the answer */
	bool due;
};

static int destage_due(struct sl_cache *cache, struct bound *bound,
		       bool (*is_due)(struct bound *bound, const struct sl_cache_piece *piece))
{
	struct sl_cache_piece **pieces =
	    cache->n_pieces > 0 ? malloc(cache->n_pieces * sizeof(struct sl_cache_piece *)) : NULL;
	uint32_t count = 0;
	int rc;

	if (!pieces) {
		return cache->n_pieces > 0 ? -ENOMEM : 0;
	}
	bound->held_bytes = cache->held_bytes;
	for (struct sl_cache_piece *piece = cache->oldest; piece; piece = piece->younger) {
		if (is_due(bound, piece)) {
			pieces[count++] = piece;
		}
	}
	rc = pieces_destage(cache, pieces, count);
	free(pieces);
	return rc;
}

static bool is_reached(struct bound *bound, const struct sl_cache_piece *piece)
{
	static const struct sl_cut cut;
	const struct write *write = piece->write;

	if (write != bound->judged) {
		bound->judged = write;
		bound->due = write->mark && sl_mark_kept_ns(write->mark, &cut) <= bound->at_ns;
	}
	return bound->due;
}

int sl_cache_destage_reached(struct sl_cache *cache, int64_t at_ns)
{
	struct bound bound = {.at_ns = at_ns};
	int rc = destage_due(cache, &bound, is_reached);

	sl_fates_sweep(&cache->fates);
	return rc;
}

static bool is_unseen(struct bound *bound, const struct sl_cache_piece *piece)
{
	(void)bound;
	return !piece->write->mark;
}

int sl_cache_destage_unseen(struct sl_cache *cache)
{
	struct bound bound = {0};

	return destage_due(cache, &bound, is_unseen);
}

static bool is_before(struct bound *bound, const struct sl_cache_piece *piece)
{
	return piece->write->seq <= bound->seq;
}

int sl_cache_destage_until(struct sl_cache *cache, uint64_t seq)
{
	struct bound bound = {.seq = seq};

	return destage_due(cache, &bound, is_before);
}

static bool is_too_much(struct bound *bound, const struct sl_cache_piece *piece)
{
	bool due = bound->held_bytes > bound->keep_bytes;

	bound->held_bytes -= held_bytes(piece);
	return due;
}

int sl_cache_destage_oldest(struct sl_cache *cache, int64_t keep_bytes)
{
	struct bound bound = {.keep_bytes = keep_bytes};

	return destage_due(cache, &bound, is_too_much);
}

static void piece_zero(struct sl_cache *cache, struct sl_cache_piece *piece, int64_t from, int64_t to)
{
	for (int i = 0; i < SECTORS; i++) {
		int64_t start = (int64_t)i * SL_CACHE_SECTOR, end = start + SL_CACHE_SECTOR;
		int64_t first = start > from ? start : from, last = end < to ? end : to;

		if (!(piece->dirty & 1u << i) || first >= last) {
			continue;
		}
		if (last - first == SL_CACHE_SECTOR) {
			piece->dirty &= (uint8_t) ~(1u << i);
		} else if (!piece->zero) {
			memset(piece->bytes + (first - (int64_t)piece->first * SL_CACHE_SECTOR), 0,
			       (size_t)(last - first));
		}
	}
	if (piece->dirty == 0) {
		piece_remove(cache, piece);
	}
}

void sl_cache_zero(struct sl_cache *cache, int64_t offset_bytes, int64_t bytes)
{
	for (struct sl_cache_piece *piece = cache->oldest, *next; piece; piece = next) {
		int64_t from = offset_bytes - piece->index * SL_CACHE_PAGE;

		next = piece->younger;
		if (from < SL_CACHE_PAGE && from + bytes > 0) {
			piece_zero(cache, piece, from, from + bytes);
		}
	}
}

static void forget_all(struct sl_cache *cache)
{
	for (struct sl_cache_piece *piece = cache->oldest, *next; piece; piece = next) {
		next = piece->younger;
		write_release(cache, piece->write);
		free(piece);
	}
	free(cache->buckets);
	cache->buckets = NULL;
	cache->bucket_count = 0;
	cache->n_pieces = 0;
	cache->held_bytes = 0;
	cache->oldest = NULL;
	cache->youngest = NULL;
}

int sl_cache_cut(struct sl_cache *cache, struct sl_rng *rng, uint32_t odds, int unit_bytes)
{
	unsigned per_unit = (unsigned)unit_bytes / SL_CACHE_SECTOR;
	int rc = 0;

	for (struct sl_cache_piece *piece = cache->oldest; piece && rc == 0; piece = piece->younger) {
		unsigned bits = 0;

		for (unsigned i = 0; i < SECTORS; i += per_unit) {
			bits |= sl_rng_below(rng, 256) < odds ? ((1u << per_unit) - 1) << i : 0;
		}
		rc = piece_write(cache, piece, bits);
	}
	forget_all(cache);
	return rc;
}

static int index_order(const void *a, const void *b)
{
	const int64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

int64_t *sl_cache_indices(const struct sl_cache *cache)
{
	int64_t *indices = cache->n_pieces > 0 ? malloc(cache->n_pieces * sizeof(*indices)) : NULL;
	uint32_t n = 0;

	for (struct sl_cache_piece *piece = cache->oldest; indices && piece; piece = piece->younger) {
		indices[n++] = piece->index;
	}
	if (indices) {
		qsort(indices, n, sizeof(*indices), index_order);
	}
	return indices;
}

void sl_cache_fini(struct sl_cache *cache)
{
	forget_all(cache);
	sl_slab_fini(&cache->writes);
	sl_fates_fini(&cache->fates);
}
