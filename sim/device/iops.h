/* Random requests in a closed loop on a bare disk, in virtual time. */
#ifndef SL_DEVICE_IOPS_H
#define SL_DEVICE_IOPS_H

#include <stdint.h>

#include "sim/base/err.h"
#include "sim/base/hist.h"
#include "sim/base/series.h"
#include "sim/device/spec.h"

#define SL_IOPS_DEPTH_MAX 256

struct sl_iops_load {
	bool write;
	bool flush; /* after each write, before the next of its slot: synchronous writes */
	int64_t block_bytes;
	int64_t span_bytes;  /* from the start of the disk; 0 = all */
	int depth;           /* requests outstanding, 1 to SL_IOPS_DEPTH_MAX */
	int64_t duration_ns; /* ends at the first of these */
	uint64_t requests;
	uint64_t seed;
	bool (*stopped)(void);    /* asked every few milliseconds; true: -EINTR. NULL: never */
	struct sl_series *series; /* gets the rate over time in steps of its step_ns; NULL = not wanted */
	struct sl_hist *latency;  /* gets each request's, a write and its flush as one; NULL = not wanted */
};

/* Requests per second of `spec` at uniformly random places, a write and its flush as one; 0 when the disk
 * takes no time. Errors: those of sl_dev_new, -EINVAL (depth, block, duration), -EINTR, errno of the loop. */
int sl_dev_iops(const struct sl_dev_spec *spec, const struct sl_iops_load *load, double *ret,
		struct sl_err *err);

/* Mean latency of one write of `bytes` and the flush that makes it stable, at queue depth 1 and random
 * places, over `duration_ns` of virtual time: what diskinfo -wS shows. Errors: those of sl_dev_iops. */
int sl_dev_sync_write_ns(const struct sl_dev_spec *spec, int64_t bytes, int64_t duration_ns, uint64_t seed,
			 double *ret_ns, struct sl_err *err);

#endif
