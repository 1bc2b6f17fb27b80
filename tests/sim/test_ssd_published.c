/* Published benchmarks of SSDs against the catalogue's figures. */
#include "sim/device/iops.h"
#include "tests/sim/ssd_lib.h"

Test(ssd_published, the_s3700_varies_little_once_steady)
{
	struct sl_dev_spec spec = drive("intel-dc-s3700-200");
	struct sl_ssd_load load = {.duration_ns = 240 * MINUTE, .sample_ns = MINUTE, .scale = 64};
	struct sl_ssd_curve curve = saturate(&spec, &load);
	double mean = sl_series_mean(&curve.iops, 180 * MINUTE, 240 * MINUTE);

	for (int i = 180; i < 240; i++) {
		within(curve.iops.rate[i], mean, 0.03, "a minute of the steady state");
	}
	sl_ssd_curve_free(&curve);
}

Test(ssd_published, sizes_of_sync_writes_are_checked)
{
	struct sl_dev_spec spec = drive("intel-710");
	struct sl_err err = {0};
	double ns;

	cr_assert_eq(sl_dev_sync_write_ns(&spec, 0, 1000, 1, &ns, &err), -EINVAL);
	cr_assert_eq(sl_dev_sync_write_ns(&spec, INT64_C(1) << 50, 1000, 1, &ns, &err), -EINVAL);
	cr_assert_eq(sl_dev_sync_write_ns(&spec, 4096, 0, 1, &ns, &err), -EINVAL);
	/* A disk that takes no time does not take for ever. */
	cr_assert_eq(
	    sl_dev_sync_write_ns(&(struct sl_dev_spec){.kind = SL_DEV_NULL}, 4096, 1000, 1, &ns, &err), 0);
	cr_assert_eq(ns, 0);
}
