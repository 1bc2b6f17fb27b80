/* The fit on fewer cells: what it finds must hold for a workload it never saw. */
#include "tests/sim/lib.h"

#include "sim/stack/fit.h"

#define EVALUATIONS 36
#define NEARLY (1 + 1e-9)

/* Makes the two costs that oltp4 feels most wrong: the fit has to find them in the other workloads. */
static void forget(struct sl_scenario *sc)
{
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_set_number(sc, "params.guest.oltp_cpu", 7.8e6, &err), 0, "%s", err.msg);
	cr_assert_eq(sl_scenario_set_number(sc, "params.zil.commit_cpu", 0.7e6, &err), 0, "%s", err.msg);
}

static double worst_error(const struct sl_result *result, int workload)
{
	double worst = 0;

	for (int i = 0; i < result->n_cells; i++) {
		const struct sl_cell *cell = &result->cells[i];

		if (cell->workload == workload && fabs(cell->error_pct) > worst) {
			worst = fabs(cell->error_pct);
		}
	}
	return worst;
}

Test(fit, four_threads_held_out_are_predicted_within_10_percent)
{
	struct sl_scenario *sc = load_b3n();
	int oltp4 = sl_scenario_find_workload(sc, "oltp4");
	struct sl_fit_options options = {.hold_out = oltp4, .max_evaluations = EVALUATIONS, .seed = 1};
	struct sl_result lost;
	struct sl_err err = {0};
	struct sl_fit fit;
	double before;

	forget(sc);
	lost = run_all_cells(sc, 1);
	before = sl_result_rms(&lost, SL_ROLE_CALIBRATE, SL_ENGINE_MODEL, NULL);
	cr_assert(worst_error(&lost, oltp4) > 10, "%.2f %% without a fit", worst_error(&lost, oltp4));
	cr_assert_eq(sl_fit_run(sc, &options, &fit, &err), 0, "%s", err.msg);
	cr_assert_eq(fit.n_params, 7);
	cr_assert_eq(fit.n_cells, 8);
	cr_assert_eq(fit.degrees_of_freedom, 1);
	cr_assert(fit.rms_pct < before, "%.2f %% before, %.2f %% after", before, fit.rms_pct);
	cr_assert(fit.rms_pct < 4, "%.2f %%", fit.rms_pct);
	cr_assert(worst_error(&fit.result, oltp4) <= 10, "%.2f %%", worst_error(&fit.result, oltp4));
	for (int i = 0; i < fit.n_params; i++) {
		const struct sl_fit_param *p = &fit.params[i];

		/* But for the last bit: values go through logarithms. */
		cr_assert(p->min <= p->low * NEARLY && p->low <= p->value * NEARLY &&
			      p->value <= p->high * NEARLY && p->high <= p->max * NEARLY,
			  "%s: %g <= %g <= %g <= %g <= %g", p->key, p->min, p->low, p->value, p->high,
			  p->max);
	}
	sl_fit_fini(&fit);
	sl_result_fini(&lost);
	sl_scenario_free(sc);
}
