/* The cells as CSV. */
#include "sim/report/report.h"

#include <math.h>
#include <string.h>

#include "sim/base/csv.h"
#include "sim/scenario/metric.h"

/* A name that begins like a formula would be one in a spreadsheet: it gets a quote in front. */
static void csv_name(struct sl_csv *csv, const char *text)
{
	char safe[260];

	if (text[0] != '\0' && strchr("=+-@\t\r", text[0])) {
		snprintf(safe, sizeof(safe), "'%s", text);
		sl_csv_text(csv, safe);
	} else {
		sl_csv_text(csv, text);
	}
}

/* Empty where it is not known. */
static void csv_time(struct sl_csv *csv, int64_t ns)
{
	if (ns > 0) {
		sl_csv_int(csv, ns);
	} else {
		sl_csv_text(csv, "");
	}
}

static void csv_cell(struct sl_csv *csv, const struct sl_report *report, const struct sl_cell *cell)
{
	const struct sl_scenario *sc = report->result->scenario;
	const struct sl_workload *workload = sl_scenario_workload(sc, cell->workload);
	double bytes = sl_workload_bytes(workload);

	csv_name(csv, sl_scenario_variant_name(sc, cell->variant));
	csv_name(csv, workload->name);
	sl_csv_text(csv, sl_engine_name(cell->engine));
	sl_csv_text(csv, sl_workload_unit(workload));
	sl_csv_figure(csv, cell->value);
	sl_csv_figure(csv, cell->n_samples > 1 ? cell->ci95 : (double)NAN);
	sl_csv_int(csv, cell->n_samples);
	sl_csv_figure(csv, cell->has_published ? cell->published : (double)NAN);
	sl_csv_figure(csv, cell->has_published ? cell->error_pct : (double)NAN);
	sl_csv_text(csv, sl_role_name(cell->role));
	sl_csv_figure(csv, cell->measure.rate);
	sl_csv_figure(csv, bytes > 0 ? cell->measure.rate * bytes : (double)NAN);
	csv_time(csv, cell->measure.mean_ns);
	csv_time(csv, cell->measure.p50_ns);
	csv_time(csv, cell->measure.p95_ns);
	csv_time(csv, cell->measure.p99_ns);
	csv_time(csv, cell->measure.p999_ns);
	csv_time(csv, cell->measure.max_ns);
	csv_name(csv, cell->warning);
	sl_csv_text(csv, sl_report_trusted(report, cell) ? "true" : "false");
	sl_csv_end_row(csv);
}

int sl_report_csv(void *arg, FILE *out, struct sl_err *err)
{
	static const char *const headings[] = {"variant",   "workload", "engine",  "unit",
					       "value",     "ci95",     "samples", "published",
					       "error_pct", "role",     "rate",    "bytes_per_second",
					       "mean_ns",   "p50_ns",   "p95_ns",  "p99_ns",
					       "p999_ns",   "max_ns",   "warning", "trustworthy"};
	const struct sl_report *report = arg;
	struct sl_csv csv;

	sl_csv_init(&csv, out);
	for (size_t i = 0; i < sizeof(headings) / sizeof(headings[0]); i++) {
		sl_csv_text(&csv, headings[i]);
	}
	sl_csv_end_row(&csv);
	for (int i = 0; i < report->result->n_cells; i++) {
		csv_cell(&csv, report, &report->result->cells[i]);
	}
	return sl_csv_finish(&csv, err);
}
