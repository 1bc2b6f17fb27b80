#include "sim/report/report.h"

#include <errno.h>
#include <string.h>

#include "sim/report/fudges.h"
#include "sim/report/table.h"

#define SD_MAX 2.0 /* as a logarithm: a factor of 7; more is not known at all */

/* One standard deviation of a parameter, as a share of it. */
static void put_known(double sd, struct sl_table *table)
{
	if (sd > SD_MAX) {
		sl_table_put(table, SL_TINT_WARN, "not at all");
	} else {
		sl_table_put(table, sd < SL_IDENTIFIED_SD ? SL_TINT_NONE : SL_TINT_WARN, "+-%.0f %%",
			     sd * 100);
	}
}

static int fit_params(const struct sl_fit *fit, FILE *out)
{
	static const char *const headings[] = {"<parameter",        "start",   "fitted", "bounds",
					       "range (1.1 x RMS)", "known to"};
	struct sl_table *table = sl_table_new(headings, 6);
	char a[32], b[32];

	if (!table) {
		return -ENOMEM;
	}
	for (int i = 0; i < fit->n_params; i++) {
		const struct sl_fit_param *p = &fit->params[i];

		if (!sl_table_row(table)) {
			sl_table_free(table);
			return -ENOMEM;
		}
		sl_table_put(table, SL_TINT_NONE, "%s", p->key);
		sl_units_figure(p->start, p->unit, 4, a, sizeof(a));
		sl_table_put(table, SL_TINT_DIM, "%s", a);
		sl_units_figure(p->value, p->unit, 4, a, sizeof(a));
		sl_table_put(table, SL_TINT_BOLD, "%s", a);
		sl_units_figure(p->min, p->unit, 4, a, sizeof(a));
		sl_units_figure(p->max, p->unit, 4, b, sizeof(b));
		sl_table_put(table, SL_TINT_DIM, "%s .. %s", a, b);
		sl_units_figure(p->low, p->unit, 4, a, sizeof(a));
		sl_units_figure(p->high, p->unit, 4, b, sizeof(b));
		sl_table_put(table, SL_TINT_NONE, "%s .. %s", a, b);
		put_known(fit->identified.sd[i], table);
	}
	sl_table_print(table, out);
	sl_table_free(table);
	return 0;
}

/* What the cells tell of the parameters, whatever the optimum looks like. */
static void fit_directions(const struct sl_fit *fit, FILE *out)
{
	const struct sl_identified *identified = &fit->identified;

	fprintf(
	    out,
	    "\n%d of %d directions are identified: cells with %.0f %% noise each hold the parameters along "
	    "them to %.0f %% (one standard deviation; \"known to\" is that of each parameter by itself)\n",
	    identified->n_identified, identified->n_params, SL_CELL_NOISE * 100, SL_IDENTIFIED_SD * 100);
	for (int k = identified->n_identified; k < identified->n_params; k++) {
		int at[SL_IDENTIFY_PARAMS_MAX];
		int n = sl_direction_parts(&identified->directions[k], identified->n_params, at);

		fputs("not identified:", out);
		for (int i = 0; i < n; i++) {
			fprintf(out, "%s %s%s", i ? "," : "",
				identified->directions[k].weights[at[i]] *
					    identified->directions[k].weights[at[0]] <
					0
				    ? "against "
				    : "",
				fit->params[at[i]].key);
		}
		fputc('\n', out);
	}
}

/* Why a cell was not seen, or that it was. */
static const char *cell_seen(const struct sl_cell *cell, const struct sl_held *held)
{
	if (cell->role != SL_ROLE_CALIBRATE) {
		return "not seen";
	}
	return sl_fit_holds(held, cell->variant, cell->workload) ? "held out" : "fitted";
}

static int fit_cells(const struct sl_fit *fit, const struct sl_held *held, FILE *out)
{
	static const char *const headings[] = {"<workload", "<variant", "model",
					       "published", "error",    "<seen by the fit"};
	const struct sl_result *result = &fit->result;
	struct sl_table *table = sl_table_new(headings, 6);
	char text[32];

	if (!table) {
		return -ENOMEM;
	}
	for (int i = 0; i < result->n_cells; i++) {
		const struct sl_cell *cell = &result->cells[i];

		if (!cell->has_published) {
			continue;
		}
		if (!sl_table_row(table)) {
			sl_table_free(table);
			return -ENOMEM;
		}
		sl_table_put(table, SL_TINT_NONE, "%s",
			     sl_scenario_workload(result->scenario, cell->workload)->name);
		sl_table_put(table, SL_TINT_NONE, "%s",
			     sl_scenario_variant_name(result->scenario, cell->variant));
		sl_report_number(cell->value, text, sizeof(text));
		sl_table_put(table, SL_TINT_BOLD, "%s", text);
		sl_report_number(cell->published, text, sizeof(text));
		sl_table_put(table, SL_TINT_NONE, "%s", text);
		sl_report_percent(cell->error_pct, text, sizeof(text));
		sl_table_put(table, SL_TINT_NONE, "%s", text);
		sl_table_put(table, SL_TINT_DIM, "%s", cell_seen(cell, held));
	}
	sl_table_print(table, out);
	sl_table_free(table);
	return 0;
}

/* Lines for the section `params:` of the scenario. */
static void fit_yaml(const struct sl_fit *fit, FILE *out)
{
	fputs("\nfor the section params: of the scenario\n", out);
	for (int i = 0; i < fit->n_params; i++) {
		const struct sl_fit_param *p = &fit->params[i];
		const char *key = strncmp(p->key, "params.", 7) == 0 ? p->key + 7 : p->key;
		char value[32], min[32], max[32];

		sl_units_figure(p->value, p->unit, 6, value, sizeof(value));
		sl_units_figure(p->min, p->unit, 6, min, sizeof(min));
		sl_units_figure(p->max, p->unit, 6, max, sizeof(max));
		fprintf(out,
			"  %s: {value: %s, kind: %s, min: %s, max: %s, source: \"sloglab fit, RMS %.2f "
			"%% over %d cells\"}\n",
			key, value, sl_provenance_name(p->kind), min, max, fit->rms_pct, fit->n_cells);
	}
}

int sl_report_fit_text(const struct sl_fit *fit, const struct sl_held *held, FILE *out, struct sl_err *err)
{
	const struct sl_scenario *sc = fit->result.scenario;
	const char *held_name = sl_fit_held_name(held, sc);
	int n_predict = 0;
	double predict = sl_result_rms(&fit->result, SL_ROLE_PREDICT, SL_ENGINE_MODEL, &n_predict);

	fprintf(
	    out,
	    "%d cells seen, %d free parameters, %d degrees of freedom, %d evaluations: %d to search, %d for "
	    "the ranges and slopes\n",
	    fit->n_cells, fit->n_params, fit->degrees_of_freedom, fit->evaluations,
	    fit->evaluations - fit->range_evaluations, fit->range_evaluations);
	if (held_name) {
		fprintf(out, "held out: %s; the search began in the middle of the bounds\n", held_name);
	}
	fputc('\n', out);
	if (fit_params(fit, out) < 0) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	fit_directions(fit, out);
	fprintf(out, "\nRMS error over the cells seen: %.2f %%", fit->rms_pct);
	if (n_predict > 0) {
		fprintf(out, "; predict cells %.2f %% over %d", predict, n_predict);
	}
	if (fit->plain_n > 0) {
		fprintf(out,
			"\nfor comparison, a table without physics (the row before, times one factor a "
			"variant): predict cells %.2f %% over %d",
			fit->plain_rms_pct, fit->plain_n);
	}
	fputs("\n\n", out);
	if (fit_cells(fit, held, out) < 0) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	sl_fudges_text(sc, out);
	fit_yaml(fit, out);
	return 0;
}
