/* Private to the room: the kinds of disks and what they share. */
#ifndef SL_DEVICE_KINDS_H
#define SL_DEVICE_KINDS_H

#include "sim/device/device.h"

/* NULL when out of memory. `loop` is set by sl_dev_new. */
struct sl_dev *sl_hdd_new(const struct sl_dev_spec *spec, uint64_t seed, const char *name);
struct sl_dev *sl_nvram_new(const struct sl_dev_spec *spec, uint64_t seed, const char *name);

/* Disks made of disks: their members are built on `loop` with names of their own. See sl_dev_new. */
int sl_mirror_new(const struct sl_dev_spec *spec, struct sl_loop *loop, uint64_t seed, const char *name,
		  struct sl_dev **ret, struct sl_err *err);
int sl_stripe_new(const struct sl_dev_spec *spec, struct sl_loop *loop, uint64_t seed, const char *name,
		  struct sl_dev **ret, struct sl_err *err);
int sl_raid10_new(const struct sl_dev_spec *spec, struct sl_loop *loop, uint64_t seed, const char *name,
		  struct sl_dev **ret, struct sl_err *err);
/* Builds the members of `spec` as NAME.0, NAME.1, ...; on failure none is left. */
int sl_members_new(const struct sl_dev_spec *spec, struct sl_loop *loop, uint64_t seed, const char *name,
		   struct sl_dev **members, struct sl_err *err);

/* 0, or a negative errno with a message: figures of the NAND contradict each other, -ENOMEM. */
int sl_ssd_new(const struct sl_dev_spec *spec, uint64_t seed, const char *name, struct sl_dev **ret,
	       struct sl_err *err);

/* Counts a request as it arrives. */
void sl_dev_count(struct sl_dev *dev, const struct sl_dev_req *req);

/* Counts a request's time in service as busy, but for what is counted already. */
static inline void sl_dev_busy(struct sl_dev *dev, int64_t from_ns, int64_t done_ns)
{
	from_ns = from_ns > dev->counted_ns ? from_ns : dev->counted_ns;
	if (done_ns > from_ns) {
		dev->stats.busy_ns += done_ns - from_ns;
		dev->counted_ns = done_ns;
	}
}

/* Nanoseconds that `bytes` take at `rate_bps`, rounded. */
static inline int64_t sl_transfer_ns(int64_t bytes, double rate_bps)
{
	return (int64_t)((double)bytes * 1e9 / rate_bps + 0.5);
}

static inline int64_t sl_sooner(int64_t a_ns, int64_t b_ns)
{
	return a_ns < b_ns ? a_ns : b_ns;
}

static inline int64_t sl_later(int64_t a_ns, int64_t b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

#endif
