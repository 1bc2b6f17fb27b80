/* What the cells of a fit can tell of its parameters, and what a table tells without physics. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>

#include "sim/scenario/scenario.h"
#include "sim/stack/identify.h"
#include "sim/stack/plain_table.h"

#define NEAR(a, b) (fabs((a) - (b)) < 1e-9)

Test(identify, each_cell_that_feels_one_parameter_holds_it_to_its_noise_over_the_slope)
{
	/* Slopes 1 and 0.05: 2 % of noise leave 2 % and 40 % open; only the first is below 30 %. */
	static const double jacobian[] = {1, 0, 0, 0.05};
	struct sl_identified found;
	int at[SL_IDENTIFY_PARAMS_MAX];

	cr_assert_eq(sl_identify(jacobian, 2, 2, &found), 0);
	cr_assert(NEAR(found.sd[0], 0.02) && NEAR(found.sd[1], 0.4), "%g %g", found.sd[0], found.sd[1]);
	cr_assert_eq(found.n_identified, 1);
	cr_assert_eq(sl_direction_parts(&found.directions[0], 2, at), 1);
	cr_assert_eq(at[0], 0);
}

Test(identify, four_cells_halve_what_one_leaves_open)
{
	static const double jacobian[] = {0.5, 0.5, 0.5, 0.5};
	struct sl_identified found;

	/* 0.02 / 0.5 / sqrt(4) */
	cr_assert_eq(sl_identify(jacobian, 4, 1, &found), 0);
	cr_assert(NEAR(found.sd[0], 0.02), "%g", found.sd[0]);
}

Test(identify, parameters_that_only_act_together_cannot_be_told_apart)
{
	/* Two cells, both feel the product of the two parameters and a third by itself. */
	static const double jacobian[] = {1, 1, 0, 1, 1, 2};
	struct sl_identified found;
	int at[SL_IDENTIFY_PARAMS_MAX];

	cr_assert_eq(sl_identify(jacobian, 2, 3, &found), 0);
	cr_assert_eq(found.n_identified, 2);
	cr_assert(isinf(found.sd[0]) && isinf(found.sd[1]) && isfinite(found.sd[2]));
	cr_assert_eq(sl_direction_parts(&found.directions[2], 3, at), 2);
	cr_assert_eq(at[0] + at[1], 1, "the first two");
	cr_assert(found.directions[2].weights[0] * found.directions[2].weights[1] < 0,
		  "one against the other");
}

Test(identify, more_parameters_than_it_holds_are_an_error)
{
	static const double jacobian[SL_IDENTIFY_PARAMS_MAX + 1] = {1};
	struct sl_identified found;

	cr_assert_eq(sl_identify(jacobian, 1, SL_IDENTIFY_PARAMS_MAX + 1, &found), -EINVAL);
	cr_assert_eq(sl_identify(jacobian, 1, 0, &found), -EINVAL);
}

static bool is_calibrate(const void *arg, int variant, int workload)
{
	return sl_scenario_published(arg, variant, workload)->role == SL_ROLE_CALIBRATE;
}

/*
 * b3n-2014 by hand: s3700 is s3500's row (x 1), e1000 the same x 564 / 588, enc-off x 609 / 588 of the s3500
 * row. Errors: -0.5 +1.9 -3.9 +3.3; -3.6 -0.8 -2.4; -0.1 +4.0 -4.0 %: RMS 2.86 %.
 */
Test(plain_table, the_s3500_row_times_two_factors_is_2_86_percent_off)
{
	struct sl_err err = {0};
	struct sl_scenario *sc;
	int n;
	double rms;

	cr_assert_eq(sl_scenario_load(SL_SOURCE_DIR "/scenarios/b3n-2014.yaml", SL_SOURCE_DIR "/sim/scenario",
				      &sc, &err),
		     0, "%s", err.msg);
	rms = sl_plain_table_rms(sc, is_calibrate, sc, SL_ROLE_PREDICT, &n);
	cr_assert_eq(n, 10);
	cr_assert(fabs(rms - 2.86) < 0.01, "%.3f %%", rms);
	/* s3500-e1000, oltp2: 188 x 564 / 588 */
	cr_assert(NEAR(sl_plain_table_value(sc, is_calibrate, sc, 3, 0), 188.0 * 564 / 588));
	/* Nothing stands before the first variant. */
	cr_assert_eq(sl_plain_table_value(sc, is_calibrate, sc, 0, 0), 0);
	sl_scenario_free(sc);
}
