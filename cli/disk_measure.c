#include "cli/disk_measure.h"

#include <errno.h>
#include <stdio.h>

#include "sim/base/signals.h"
#include "sim/device/iops.h"
#include "sim/device/ssd.h"

#define SYNC_NS INT64_C(1000000000) /* virtual time per size, as diskinfo's */
#define IOPS_NS INT64_C(10000000000)
#define IOPS_REQUESTS 20000

static int measure_iops(const struct sl_dev_spec *spec, uint64_t seed, bool write, double *ret,
			struct sl_err *err)
{
	for (int i = 0; i < SL_DISK_DEPTHS; i++) {
		struct sl_iops_load load = {.write = write,
					    .block_bytes = SL_DISK_BLOCK,
					    .depth = sl_disk_depth(i),
					    .duration_ns = IOPS_NS,
					    .requests = IOPS_REQUESTS,
					    .seed = seed,
					    .stopped = sl_signals_stopped};
		int rc = sl_signals_stopped() ? sl_err_set(err, -EINTR, "interrupted")
					      : sl_dev_iops(spec, &load, &ret[i], err);

		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}

struct sl_dev_spec sl_disk_fresh(const struct sl_dev_spec *spec)
{
	struct sl_dev_spec fresh = *spec;

	fresh.raw_bytes = 0;
	return fresh;
}

static int measure_sync(const struct sl_dev_spec *spec, uint64_t seed, double *ret, struct sl_err *err)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < SL_DISK_SIZES; i++) {
		rc = sl_signals_stopped()
			 ? sl_err_set(err, -EINTR, "interrupted")
			 : sl_dev_sync_write_ns(spec, sl_disk_size(i), SYNC_NS, seed, &ret[i], err);
	}
	return rc;
}

int sl_disk_measure(const struct sl_dev_spec *spec, uint64_t seed, struct sl_disk_figures *ret,
		    struct sl_err *err)
{
	struct sl_dev_spec fresh = sl_disk_fresh(spec);
	int rc;

	if (spec->kind == SL_DEV_NULL) {
		return sl_err_set(err, -EINVAL,
				  "disk test: %s answers in no time; there is nothing to measure",
				  spec->name);
	}
	*ret = (struct sl_disk_figures){0};
	(void)snprintf(ret->name, sizeof(ret->name), "%s", spec->name);
	if (spec->assumed) {
		(void)snprintf(ret->note, sizeof(ret->note), "assumed: no figure of its speed is public");
	} else if (spec->raw_bytes > 0) {
		(void)snprintf(ret->note, sizeof(ret->note), "a fresh drive; --saturate shows how it ages");
	}
	rc = measure_sync(&fresh, seed, ret->sync_ns, err);
	rc = rc == 0 ? measure_iops(&fresh, seed, false, ret->read_iops, err) : rc;
	return rc == 0 ? measure_iops(&fresh, seed, true, ret->write_iops, err) : rc;
}
