/*
 * Least squares on the logarithm of model / published over the calibrate cells, by NLopt's Sbplx (subspace
 * Nelder-Mead, no derivatives, bounds). Parameters are searched in the unit cube of their logarithmic range.
 */
#include "sim/stack/fit.h"

#include <errno.h>
#include <math.h>
#include <nlopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/stack/plain_table.h"

#define DEFAULT_EVALUATIONS 400
#define RANGE_FACTOR 1.1 /* RMS that still counts as good, relative to the best */
#define RANGE_STEPS 6    /* bisections per side */
#define TOLERANCE 1e-3   /* of the unit cube */
#define STEP 0.1         /* of a parameter, to either side, for the slopes of the cells */

struct search {
	struct sl_scenario *sc;
	const struct sl_fit_options *options;
	struct sl_fit *fit;
	struct sl_err *err;
	int rc;
	int planned; /* evaluations, for the progress */
	nlopt_opt optimiser;
};

static double from_unit(const struct sl_fit_param *param, double x)
{
	if (param->min > 0) {
		return sl_exp(sl_log(param->min) + x * (sl_log(param->max) - sl_log(param->min)));
	}
	return param->min + x * (param->max - param->min);
}

static double to_unit(const struct sl_fit_param *param, double value)
{
	if (param->min > 0) {
		return (sl_log(value) - sl_log(param->min)) / (sl_log(param->max) - sl_log(param->min));
	}
	return (value - param->min) / (param->max - param->min);
}

bool sl_fit_holds(const struct sl_held *held, int variant, int workload)
{
	return workload == held->workload || variant == held->variant;
}

const char *sl_fit_held_name(const struct sl_held *held, const struct sl_scenario *sc)
{
	if (held->workload >= 0) {
		return sl_scenario_workload(sc, held->workload)->name;
	}
	return held->variant >= 0 ? sl_scenario_variant_name(sc, held->variant) : NULL;
}

static bool seen(const struct search *search, int variant, int workload)
{
	const struct sl_published *published = sl_scenario_published(search->sc, variant, workload);

	return published && published->role == SL_ROLE_CALIBRATE &&
	       !sl_fit_holds(&search->options->held, variant, workload);
}

static int run_cell(const struct search *search, int variant, int workload, double *ret_log_error)
{
	const struct sl_stack_setup setup = {.seed = search->options->seed,
					     .stopped = search->options->stopped};
	struct sl_measure measure;
	struct sl_box box;
	int rc = sl_scenario_box(search->sc, variant, &box, search->err);

	if (rc == 0) {
		rc = sl_stack_run(&box, sl_scenario_workload(search->sc, workload), &setup, &measure,
				  search->err);
	}
	if (rc == 0) {
		double published = sl_scenario_published(search->sc, variant, workload)->value;
		double value = sl_metric_value(&measure, sl_scenario_workload(search->sc, workload));

		*ret_log_error = value > 0 ? sl_log(value / published) : -10;
	}
	return rc;
}

/* Sum of squared logarithmic errors over the seen cells at the parameters now set in the scenario. */
static int evaluate(struct search *search, double *ret)
{
	double sum = 0;

	for (int v = 0; v < sl_scenario_variants(search->sc); v++) {
		for (int w = 0; w < sl_scenario_workloads(search->sc); w++) {
			double error = 0;
			int rc = seen(search, v, w) ? run_cell(search, v, w, &error) : 0;

			if (rc < 0) {
				return rc;
			}
			sum += error * error;
		}
	}
	search->fit->evaluations++;
	*ret = sum;
	if (search->options->progress &&
	    !search->options->progress(search->options->progress_arg, search->fit->evaluations,
				       search->planned)) {
		return sl_err_set(search->err, -ECANCELED, "fit: stopped");
	}
	return 0;
}

/* nlopt_func; sbplx asks for no gradient. */
/* NOLINTNEXTLINE(readability-non-const-parameter): the type is NLopt's */
static double objective(unsigned n, const double *x, double *gradient, void *arg)
{
	struct search *search = arg;
	double sum = 0;

	(void)gradient;
	for (unsigned i = 0; i < n && search->rc == 0; i++) {
		struct sl_fit_param *param = &search->fit->params[i];

		search->rc =
		    sl_scenario_set_number(search->sc, param->key, from_unit(param, x[i]), search->err);
	}
	if (search->rc == 0) {
		search->rc = evaluate(search, &sum);
	}
	if (search->rc < 0) {
		nlopt_force_stop(search->optimiser);
	}
	return sum;
}

static int collect_params(struct search *search)
{
	struct sl_fit *fit = search->fit;

	for (int i = 0; i < sl_scenario_params(search->sc); i++) {
		struct sl_fit_param *param;
		struct sl_param p;
		int rc = sl_scenario_param(search->sc, 0, i, &p);

		if (rc < 0) {
			return sl_err_set(search->err, rc, "fit: parameter %d cannot be read", i);
		}
		if ((p.kind != SL_PROV_FITTED && p.kind != SL_PROV_FUDGE) || p.min >= p.max) {
			continue;
		}
		if (fit->n_params == SL_FIT_MAX) {
			return sl_err_set(
			    search->err, -EINVAL,
			    "%s: %s: more than %d free parameters; give one a value with kind spec, "
			    "measured or assumed",
			    p.where, p.key, SL_FIT_MAX);
		}
		param = &fit->params[fit->n_params++];
		*param = (struct sl_fit_param){.kind = p.kind,
					       .unit = p.unit,
					       .start = p.value,
					       .value = p.value,
					       .min = p.min,
					       .max = p.max};
		(void)snprintf(param->key, sizeof(param->key), "%s", p.key);
	}
	if (fit->n_params == 0) {
		return sl_err_set(search->err, -EINVAL,
				  "fit: nothing is free; mark a parameter with kind: fitted, min and max");
	}
	return 0;
}

static int count_cells(struct search *search)
{
	struct sl_fit *fit = search->fit;

	for (int v = 0; v < sl_scenario_variants(search->sc); v++) {
		for (int w = 0; w < sl_scenario_workloads(search->sc); w++) {
			fit->n_cells += seen(search, v, w) ? 1 : 0;
		}
	}
	fit->degrees_of_freedom = fit->n_cells - fit->n_params;
	if (fit->n_cells == 0) {
		return sl_err_set(search->err, -EINVAL, "fit: no published cell with role calibrate is left");
	}
	if (fit->n_cells > SL_IDENTIFY_CELLS_MAX) {
		return sl_err_set(search->err, -EINVAL, "fit: more than %d cells with role calibrate",
				  SL_IDENTIFY_CELLS_MAX);
	}
	return 0;
}

/* In the unit cube. */
static double start_of(const struct search *search, struct sl_fit_param *param)
{
	double x = to_unit(param, param->start);

	if (sl_fit_held_name(&search->options->held, search->sc)) {
		param->start = from_unit(param, 0.5);
		return 0.5;
	}
	return x < 0 ? 0 : x > 1 ? 1 : x;
}

static int optimise(struct search *search, double *ret_best)
{
	struct sl_fit *fit = search->fit;
	int max =
	    search->options->max_evaluations > 0 ? search->options->max_evaluations : DEFAULT_EVALUATIONS;
	double x[SL_FIT_MAX];
	nlopt_opt opt = nlopt_create(NLOPT_LN_SBPLX, (unsigned)fit->n_params);

	if (!opt) {
		return sl_err_set(search->err, -ENOMEM, "fit: out of memory");
	}
	search->optimiser = opt;
	search->planned = max + 2 * (RANGE_STEPS + 1) * fit->n_params;
	for (int i = 0; i < fit->n_params; i++) {
		x[i] = start_of(search, &fit->params[i]);
	}
	nlopt_set_lower_bounds1(opt, 0);
	nlopt_set_upper_bounds1(opt, 1);
	nlopt_set_min_objective(opt, objective, search);
	nlopt_set_maxeval(opt, max);
	nlopt_set_xtol_abs1(opt, TOLERANCE);
	nlopt_set_initial_step1(opt, 0.1);
	nlopt_optimize(opt, x, ret_best);
	nlopt_destroy(opt);
	for (int i = 0; i < fit->n_params && search->rc == 0; i++) {
		fit->params[i].value = from_unit(&fit->params[i], x[i]);
		search->rc =
		    sl_scenario_set_number(search->sc, fit->params[i].key, fit->params[i].value, search->err);
	}
	return search->rc;
}

/* How far one parameter can go towards `bound` (in the unit range) before the fit is clearly worse. */
static int find_range(struct search *search, struct sl_fit_param *param, double limit, double bound,
		      double *ret)
{
	double good = to_unit(param, param->value), bad = bound;

	for (int i = 0; i < RANGE_STEPS; i++) {
		double sum = 0, at = i == 0 ? bound : 0.5 * (good + bad);
		int rc = sl_scenario_set_number(search->sc, param->key, from_unit(param, at), search->err);

		rc = rc == 0 ? evaluate(search, &sum) : rc;
		if (rc < 0) {
			return rc;
		}
		if (sum <= limit) {
			good = at;
			if (i == 0) {
				break;
			}
		} else {
			bad = at;
		}
	}
	*ret = from_unit(param, good);
	return sl_scenario_set_number(search->sc, param->key, param->value, search->err);
}

/* The logarithms of all cells seen, in order. */
static int log_cells(struct search *search, double *ret)
{
	int n = 0, rc = 0;

	for (int v = 0; v < sl_scenario_variants(search->sc); v++) {
		for (int w = 0; w < sl_scenario_workloads(search->sc) && rc == 0; w++) {
			rc = seen(search, v, w) ? run_cell(search, v, w, &ret[n++]) : 0;
		}
	}
	search->fit->evaluations++;
	return rc;
}

/* The slopes of all cells over one parameter: one column of the Jacobian. A parameter at 0 has none. */
static int find_slopes(struct search *search, struct sl_fit_param *param, double *column)
{
	double low = fmax(param->value * (1 - STEP), param->min);
	double high = fmin(param->value * (1 + STEP), param->max);
	double below[SL_IDENTIFY_CELLS_MAX], above[SL_IDENTIFY_CELLS_MAX];
	int rc;

	if (low <= 0 || high <= low) {
		return 0;
	}
	rc = sl_scenario_set_number(search->sc, param->key, low, search->err);
	rc = rc == 0 ? log_cells(search, below) : rc;
	rc = rc == 0 ? sl_scenario_set_number(search->sc, param->key, high, search->err) : rc;
	rc = rc == 0 ? log_cells(search, above) : rc;
	for (int i = 0; rc == 0 && i < search->fit->n_cells; i++) {
		column[i * search->fit->n_params] = (above[i] - below[i]) / (sl_log(high) - sl_log(low));
	}
	return rc == 0 ? sl_scenario_set_number(search->sc, param->key, param->value, search->err) : rc;
}

static int find_identified(struct search *search)
{
	struct sl_fit *fit = search->fit;
	double jacobian[SL_IDENTIFY_CELLS_MAX * SL_FIT_MAX] = {0};
	int rc = 0;

	for (int i = 0; i < fit->n_params && rc == 0; i++) {
		rc = find_slopes(search, &fit->params[i], &jacobian[i]);
	}
	if (rc == 0 && sl_identify(jacobian, fit->n_cells, fit->n_params, &fit->identified) < 0) {
		rc = sl_err_set(search->err, -EDOM, "fit: the slopes of the cells have no eigenvalues");
	}
	return rc;
}

static int find_ranges(struct search *search, double best)
{
	/* The limit is on the RMS, the sum is its square. */
	double limit = best * RANGE_FACTOR * RANGE_FACTOR;
	int searched = search->fit->evaluations, rc = 0;

	for (int i = 0; i < search->fit->n_params && rc == 0; i++) {
		struct sl_fit_param *param = &search->fit->params[i];

		rc = find_range(search, param, limit, 0, &param->low);
		rc = rc == 0 ? find_range(search, param, limit, 1, &param->high) : rc;
	}
	rc = rc == 0 ? find_identified(search) : rc;
	search->fit->range_evaluations = search->fit->evaluations - searched;
	return rc;
}

static void rms_of_seen(struct search *search)
{
	const struct sl_result *result = &search->fit->result;
	double sum = 0;
	int n = 0;

	for (int i = 0; i < result->n_cells; i++) {
		const struct sl_cell *cell = &result->cells[i];

		if (seen(search, cell->variant, cell->workload)) {
			sum += cell->error_pct * cell->error_pct;
			n++;
		}
	}
	search->fit->rms_pct = n > 0 && sum > 0 ? sl_exp(0.5 * sl_log(sum / n)) : 0;
}

static bool is_seen(const void *arg, int variant, int workload)
{
	return seen(arg, variant, workload);
}

int sl_fit_run(struct sl_scenario *sc, const struct sl_fit_options *options, struct sl_fit *ret,
	       struct sl_err *err)
{
	struct search search = {.sc = sc, .options = options, .fit = ret, .err = err};
	struct sl_run_options run = {.repeat = 1, .seed = options->seed, .stopped = options->stopped};
	double best = 0;
	int rc;

	memset(ret, 0, sizeof(*ret));
	rc = collect_params(&search);
	rc = rc == 0 ? count_cells(&search) : rc;
	rc = rc == 0 ? optimise(&search, &best) : rc;
	rc = rc == 0 ? find_ranges(&search, best) : rc;
	rc = rc == 0 ? sl_result_run(sc, &run, &ret->result, err) : rc;
	if (rc == 0 && options->stopped && options->stopped()) {
		rc = sl_err_set(err, -EINTR, "fit: stopped");
	}
	if (rc == 0) {
		rms_of_seen(&search);
		ret->plain_rms_pct = sl_plain_table_rms(sc, is_seen, &search, SL_ROLE_PREDICT, &ret->plain_n);
	}
	return rc;
}

void sl_fit_fini(struct sl_fit *fit)
{
	sl_result_fini(&fit->result);
}
