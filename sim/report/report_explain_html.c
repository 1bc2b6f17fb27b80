/* The page of explain: per workload its conclusion, the waterfalls, and what each change would bring. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report/page_table.h"
#include "sim/report/report.h"
#include "sim/report/report_explain.h"

static const char *variant_name(const struct sl_explain *explain, const struct sl_explain_cell *cell)
{
	return sl_scenario_variant_name(explain->scenario, cell->variant);
}

static void page_path(const struct sl_explain *explain, const struct sl_explain_cell *cell,
		      enum sl_explain_quantile q, FILE *out)
{
	const struct sl_path *path = &cell->path[q];
	char time[32], calls[64], title[160];

	sl_units_time(path->latency_ns, time, sizeof(time));
	sl_explain_round_trips(path, calls, sizeof(calls));
	snprintf(title, sizeof(title), "%s %s with %s: %s", sl_explain_quantile_name(q), path->name,
		 variant_name(explain, cell), time);
	fputs("<figure class=\"card\"><h4>", out);
	sl_html_text(variant_name(explain, cell), out);
	fprintf(out, " <span class=\"mute small\">%s; serial calls: %s</span></h4>\n", time, calls);
	sl_explain_svg_path(path, sl_explain_scale(explain, cell->workload, q), title, out);
	fputs("</figure>\n", out);
}

static void page_paths(const struct sl_explain *explain, int workload, enum sl_explain_quantile q, FILE *out)
{
	const struct sl_explain_cell *subject = sl_explain_subject(explain, workload);

	if (!subject->has_path) {
		return;
	}
	fprintf(out, "<h3>The %s %s</h3>\n<div class=\"grid charts\">\n",
		q == SL_EXPLAIN_P50 ? "median" : "99th-percentile", subject->path[q].name);
	for (int i = 0; i < explain->n_cells; i++) {
		if (explain->cells[i].workload == workload && explain->cells[i].has_path) {
			page_path(explain, &explain->cells[i], q, out);
		}
	}
	fputs("</div>\n", out);
}

static void put_change(const struct sl_explain_cell *cell, enum sl_what_if what, struct sl_page_table *table)
{
	double gain = sl_what_if_gain(cell, what);
	char rate[32], percent[32];

	if (isnan(gain)) {
		sl_page_put(table, "mute", "-");
		return;
	}
	sl_report_number(cell->rate[what], rate, sizeof(rate));
	sl_report_percent(gain, percent, sizeof(percent));
	sl_page_field(table, NULL);
	fprintf(table->out, "%s <span class=\"n %s\">%s</span>", rate, gain >= 5 ? "good" : "mute", percent);
	sl_page_field_end(table);
}

static void page_change(const struct sl_explain *explain, int workload, enum sl_what_if what,
			struct sl_page_table *table)
{
	sl_page_row(table, NULL);
	sl_page_put(table, NULL, "%s", sl_what_if_name(what));
	for (int i = 0; i < explain->n_cells; i++) {
		if (explain->cells[i].workload == workload) {
			put_change(&explain->cells[i], what, table);
		}
	}
	sl_page_row_end(table);
}

/* Changes that slow a cell down, and why. */
static void page_whys(const struct sl_explain *explain, int workload, FILE *out)
{
	for (int i = 0; i < explain->n_cells; i++) {
		const struct sl_explain_cell *cell = &explain->cells[i];

		for (int what = 0; cell->workload == workload && what < SL_WHAT_IFS; what++) {
			if (cell->why[what][0] != '\0') {
				fprintf(out, "<p class=\"mute\">%s on ",
					sl_what_if_name((enum sl_what_if)what));
				sl_html_text(variant_name(explain, cell), out);
				fprintf(out, " is slower: %s</p>\n", cell->why[what]);
			}
		}
	}
}

static void page_table(const struct sl_explain *explain, int workload, FILE *out)
{
	const char *heads[SL_PAGE_COLUMNS] = {"<change"};
	struct sl_page_table table;
	char rate[32];
	int n = 1;

	for (int i = 0; i < explain->n_cells && n < SL_PAGE_COLUMNS; i++) {
		if (explain->cells[i].workload == workload) {
			heads[n++] = variant_name(explain, &explain->cells[i]);
		}
	}
	sl_page_table_start(&table, "What each change would bring", heads, n, out);
	sl_page_row(&table, "best");
	sl_page_put(&table, NULL, "as it is");
	for (int i = 0; i < explain->n_cells; i++) {
		if (explain->cells[i].workload == workload) {
			sl_report_number(explain->cells[i].value, rate, sizeof(rate));
			sl_page_put(&table, NULL, "%s", rate);
		}
	}
	sl_page_row_end(&table);
	for (int what = 0; what < SL_WHAT_IFS; what++) {
		page_change(explain, workload, (enum sl_what_if)what, &table);
	}
	sl_page_table_end(&table);
	page_whys(explain, workload, out);
}

static void page_busy(const struct sl_explain *explain, int workload, FILE *out)
{
	fputs("<ul class=\"notes\">\n", out);
	for (int i = 0; i < explain->n_cells; i++) {
		const struct sl_measure *measure = &explain->cells[i].measure;

		if (explain->cells[i].workload != workload) {
			continue;
		}
		fputs("<li><strong>", out);
		sl_html_text(variant_name(explain, &explain->cells[i]), out);
		fputs("</strong> busy: ", out);
		for (int r = 0; r < measure->n_resources; r++) {
			fprintf(out, "%s%s %.0f %%", r ? ", " : "", measure->resources[r].name,
				measure->resources[r].utilisation * 100);
		}
		fputs("</li>\n", out);
	}
	fputs("</ul>\n", out);
}

static void page_what_ifs(const struct sl_explain *explain, const struct sl_explain_cell *subject,
			  struct sl_page *page)
{
	const struct sl_workload *load = sl_scenario_workload(explain->scenario, subject->workload);
	FILE *out = sl_page_out(page);

	fputs("<h3>What if</h3>\n<div class=\"grid charts\">\n<figure class=\"card\"><h4>", out);
	sl_html_text(variant_name(explain, subject), out);
	fprintf(out, " <span class=\"mute small\">%s; dashed: as it is</span></h4>\n", sl_speed_unit(load));
	sl_explain_svg_what_ifs(subject, sl_speed_unit(load), out);
	fputs("</figure>\n</div>\n", out);
	sl_page_fold(page, "What each change would bring to every variant");
	page_table(explain, subject->workload, out);
	page_busy(explain, subject->workload, out);
	sl_page_unfold(page);
}

/* `said`: the conclusion stands above already. */
static void page_workload(const struct sl_explain *explain, int workload, bool said, struct sl_page *page)
{
	const struct sl_explain_cell *subject = sl_explain_subject(explain, workload);
	char conclusion[512];
	FILE *out = sl_page_out(page);

	if (!subject) {
		return;
	}
	sl_page_section(page, sl_scenario_workload(explain->scenario, workload)->name);
	if (!said) {
		sl_explain_conclusion(explain, workload, conclusion, sizeof(conclusion));
		sl_html_paragraph("lead", conclusion, out);
	}
	page_paths(explain, workload, SL_EXPLAIN_P50, out);
	if (subject->has_path) {
		sl_page_fold(page, "The 99th-percentile %s", subject->path[SL_EXPLAIN_P99].name);
		page_paths(explain, workload, SL_EXPLAIN_P99, out);
		sl_page_unfold(page);
	}
	if (sl_what_if_best(subject) >= 0) { /* not a bare disk */
		page_what_ifs(explain, subject, page);
	}
}

/* `said`: the workload whose conclusion stands above; -1 = none. */
static void body(const struct sl_explain *explain, int said, struct sl_page *page)
{
	fputs("<p class=\"mute\">One operation on its way through every layer: each instant belongs to the "
	      "deepest layer that then works on what the operation waits for. The layers add up to its "
	      "latency. "
	      "<em>What if</em>: the model run again with one layer at no cost.</p>\n<ul class=\"legend "
	      "small\"><li><i class=\"work\"></i>work</li><li><i class=\"wait\"></i>waiting behind "
	      "others</li></ul>\n",
	      sl_page_out(page));
	for (int w = 0; w < sl_scenario_workloads(explain->scenario); w++) {
		page_workload(explain, w, w == said, page);
	}
}

void sl_explain_html_body(const struct sl_explain *explain, struct sl_page *page)
{
	body(explain, -1, page);
}

static void fact_latency(const struct sl_explain_cell *subject, const char *load, struct sl_page *page)
{
	const struct sl_path *path = &subject->path[SL_EXPLAIN_P50];
	struct sl_fact fact = {.label = "One operation takes"};
	char slow[32];

	sl_units_time(path->latency_ns, fact.value, sizeof(fact.value));
	sl_units_time(subject->path[SL_EXPLAIN_P99].latency_ns, slow, sizeof(slow));
	(void)snprintf(fact.text, sizeof(fact.text), "the median %s of %s; one in a hundred: %s or more",
		       path->name, load, slow);
	sl_page_fact(page, &fact);
}

static void fact_layer(const struct sl_explain_cell *subject, struct sl_page *page)
{
	const struct sl_path *path = &subject->path[SL_EXPLAIN_P50];
	enum sl_layer most = sl_path_most(path);
	int64_t ns = path->service_ns[most] + path->waiting_ns[most];
	struct sl_fact fact = {.label = "Most of it"};
	char time[32];

	sl_units_time(ns, time, sizeof(time));
	(void)snprintf(fact.value, sizeof(fact.value), "%s", sl_layer_name(most));
	(void)snprintf(fact.text, sizeof(fact.text), "%s, %.0f %% of its time", time,
		       path->latency_ns > 0 ? (double)ns * 100 / (double)path->latency_ns : 0);
	sl_page_fact(page, &fact);
}

static void fact_change(const struct sl_explain_cell *subject, enum sl_what_if what, const char *label,
			struct sl_page *page)
{
	double gain = sl_what_if_gain(subject, what);
	struct sl_fact fact = {.label = label};

	if (!isnan(gain)) {
		(void)snprintf(fact.value, sizeof(fact.value), "%+.*f %%", fabs(gain) < 10 ? 1 : 0, gain);
		(void)snprintf(fact.text, sizeof(fact.text), "%s", sl_what_if_name(what));
		sl_page_fact(page, &fact);
	}
}

/* The first of the workloads: how long, where, and what would help. Returns which it is, -1 = none. */
static int page_answer(const struct sl_explain *explain, struct sl_page *page)
{
	const struct sl_explain_cell *subject = NULL;
	struct sl_box_drawing box = {.scenario = explain->scenario};
	char conclusion[512];
	int best;

	for (int w = 0; w < sl_scenario_workloads(explain->scenario) && !subject; w++) {
		subject = sl_explain_subject(explain, w);
	}
	if (!subject || !subject->has_path) {
		return -1;
	}
	fact_latency(subject, sl_scenario_workload(explain->scenario, subject->workload)->name, page);
	fact_layer(subject, page);
	best = sl_what_if_best(subject);
	if (best >= 0) {
		fact_change(subject, (enum sl_what_if)best, "What would bring most", page);
		fact_change(subject, (enum sl_what_if)SL_LAYER_LOG_DISK, "A faster SLOG, at most", page);
	}
	sl_explain_conclusion(explain, subject->workload, conclusion, sizeof(conclusion));
	sl_page_says(page, "What limits it", conclusion);
	box.variant = subject->variant;
	box.workload = subject->workload;
	box.measure = &subject->measure;
	box.has_hot = true;
	box.hot = sl_path_most(&subject->path[SL_EXPLAIN_P50]);
	(void)snprintf(box.mark, sizeof(box.mark), "most of its time");
	sl_page_box(page, &box);
	return subject->workload;
}

static int fill(struct sl_page *page, const void *arg, struct sl_err *err)
{
	(void)err;
	body(arg, page_answer(arg, page), page);
	return 0;
}

int sl_explain_html(void *arg, FILE *out, struct sl_err *err)
{
	const struct sl_explain *explain = ((const struct sl_explain_report *)arg)->explain;

	return sl_page_write(explain->scenario, explain->seed, "explain", fill, explain, out, err);
}
