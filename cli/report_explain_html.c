/* The page of explain: per workload its conclusion, the waterfalls, and what each change would bring. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cli/report_explain.h"

static const char *variant_name(const struct sl_explain *explain, const struct sl_explain_cell *cell)
{
	return sl_scenario_variant_name(explain->scenario, cell->variant);
}

static void page_path(const struct sl_explain *explain, const struct sl_explain_cell *cell,
		      enum sl_explain_quantile q, FILE *out)
{
	const struct sl_path *path = &cell->path[q];
	char time[32], calls[64], title[160];

	sl_report_time(path->latency_ns, time, sizeof(time));
	sl_explain_round_trips(path, calls, sizeof(calls));
	snprintf(title, sizeof(title), "%s %s with %s: %s", sl_explain_quantile_name(q), path->name,
		 variant_name(explain, cell), time);
	fputs("<figure class=\"card\"><h3>", out);
	sl_html_text(variant_name(explain, cell), out);
	fprintf(out, " <span class=\"mute small\">%s; serial calls: %s</span></h3>\n", time, calls);
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

static void td_change(const struct sl_explain_cell *cell, enum sl_what_if what, FILE *out)
{
	double gain = sl_what_if_gain(cell, what);
	char rate[32], percent[32];

	if (isnan(gain)) {
		fputs("<td class=\"mute\">-</td>", out);
		return;
	}
	sl_report_number(cell->rate[what], rate, sizeof(rate));
	sl_report_percent(gain, percent, sizeof(percent));
	fprintf(out, "<td>%s <span class=\"%s\">%s</span></td>", rate, gain >= 5 ? "good" : "mute", percent);
}

static void page_change(const struct sl_explain *explain, int workload, enum sl_what_if what, FILE *out)
{
	fprintf(out, "<tr><td class=\"l\">%s</td>", sl_what_if_name(what));
	for (int i = 0; i < explain->n_cells; i++) {
		if (explain->cells[i].workload == workload) {
			td_change(&explain->cells[i], what, out);
		}
	}
	fputs("</tr>\n", out);
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
	char rate[32];

	fputs("<div class=\"scroll\"><table>\n<thead><tr><th class=\"l\">change</th>", out);
	for (int i = 0; i < explain->n_cells; i++) {
		if (explain->cells[i].workload == workload) {
			fputs("<th>", out);
			sl_html_text(variant_name(explain, &explain->cells[i]), out);
			fputs("</th>", out);
		}
	}
	fputs("</tr></thead>\n<tbody>\n<tr><td class=\"l\"><strong>as it is</strong></td>", out);
	for (int i = 0; i < explain->n_cells; i++) {
		if (explain->cells[i].workload == workload) {
			sl_report_number(explain->cells[i].value, rate, sizeof(rate));
			fprintf(out, "<td><strong>%s</strong></td>", rate);
		}
	}
	fputs("</tr>\n", out);
	for (int what = 0; what < SL_WHAT_IFS; what++) {
		page_change(explain, workload, (enum sl_what_if)what, out);
	}
	fputs("</tbody></table></div>\n", out);
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

static void page_workload(const struct sl_explain *explain, int workload, FILE *out)
{
	const struct sl_explain_cell *subject = sl_explain_subject(explain, workload);
	const struct sl_workload *load = sl_scenario_workload(explain->scenario, workload);
	char conclusion[512];

	if (!subject) {
		return;
	}
	fputs("<h2>", out);
	sl_html_text(load->name, out);
	fprintf(out, " <span class=\"mute small\">%s</span></h2>\n<p><strong>", sl_speed_unit(load));
	sl_explain_conclusion(explain, workload, conclusion, sizeof(conclusion));
	sl_html_text(conclusion, out);
	fputs("</strong></p>\n", out);
	page_paths(explain, workload, SL_EXPLAIN_P50, out);
	page_paths(explain, workload, SL_EXPLAIN_P99, out);
	if (sl_what_if_best(subject) < 0) {
		return; /* a bare disk */
	}
	fputs("<h3>What if</h3>\n<div class=\"grid charts\">\n<figure class=\"card\"><h3>", out);
	sl_html_text(variant_name(explain, subject), out);
	fprintf(out, " <span class=\"mute small\">%s; dashed: as it is</span></h3>\n", sl_speed_unit(load));
	sl_explain_svg_what_ifs(subject, sl_speed_unit(load), out);
	fputs("</figure>\n</div>\n", out);
	page_table(explain, workload, out);
	page_busy(explain, workload, out);
}

void sl_explain_html_body(const struct sl_explain *explain, FILE *out)
{
	fputs(
	    "<p>One operation on its way through every layer: each instant belongs to the deepest layer that "
	    "then works on what the operation waits for. The layers add up to its latency. <em>What if</em>: "
	    "the "
	    "model run again with one layer at no cost.</p>\n<ul class=\"legend small\"><li><i "
	    "class=\"work\"></i>work</li><li><i class=\"wait\"></i>waiting behind others</li></ul>\n",
	    out);
	for (int w = 0; w < sl_scenario_workloads(explain->scenario); w++) {
		page_workload(explain, w, out);
	}
}

int sl_explain_html(void *arg, FILE *out, struct sl_err *err)
{
	const struct sl_explain_report *report = arg;

	(void)err;
	sl_html_head(report->explain->scenario, report->explain->seed, out);
	sl_explain_html_body(report->explain, out);
	sl_html_end(out);
	return 0;
}
