/* The lower half of the page: where the time goes, what to beware of, and every parameter with its
 * provenance. */
#include "cli/report.h"

#include <math.h>
#include <string.h>

#define NAMES_MAX 32

/* Names of all resources in order of appearance. */
static int resource_names(const struct sl_result *result, const char *names[NAMES_MAX])
{
	int n = 0;

	for (int i = 0; i < result->n_cells; i++) {
		const struct sl_measure *m = &result->cells[i].measure;

		for (int r = 0; r < m->n_resources; r++) {
			int k;

			for (k = 0; k < n && strcmp(names[k], m->resources[r].name) != 0; k++) {
			}
			if (k == n && n < NAMES_MAX) {
				names[n++] = m->resources[r].name;
			}
		}
	}
	return n;
}

static void resource_cell(const struct sl_measure *m, const char *name, FILE *out)
{
	for (int r = 0; r < m->n_resources; r++) {
		if (strcmp(m->resources[r].name, name) == 0) {
			double pct = m->resources[r].utilisation * 100;

			fprintf(out, "<td class=\"bar\" style=\"--u:%.0f%%\">%s%.0f %%%s</td>",
				fmin(fmax(pct, 0), 100), pct >= 90 ? "<strong>" : "", pct,
				pct >= 90 ? "</strong>" : "");
			return;
		}
	}
	fputs("<td class=\"mute\">-</td>", out);
}

static void resource_rows(const struct sl_report *report, const char *const *names, int n, FILE *out)
{
	const struct sl_result *result = report->result;
	int workload = -1;

	for (int w = 0; w < sl_scenario_workloads(result->scenario); w++) {
		for (int i = 0; i < result->n_cells; i++) {
			const struct sl_cell *cell = &result->cells[i];

			if (cell->workload != w || cell->measure.n_resources == 0) {
				continue;
			}
			fprintf(out, "<tr%s><td class=\"l\">", w != workload ? " class=\"group\"" : "");
			workload = w;
			sl_html_text(sl_scenario_workload(result->scenario, w)->name, out);
			fputs("</td><td class=\"l\">", out);
			sl_html_text(sl_scenario_variant_name(result->scenario, cell->variant), out);
			fprintf(out, "</td><td class=\"l\">%s</td>", sl_engine_name(cell->engine));
			for (int r = 0; r < n; r++) {
				resource_cell(&cell->measure, names[r], out);
			}
			fputs("</tr>\n", out);
		}
	}
}

static void details_resources(const struct sl_report *report, FILE *out)
{
	const char *names[NAMES_MAX];
	int n = resource_names(report->result, names);

	if (n == 0) {
		return;
	}
	fputs("<h2>How busy everything was</h2>\n<p class=\"mute\">Share of the measured time. What is near "
	      "100 % is the "
	      "limit: a faster part elsewhere will not help.</p>\n<div class=\"scroll\"><table>\n<thead><tr>"
	      "<th class=\"l\">workload</th><th class=\"l\">variant</th><th class=\"l\">engine</th>",
	      out);
	for (int r = 0; r < n; r++) {
		fputs("<th>", out);
		sl_html_text(names[r], out);
		fputs("</th>", out);
	}
	fputs("</tr></thead>\n<tbody>\n", out);
	resource_rows(report, names, n, out);
	fputs("</tbody></table></div>\n", out);
}

static void details_timings(const struct sl_report *report, FILE *out)
{
	const struct sl_scenario *sc = report->result->scenario;

	if (report->n_timings == 0) {
		return;
	}
	fputs("<h2>How well the clock was kept</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th "
	      "class=\"l\">workload</th>"
	      "<th class=\"l\">variant</th><th>modelled p50</th><th>late p50</th><th>late p99</th><th>NULL "
	      "call</th>"
	      "<th class=\"l\">timing</th></tr></thead>\n<tbody>\n",
	      out);
	for (int i = 0; i < report->n_timings; i++) {
		const struct sl_timing *t = &report->timings[i];
		const int64_t times[] = {t->modelled_p50_ns, t->lateness_p50_ns, t->lateness_p99_ns,
					 t->null_rtt_ns};

		fputs("<tr><td class=\"l\">", out);
		sl_html_text(sl_scenario_workload(sc, t->workload)->name, out);
		fputs("</td><td class=\"l\">", out);
		sl_html_text(sl_scenario_variant_name(sc, t->variant), out);
		fputs("</td>", out);
		for (size_t k = 0; k < sizeof(times) / sizeof(times[0]); k++) {
			char text[32];

			sl_report_time(times[k], text, sizeof(text));
			fprintf(out, "<td>%s</td>", text);
		}
		fprintf(out, "<td class=\"l %s\">%s</td></tr>\n", t->trustworthy ? "good" : "bad",
			t->trustworthy ? "trustworthy" : "not trustworthy");
	}
	fputs("</tbody></table></div>\n", out);
}

static void details_notes(const struct sl_report *report, FILE *out)
{
	const struct sl_result *result = report->result;

	if (result->n_substitutions > 0) {
		fputs("<h2>Substitutions</h2>\n<p class=\"mute\">What the engine could not run as the "
		      "scenario says.</p>\n"
		      "<ul class=\"notes\">\n",
		      out);
		for (int i = 0; i < result->n_substitutions; i++) {
			fputs("<li>", out);
			sl_html_text(result->substitutions[i], out);
			fputs("</li>\n", out);
		}
		fputs("</ul>\n", out);
	}
	bool any = false;

	for (int v = 0; v < sl_scenario_variants(result->scenario); v++) {
		char note[SL_REPORT_NOTE_MAX];

		if (sl_report_note(report, v, note, sizeof(note))) {
			fputs(any ? "<li>" : "<h2>Warnings</h2>\n<ul class=\"notes\">\n<li>", out);
			any = true;
			sl_html_text(note, out);
			fputs("</li>\n", out);
		}
	}
	for (int i = 0; i < result->n_cells; i++) {
		const struct sl_cell *cell = &result->cells[i];

		if (cell->warning[0] == '\0') {
			continue;
		}
		fputs(any ? "" : "<h2>Warnings</h2>\n<ul class=\"notes\">\n", out);
		any = true;
		fputs("<li class=\"warn\">", out);
		sl_html_text(sl_scenario_workload(result->scenario, cell->workload)->name, out);
		fputs(" on ", out);
		sl_html_text(sl_scenario_variant_name(result->scenario, cell->variant), out);
		fprintf(out, ", %s: ", sl_engine_name(cell->engine));
		sl_html_text(cell->warning, out);
		fputs("</li>\n", out);
	}
	fputs(any ? "</ul>\n" : "", out);
}

static void param_variants(const struct sl_report *report, const struct sl_param_row *row, FILE *out)
{
	const struct sl_scenario *sc = report->result->scenario;
	int total = 0, put = 0;

	for (int v = 0; v < sl_scenario_variants(sc); v++) {
		total += sl_report_has_variant(report, v);
	}
	if (row->n_variants == total) {
		fputs("<span class=\"mute\">all</span>", out);
		return;
	}
	for (int v = 0; v < sl_scenario_variants(sc); v++) {
		if (row->variants[v]) {
			fputs(put++ ? ", " : "", out);
			sl_html_text(sl_scenario_variant_name(sc, v), out);
		}
	}
}

static void param_row(const struct sl_report *report, const struct sl_param_row *row, FILE *out)
{
	const struct sl_param *p = &row->param;

	fputs("<tr><td class=\"l w\"><code>", out);
	sl_html_text(p->key, out);
	fputs("</code>", out);
	if (p->help && p->help[0] != '\0') {
		fputs("<br/><span class=\"mute small\">", out);
		sl_html_text(p->help, out);
		fputs("</span>", out);
	}
	fputs("</td><td>", out);
	sl_html_text(p->text, out);
	fprintf(out, "</td><td class=\"l\"><span class=\"tag %s\">%s</span></td><td class=\"l w\">",
		sl_provenance_name(p->kind), sl_provenance_name(p->kind));
	sl_html_text(p->source, out);
	fputs("</td><td class=\"l small mute\">", out);
	sl_html_text(row->where, out);
	fputs("</td>", out);
	if (!row->device) {
		fputs("<td class=\"l w\">", out);
		param_variants(report, row, out);
		fputs("</td>", out);
	}
	fputs("</tr>\n", out);
}

static void param_table(const struct sl_report *report, const struct sl_param_list *list, bool device,
			FILE *out)
{
	fprintf(out,
		"<div class=\"scroll\"><table>\n<thead><tr><th class=\"l\">key</th><th>value</th><th "
		"class=\"l\">kind</th>"
		"<th class=\"l\">source</th><th class=\"l\">where</th>%s</tr></thead>\n<tbody>\n",
		device ? "" : "<th class=\"l\">variants</th>");
	for (int i = 0; i < list->n; i++) {
		if (list->rows[i].device == device) {
			param_row(report, &list->rows[i], out);
		}
	}
	fputs("</tbody></table></div>\n", out);
}

int sl_html_details(const struct sl_report *report, FILE *out)
{
	struct sl_param_list list;
	int rc = sl_param_list_make(report, &list);

	if (rc < 0) {
		return rc;
	}
	details_resources(report, out);
	details_timings(report, out);
	details_notes(report, out);
	fputs("<h2>Every parameter</h2>\n<p class=\"mute\">Where each figure of the model comes from. "
	      "<em>Fitted</em> ones "
	      "were adjusted to the published cells with the role calibrate, <em>assumed</em> ones are "
	      "guesses; a <em>fudge</em> was fitted and no physics says why it has that value.</p>\n",
	      out);
	param_table(report, &list, false, out);
	fputs("<h2>The disks</h2>\n", out);
	param_table(report, &list, true, out);
	sl_param_list_fini(&list);
	return 0;
}
