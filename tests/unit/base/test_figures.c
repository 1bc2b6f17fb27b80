/* Random streams, logarithm and exponential, histogram. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>

#include "sim/base/hist.h"
#include "sim/base/rng.h"

Test(rng, a_stream_depends_on_seed_and_name_only)
{
	struct sl_rng a, b, other_name, other_seed;

	sl_rng_init(&a, 42, "disk0");
	sl_rng_init(&b, 42, "disk0");
	sl_rng_init(&other_name, 42, "disk1");
	sl_rng_init(&other_seed, 43, "disk0");
	for (int i = 0; i < 1000; i++) {
		uint64_t x = sl_rng_u64(&a);

		(void)sl_rng_u64(&other_name); /* drawing from one stream moves no other */
		cr_assert_eq(x, sl_rng_u64(&b));
		cr_assert(x != sl_rng_u64(&other_name));
		cr_assert(x != sl_rng_u64(&other_seed));
	}
}

/* Written down once: a change of these figures changes every published result of the model. */
Test(rng, the_first_draws_are_the_same_on_every_machine)
{
	static const uint64_t draws[] = {0xf1c9955aeeca701au, 0x590d02ab60396535u, 0x21a21f13ed64f08eu};
	struct sl_rng rng;

	sl_rng_init(&rng, 1, "golden");
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(sl_rng_u64(&rng), draws[i]);
	}
	cr_assert_eq(sl_log(3.0), 0x1.193ea7aad030bp+0);
	cr_assert_eq(sl_exp(-1.5), 0x1.c8f87724b5c1dp-3);
}

Test(rng, uniform_and_bounded_draws_cover_their_range_evenly)
{
	struct sl_rng rng;
	int in[10] = {0};
	double sum = 0;

	sl_rng_init(&rng, 7, "range");
	for (int i = 0; i < 100000; i++) {
		double u = sl_rng_uniform(&rng);

		cr_assert(u >= 0.0 && u < 1.0);
		sum += u;
		in[sl_rng_below(&rng, 10)]++;
	}
	cr_assert(fabs(sum / 100000 - 0.5) < 0.005);
	for (int i = 0; i < 10; i++) {
		cr_assert(in[i] > 9500 && in[i] < 10500, "%d: %d", i, in[i]);
	}
}

Test(rng, exponential_draws_have_their_mean_and_spread)
{
	struct sl_rng rng;
	double sum = 0, squares = 0;
	const int n = 200000;

	sl_rng_init(&rng, 3, "exp");
	for (int i = 0; i < n; i++) {
		double x = (double)sl_rng_exp_ns(&rng, 1000000);

		sum += x;
		squares += x * x;
	}
	cr_assert(fabs(sum / n / 1e6 - 1.0) < 0.01);
	cr_assert(fabs(sqrt(squares / n - (sum / n) * (sum / n)) / 1e6 - 1.0) < 0.02);
	cr_assert_eq(sl_rng_exp_ns(&rng, 0), 0);
}

static void assert_close(double ours, double libm, double x)
{
	cr_assert(fabs(ours - libm) <= 1e-13 * fabs(libm), "x = %a: %.17g, libm %.17g", x, ours, libm);
}

Test(rng, log_and_exp_agree_with_libm)
{
	struct sl_rng rng;

	sl_rng_init(&rng, 9, "libm");
	for (int i = 0; i < 100000; i++) {
		double u = sl_rng_uniform(&rng);
		double wide = ldexp(0.5 + u / 2, (int)sl_rng_below(&rng, 2040) - 1040);
		double near_one = 1.0 + (u - 0.5) * 1e-3;
		double power = (u - 0.5) * 1400;

		assert_close(sl_log(wide), log(wide), wide);
		assert_close(sl_log(near_one), log(near_one), near_one);
		assert_close(sl_exp(power), exp(power), power);
		assert_close(sl_exp(u), exp(u), u);
	}
}

Test(rng, log_and_exp_at_the_edges)
{
	cr_assert_eq(sl_log(1.0), 0.0);
	cr_assert_eq(sl_exp(0.0), 1.0);
	cr_assert(isinf(sl_log(HUGE_VAL)));
	cr_assert(isinf(sl_exp(710)) && isinf(sl_exp(HUGE_VAL)));
	cr_assert_eq(sl_exp(-1000), 0.0);
	cr_assert_eq(sl_exp(-HUGE_VAL), 0.0);
	assert_close(sl_log(DBL_MAX), log(DBL_MAX), DBL_MAX);
	assert_close(sl_log(DBL_TRUE_MIN), log(DBL_TRUE_MIN), DBL_TRUE_MIN);
	assert_close(sl_exp(709.7), exp(709.7), 709.7);
	cr_assert(isnan(sl_exp((double)NAN)));
}

Test(hist, a_quantile_is_within_one_percent_of_the_exact_one)
{
	static const double quantiles[] = {0.0, 0.01, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999, 1.0};
	struct sl_hist hist;

	cr_assert_eq(sl_hist_init(&hist), 0);
	for (int64_t scale = 1; scale < INT64_C(1000000000000); scale *= 10) {
		sl_hist_reset(&hist);
		for (int64_t i = 1; i <= 10000; i++) {
			sl_hist_add(&hist, i * scale);
		}
		for (size_t k = 0; k < sizeof(quantiles) / sizeof(quantiles[0]); k++) {
			double rank = fmin(floor(quantiles[k] * 10000), 9999);
			double exact = (rank + 1) * (double)scale;
			double got = (double)sl_hist_quantile(&hist, quantiles[k]);

			cr_assert(fabs(got - exact) <= 0.008 * exact, "q %g: %g, exact %g", quantiles[k], got,
				  exact);
		}
		cr_assert(fabs(sl_hist_mean(&hist) / (5000.5 * (double)scale) - 1) < 1e-9);
	}
	sl_hist_fini(&hist);
}

Test(hist, extremes_are_kept_exactly)
{
	struct sl_hist hist;

	cr_assert_eq(sl_hist_init(&hist), 0);
	cr_assert_eq(sl_hist_quantile(&hist, 0.5), 0);
	cr_assert_eq(sl_hist_mean(&hist), 0.0);
	sl_hist_add(&hist, INT64_MAX);
	cr_assert_eq(sl_hist_quantile(&hist, 0.5), INT64_MAX);
	sl_hist_add(&hist, -5); /* counts as 0 */
	cr_assert_eq(hist.min, 0);
	cr_assert_eq(hist.max, INT64_MAX);
	cr_assert_eq(sl_hist_quantile(&hist, 0.0), 0);
	cr_assert_eq(sl_hist_quantile(&hist, 1.0), INT64_MAX);
	sl_hist_reset(&hist);
	cr_assert_eq(hist.count, 0);
	sl_hist_add(&hist, 777777);
	cr_assert_eq(sl_hist_quantile(&hist, 0.99), 777777);
	sl_hist_fini(&hist);
}

Test(hist, merging_equals_adding_everything_to_one)
{
	struct sl_hist a, b, all;
	struct sl_rng rng;

	sl_rng_init(&rng, 5, "merge");
	cr_assert(sl_hist_init(&a) == 0 && sl_hist_init(&b) == 0 && sl_hist_init(&all) == 0);
	for (int i = 0; i < 2000; i++) {
		int64_t x = sl_rng_exp_ns(&rng, 50000);

		sl_hist_add(i % 3 == 0 ? &a : &b, x);
		sl_hist_add(&all, x);
	}
	sl_hist_merge(&a, &b);
	cr_assert_eq(a.count, all.count);
	cr_assert_eq(a.min, all.min);
	cr_assert_eq(a.max, all.max);
	for (int q = 0; q <= 100; q++) {
		cr_assert_eq(sl_hist_quantile(&a, q / 100.0), sl_hist_quantile(&all, q / 100.0));
	}
	sl_hist_fini(&a);
	sl_hist_fini(&b);
	sl_hist_fini(&all);
}
