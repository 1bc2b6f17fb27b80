/* Commands that do not always take the same: the percentiles that were published, and the average untouched.
 */
#include <stdlib.h>

#include "sim/device/iops.h"
#include "sim/device/jitter.h"
#include "tests/unit/device/lib.h"

#define DRAWS 1000000

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * A million draws. An Optane M10: the 99th percentile is 2.12 and the 99.9th 3.5 times the median. A DC
 * S3700: 1.6 and 7.6; its 99.99th is 7.6 x 7.6 / 1.6 = 36. The mean is 1: the error of a million draws is
 * below 0.1 % and 0.2 %.
 */
Test(jitter, the_percentiles_are_those_published_and_the_mean_is_one)
{
	static const struct {
		double p99, p999, p9999, of_mean;
	} cases[] = {{2.12, 3.5, 3.5 * 3.5 / 2.12, 0.001}, {1.6, 7.6, 7.6 * 7.6 / 1.6, 0.003}};
	double *draws = malloc(DRAWS * sizeof(*draws));

	cr_assert_not_null(draws);
	for (int c = 0; c < 2; c++) {
		struct sl_jitter jitter;
		double sum = 0, median;

		sl_jitter_init(&jitter, cases[c].p99, cases[c].p999, 1, "disk");
		for (int i = 0; i < DRAWS; i++) {
			draws[i] = sl_jitter_draw(&jitter);
			sum += draws[i];
		}
		qsort(draws, DRAWS, sizeof(*draws), by_size);
		median = draws[DRAWS / 2];
		cr_expect_float_eq(sum / DRAWS, 1, cases[c].of_mean, "%f", sum / DRAWS);
		cr_expect_float_eq(draws[DRAWS / 100 * 99] / median, cases[c].p99, 0.02 * cases[c].p99);
		cr_expect_float_eq(draws[DRAWS / 1000 * 999] / median, cases[c].p999, 0.05 * cases[c].p999);
		cr_expect_float_eq(draws[DRAWS - DRAWS / 10000 - 1] / median, cases[c].p9999,
				   0.1 * cases[c].p9999);
		cr_expect(draws[DRAWS / 100] / median > 0.99 / cases[c].p99);
	}
	free(draws);
}

Test(jitter, none_is_none)
{
	struct sl_jitter jitter;

	sl_jitter_init(&jitter, 1, 3, 1, "disk");
	cr_assert_eq(sl_jitter_ns(&jitter, 65000), 65000);
	sl_jitter_init(&jitter, 0, 0, 1, "disk");
	cr_assert_eq(sl_jitter_ns(&jitter, 65000), 65000);
}

/* An Optane M10 as a disk: 4 KiB take 28.2 us of transfer and 19.4 on average; published are 47 us at the
 * median, 68 at the 99th and 94 at the 99.9th percentile. By hand: the median is 19.4 / 1.06 + 28.2 = 46.5
 * us, as the mean of the factors is 6 % above their median; then 28.2 + 2.12 x 18.3 = 67 and 28.2 + 3.5
 * x 18.3 = 92 us. */
Test(jitter, an_optane_m10)
{
	struct sl_hist hist;
	struct sl_dev_spec spec = {.kind = SL_DEV_NVRAM,
				   .name = "m10",
				   .capacity_bytes = 16e9,
				   .link_bps = 1970e6,
				   .read_ns = 7e3,
				   .write_ns = 19.4e3,
				   .read_bps = 900e6,
				   .ssd_write_bps = 145e6,
				   .plp = 1,
				   .parallel = 2,
				   .latency_p99 = 2.12,
				   .latency_p999 = 3.5};
	struct sl_iops_load load = {.write = true,
				    .flush = true,
				    .block_bytes = 4096,
				    .depth = 1,
				    .duration_ns = 20 * SEC,
				    .requests = 200000,
				    .seed = 1,
				    .latency = &hist};
	struct sl_err err = {0};
	double rate;

	cr_assert_eq(sl_hist_init(&hist), 0);
	cr_assert_eq(sl_dev_iops(&spec, &load, &rate, &err), 0, "%s", err.msg);
	cr_expect_float_eq(1e6 / rate, 47.6, 0.2, "%f", 1e6 / rate);
	cr_expect_float_eq((double)sl_hist_quantile(&hist, 0.5) / 1e3, 47, 1.5);
	cr_expect_float_eq((double)sl_hist_quantile(&hist, 0.99) / 1e3, 68, 3);
	cr_expect_float_eq((double)sl_hist_quantile(&hist, 0.999) / 1e3, 94, 5);
	sl_hist_fini(&hist);
}
