/* Advice as a page: the verdict of each workload in large type, its table below, sources at the end. */
#include <stdio.h>
#include <string.h>

#include "sim/report/page_table.h"
#include "sim/report/report.h"
#include "sim/report/report_advise.h"
#include "sim/report/report_costs.h"

static const char *row_class(const struct sl_advice_table *table, int at)
{
	return at == table->advised ? "best" : NULL;
}

/* The longest bar is the fastest row's. */
static double most_ratio(const struct sl_advice_table *table)
{
	double most = 1;

	for (int i = 0; i < table->n_rows; i++) {
		most = table->rows[i].paired.ratio > most ? table->rows[i].paired.ratio : most;
	}
	return most;
}

/* A second line in a field. */
static void sub(const char *text, FILE *out)
{
	if (text[0] != '\0') {
		fputs("<span class=\"sub\">", out);
		sl_html_text(text, out);
		fputs("</span>", out);
	}
}

static void put_change(const struct sl_advice_table *table, const struct sl_advice_row *row,
		       const struct sl_candidate *c, struct sl_page_table *out)
{
	char text[64];

	sl_page_field(out, NULL);
	fprintf(out->out, "<span>%d. ", (int)(row - table->rows) + 1);
	sl_html_text(c->name, out->out);
	fputs(c->assumed ? " <span class=\"tag assumed\">assumed</span>" : "", out->out);
	fputs(row - table->rows == table->advised ? " <span class=\"tag good\">advised</span>" : "",
	      out->out);
	fputs(row->unsafe ? " <span class=\"tag bad\">unsafe</span>" : "", out->out);
	if (row->dominated_by >= 0) {
		(void)snprintf(text, sizeof(text), "no better than %d", row->dominated_by + 1);
		sub(text, out->out);
	} else {
		sub(c->remark, out->out);
	}
	fputs("</span>", out->out);
	sl_page_field_end(out);
}

static void put_gain(const struct sl_advice_table *table, int at, struct sl_page_table *out)
{
	const struct sl_advice_row *row = &table->rows[at];
	char text[64];

	sl_page_field(out, "n");
	fprintf(out->out,
		"<span><span class=\"share\"><i style=\"width:%.1f%%\"></i></span> <b>%.2f\xc3\x97</b>",
		row->paired.ratio / most_ratio(table) * 100, row->paired.ratio);
	if (at != table->base) {
		sl_paired_interval(&row->paired, text, sizeof(text));
		sub(text, out->out);
	}
	fputs("</span>", out->out);
	sl_page_field_end(out);
	sl_report_number(row->paired.other, text, sizeof(text));
	sl_page_put(out, NULL, "%s", text);
}

static void put_price(const struct sl_advice *advice, const struct sl_advice_table *table,
		      const struct sl_advice_row *row, struct sl_page_table *out)
{
	char text[64];

	sl_advise_price(&advice->candidates[row->candidate], text, sizeof(text));
	sl_page_field(out, "n");
	fputs("<span>", out->out);
	sl_html_text(text, out->out);
	if (row->usd_per_gained > 0) {
		(void)snprintf(text, sizeof(text), "$%.3g per %s", row->usd_per_gained,
			       sl_advice_each(advice, table));
		sub(text, out->out);
	}
	fputs("</span>", out->out);
	sl_page_field_end(out);
}

/* How long it lasts, in words for a phone. */
static void span_text(const struct sl_advice_row *row, char *buf, size_t size)
{
	if (row->life == SL_LIFE_UNKNOWN) {
		(void)snprintf(buf, size, "not known");
	} else {
		sl_endurance_span(&row->endurance, buf, size);
	}
}

static void put_life(const struct sl_advice_row *row, struct sl_page_table *out)
{
	char text[64], bytes[32];

	span_text(row, text, sizeof(text));
	sl_page_field(out, row->life == SL_LIFE_SHORT ? "n bad" : "n");
	fputs("<span>", out->out);
	sl_html_text(text, out->out);
	if (row->endurance.log_bytes_per_day > 0) {
		sl_costs_bytes(row->endurance.log_bytes_per_day, bytes, sizeof(bytes));
		(void)snprintf(text, sizeof(text), "%s a day", bytes);
		sub(text, out->out);
	}
	fputs("</span>", out->out);
	sl_page_field_end(out);
}

static void page_row(const struct sl_advice *advice, const struct sl_advice_table *table, int at,
		     struct sl_page_table *out)
{
	const struct sl_advice_row *row = &table->rows[at];
	char text[64];

	sl_page_row(out, row_class(table, at));
	put_change(table, row, &advice->candidates[row->candidate], out);
	put_gain(table, at, out);
	put_price(advice, table, row, out);
	put_life(row, out);
	sl_costs_loss(&row->measure.loss, text, sizeof(text));
	sl_page_put(out, row->unsafe ? "bad" : row->measure.loss.seconds > 0 ? "warn" : NULL, "%s", text);
	sl_page_row_end(out);
}

/* The rows that another is better than, or those that none is. */
static void page_rows(const struct sl_advice *advice, const struct sl_advice_table *table, bool dominated,
		      FILE *out)
{
	const struct sl_workload *workload = sl_scenario_workload(advice->scenario, table->workload);
	const char *heads[] = {"<change", "gain, 95 %", sl_metric_unit(workload->kind),
			       "price",   "it lasts",   "lost at a cut"};
	struct sl_page_table rows;

	sl_page_table_start(&rows, dominated ? "Rows that another is better than" : "What could be changed",
			    heads, 6, out);
	for (int i = 0; i < table->n_rows; i++) {
		if ((table->rows[i].dominated_by >= 0) == dominated) {
			page_row(advice, table, i, &rows);
		}
	}
	sl_page_table_end(&rows);
}

/* `said`: the verdict stands above already. */
static void page_table(const struct sl_advice *advice, const struct sl_advice_table *table, bool said,
		       struct sl_page *page)
{
	FILE *out = sl_page_out(page);
	int n_dominated = 0;

	for (int i = 0; i < table->n_rows; i++) {
		n_dominated += table->rows[i].dominated_by >= 0;
	}
	sl_page_section(page, sl_scenario_workload(advice->scenario, table->workload)->name);
	sl_html_paragraph("lead", said ? "" : table->verdict, out);
	sl_html_paragraph("mute", table->limit, out);
	page_rows(advice, table, false, out);
	if (n_dominated > 0) {
		sl_page_fold(page, "%d more that %s no better than another in rate, price, loss and life",
			     n_dominated, n_dominated == 1 ? "is" : "are");
		page_rows(advice, table, true, out);
		sl_page_unfold(page);
	}
}

static void page_prices(const struct sl_advice *advice, struct sl_page *page)
{
	FILE *out = sl_page_out(page);

	sl_page_fold(page, "Where the prices come from");
	fputs("<ul class=\"notes small\">\n", out);
	for (int i = 0; i < advice->n_drives; i++) {
		const char *source = sl_advise_price_source(advice, i);

		if (source) {
			fputs("<li>", out);
			sl_html_text(advice->drives[i].spec.name, out);
			fprintf(out, ": $%.0f (%.0f), ", advice->drives[i].spec.price_usd,
				advice->drives[i].spec.price_year);
			sl_html_text(source, out);
			fputs("</li>\n", out);
		}
	}
	fputs("</ul>\n", out);
	sl_page_unfold(page);
}

static void page_notes(const struct sl_advice *advice, struct sl_page *page)
{
	FILE *out = sl_page_out(page);
	char rule[512];

	sl_page_section(page, "The rule, prices and notes");
	sl_advice_rule(advice, rule, sizeof(rule));
	fputs("<p>Rule: ", out);
	sl_html_text(rule, out);
	fprintf(
	    out,
	    ".</p>\n<p class=\"mute\">How long a drive lasts holds for this load day and night; red: less "
	    "than %g years.</p>\n",
	    advice->years);
	page_prices(advice, page);
	if (advice->n_notes == 0) {
		return;
	}
	sl_page_fold(page, "What was left out, and why: %d", advice->n_notes);
	fputs("<ul class=\"notes small\">\n", out);
	for (int i = 0; i < advice->n_notes; i++) {
		fputs("<li>", out);
		sl_html_text(advice->notes[i], out);
		fputs("</li>\n", out);
	}
	fputs("</ul>\n", out);
	sl_page_unfold(page);
}

/* `said`: the table whose verdict stands above; NULL = none. */
static void body(const struct sl_advice *advice, const struct sl_advice_table *said, struct sl_page *page)
{
	FILE *out = sl_page_out(page);

	fputs("<p class=\"mute\">What could be bought or changed, beside <code>", out);
	sl_html_text(sl_scenario_variant_name(advice->scenario, advice->base_variant), out);
	fprintf(
	    out,
	    "</code>; %d pairs of runs per row with the same seeds, of which the 95 %% interval holds the "
	    "noise.</p>\n",
	    advice->repeat);
	for (int i = 0; i < advice->n_tables; i++) {
		page_table(advice, &advice->tables[i], &advice->tables[i] == said, page);
	}
	page_notes(advice, page);
}

void sl_advise_html_body(const struct sl_advice *advice, struct sl_page *page)
{
	body(advice, NULL, page);
}

/* The table that the answer is about: the first that advises something, else the first. */
static const struct sl_advice_table *subject_of(const struct sl_advice *advice)
{
	for (int i = 0; i < advice->n_tables; i++) {
		if (advice->tables[i].advised >= 0) {
			return &advice->tables[i];
		}
	}
	return advice->n_tables > 0 ? &advice->tables[0] : NULL;
}

static void page_facts(const struct sl_advice *advice, const struct sl_advice_table *table,
		       struct sl_page *page)
{
	const struct sl_advice_row *row = &table->rows[table->advised >= 0 ? table->advised : table->base];
	const struct sl_candidate *c = &advice->candidates[row->candidate];
	const char *load = sl_scenario_workload(advice->scenario, table->workload)->name;
	bool loses = row->measure.loss.seconds > 0;
	struct sl_fact gain = {.label = "Gain"}, price = {.label = "Price"}, life = {.label = "It lasts"};
	struct sl_fact loss = {.label = "Lost at a power cut", .tone = loses ? SL_TONE_BAD : SL_TONE_GOOD};

	(void)snprintf(gain.value, sizeof(gain.value), "%.2f\xc3\x97", row->paired.ratio);
	(void)snprintf(gain.text, sizeof(gain.text), "%s, at %s",
		       table->advised >= 0 ? c->name : "change nothing", load);
	sl_advise_price(c, price.value, sizeof(price.value));
	(void)snprintf(price.text, sizeof(price.text), "%s",
		       c->change == SL_CHANGE_PURCHASE ? c->name : "nothing is bought");
	span_text(row, life.value, sizeof(life.value));
	life.tone = row->life == SL_LIFE_SHORT ? SL_TONE_BAD : SL_TONE_PLAIN;
	if (strcmp(life.value, "-") == 0) {
		(void)snprintf(life.value, sizeof(life.value), "no wear");
		(void)snprintf(life.text, sizeof(life.text), "nothing in it is rated for writes");
	} else {
		(void)snprintf(life.text, sizeof(life.text), "at this load day and night, by its rating");
	}
	sl_costs_loss(&row->measure.loss, loss.value, sizeof(loss.value));
	(void)snprintf(loss.text, sizeof(loss.text), "of acknowledged writes%s%s",
		       row->measure.loss.why[0] ? ": " : "", row->measure.loss.why);
	sl_page_fact(page, &gain);
	sl_page_fact(page, &price);
	sl_page_fact(page, &life);
	sl_page_fact(page, &loss);
}

static int fill(struct sl_page *page, const void *arg, struct sl_err *err)
{
	const struct sl_advice *advice = arg;
	const struct sl_advice_table *table = subject_of(advice);

	(void)err;
	if (table) {
		struct sl_box_drawing box = {.scenario = advice->scenario,
					     .variant = advice->base_variant,
					     .workload = table->workload,
					     .measure = &table->rows[table->base].measure};

		page_facts(advice, table, page);
		sl_page_says(page, "The advice", table->verdict);
		sl_box_mark_busiest(&box);
		sl_page_box(page, &box);
	}
	body(advice, table, page);
	return 0;
}

int sl_report_advise_html(void *arg, FILE *out, struct sl_err *err)
{
	const struct sl_advice *advice = ((const struct sl_advise_report *)arg)->advice;

	return sl_page_write(advice->scenario, advice->seed, "advise", fill, advice, out, err);
}
