/* Published benchmarks of SSDs against the catalogue's figures. */
#include "tests/sim/ssd_lib.h"

/* toms-s3700: 4 KiB random writes on a fresh drive, eight hours of the 24. */
static struct sl_ssd_curve toms(const char *name)
{
	struct sl_dev_spec spec = drive(name);
	struct sl_ssd_load load = {.duration_ns = 480 * MINUTE, .sample_ns = MINUTE, .scale = 64};

	return saturate(&spec, &load);
}

/* Mean of the first window of 10 minutes that is within 3 % of the last one. */
static double steady_iops(const struct sl_ssd_curve *curve)
{
	int64_t from_ns = sl_ssd_curve_steady_ns(curve, 10 * MINUTE, 0.03);

	cr_assert(from_ns > 0);
	return sl_ssd_curve_mean(curve, from_ns, from_ns + 10 * MINUTE);
}

Test(ssd_published, toms_s3700, .timeout = 120)
{
	struct sl_ssd_curve large = toms("intel-dc-s3700-800"), small = toms("intel-dc-s3700-200");

	cr_log_info("800 GB: fresh %.0f, steady %.0f IOPS after %.0f min (published 54000, 36000, 300)",
		    sl_ssd_curve_mean(&large, 0, 10 * MINUTE), steady_iops(&large),
		    (double)sl_ssd_curve_steady_ns(&large, 10 * MINUTE, 0.03) / (double)MINUTE);
	cr_log_info("200 GB: fresh %.0f, steady %.0f IOPS after %.0f min (published steady 32000, 120)",
		    sl_ssd_curve_mean(&small, 0, 10 * MINUTE), steady_iops(&small),
		    (double)sl_ssd_curve_steady_ns(&small, 10 * MINUTE, 0.03) / (double)MINUTE);
	within(sl_ssd_curve_mean(&large, 0, 10 * MINUTE), 54000, 0.07, "fresh IOPS, calibrate");
	within(steady_iops(&large), 36000, 0.07, "steady IOPS, calibrate");
	within(steady_iops(&small), 32000, 0.07, "steady IOPS, predict");
	within((double)small.fill_ns / (double)large.fill_ns, 0.25, 0.2, "fill time ratio");
	/* The drive varies little from second to second once steady. */
	for (int i = large.n - 60; i < large.n; i++) {
		within(large.samples[i].iops, steady_iops(&large), 0.05, "a minute of the steady state");
	}
	sl_ssd_curve_free(&large);
	sl_ssd_curve_free(&small);
}

static struct sl_ssd_curve percona(int64_t gib)
{
	struct sl_dev_spec spec = drive("intel-320-160");
	struct sl_ssd_load load = {.block_bytes = 16384,
				   .depth = 1,
				   .span_bytes = gib << 30,
				   .duration_ns = 60 * MINUTE,
				   .sample_ns = MINUTE / 6,
				   .state = SL_SSD_FULL};

	return saturate(&spec, &load);
}

static double mib_s(const struct sl_ssd_curve *curve, int64_t from_s, int64_t to_s)
{
	return sl_ssd_curve_mean(curve, from_s * 1000000000, to_s * 1000000000) * 16384 / MIB;
}

Test(ssd_published, percona_intel320_by_size, .timeout = 120)
{
	static const struct {
		int64_t gib;
		double mib_s, share;
	} sizes[] = {{10, 100, 0.05}, {70, 40, 0.05},  {140, 15, 0.05},  /* calibrate */
		     {20, 80, 0.12},  {100, 30, 0.12}, {120, 20, 0.12}}; /* predict */

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct sl_ssd_curve curve = percona(sizes[i].gib);

		cr_log_info("%lld GiB: %.1f MiB/s, published %.0f", (long long)sizes[i].gib,
			    mib_s(&curve, 2500, 3600), sizes[i].mib_s);
		within(mib_s(&curve, 2500, 3600), sizes[i].mib_s, sizes[i].share, "MiB/s after 2500 s");
		sl_ssd_curve_free(&curve);
	}
}

Test(ssd_published, percona_intel320_over_time)
{
	struct sl_ssd_curve curve = percona(100);
	double least = 1e9;

	for (int64_t s = 10; s <= 1800; s += 10) {
		double now = mib_s(&curve, s - 10, s);

		least = now < least ? now : least;
	}
	cr_log_info("100 GiB: starts at %.1f, falls to %.1f, settles at %.1f MiB/s (published 80, 10, 30)",
		    mib_s(&curve, 0, 60), least, mib_s(&curve, 2500, 3600));
	within(mib_s(&curve, 0, 60), 80, 0.20, "start");
	cr_assert(least < 20, "no dip: %g MiB/s", least);
	cr_assert(least < 0.6 * mib_s(&curve, 2500, 3600), "the dip must end");
	within(mib_s(&curve, 2500, 3600), 30, 0.15, "settled");
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
