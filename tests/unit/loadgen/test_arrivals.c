/* Arrivals of an open loop, and the text of sysbench's rows. */
#include <criterion/criterion.h>
#include <ctype.h>

#include "loadgen/arrivals.h"
#include "loadgen/oltp_row.h"

#define SECOND 1000000000

Test(arrivals, constant_arrivals_do_not_drift)
{
	struct sl_arrivals arrivals;

	/* A third of a second is no whole number of ns. */
	sl_arrivals_init(&arrivals, 3, true, 1, 7);
	for (int i = 0; i < 3000; i++) {
		(void)sl_arrivals_next(&arrivals);
	}
	cr_assert_eq(sl_arrivals_next(&arrivals), 7 + 1000ll * SECOND);
}

Test(arrivals, poisson_arrivals_have_the_rate_and_exponential_gaps)
{
	struct sl_arrivals arrivals;
	int64_t last_ns = 0;
	int longer = 0;

	sl_arrivals_init(&arrivals, 1000, false, 1, 0);
	cr_assert_eq(sl_arrivals_next(&arrivals), 0);
	for (int i = 0; i < 100000; i++) {
		int64_t due_ns = sl_arrivals_next(&arrivals);

		cr_assert(due_ns >= last_ns);
		longer += due_ns - last_ns > SECOND / 1000;
		last_ns = due_ns;
	}
	/* 100 s in all; e^-1 of the gaps are longer than the mean. Four standard deviations. */
	cr_assert_float_eq((double)last_ns / SECOND, 100, 4 * 0.316);
	cr_assert_float_eq(longer / 1e5, 0.36788, 4 * 0.0016);
}

Test(arrivals, what_is_due_but_not_begun_is_counted)
{
	struct sl_arrivals arrivals;

	sl_arrivals_init(&arrivals, 10, true, 1, 0);
	cr_assert_eq(sl_arrivals_next(&arrivals), 0);
	cr_assert_eq(sl_arrivals_skip(&arrivals, SECOND), 10u);
	cr_assert_eq(sl_arrivals_skip(&arrivals, SECOND), 0u);
	cr_assert_eq(sl_arrivals_next(&arrivals), 11ll * SECOND / 10);
}

Test(row, the_text_is_groups_of_eleven_digits)
{
	char c[SL_OLTP_C_BYTES];
	struct sl_rng rng;
	int count[10] = {0};

	cr_assert_eq(sizeof(c), 119u); /* sysbench's template */
	sl_rng_init(&rng, 1, "row");
	for (int n = 0; n < 100; n++) {
		sl_oltp_digits(&rng, c, sizeof(c));
		for (unsigned i = 0; i < sizeof(c); i++) {
			cr_assert_eq(c[i] == '-', i % 12 == 11, "character %u", i);
			cr_assert(c[i] == '-' || isdigit((unsigned char)c[i]));
			count[c[i] == '-' ? 0 : c[i] - '0'] += c[i] != '-';
		}
	}
	for (int digit = 0; digit < 10; digit++) {
		cr_assert_float_eq(count[digit] / 11000.0, 0.1, 4 * 0.0029, "digit %d", digit);
	}
}
