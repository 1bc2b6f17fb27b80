/* Unstable bytes of one file: whole pages in memory that lie over the file until they are written out. */
#ifndef SL_SERVE_OVERLAY_H
#define SL_SERVE_OVERLAY_H

#include <stdint.h>

#define SL_OVERLAY_PAGE 4096u

struct sl_overlay_page {
	uint64_t index; /* file offset / SL_OVERLAY_PAGE */
	struct sl_overlay_page *chain;
	uint8_t bytes[SL_OVERLAY_PAGE];
};

/* Zero-initialise; release with sl_overlay_clear. */
struct sl_overlay {
	struct sl_overlay_page **buckets;
	uint32_t bucket_count; /* 0 or a power of two */
	uint32_t count;
};

/* The 4096 bytes of a page, or NULL. */
uint8_t *sl_overlay_find(const struct sl_overlay *overlay, uint64_t index);
/* Adds a zeroed page that is not there yet; NULL when out of memory. */
uint8_t *sl_overlay_add(struct sl_overlay *overlay, uint64_t index);
/* Forgets what lies at or beyond size_bytes (and zeroes the rest of the last page). Returns the pages freed.
 */
uint32_t sl_overlay_truncate(struct sl_overlay *overlay, uint64_t size_bytes);
/* Writes all pages to fd in ascending order, the last one cut at size_bytes. 0 or negative errno. The pages
 * stay: clear them on success. */
int sl_overlay_write(const struct sl_overlay *overlay, int fd, uint64_t size_bytes);
void sl_overlay_clear(struct sl_overlay *overlay);

/* pwritev of everything or negative errno; `iov` is changed. */
struct iovec;
int sl_pwrite_all(int fd, struct iovec *iov, int count, uint64_t offset);

#endif
