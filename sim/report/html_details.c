/* The lower half of the page: where the time goes, what to beware of, and every parameter with its
 * provenance. */
#include "sim/report/page_table.h"
#include "sim/report/report_html.h"

#include <string.h>

/* Beside the name of the variant. */
#define NAMES_MAX (SL_PAGE_COLUMNS - 1)

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

static double utilisation(const struct sl_measure *m, const char *name)
{
	for (int r = 0; r < m->n_resources; r++) {
		if (strcmp(m->resources[r].name, name) == 0) {
			return m->resources[r].utilisation;
		}
	}
	return -1;
}

static void resource_row(const struct sl_report *report, const struct sl_cell *cell, const char *const *names,
			 int n, struct sl_page_table *table)
{
	char label[SL_REPORT_NAME];

	sl_page_row(table, NULL);
	sl_page_put(table, NULL, "%s%s%s", sl_report_variant(report->result->scenario, cell->variant, label),
		    cell->engine == SL_ENGINE_MODEL ? "" : ", ",
		    cell->engine == SL_ENGINE_MODEL ? "" : sl_engine_name(cell->engine));
	for (int r = 0; r < n; r++) {
		double share = utilisation(&cell->measure, names[r]);

		if (share >= 0) {
			sl_page_put_share(table, share);
		} else {
			sl_page_put(table, "mute", "-");
		}
	}
	sl_page_row_end(table);
}

static void details_resources(const struct sl_report *report, struct sl_page *page)
{
	const struct sl_result *result = report->result;
	const char *heads[SL_PAGE_COLUMNS] = {"<variant"};
	struct sl_page_table table;
	int n = resource_names(result, heads + 1);

	if (n == 0) {
		return;
	}
	sl_page_section(page, "How busy everything was");
	fputs("<p class=\"mute\">Share of the measured time. What is near 100 % is the limit: a faster part "
	      "elsewhere will not help.</p>\n",
	      sl_page_out(page));
	sl_page_table_start(&table, "How busy everything was", heads, n + 1, sl_page_out(page));
	for (int w = 0; w < sl_scenario_workloads(result->scenario); w++) {
		bool headed = false;

		for (int i = 0; i < result->n_cells; i++) {
			const struct sl_cell *cell = &result->cells[i];

			if (cell->workload != w || cell->measure.n_resources == 0) {
				continue;
			}
			if (!headed) {
				sl_page_table_group(&table, sl_scenario_workload(result->scenario, w)->name,
						    "");
			}
			headed = true;
			resource_row(report, cell, heads + 1, n, &table);
		}
	}
	sl_page_table_end(&table);
}

static void timing_row(const struct sl_report *report, const struct sl_timing *t, struct sl_page_table *table)
{
	const struct sl_scenario *sc = report->result->scenario;
	const int64_t times[] = {t->modelled_p50_wall_ns, t->lateness_p50_wall_ns, t->lateness_p99_wall_ns,
				 t->null_rtt_ns};

	sl_page_row(table, NULL);
	sl_page_put(table, NULL, "%s on %s", sl_scenario_workload(sc, t->workload)->name,
		    sl_scenario_variant_name(sc, t->variant));
	for (size_t k = 0; k < sizeof(times) / sizeof(times[0]); k++) {
		char text[32];

		sl_units_time(times[k], text, sizeof(text));
		sl_page_put(table, NULL, "%s", text);
	}
	sl_page_put(table, t->trustworthy ? "good" : "bad", "%s%s",
		    t->trustworthy ? "trustworthy" : "not trustworthy: ", t->trust.reason);
	sl_page_row_end(table);
}

static void details_timings(const struct sl_report *report, struct sl_page *page)
{
	static const char *const heads[] = {"<cell",    "modelled p50", "late p50",
					    "late p99", "NULL call",    "<timing"};
	struct sl_page_table table;

	if (report->n_timings == 0) {
		return;
	}
	sl_page_section(page, "How well the clock was kept");
	sl_page_table_start(&table, "How well the clock was kept", heads, 6, sl_page_out(page));
	for (int i = 0; i < report->n_timings; i++) {
		timing_row(report, &report->timings[i], &table);
	}
	sl_page_table_end(&table);
}

static void details_substitutions(const struct sl_result *result, struct sl_page *page)
{
	FILE *out = sl_page_out(page);

	if (result->n_substitutions == 0) {
		return;
	}
	sl_page_section(page, "Substitutions");
	fputs("<p class=\"mute\">What the engine could not run as the scenario says.</p>\n"
	      "<ul class=\"notes\">\n",
	      out);
	for (int i = 0; i < result->n_substitutions; i++) {
		fputs("<li>", out);
		sl_html_text(result->substitutions[i], out);
		fputs("</li>\n", out);
	}
	fputs("</ul>\n", out);
}

/* The section starts with the first of them. */
static void warning_start(struct sl_page *page, bool *any)
{
	if (!*any) {
		sl_page_section(page, "Warnings");
		fputs("<ul class=\"notes\">\n", sl_page_out(page));
	}
	*any = true;
}

static void details_warnings(const struct sl_report *report, struct sl_page *page)
{
	const struct sl_result *result = report->result;
	FILE *out = sl_page_out(page);
	bool any = false;

	for (int v = 0; v < sl_scenario_variants(result->scenario); v++) {
		char note[SL_REPORT_NOTE_MAX];

		if (sl_report_note(report, v, note, sizeof(note))) {
			warning_start(page, &any);
			fputs("<li>", out);
			sl_html_text(note, out);
			fputs("</li>\n", out);
		}
	}
	for (int i = 0; i < result->n_cells; i++) {
		const struct sl_cell *cell = &result->cells[i];

		if (cell->warning[0] == '\0') {
			continue;
		}
		warning_start(page, &any);
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

static void param_row(const struct sl_report *report, const struct sl_param_row *row,
		      struct sl_page_table *table)
{
	const struct sl_param *p = &row->param;
	FILE *out = table->out;

	sl_page_row(table, NULL);
	sl_page_field(table, NULL);
	fputs("<code>", out);
	sl_html_key(p->key, out);
	fputs("</code>", out);
	if (p->help && p->help[0] != '\0') {
		fputs("<span class=\"sub\">", out);
		sl_html_text(p->help, out);
		fputs("</span>", out);
	}
	sl_page_field_end(table);
	sl_page_put(table, NULL, "%s", p->text);
	sl_page_field(table, NULL);
	fprintf(out, "<span class=\"tag %s\">%s</span>", sl_provenance_name(p->kind),
		sl_provenance_name(p->kind));
	sl_page_field_end(table);
	sl_page_field(table, "w");
	fputs("<span>", out);
	sl_html_text(p->source, out);
	fputs(p->source[0] ? " <span class=\"sub\">" : "<span class=\"sub\">", out);
	sl_html_key(row->where, out);
	fputs("</span></span>", out);
	sl_page_field_end(table);
	if (!row->device) {
		sl_page_field(table, NULL);
		param_variants(report, row, out);
		sl_page_field_end(table);
	}
	sl_page_row_end(table);
}

static void param_table(const struct sl_report *report, const struct sl_param_list *list, bool device,
			struct sl_page *page)
{
	static const char *const heads[] = {"<key", "value", "<kind", "<source, and where", "<variants"};
	struct sl_page_table table;
	int n = 0;

	for (int i = 0; i < list->n; i++) {
		n += list->rows[i].device == device;
	}
	if (n == 0) {
		return;
	}
	sl_page_fold(page, device ? "The disks: %d figures" : "The box: %d parameters", n);
	sl_page_table_start(&table, device ? "Figures of the disks" : "Parameters", heads, device ? 4 : 5,
			    sl_page_out(page));
	for (int i = 0; i < list->n; i++) {
		if (list->rows[i].device == device) {
			param_row(report, &list->rows[i], &table);
		}
	}
	sl_page_table_end(&table);
	sl_page_unfold(page);
}

int sl_html_details(const struct sl_report *report, struct sl_page *page)
{
	struct sl_param_list list;
	int rc = sl_param_list_make(report, &list);

	if (rc < 0) {
		return rc;
	}
	details_resources(report, page);
	details_timings(report, page);
	details_substitutions(report->result, page);
	details_warnings(report, page);
	sl_page_section(page, "Every parameter");
	fputs(
	    "<p class=\"mute\">Where each figure of the model comes from. <em>Fitted</em> ones were adjusted "
	    "to the published cells with the role calibrate, <em>assumed</em> ones are guesses; a "
	    "<em>fudge</em> was fitted and no physics says why it has that value.</p>\n",
	    sl_page_out(page));
	param_table(report, &list, false, page);
	param_table(report, &list, true, page);
	sl_param_list_fini(&list);
	return 0;
}
