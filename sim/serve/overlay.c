#include "sim/serve/overlay.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define OVERLAY_FIRST_BUCKETS 64u
#define OVERLAY_RUN 256 /* pages per system call */

static struct sl_overlay_page **bucket_of(const struct sl_overlay *overlay, uint64_t index)
{
	uint32_t hash = (uint32_t)((index * 0x9e3779b97f4a7c15u) >> 32);

	return &overlay->buckets[hash & (overlay->bucket_count - 1)];
}

static int buckets_resize(struct sl_overlay *overlay, uint32_t count)
{
	struct sl_overlay old = *overlay;
	struct sl_overlay_page **buckets = calloc(count, sizeof(struct sl_overlay_page *));

	if (!buckets) {
		return -ENOMEM;
	}
	overlay->buckets = buckets;
	overlay->bucket_count = count;
	for (uint32_t i = 0; i < old.bucket_count; i++) {
		for (struct sl_overlay_page *page = old.buckets[i], *next; page; page = next) {
			struct sl_overlay_page **slot = bucket_of(overlay, page->index);

			next = page->chain;
			page->chain = *slot;
			*slot = page;
		}
	}
	free(old.buckets);
	return 0;
}

static int page_order(const void *a, const void *b)
{
	const struct sl_overlay_page *const *left = a, *const *right = b;

	return ((*left)->index > (*right)->index) - ((*left)->index < (*right)->index);
}

/* Writes pages[0..count), which are neighbours in the file. */
static int run_write(int fd, struct sl_overlay_page *const *pages, uint32_t count, uint64_t size_bytes)
{
	struct iovec iov[OVERLAY_RUN];
	uint64_t offset = pages[0]->index * SL_OVERLAY_PAGE;
	int used = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t start = offset + (uint64_t)i * SL_OVERLAY_PAGE;
		uint64_t bytes = size_bytes > start ? size_bytes - start : 0;

		if (bytes > 0) {
			iov[used].iov_base = pages[i]->bytes;
			iov[used++].iov_len = bytes < SL_OVERLAY_PAGE ? bytes : SL_OVERLAY_PAGE;
		}
	}
	return sl_pwrite_all(fd, iov, used, offset);
}

int sl_pwrite_all(int fd, struct iovec *iov, int count, uint64_t offset)
{
	while (count > 0) {
		ssize_t got = pwritev(fd, iov, count, (off_t)offset);

		if (got < 0) {
			if (errno == EINTR) {
				continue;
			}
			return -errno;
		}
		if (got == 0) {
			return -EIO;
		}
		offset += (uint64_t)got;
		while (count > 0 && (size_t)got >= iov->iov_len) {
			got -= (ssize_t)iov->iov_len;
			iov++;
			count--;
		}
		if (count > 0) {
			iov->iov_base = (char *)iov->iov_base + got;
			iov->iov_len -= (size_t)got;
		}
	}
	return 0;
}

uint8_t *sl_overlay_find(const struct sl_overlay *overlay, uint64_t index)
{
	struct sl_overlay_page *page = overlay->count > 0 ? *bucket_of(overlay, index) : NULL;

	while (page && page->index != index) {
		page = page->chain;
	}
	return page ? page->bytes : NULL;
}

uint8_t *sl_overlay_add(struct sl_overlay *overlay, uint64_t index)
{
	struct sl_overlay_page *page, **slot;

	assert(!sl_overlay_find(overlay, index));
	if (overlay->count >= overlay->bucket_count) {
		uint32_t want = overlay->bucket_count ? overlay->bucket_count * 2 : OVERLAY_FIRST_BUCKETS;

		if (buckets_resize(overlay, want) && overlay->bucket_count == 0) {
			return NULL;
		}
	}
	page = calloc(1, sizeof(*page));
	if (!page) {
		return NULL;
	}
	page->index = index;
	slot = bucket_of(overlay, index);
	page->chain = *slot;
	*slot = page;
	overlay->count++;
	return page->bytes;
}

uint32_t sl_overlay_truncate(struct sl_overlay *overlay, uint64_t size_bytes)
{
	uint64_t last = size_bytes / SL_OVERLAY_PAGE;
	uint32_t cut = (uint32_t)(size_bytes % SL_OVERLAY_PAGE);
	uint32_t freed = 0;
	uint8_t *tail = cut ? sl_overlay_find(overlay, last) : NULL;

	if (tail) {
		memset(tail + cut, 0, SL_OVERLAY_PAGE - cut);
	}
	for (uint32_t i = 0; i < overlay->bucket_count; i++) {
		struct sl_overlay_page **slot = &overlay->buckets[i];

		while (*slot) {
			struct sl_overlay_page *page = *slot;

			if (page->index < last + (cut != 0)) {
				slot = &page->chain;
				continue;
			}
			*slot = page->chain;
			free(page);
			freed++;
		}
	}
	overlay->count -= freed;
	return freed;
}

int sl_overlay_write(const struct sl_overlay *overlay, int fd, uint64_t size_bytes)
{
	struct sl_overlay_page **pages;
	uint32_t count = 0;
	int rc = 0;

	if (overlay->count == 0) {
		return 0;
	}
	pages = malloc(overlay->count * sizeof(struct sl_overlay_page *));
	if (!pages) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < overlay->bucket_count; i++) {
		for (struct sl_overlay_page *page = overlay->buckets[i]; page; page = page->chain) {
			pages[count++] = page;
		}
	}
	qsort(pages, count, sizeof(struct sl_overlay_page *), page_order);
	for (uint32_t start = 0, end; start < count && rc == 0; start = end) {
		for (end = start + 1; end < count && end - start < OVERLAY_RUN; end++) {
			if (pages[end]->index != pages[end - 1]->index + 1) {
				break;
			}
		}
		rc = run_write(fd, pages + start, end - start, size_bytes);
	}
	free(pages);
	return rc;
}

void sl_overlay_clear(struct sl_overlay *overlay)
{
	for (uint32_t i = 0; i < overlay->bucket_count; i++) {
		for (struct sl_overlay_page *page = overlay->buckets[i], *next; page; page = next) {
			next = page->chain;
			free(page);
		}
	}
	free(overlay->buckets);
	memset(overlay, 0, sizeof(*overlay));
}
