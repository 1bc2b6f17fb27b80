/* Which regions of a disk are stale: written elsewhere while it was away. */
#ifndef SL_DEVICE_STALE_H
#define SL_DEVICE_STALE_H

#include <stdbool.h>
#include <stdint.h>

#define SL_STALE_REGION (INT64_C(1) << 20)

/* Zero-initialise; nothing is stale then. */
struct sl_stale {
	uint64_t *bits; /* owned */
	int64_t regions, count;
};

/* Room for a disk of `bytes`. 0 or -ENOMEM. Again: no-op. */
int sl_stale_init(struct sl_stale *stale, int64_t bytes);
void sl_stale_fini(struct sl_stale *stale);
void sl_stale_add(struct sl_stale *stale, int64_t offset_bytes, int64_t bytes);
void sl_stale_remove(struct sl_stale *stale, int64_t region);
/* The first stale region from `region` on, then from the start; -1 when none is. */
int64_t sl_stale_next(const struct sl_stale *stale, int64_t region);

#endif
