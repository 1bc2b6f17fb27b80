#include "sim/serve/disk_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sim/serve/overlay.h"

#define CACHE_FIRST_BUCKETS 64u
#define CACHE_RUN 256 /* pages per system call */
#define SECTORS (SL_CACHE_PAGE / SL_CACHE_SECTOR)

int sl_disk_pread(int fd, void *buf, int64_t bytes, int64_t offset_bytes)
{
	uint8_t *at = buf;

	while (bytes > 0) {
		ssize_t got = pread(fd, at, (size_t)bytes, offset_bytes);

		if (got < 0) {
			if (errno == EINTR) {
				continue;
			}
			return -errno;
		}
		if (got == 0) {
			memset(at, 0, (size_t)bytes);
			return 0;
		}
		at += got;
		bytes -= got;
		offset_bytes += got;
	}
	return 0;
}

int sl_disk_pwrite(int fd, const void *buf, int64_t bytes, int64_t offset_bytes)
{
	const uint8_t *at = buf;

	while (bytes > 0) {
		ssize_t put = pwrite(fd, at, (size_t)bytes, offset_bytes);

		if (put < 0 && errno == EINTR) {
			continue;
		}
		if (put <= 0) {
			return put < 0 ? -errno : -EIO;
		}
		at += put;
		bytes -= put;
		offset_bytes += put;
	}
	return 0;
}

static int zeroes_write(int fd, int64_t offset_bytes, int64_t bytes)
{
	static const uint8_t zeroes[64 * 1024];
	int rc = 0;

	while (rc == 0 && bytes > 0) {
		int64_t piece = bytes < (int64_t)sizeof(zeroes) ? bytes : (int64_t)sizeof(zeroes);

		rc = sl_disk_pwrite(fd, zeroes, piece, offset_bytes);
		offset_bytes += piece;
		bytes -= piece;
	}
	return rc;
}

int sl_disk_punch(int fd, int64_t offset_bytes, int64_t bytes, bool keep)
{
	int mode = keep ? FALLOC_FL_ZERO_RANGE : FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
	int rc;

	do {
		rc = fallocate(fd, mode, offset_bytes, bytes);
	} while (rc < 0 && errno == EINTR);
	if (rc < 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) {
		return zeroes_write(fd, offset_bytes, bytes);
	}
	return rc < 0 ? -errno : 0;
}

static struct sl_cache_page **bucket_of(const struct sl_cache *cache, int64_t index)
{
	uint32_t hash = (uint32_t)(((uint64_t)index * 0x9e3779b97f4a7c15u) >> 32);

	return &cache->buckets[hash & (cache->bucket_count - 1)];
}

static struct sl_cache_page *page_find(const struct sl_cache *cache, int64_t index)
{
	struct sl_cache_page *page = cache->count > 0 ? *bucket_of(cache, index) : NULL;

	while (page && page->index != index) {
		page = page->chain;
	}
	return page;
}

static int buckets_grow(struct sl_cache *cache)
{
	uint32_t count = cache->bucket_count ? cache->bucket_count * 2 : CACHE_FIRST_BUCKETS;
	struct sl_cache_page **grown = calloc(count, sizeof(struct sl_cache_page *));

	if (!grown) {
		return cache->bucket_count ? 0 : -ENOMEM;
	}
	free(cache->buckets);
	cache->buckets = grown;
	cache->bucket_count = count;
	for (struct sl_cache_page *page = cache->oldest; page; page = page->younger) {
		struct sl_cache_page **slot = bucket_of(cache, page->index);

		page->chain = *slot;
		*slot = page;
	}
	return 0;
}

/* A new page with what the medium holds there. */
static int page_add(struct sl_cache *cache, int64_t index, bool fill, struct sl_cache_page **ret)
{
	struct sl_cache_page **slot, *page;
	int rc = cache->count >= cache->bucket_count ? buckets_grow(cache) : 0;

	page = rc == 0 ? malloc(sizeof(*page)) : NULL;
	if (!page) {
		return -ENOMEM;
	}
	rc = fill ? sl_disk_pread(cache->fd, page->bytes, SL_CACHE_PAGE, index * SL_CACHE_PAGE) : 0;
	if (rc < 0) {
		free(page);
		return rc;
	}
	page->index = index;
	page->dirty = 0;
	slot = bucket_of(cache, index);
	page->chain = *slot;
	*slot = page;
	page->older = cache->youngest;
	page->younger = NULL;
	*(cache->youngest ? &cache->youngest->younger : &cache->oldest) = page;
	cache->youngest = page;
	cache->count++;
	*ret = page;
	return 0;
}

static void page_remove(struct sl_cache *cache, struct sl_cache_page *page)
{
	struct sl_cache_page **slot = bucket_of(cache, page->index);

	while (*slot != page) {
		slot = &(*slot)->chain;
	}
	*slot = page->chain;
	*(page->older ? &page->older->younger : &cache->oldest) = page->younger;
	*(page->younger ? &page->younger->older : &cache->youngest) = page->older;
	cache->count--;
	free(page);
}

/* Bits of the sectors that bytes [from, to) of a page touch. */
static uint8_t sector_bits(int64_t from, int64_t to)
{
	unsigned first = (unsigned)(from / SL_CACHE_SECTOR);
	unsigned end = (unsigned)((to + SL_CACHE_SECTOR - 1) / SL_CACHE_SECTOR);

	return (uint8_t)(((1u << end) - 1) & ~((1u << first) - 1));
}

int sl_cache_write(struct sl_cache *cache, int64_t offset_bytes, const void *buf, int64_t bytes)
{
	const uint8_t *at = buf;

	while (bytes > 0) {
		int64_t index = offset_bytes / SL_CACHE_PAGE, from = offset_bytes % SL_CACHE_PAGE;
		int64_t piece = SL_CACHE_PAGE - from < bytes ? SL_CACHE_PAGE - from : bytes;
		struct sl_cache_page *page = page_find(cache, index);
		int rc = page ? 0 : page_add(cache, index, piece < SL_CACHE_PAGE, &page);

		if (rc < 0) {
			return rc;
		}
		memcpy(page->bytes + from, at, (size_t)piece);
		page->dirty |= sector_bits(from, from + piece);
		at += piece;
		bytes -= piece;
		offset_bytes += piece;
	}
	return 0;
}

void sl_cache_overlay(const struct sl_cache *cache, int64_t offset_bytes, void *buf, int64_t bytes)
{
	uint8_t *at = buf;

	while (bytes > 0 && cache->count > 0) {
		int64_t from = offset_bytes % SL_CACHE_PAGE;
		int64_t piece = SL_CACHE_PAGE - from < bytes ? SL_CACHE_PAGE - from : bytes;
		const struct sl_cache_page *page = page_find(cache, offset_bytes / SL_CACHE_PAGE);

		if (page) {
			memcpy(at, page->bytes + from, (size_t)piece);
		}
		at += piece;
		bytes -= piece;
		offset_bytes += piece;
	}
}

static int page_order(const void *a, const void *b)
{
	const struct sl_cache_page *const *left = a, *const *right = b;

	return ((*left)->index > (*right)->index) - ((*left)->index < (*right)->index);
}

static bool page_is_zero(const struct sl_cache_page *page)
{
	static const uint8_t zeroes[SL_CACHE_PAGE];

	return memcmp(page->bytes, zeroes, SL_CACHE_PAGE) == 0;
}

/* Writes pages[0..count), neighbours on the disk and of one kind. */
static int run_write(const struct sl_cache *cache, struct sl_cache_page *const *pages, uint32_t count,
		     bool zero)
{
	struct iovec iov[CACHE_RUN];
	int64_t offset = pages[0]->index * SL_CACHE_PAGE;
	int64_t bytes = (int64_t)count * SL_CACHE_PAGE;

	bytes = bytes < cache->size_bytes - offset ? bytes : cache->size_bytes - offset;
	if (zero) {
		return sl_disk_punch(cache->fd, offset, bytes, false);
	}
	for (uint32_t i = 0; i < count; i++) {
		iov[i] = (struct iovec){pages[i]->bytes, SL_CACHE_PAGE};
	}
	iov[count - 1].iov_len = (size_t)(bytes - (int64_t)(count - 1) * SL_CACHE_PAGE);
	return sl_pwrite_all(cache->fd, iov, (int)count, (uint64_t)offset);
}

/* Puts pages[0..count) on the medium, and forgets those that got there. */
static int pages_destage(struct sl_cache *cache, struct sl_cache_page **pages, uint32_t count)
{
	int rc = 0;

	qsort(pages, count, sizeof(struct sl_cache_page *), page_order);
	for (uint32_t start = 0, end; start < count && rc == 0; start = end) {
		bool zero = page_is_zero(pages[start]);

		for (end = start + 1; end < count && end - start < CACHE_RUN; end++) {
			if (pages[end]->index != pages[end - 1]->index + 1 ||
			    page_is_zero(pages[end]) != zero) {
				break;
			}
		}
		rc = run_write(cache, pages + start, end - start, zero);
		for (uint32_t i = start; i < end && rc == 0; i++) {
			page_remove(cache, pages[i]);
		}
	}
	return rc;
}

int sl_cache_destage_range(struct sl_cache *cache, int64_t offset_bytes, int64_t bytes)
{
	int64_t first = offset_bytes / SL_CACHE_PAGE;
	int64_t end = (offset_bytes + bytes + SL_CACHE_PAGE - 1) / SL_CACHE_PAGE;
	struct sl_cache_page *pages[CACHE_RUN];
	int rc = 0;

	while (first < end && rc == 0 && cache->count > 0) {
		uint32_t count = 0;

		for (; first < end && count < CACHE_RUN; first++) {
			struct sl_cache_page *page = page_find(cache, first);

			if (page) {
				pages[count++] = page;
			}
		}
		rc = pages_destage(cache, pages, count);
	}
	return rc;
}

int sl_cache_destage(struct sl_cache *cache, uint32_t keep)
{
	uint32_t want = cache->count > keep ? cache->count - keep : 0, count = 0;
	struct sl_cache_page **pages;
	int rc;

	if (want == 0) {
		return 0;
	}
	pages = malloc(want * sizeof(struct sl_cache_page *));
	if (!pages) {
		return -ENOMEM;
	}
	for (struct sl_cache_page *page = cache->oldest; page && count < want; page = page->younger) {
		pages[count++] = page;
	}
	rc = pages_destage(cache, pages, count);
	free(pages);
	return rc;
}

void sl_cache_zero(struct sl_cache *cache, int64_t offset_bytes, int64_t bytes)
{
	int64_t end = offset_bytes + bytes;

	for (struct sl_cache_page *page = cache->oldest, *next; page; page = next) {
		int64_t from = offset_bytes - page->index * SL_CACHE_PAGE;
		int64_t to = end - page->index * SL_CACHE_PAGE;

		next = page->younger;
		if (from >= SL_CACHE_PAGE || to <= 0) {
			continue;
		}
		if (from <= 0 && to >= SL_CACHE_PAGE) {
			page_remove(cache, page);
			continue;
		}
		from = from > 0 ? from : 0;
		to = to < SL_CACHE_PAGE ? to : SL_CACHE_PAGE;
		memset(page->bytes + from, 0, (size_t)(to - from));
	}
}

/* Writes the dirty sectors of `bits`. */
static int page_survive(const struct sl_cache *cache, const struct sl_cache_page *page, unsigned bits)
{
	int rc = 0;

	for (unsigned i = 0; i < SECTORS && rc == 0; i++) {
		int64_t at = page->index * SL_CACHE_PAGE + (int64_t)i * SL_CACHE_SECTOR;

		if ((page->dirty & bits & 1u << i) && at < cache->size_bytes) {
			rc = sl_disk_pwrite(cache->fd, page->bytes + (size_t)i * SL_CACHE_SECTOR,
					    SL_CACHE_SECTOR, at);
		}
	}
	return rc;
}

int sl_cache_cut(struct sl_cache *cache, struct sl_rng *rng, uint32_t odds, int unit_bytes)
{
	unsigned per_unit = (unsigned)unit_bytes / SL_CACHE_SECTOR;
	int rc = 0;

	for (struct sl_cache_page *page = cache->oldest; page && rc == 0; page = page->younger) {
		unsigned bits = 0;

		for (unsigned i = 0; i < SECTORS; i += per_unit) {
			bits |= sl_rng_below(rng, 256) < odds ? ((1u << per_unit) - 1) << i : 0;
		}
		rc = page_survive(cache, page, bits);
	}
	sl_cache_clear(cache);
	return rc;
}

static int index_order(const void *a, const void *b)
{
	const int64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

int64_t *sl_cache_indices(const struct sl_cache *cache)
{
	int64_t *indices = cache->count > 0 ? malloc(cache->count * sizeof(*indices)) : NULL;
	uint32_t n = 0;

	for (struct sl_cache_page *page = cache->oldest; indices && page; page = page->younger) {
		indices[n++] = page->index;
	}
	if (indices) {
		qsort(indices, n, sizeof(*indices), index_order);
	}
	return indices;
}

void sl_cache_clear(struct sl_cache *cache)
{
	for (struct sl_cache_page *page = cache->oldest, *next; page; page = next) {
		next = page->younger;
		free(page);
	}
	free(cache->buckets);
	cache->buckets = NULL;
	cache->bucket_count = 0;
	cache->count = 0;
	cache->oldest = NULL;
	cache->youngest = NULL;
}
