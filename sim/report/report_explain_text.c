#include "sim/report/report_explain.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report/fudges.h"
#include "sim/report/prose.h"
#include "sim/report/report.h"
#include "sim/report/table.h"

#define LABEL 13 /* columns of a layer's name in the waterfall */
/* About what the first column of a table and one of its fields take. */
#define TIMES_LABEL 15
#define TIMES_FIELD 12
#define BUSY_LABEL 16
#define BUSY_FIELD 5
#define CHANGE_LABEL 48 /* the gain included */
#define CHANGE_FIELD 5
#define EVERYTHING 100000
#define VARIANTS_MAX (SL_TABLE_COLUMNS - 2)

/* The cells of one workload, as many as fit side by side. */
struct group {
	const struct sl_explain *explain;
	int n;
	const struct sl_explain_cell *cells[VARIANTS_MAX];
};

static const char *variant_name(const struct sl_explain *explain, const struct sl_explain_cell *cell)
{
	return sl_scenario_variant_name(explain->scenario, cell->variant);
}

/* How a column of the waterfall looks: which share of it is service, which is waiting. */
static const char *glyph(bool utf8, double service, double waiting)
{
	if (service <= 0 && waiting <= 0) {
		return " ";
	}
	if (service >= waiting) {
		if (utf8) {
			return service >= 0.5 ? "\xe2\x96\x88" : "\xe2\x96\x84";
		}
		return service >= 0.5 ? "#" : "+";
	}
	return utf8 ? "\xe2\x96\x91" : ".";
}

static void print_bar(const struct sl_path *path, int layer, int64_t scale_ns, int width, bool utf8,
		      FILE *out)
{
	double column_ns = (double)scale_ns / width;

	for (int c = 0; c < width; c++) {
		double share[2] = {0, 0}; /* service, waiting */

		for (int i = 0; i < path->n_segments; i++) {
			const struct sl_segment *s = &path->segments[i];
			double from = fmax((double)s->start_ns, c * column_ns);
			double until = fmin((double)s->end_ns, (c + 1) * column_ns);

			if ((int)s->layer == layer && until > from) {
				share[s->waiting] += (until - from) / column_ns;
			}
		}
		fputs(glyph(utf8, share[0], share[1]), out);
	}
}

static bool is_used(const struct group *group, enum sl_explain_quantile q, int layer)
{
	for (int i = 0; i < group->n; i++) {
		const struct sl_path *path = &group->cells[i]->path[q];

		if (path->service_ns[layer] + path->waiting_ns[layer] > 0) {
			return true;
		}
	}
	return false;
}

/* The first variant and the one with a log device, on one time scale. */
static void print_waterfall(const struct sl_explain_report *report, const struct group *all,
			    enum sl_explain_quantile q, FILE *out)
{
	struct group shown = {.explain = all->explain};
	int workload = all->cells[0]->workload, width;
	int64_t scale_ns = 0;

	shown.cells[shown.n++] = all->cells[0];
	if (sl_explain_subject(all->explain, workload) != all->cells[0]) {
		shown.cells[shown.n++] = sl_explain_subject(all->explain, workload);
	}
	width = (report->width - LABEL) / shown.n - 2;
	for (int i = 0; i < shown.n; i++) {
		int64_t latency_ns = shown.cells[i]->path[q].latency_ns;

		scale_ns = latency_ns > scale_ns ? latency_ns : scale_ns;
	}
	fprintf(out, "%-*s", LABEL, sl_explain_quantile_name(q));
	for (int i = 0; i < shown.n; i++) {
		char time[32], head[96];

		sl_units_time(shown.cells[i]->path[q].latency_ns, time, sizeof(time));
		snprintf(head, sizeof(head), "%s %s", variant_name(all->explain, shown.cells[i]), time);
		fprintf(out, "|%-*.*s%s", width, width, head, i < shown.n - 1 ? " " : "\n");
	}
	for (int layer = 0; layer < SL_LAYERS; layer++) {
		if (!is_used(&shown, q, layer)) {
			continue;
		}
		fprintf(out, "%-*s", LABEL, sl_layer_name((enum sl_layer)layer));
		for (int i = 0; i < shown.n; i++) {
			fputc('|', out);
			print_bar(&shown.cells[i]->path[q], layer, scale_ns, width, report->utf8, out);
			fputs(i < shown.n - 1 ? " " : "|\n", out);
		}
	}
	fputc('\n', out);
}

/* `last` is the heading of one more column, NULL = none. */
static struct sl_table *group_table(const struct group *group, const char *first, const char *last)
{
	const char *headings[SL_TABLE_COLUMNS];
	int n = 0;

	headings[n++] = first;
	for (int i = 0; i < group->n; i++) {
		headings[n++] = variant_name(group->explain, group->cells[i]);
	}
	if (last) {
		headings[n++] = last;
	}
	return sl_table_new(headings, n);
}

/* "7.74+3.3ms": service and waiting. */
static void put_time(struct sl_table *table, int64_t service_ns, int64_t waiting_ns)
{
	char service[32], waiting[32];

	if (service_ns + waiting_ns == 0) {
		sl_table_put(table, SL_TINT_DIM, "-");
		return;
	}
	sl_units_time(service_ns, service, sizeof(service));
	sl_units_time(waiting_ns, waiting, sizeof(waiting));
	if (waiting_ns == 0) {
		sl_table_put(table, SL_TINT_NONE, "%s", service);
	} else if (service_ns == 0) {
		sl_table_put(table, SL_TINT_NONE, "+%s", waiting);
	} else {
		sl_table_put(table, SL_TINT_NONE, "%s+%s", service, waiting);
	}
}

static void put_totals(struct sl_table *table, const struct group *group, enum sl_explain_quantile q)
{
	char text[64];

	sl_table_rule(table);
	if (sl_table_row(table)) {
		sl_table_put(table, SL_TINT_BOLD, "all");
		for (int i = 0; i < group->n; i++) {
			sl_units_time(group->cells[i]->path[q].latency_ns, text, sizeof(text));
			sl_table_put(table, SL_TINT_BOLD, "%s", text);
		}
	}
	if (sl_table_row(table)) {
		sl_table_put(table, SL_TINT_NONE, "serial calls");
		for (int i = 0; i < group->n; i++) {
			sl_explain_round_trips(&group->cells[i]->path[q], text, sizeof(text));
			sl_table_put(table, SL_TINT_NONE, "%s", text);
		}
	}
}

static int print_times(const struct group *group, enum sl_explain_quantile q, FILE *out)
{
	char heading[48];
	struct sl_table *table;

	snprintf(heading, sizeof(heading), "<%s %s", sl_explain_quantile_name(q),
		 group->cells[0]->path[q].name);
	table = group_table(group, heading, NULL);
	if (!table) {
		return -ENOMEM;
	}
	for (int layer = 0; layer < SL_LAYERS; layer++) {
		if (!is_used(group, q, layer) || !sl_table_row(table)) {
			continue;
		}
		sl_table_put(table, SL_TINT_NONE, "%s", sl_layer_name((enum sl_layer)layer));
		for (int i = 0; i < group->n; i++) {
			const struct sl_path *path = &group->cells[i]->path[q];

			put_time(table, path->service_ns[layer], path->waiting_ns[layer]);
		}
	}
	put_totals(table, group, q);
	sl_table_print(table, out);
	sl_table_free(table);
	fputc('\n', out);
	return 0;
}

static void put_busy(struct sl_table *table, const struct sl_measure *measure, const char *name)
{
	for (int i = 0; i < measure->n_resources; i++) {
		if (strcmp(measure->resources[i].name, name) == 0) {
			double pct = measure->resources[i].utilisation * 100;

			sl_table_put(table, pct >= 90 ? SL_TINT_BAD : SL_TINT_NONE, "%.0f %%", pct);
			return;
		}
	}
	sl_table_put(table, SL_TINT_DIM, "-");
}

/* Every resource of any cell, once. */
static bool is_first(const struct group *group, int cell, int resource)
{
	const char *name = group->cells[cell]->measure.resources[resource].name;

	for (int i = 0; i <= cell; i++) {
		const struct sl_measure *measure = &group->cells[i]->measure;

		for (int r = 0; r < (i == cell ? resource : measure->n_resources); r++) {
			if (strcmp(measure->resources[r].name, name) == 0) {
				return false;
			}
		}
	}
	return true;
}

static int print_busy(const struct group *group, FILE *out)
{
	struct sl_table *table;

	if (group->cells[0]->measure.n_resources == 0) {
		return 0;
	}
	table = group_table(group, "<busy", NULL);
	if (!table) {
		return -ENOMEM;
	}
	for (int i = 0; i < group->n; i++) {
		const struct sl_measure *measure = &group->cells[i]->measure;

		for (int r = 0; r < measure->n_resources; r++) {
			if (!is_first(group, i, r) || !sl_table_row(table)) {
				continue;
			}
			sl_table_put(table, SL_TINT_NONE, "%s", measure->resources[r].name);
			for (int k = 0; k < group->n; k++) {
				put_busy(table, &group->cells[k]->measure, measure->resources[r].name);
			}
		}
	}
	sl_table_print(table, out);
	sl_table_free(table);
	fputc('\n', out);
	return 0;
}

static void put_rate(struct sl_table *table, const struct sl_explain_cell *cell, enum sl_what_if what)
{
	char rate[32];

	if (!cell->tried[what]) {
		sl_table_put(table, SL_TINT_DIM, "-");
		return;
	}
	sl_report_number(cell->rate[what], rate, sizeof(rate));
	sl_table_put(table, SL_TINT_NONE, "%s", rate);
}

static void put_gain(struct sl_table *table, const struct sl_explain_cell *cell, enum sl_what_if what)
{
	double gain = sl_what_if_gain(cell, what);
	char percent[32] = "-";

	if (!isnan(gain)) {
		sl_report_percent(gain, percent, sizeof(percent));
	}
	sl_table_put(table, gain >= 5 ? SL_TINT_GOOD : SL_TINT_NONE, "%s", percent);
}

/* By what the workload's subject gains; changes that only others can make follow. */
static int change_order(const struct group *group, const struct sl_explain_cell *subject,
			enum sl_what_if order[SL_WHAT_IFS])
{
	int n = sl_explain_order(subject, order);

	for (int what = 0; what < SL_WHAT_IFS; what++) {
		bool tried = false;

		for (int i = 0; i < group->n; i++) {
			tried |= group->cells[i]->tried[what];
		}
		if (tried && !subject->tried[what]) {
			order[n++] = (enum sl_what_if)what;
		}
	}
	return n;
}

static void put_as_it_is(struct sl_table *table, const struct group *group)
{
	int workload = group->cells[0]->workload;
	char text[32];

	if (!sl_table_row(table)) {
		return;
	}
	sl_table_put(table, SL_TINT_BOLD, "as it is, %s",
		     sl_speed_unit(sl_scenario_workload(group->explain->scenario, workload)));
	for (int i = 0; i < group->n; i++) {
		sl_report_number(group->cells[i]->value, text, sizeof(text));
		sl_table_put(table, SL_TINT_BOLD, "%s", text);
	}
}

/* Changes that slow a cell down, and why. */
static void print_whys(const struct group *group, const enum sl_what_if *order, int n, FILE *out)
{
	for (int i = 0; i < n; i++) {
		for (int k = 0; k < group->n; k++) {
			const struct sl_explain_cell *cell = group->cells[k];
			char text[256], percent[32];

			if (cell->why[order[i]][0] == '\0') {
				continue;
			}
			sl_report_percent(sl_what_if_gain(cell, order[i]), percent, sizeof(percent));
			snprintf(text, sizeof(text), "%s on %s, %s: %s", sl_what_if_name(order[i]),
				 variant_name(group->explain, cell), percent, cell->why[order[i]]);
			sl_prose(text, 0, sl_prose_width(out), out);
		}
	}
}

static int print_changes(const struct group *group, FILE *out)
{
	const struct sl_explain_cell *subject = sl_explain_subject(group->explain, group->cells[0]->workload);
	enum sl_what_if order[SL_WHAT_IFS];
	struct sl_table *table;
	char heading[SL_TABLE_TEXT];
	int n = change_order(group, subject, order);

	if (n == 0) {
		return 0;
	}
	snprintf(heading, sizeof(heading), "%s gains", variant_name(group->explain, subject));
	table = group_table(group, "<what if", heading);
	if (!table) {
		return -ENOMEM;
	}
	put_as_it_is(table, group);
	for (int i = 0; i < n && sl_table_row(table); i++) {
		sl_table_put(table, SL_TINT_NONE, "%s", sl_what_if_name(order[i]));
		for (int k = 0; k < group->n; k++) {
			put_rate(table, group->cells[k], order[i]);
		}
		put_gain(table, subject, order[i]);
	}
	sl_table_print(table, out);
	sl_table_free(table);
	print_whys(group, order, n, out);
	fputc('\n', out);
	return 0;
}

/* The next cells of `workload` from index `at` on, as many as fit into `room` columns with `field` at least
 * each; returns where the rest begins. */
static int next_group(const struct sl_explain *explain, int workload, int at, int room, int field,
		      struct group *ret)
{
	*ret = (struct group){.explain = explain};
	for (; at < explain->n_cells && ret->n < VARIANTS_MAX; at++) {
		int width = (int)strlen(variant_name(explain, &explain->cells[at]));

		if (explain->cells[at].workload != workload) {
			continue;
		}
		room -= 2 + (width > field ? width : field);
		if (room < 0 && ret->n > 0) {
			break;
		}
		ret->cells[ret->n++] = &explain->cells[at];
	}
	return at;
}

/* A kind of table for all variants, in as many pieces as the width asks for. */
static int print_pieces(const struct sl_explain_report *report, int workload, int label, int field,
			int (*print)(const struct group *group, FILE *out), FILE *out)
{
	struct group group;
	int at = 0, rc = 0;

	do {
		at = next_group(report->explain, workload, at, report->width - label, field, &group);
		rc = group.n > 0 ? print(&group, out) : 0;
	} while (rc == 0 && group.n > 0);
	return rc;
}

static int print_p50(const struct group *group, FILE *out)
{
	return group->cells[0]->has_path ? print_times(group, SL_EXPLAIN_P50, out) : 0;
}

static int print_p99(const struct group *group, FILE *out)
{
	return group->cells[0]->has_path ? print_times(group, SL_EXPLAIN_P99, out) : 0;
}

static int print_workload(const struct sl_explain_report *report, int workload, FILE *out)
{
	char conclusion[512];
	struct group all;
	int rc;

	(void)next_group(report->explain, workload, 0, EVERYTHING, 0, &all);
	if (all.n == 0) {
		return 0;
	}
	sl_explain_conclusion(report->explain, workload, conclusion, sizeof(conclusion));
	fprintf(out, "== %s\n\n", conclusion);
	for (int q = 0; all.cells[0]->has_path && q < SL_EXPLAIN_QUANTILES; q++) {
		print_waterfall(report, &all, (enum sl_explain_quantile)q, out);
	}
	rc = print_pieces(report, workload, TIMES_LABEL, TIMES_FIELD, print_p50, out);
	if (rc == 0) {
		rc = print_pieces(report, workload, TIMES_LABEL, TIMES_FIELD, print_p99, out);
	}
	if (rc == 0) {
		rc = print_pieces(report, workload, BUSY_LABEL, BUSY_FIELD, print_busy, out);
	}
	return rc < 0 ? rc : print_pieces(report, workload, CHANGE_LABEL, CHANGE_FIELD, print_changes, out);
}

int sl_explain_text(const struct sl_explain_report *report, FILE *out, struct sl_err *err)
{
	const struct sl_scenario *sc = report->explain->scenario;
	int rc = 0;

	if (report->explain->n_cells == 0) {
		fputs("nothing was measured\n", out);
		return 0;
	}
	fprintf(out, "%s\n\n", sl_scenario_title(sc));
	fprintf(out,
		"Waterfalls: %s work, %s a little of it, %s waiting behind others. Times: work + waiting, of "
		"one operation;\nthe layers add up to it. What if: the model run again with that change.\n\n",
		glyph(report->utf8, 1, 0), glyph(report->utf8, 0.1, 0), glyph(report->utf8, 0, 1));
	for (int w = 0; rc == 0 && w < sl_scenario_workloads(sc); w++) {
		rc = print_workload(report, w, out);
	}
	sl_fudges_text(sc, out);
	return rc < 0 ? sl_err_set(err, rc, "out of memory") : 0;
}
