/*
 * openindiana-zil: iostat's lines of three log devices, and what the program saw behind them.
 */
#include "tests/sim/lib.h"

#define CALIBRATE_PCT 5.0
#define PREDICT_PCT 7.0

static struct sl_scenario *load_zil(void)
{
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_load(SL_SOURCE_DIR "/scenarios/openindiana-zil.yaml",
				      SL_SOURCE_DIR "/sim/scenario", &sc, &err),
		     0, "%s", err.msg);
	return sc;
}

Test(zil, published_lines_of_iostat)
{
	struct sl_scenario *sc = load_zil();
	struct sl_result result = run_all_cells(sc, 1);
	int calibrate = 0, predict = 0;

	for (int i = 0; i < result.n_cells; i++) {
		const struct sl_cell *cell = &result.cells[i];
		double limit = cell->role == SL_ROLE_CALIBRATE ? CALIBRATE_PCT : PREDICT_PCT;

		if (cell->has_published) {
			cr_assert(fabs(cell->error_pct) <= limit, "%s/%s: %+.2f %%",
				  cell_variant(&result, cell), cell_workload(&result, cell), cell->error_pct);
			calibrate += cell->role == SL_ROLE_CALIBRATE;
			predict += cell->role == SL_ROLE_PREDICT;
		}
	}
	cr_assert_eq(calibrate, 6);
	cr_assert_eq(predict, 2);
	sl_result_fini(&result);
	sl_scenario_free(sc);
}

/* The value that a cell reports. */
static double value_of(const struct sl_result *result, const char *variant, const char *workload)
{
	const struct sl_cell *cell =
	    sl_result_find(result, sl_scenario_find_variant(result->scenario, variant),
			   sl_scenario_find_workload(result->scenario, workload), SL_ENGINE_MODEL);

	cr_assert_not_null(cell, "%s/%s", variant, workload);
	return cell->value;
}

Test(zil, half_of_what_iostat_counts_are_flushes_where_the_pattern_does_not_match)
{
	struct sl_scenario *sc = load_zil();
	struct sl_result result = run_all_cells(sc, 1);
	double commits = value_of(&result, "s3700-200", "bs1");
	double plain = value_of(&result, "stec-mlc-200", "bs1");

	cr_assert(fabs(value_of(&result, "s3700-200", "bs1-iostat-w") / commits - 2) < 0.001);
	cr_assert(fabs(value_of(&result, "stec-mlc-200", "bs1-iostat-w") / plain - 1) < 0.001);
	/* A block of 4 KiB for one byte, of 8 KiB for 4096: 2 and 4 KiB a line of iostat with flushes, 4
	 * without. */
	cr_assert(fabs(value_of(&result, "s3700-200", "bs1-iostat-kib") / commits - 4) < 0.01);
	cr_assert(fabs(value_of(&result, "s3700-200", "bs4096-iostat-kib") /
			   value_of(&result, "s3700-200", "bs4096") -
		       8) < 0.01);
	sl_result_fini(&result);
	sl_scenario_free(sc);
}

Test(zil, the_posters_three_questions)
{
	struct sl_scenario *sc = load_zil();
	struct sl_result result = run_all_cells(sc, 1);
	double fast_link = value_of(&result, "s3700-200", "bs1"),
	       slow_link = value_of(&result, "s3700-200-3g", "bs1");
	double slc = value_of(&result, "stec-slc-100", "bs1"), mlc = value_of(&result, "stec-mlc-200", "bs1");
	double no_flush = value_of(&result, "s3700-200-nonvolatile", "bs1");

	cr_assert_eq(sl_scenario_questions(sc), 3);
	cr_assert(fast_link > slow_link && fast_link < 1.06 * slow_link, "%g %g", slow_link, fast_link);
	cr_assert(mlc > 4.5 * slc, "%g %g", slc, mlc);
	cr_assert(no_flush > 1.5 * fast_link, "%g %g", fast_link, no_flush);
	sl_result_fini(&result);
	sl_scenario_free(sc);
}
