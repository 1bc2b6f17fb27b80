/* A rate over time: means, least step, when an amount is reached, when it is steady. */
#include <criterion/criterion.h>
#include <math.h>

#include "sim/base/series.h"

#define S INT64_C(1000000000)

static struct sl_series of_rates(const double *rates, int n)
{
	struct sl_series series = {.step_ns = 10 * S, .n = n};

	for (int i = 0; i < n; i++) {
		series.rate[i] = rates[i];
	}
	return series;
}

Test(series, means_count_steps_in_part)
{
	struct sl_series series = of_rates((const double[]){100, 40, 10, 30}, 4);

	cr_assert_eq(sl_series_mean(&series, 0, 20 * S), 70);
	cr_assert_eq(sl_series_mean(&series, 5 * S, 15 * S), 70);
	cr_assert(fabs(sl_series_mean(&series, 9 * S, 12 * S) - 60) < 1e-9);
	cr_assert_eq(sl_series_mean(&series, 35 * S, 500 * S), 30, "what was not measured does not count");
	cr_assert_eq(sl_series_mean(&series, 40 * S, 50 * S), 0);
}

Test(series, the_least_step_lies_wholly_in_the_window)
{
	struct sl_series series = of_rates((const double[]){100, 40, 10, 30}, 4);

	cr_assert_eq(sl_series_least(&series, 0, 40 * S), 10);
	cr_assert_eq(sl_series_least(&series, 0, 29 * S), 40);
	cr_assert_eq(sl_series_least(&series, 21 * S, 40 * S), 30);
	cr_assert_eq(sl_series_least(&series, 1 * S, 9 * S), 0);
}

Test(series, an_amount_is_reached_within_a_step)
{
	struct sl_series series = of_rates((const double[]){100, 0, 10, 30}, 4);

	cr_assert_eq(sl_series_reach_ns(&series, 500), 5 * S);
	cr_assert_eq(sl_series_reach_ns(&series, 1000), 10 * S);
	cr_assert_eq(sl_series_reach_ns(&series, 1050), 25 * S);
	cr_assert_eq(sl_series_reach_ns(&series, 1401), -1);
}

Test(series, steady_is_the_first_window_near_the_last)
{
	struct sl_series falling = of_rates((const double[]){200, 150, 103, 101, 100, 100}, 6);
	struct sl_series rising_late = of_rates((const double[]){100, 100, 100, 100, 100, 120}, 6);

	cr_assert_eq(sl_series_steady_ns(&falling, 10 * S, 0.05), 20 * S);
	cr_assert_eq(sl_series_steady_ns(&falling, 20 * S, 0.02), 30 * S - 10 * S);
	cr_assert_eq(sl_series_steady_ns(&falling, 10 * S, 0.001), 40 * S);
	cr_assert_eq(sl_series_steady_ns(&rising_late, 10 * S, 0.05), 50 * S);
	cr_assert_eq(sl_series_steady_ns(&falling, 40 * S, 0.05), -1, "shorter than two windows");
	cr_assert_eq(sl_series_steady_ns(&falling, 1 * S, 0.05), -1, "shorter than a step");
}

/* 1000 events a second for 4 s: 1500 steps of 1 ms are full at 1.5 s, those of 2 ms at 3 s; at the end there
 * are 1000 steps of 4 ms with 4 events each. */
Test(series, counts_widen_their_steps_as_time_goes_on)
{
	struct sl_series series = {0};

	for (int64_t ms = 0; ms < 4000; ms++) {
		sl_series_count(&series, ms * 1000000);
	}
	cr_assert_eq(series.step_ns, 4000000);
	for (int i = 0; i < 1000; i++) {
		cr_assert_eq(series.rate[i], 4, "step %d: %g", i, series.rate[i]);
	}
	cr_assert_eq(series.rate[1000], 0);
	sl_series_finish(&series, 4 * S - 1); /* the last step was not over */
	cr_assert_eq(series.n, 999);
	cr_assert_eq(series.rate[998], 1000);
}

Test(series, a_run_within_one_step_has_a_rate_as_well)
{
	struct sl_series series = {0};

	sl_series_finish(&series, 0);
	cr_assert_eq(series.n, 0);
	sl_series_count(&series, 100000);
	sl_series_count(&series, 200000);
	sl_series_finish(&series, 500000);
	cr_assert_eq(series.n, 1);
	cr_assert_eq(series.rate[0], 4000); /* 2 in half a millisecond */
}
