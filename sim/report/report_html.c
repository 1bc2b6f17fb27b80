/* The page of a run: the answer, each workload as a chart, all figures, what they cost, and what they rest
 * on. */
#include "sim/report/report_html.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "sim/report/full.h"
#include "sim/report/page_table.h"
#include "sim/report/report_costs.h"
#include "sim/scenario/metric.h"

static const char *error_class(double pct)
{
	double size = fabs(pct);

	return size <= 6 ? "n good" : size <= 12 ? "n warn" : "n bad";
}

static bool has_published(const struct sl_report *report)
{
	for (int i = 0; i < report->result->n_cells; i++) {
		if (report->result->cells[i].has_published) {
			return true;
		}
	}
	return false;
}

static bool has_intervals(const struct sl_report *report)
{
	for (int i = 0; i < report->result->n_cells; i++) {
		if (report->result->cells[i].n_samples > 1) {
			return true;
		}
	}
	return false;
}

/* "273 -> 584 requests/s with s3500", with an arrow. */
static void gain_line(const struct sl_report *report, const struct sl_gain *gain, const char *what, FILE *out)
{
	const struct sl_scenario *sc = report->result->scenario;
	const struct sl_workload *workload = sl_scenario_workload(sc, gain->slog->workload);
	bool trusted = sl_report_gain_trusted(report, gain->slog->workload, gain->slog->engine);
	char before[32], after[32], name[SL_REPORT_NAME];

	sl_result_figure(gain->none, workload, before, sizeof(before));
	sl_result_figure(gain->slog, workload, after, sizeof(after));
	fprintf(out, "<p class=\"gain\"><strong%s>%.2f\xc3\x97</strong> %s: %s \xe2\x86\x92 %s %s with ",
		!trusted                               ? " class=\"bad\""
		: gain->slog->engine >= SL_ENGINE_LIVE ? " class=\"measured\""
						       : "",
		gain->ratio, what, before, after, sl_workload_unit(workload));
	sl_html_text(sl_report_variant(sc, gain->slog->variant, name), out);
	fputs(trusted ? "</p>\n" : " <span class=\"tag bad\">not to be trusted</span></p>\n", out);
}

static void chart_gains(const struct sl_report *report, int workload, FILE *out)
{
	struct sl_gain gain;

	if (sl_result_gain_find(report->result, workload, sl_report_predictor(report), &gain)) {
		gain_line(report, &gain, "predicted", out);
	}
	if (sl_result_gain_find(report->result, workload, sl_report_real(report), &gain)) {
		gain_line(report, &gain, "measured", out);
	}
}

static void page_legend(const struct sl_report *report, FILE *out)
{
	fputs("<ul class=\"legend small\">", out);
	if (has_published(report)) {
		fputs("<li><i class=\"published\"></i>published</li>", out);
	}
	fprintf(out, "<li><i class=\"predicted\"></i>predicted%s</li>",
		has_published(report) ? ", with its distance from what was published" : "");
	if (sl_report_has_engine(report, sl_report_real(report))) {
		fputs(
		    "<li><i class=\"measured\"></i>measured here, with its distance from the prediction</li>",
		    out);
	}
	if (sl_report_doubted(report)) {
		fputs("<li><i class=\"doubted\"></i>measured, not to be trusted</li>", out);
	}
	if (sl_report_has_beside(report)) {
		fputs("<li><i class=\"live\"></i>engine live beside it, another lab: not of this "
		      "prediction</li>",
		      out);
	}
	fputs("</ul>\n", out);
}

static void page_charts(const struct sl_report *report, struct sl_page *page)
{
	const struct sl_scenario *sc = report->result->scenario;
	enum sl_engine real = sl_report_real(report);
	FILE *out = sl_page_out(page);

	sl_page_section(page, "Each workload");
	if (sl_report_has_engine(report, real)) {
		fprintf(
		    out,
		    "<p class=\"mute\">Measured: %s. Predicted: the model with the substitutions listed "
		    "below.</p>\n",
		    real == SL_ENGINE_VM
			? "real OpenZFS, NFS server, QEMU and guest in virtual machines, on modelled disks"
			: "a real NFS client against a server whose pool is modelled");
	}
	page_legend(report, out);
	fputs("<div class=\"grid charts\">\n", out);
	for (int w = 0; w < sl_scenario_workloads(sc); w++) {
		if (!sl_report_has_workload(report, w)) {
			continue;
		}
		fputs("<figure class=\"card\"><h3>", out);
		sl_html_text(sl_scenario_workload(sc, w)->name, out);
		fprintf(out, " <span class=\"mute small\">%s</span></h3>\n",
			sl_workload_unit(sl_scenario_workload(sc, w)));
		chart_gains(report, w, out);
		sl_report_svg(report, w, out);
		fputs("</figure>\n", out);
	}
	fputs("</div>\n", out);
}

static void page_rms(const struct sl_report *report, FILE *out)
{
	static const enum sl_role roles[] = {SL_ROLE_CALIBRATE, SL_ROLE_PREDICT};
	static const char *const what[] = {"cells the parameters were fitted on",
					   "cells that were only predicted"};

	for (int i = 0; i < 2; i++) {
		int n = 0;
		double rms = sl_result_rms(report->result, roles[i], sl_report_predictor(report), &n);

		if (n > 0) {
			fprintf(
			    out,
			    "<p>Error of the %s: <strong>%.2f %%</strong> RMS (root of the mean square) over "
			    "%d, median %.2f %%.</p>\n",
			    what[i], rms, n,
			    sl_result_median_error(report->result, roles[i], sl_report_predictor(report)));
		}
	}
}

/* Which columns the figures have. */
struct shape {
	bool real, beside, published;
};

static void put_value(struct sl_page_table *table, const struct sl_report *report, const struct sl_cell *cell)
{
	char text[32];

	if (!cell) {
		sl_page_put(table, "mute", "-");
		return;
	}
	sl_page_field(table, "n");
	sl_report_number(cell->value, text, sizeof(text));
	fprintf(table->out, "<b>%s</b>", text);
	if (cell->n_samples > 1) {
		sl_report_ci(cell->ci95, text, sizeof(text));
		fprintf(table->out, " <span class=\"mute small\">\xc2\xb1%s</span>", text);
	}
	if (!sl_report_trusted(report, cell)) {
		fputs(" <span class=\"tag bad\">not to be trusted</span>", table->out);
	}
	sl_page_field_end(table);
}

static void put_percent(struct sl_page_table *table, bool known, double pct)
{
	char text[32];

	if (!known) {
		sl_page_put(table, "mute", "-");
		return;
	}
	sl_report_percent(pct, text, sizeof(text));
	sl_page_put(table, error_class(pct), "%s", text);
}

static void figures_row(const struct sl_report *report, const struct shape *shape, int variant, int workload,
			struct sl_page_table *table)
{
	const struct sl_result *result = report->result;
	const struct sl_cell *predicted =
	    sl_result_find(result, variant, workload, sl_report_predictor(report));
	const struct sl_cell *real = sl_result_find(result, variant, workload, sl_report_real(report));
	const struct sl_cell *plain =
	    predicted ? predicted : sl_result_find(result, variant, workload, SL_ENGINE_MODEL);
	char name[SL_REPORT_NAME], text[32];

	if (!plain && !real) {
		return;
	}
	sl_page_row(table, NULL);
	sl_page_put(table, NULL, "%s", sl_report_variant(result->scenario, variant, name));
	put_value(table, report, plain);
	if (shape->real) {
		put_value(table, report, real);
		put_percent(table, real && predicted,
			    real && predicted ? sl_report_difference(real, predicted) : 0);
	}
	if (shape->beside) {
		put_value(table, report, sl_result_find(result, variant, workload, SL_ENGINE_LIVE));
	}
	if (shape->published && plain && plain->has_published) {
		sl_report_number(plain->published, text, sizeof(text));
		sl_page_put(table, NULL, "%s", text);
		put_percent(table, true, plain->error_pct);
		sl_page_put(table, NULL, "%s", sl_role_name(plain->role));
	} else if (shape->published) {
		for (int i = 0; i < 3; i++) {
			sl_page_put(table, "mute", "-");
		}
	}
	sl_page_row_end(table);
}

static void page_figures(const struct sl_report *report, struct sl_page *page)
{
	const struct sl_scenario *sc = report->result->scenario;
	const struct shape shape = {.real = sl_report_has_engine(report, sl_report_real(report)),
				    .beside = sl_report_has_beside(report),
				    .published = has_published(report)};
	const char *heads[8];
	struct sl_page_table table;
	int n = 0;

	heads[n++] = "<variant";
	heads[n++] = "predicted";
	if (shape.real) {
		heads[n++] = "measured";
		heads[n++] = "difference";
	}
	if (shape.beside) {
		heads[n++] = "engine live";
	}
	if (shape.published) {
		heads[n++] = "published";
		heads[n++] = "error";
		heads[n++] = "<role";
	}
	sl_page_table_start(&table, "All figures", heads, n, sl_page_out(page));
	for (int w = 0; w < sl_scenario_workloads(sc); w++) {
		if (!sl_report_has_workload(report, w)) {
			continue;
		}
		sl_page_table_group(&table, sl_scenario_workload(sc, w)->name,
				    sl_workload_unit(sl_scenario_workload(sc, w)));
		for (int v = 0; v < sl_scenario_variants(sc); v++) {
			figures_row(report, &shape, v, w, &table);
		}
	}
	sl_page_table_end(&table);
}

static void latency_row(const struct sl_report *report, const struct sl_cell *cell, bool engines,
			struct sl_page_table *table)
{
	const struct sl_scenario *sc = report->result->scenario;
	const struct sl_measure *m = &cell->measure;
	const int64_t times[] = {m->mean_ns, m->p50_ns, m->p95_ns, m->p99_ns, m->p999_ns, m->max_ns};
	double bytes = sl_workload_bytes(sl_scenario_workload(sc, cell->workload));
	char name[SL_REPORT_NAME], text[32] = "-";

	sl_page_row(table, NULL);
	sl_page_put(table, NULL, "%s", sl_report_variant(sc, cell->variant, name));
	if (engines) {
		sl_page_put(table, NULL, "%s", sl_engine_name(cell->engine));
	}
	if (bytes > 0) {
		sl_report_number(m->rate * bytes / 1e6, text, sizeof(text));
	}
	sl_page_put(table, NULL, "%s", text);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		(void)snprintf(text, sizeof(text), "-");
		if (times[i] > 0) {
			sl_units_time(times[i], text, sizeof(text));
		}
		sl_page_put(table, NULL, "%s", text);
	}
	sl_page_row_end(table);
}

static void page_latencies(const struct sl_report *report, struct sl_page *page)
{
	static const char *const times[] = {"MB/s", "mean", "p50", "p95", "p99", "p99.9", "max"};
	const struct sl_result *result = report->result;
	bool engines = sl_report_predictor(report) != SL_ENGINE_MODEL;
	const char *heads[9];
	struct sl_page_table table;
	int n = 0;

	sl_page_fold(page, "Throughput and latency of each cell");
	heads[n++] = "<variant";
	if (engines) {
		heads[n++] = "<engine";
	}
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		heads[n++] = times[i];
	}
	sl_page_table_start(&table, "Throughput and latency", heads, n, sl_page_out(page));
	for (int w = 0; w < sl_scenario_workloads(result->scenario); w++) {
		if (sl_report_has_workload(report, w)) {
			sl_page_table_group(&table, sl_scenario_workload(result->scenario, w)->name, "");
		}
		for (int i = 0; i < result->n_cells; i++) {
			if (result->cells[i].workload == w) {
				latency_row(report, &result->cells[i], engines, &table);
			}
		}
	}
	sl_page_table_end(&table);
	sl_page_unfold(page);
}

static int fill(struct sl_page *page, const void *arg, struct sl_err *err)
{
	const struct sl_report *report = arg;
	int rc;

	sl_html_run_answer(report, page);
	sl_html_teaches(report, page);
	page_charts(report, page);
	sl_html_questions(report, page);
	sl_page_section(page, "All figures");
	page_rms(report, sl_page_out(page));
	if (has_intervals(report)) {
		fputs("<p class=\"mute\">\xc2\xb1 is half the 95 % interval: the noise of the seed (model) "
		      "or of "
		      "repeats on this machine, not of the parameters.</p>\n",
		      sl_page_out(page));
	}
	page_figures(report, page);
	page_latencies(report, page);
	sl_costs_html(report, page);
	rc = sl_html_details(report, page);
	if (rc < 0) {
		return sl_err_set(err, rc, "HTML: out of memory");
	}
	if (report->full) {
		sl_full_html(report->full, page);
	}
	return 0;
}

int sl_report_html(void *arg, FILE *out, struct sl_err *err)
{
	const struct sl_report *report = arg;

	return sl_page_write(report->result->scenario, report->result->seed, "run", fill, report, out, err);
}
