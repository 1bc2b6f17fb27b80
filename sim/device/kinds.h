/* Private to the room: the kinds of disks and what they share. */
#ifndef SL_DEVICE_KINDS_H
#define SL_DEVICE_KINDS_H

#include "sim/device/device.h"

/* NULL when out of memory. `loop` is set by sl_dev_new. */
struct sl_dev *sl_hdd_new(const struct sl_dev_spec *spec, uint64_t seed, const char *name);
struct sl_dev *sl_ssd_new(const struct sl_dev_spec *spec);

/* Counts a request as it arrives. */
void sl_dev_count(struct sl_dev *dev, const struct sl_dev_req *req);

/* Nanoseconds that `bytes` take at `rate_bps`, rounded. */
static inline int64_t sl_transfer_ns(int64_t bytes, double rate_bps)
{
	return (int64_t)((double)bytes * 1e9 / rate_bps + 0.5);
}

static inline int64_t sl_later(int64_t a_ns, int64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

#endif
