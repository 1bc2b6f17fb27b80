/* Published benchmarks of SSDs against the catalogue's figures. */
#include "tests/sim/ssd_lib.h"

Test(ssd_published, the_s3700_varies_little_once_steady, .timeout = 120)
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

/* FreeBSD's diskinfo -wS, 0.5 KiB to 8 MiB, in us. */
static const double intel_710_us[15] = {138.3, 137.7, 151.1, 158.2, 175.6, 210.1, 274.2, 416.5,
					776.6, 1503,  2969,  5867,  11697, 23330, 46780};
static const double samsung_950_us[15] = {2092.9, 2013.1, 2014.8, 2090.7, 2044.5, 2084.8, 2137.1, 2173.4,
					  2924,   3085,   3112,   2431,   3789,   6198,   10765};

static double sync_write_error(const struct sl_dev_spec *spec, int step, double published_us)
{
	double ns = 0;
	struct sl_err err = {0};

	cr_assert_eq(sl_dev_sync_write_ns(spec, INT64_C(512) << step, 1000000000, 1, &ns, &err), 0, "%s",
		     err.msg);
	return ns / 1e3 / published_us - 1;
}

Test(ssd_published, sync_writes_of_the_intel_710_by_size)
{
	struct sl_dev_spec spec = drive("intel-710");

	for (int i = 0; i < 15; i++) {
		double error = sync_write_error(&spec, i, intel_710_us[i]);

		cr_assert(fabs(error) < 0.10, "%d bytes: %+.1f %%", 512 << i, 100 * error);
	}
}

Test(ssd_published, sync_writes_of_the_samsung_950_pro_by_size)
{
	struct sl_dev_spec spec = drive("samsung-950-pro-512");
	double squares = 0;

	for (int i = 0; i < 15; i++) {
		double error = sync_write_error(&spec, i, samsung_950_us[i]);

		if (i <= 7) {
			cr_assert(fabs(error) < 0.10, "%d bytes: %+.1f %%", 512 << i, 100 * error);
		} else {
			squares += error * error;
		}
	}
	cr_assert(sqrt(squares / 7) < 0.25, "RMS %.1f %%", 100 * sqrt(squares / 7));
}

Test(ssd_published, sizes_of_sync_writes_are_checked)
{
	struct sl_dev_spec spec = drive("intel-710");
	struct sl_err err = {0};
	double ns;

	cr_assert_eq(sl_dev_sync_write_ns(&spec, 0, 1000, 1, &ns, &err), -EINVAL);
	cr_assert_eq(sl_dev_sync_write_ns(&spec, INT64_C(1) << 50, 1000, 1, &ns, &err), -EINVAL);
	cr_assert_eq(sl_dev_sync_write_ns(&spec, 4096, 0, 1, &ns, &err), -EINVAL);
}
