/* Runs with the same seeds, compared pair by pair. */
#include <errno.h>
#include <math.h>

#include "sim/stack/paired.h"
#include "tests/unit/stack/lib.h"

Test(paired, what_a_seed_does_to_both_cancels_out)
{
	static const double base[] = {100, 200, 300}, other[] = {127, 254, 381};
	struct sl_paired p;
	char text[128];

	sl_paired_compare(base, other, 3, &p);
	cr_assert_eq(p.n, 3);
	cr_assert_float_eq(p.ratio, 1.27, 1e-9);
	cr_assert_float_eq(p.ratio_low, 1.27, 1e-9);
	cr_assert_float_eq(p.ratio_high, 1.27, 1e-9);
	cr_assert_float_eq(p.base, 200, 1e-9);
	cr_assert_float_eq(p.other, 254, 1e-9);
	cr_assert_eq(p.sign, SL_PAIRED_MORE);
	sl_paired_verdict(&p, "SLOG", text, sizeof(text));
	cr_assert_str_eq(text, "SLOG: 1.27x, 95 % interval 1.270..1.270");
}

/* Two pairs: ln 1.2 and ln 1.3; Student's t for one degree of freedom is 12.706. */
Test(paired, the_interval_is_student_s_of_the_logarithms)
{
	static const double base[] = {100, 100}, other[] = {120, 130};
	double mean = (log(1.2) + log(1.3)) / 2, half = 12.706 * (log(1.3) - log(1.2)) / 2;
	struct sl_paired p;

	sl_paired_compare(base, other, 2, &p);
	cr_assert_float_eq(p.ratio, exp(mean), 1e-9);
	cr_assert_float_eq(p.ratio_low, exp(mean - half), 1e-9);
	cr_assert_float_eq(p.ratio_high, exp(mean + half), 1e-9);
	cr_assert_float_eq(p.difference, 25, 1e-9);
	cr_assert_float_eq(p.difference_ci95, 12.706 * 5, 1e-6);
	cr_assert_eq(p.sign, SL_PAIRED_SAME, "the interval holds 1");
}

Test(paired, the_verdict_says_what_the_interval_says)
{
	static const struct {
		int n;
		enum sl_paired_sign sign;
		double other[3];
		const char *text;
	} rows[] = {
	    {0, SL_PAIRED_UNKNOWN, {0}, "x: nothing to compare"},
	    {1, SL_PAIRED_SINGLE, {127}, "x: 1.27x, one run each and so no interval"},
	    {3,
	     SL_PAIRED_SAME,
	     {99, 100, 101},
	     "x: no difference that 3 runs show (1.00x, 95 % interval 0.98..1.03)"},
	    {3, SL_PAIRED_MORE, {126, 127, 128}, "x: 1.27x, 95 % interval 1.25..1.30"},
	    {3, SL_PAIRED_LESS, {50, 50, 50}, "x: 0.50x, 95 % interval 0.500..0.500"},
	};
	static const double base[] = {100, 100, 100};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_paired p;
		char text[128];

		sl_paired_compare(base, rows[i].other, rows[i].n, &p);
		cr_assert_eq(p.sign, rows[i].sign, "row %zu", i);
		sl_paired_verdict(&p, "x", text, sizeof(text));
		cr_assert_str_eq(text, rows[i].text);
	}
}

Test(paired, a_run_without_a_result_makes_no_pair)
{
	static const double base[] = {100, 0, 100}, other[] = {110, 110, 0};
	struct sl_paired p;

	sl_paired_compare(base, other, 3, &p);
	cr_assert_eq(p.n, 1);
	cr_assert_float_eq(p.ratio, 1.1, 1e-9);
	cr_assert_eq(p.sign, SL_PAIRED_SINGLE);
}

Test(paired, cells_of_a_result_are_paired_as_far_as_both_have_samples)
{
	struct sl_cell cells[] = {{.variant = 0, .workload = 1, .n_samples = 3, .samples = {100, 100, 100}},
				  {.variant = 1, .workload = 1, .n_samples = 2, .samples = {150, 150}}};
	struct sl_result result = {.n_cells = 2, .cells = cells};
	struct sl_paired p;

	cr_assert_eq(sl_paired_cells(&result, 0, 1, 1, SL_ENGINE_MODEL, &p), 0);
	cr_assert_eq(p.n, 2);
	cr_assert_float_eq(p.ratio, 1.5, 1e-9);
	cr_assert_eq(sl_paired_cells(&result, 0, 1, 0, SL_ENGINE_MODEL, &p), -ENOENT);
	cr_assert_eq(sl_paired_cells(&result, 0, 2, 1, SL_ENGINE_MODEL, &p), -ENOENT);
}

/* Ends that are a hundredth apart can be told from each other with two digits; closer ones need three. */
Test(paired, an_interval_has_the_digits_that_tell_its_ends_apart)
{
	static const struct {
		double low, high;
		const char *text;
	} rows[] = {{1.2, 1.3, "1.20..1.30"}, {0, 0.01, "0.00..0.01"}, {1.271, 1.2801, "1.271..1.280"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct sl_paired p = {.n = 2, .ratio_low = rows[i].low, .ratio_high = rows[i].high};
		char text[32];

		sl_paired_interval(&p, text, sizeof(text));
		cr_assert_str_eq(text, rows[i].text, "row %zu: %s", i, text);
	}
}
