/* Advice as a page: the verdict of each workload in large type, its table below, sources at the end. */
#include "cli/report.h"
#include "cli/report_advise.h"
#include "cli/report_costs.h"

static void td(const char *class, const char *text, FILE *out)
{
	fprintf(out, "<td%s%s%s>", class[0] ? " class=\"" : "", class, class[0] ? "\"" : "");
	sl_html_text(text, out);
	fputs("</td>", out);
}

static const char *row_style(const struct sl_advice_table *table, int at)
{
	const struct sl_advice_row *row = &table->rows[at];

	if (at == table->advised) {
		return " style=\"font-weight:600\"";
	}
	return row->dominated_by >= 0 ? " style=\"opacity:.55\"" : "";
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

static void row_gain(const struct sl_advice_table *table, int at, FILE *out)
{
	const struct sl_advice_row *row = &table->rows[at];
	char text[64];

	sl_report_number(row->paired.other, text, sizeof(text));
	td("", text, out);
	fprintf(out, "<td class=\"bar\" style=\"--u:%.1f%%\">%.2f\xc3\x97</td>",
		row->paired.ratio / most_ratio(table) * 100, row->paired.ratio);
	sl_paired_interval(&row->paired, text, sizeof(text));
	td("l", at == table->base ? "" : text, out);
}

static void row_remark(const struct sl_advice_row *row, const struct sl_candidate *c, FILE *out)
{
	char text[64];

	if (row->dominated_by >= 0) {
		snprintf(text, sizeof(text), "no better than %d", row->dominated_by + 1);
		td("l", text, out);
	} else {
		td(row->unsafe ? "l bad" : "l", row->unsafe ? "unsafe" : c->remark, out);
	}
}

static void page_row(const struct sl_advice *advice, const struct sl_advice_table *table, int at, FILE *out)
{
	const struct sl_advice_row *row = &table->rows[at];
	const struct sl_candidate *c = &advice->candidates[row->candidate];
	char text[64];

	fprintf(out, "<tr%s><td>%d</td><td class=\"l\">", row_style(table, at), at + 1);
	sl_html_text(c->name, out);
	fputs(c->assumed ? " <span class=\"tag assumed\">assumed</span></td>" : "</td>", out);
	row_gain(table, at, out);
	sl_advise_price(c, text, sizeof(text));
	td("", text, out);
	snprintf(text, sizeof(text), row->usd_per_gained > 0 ? "%.3g" : "-", row->usd_per_gained);
	td("", text, out);
	sl_costs_bytes(row->endurance.log_bytes_per_day, text, sizeof(text));
	td("", text, out);
	if (row->life == SL_LIFE_UNKNOWN) {
		(void)snprintf(text, sizeof(text), "not known");
	} else {
		sl_endurance_span(&row->endurance, text, sizeof(text));
	}
	td(row->life == SL_LIFE_SHORT ? "bad" : "", text, out);
	sl_costs_loss(&row->measure.loss, text, sizeof(text));
	td(row->measure.loss.seconds > 0 ? "l warn" : "l", text, out);
	row_remark(row, c, out);
	fputs("</tr>\n", out);
}

static void page_table(const struct sl_advice *advice, const struct sl_advice_table *table, FILE *out)
{
	const struct sl_workload *workload = sl_scenario_workload(advice->scenario, table->workload);

	fputs("<section><h2>", out);
	sl_html_text(workload->name, out);
	fputs("</h2>\n<div class=\"card\"><p style=\"font-size:1.1rem\">", out);
	sl_html_text(table->verdict, out);
	fputs("</p><p class=\"mute\">", out);
	sl_html_text(table->limit, out);
	fprintf(out,
		"</p></div>\n<div class=\"scroll\"><table>\n<thead><tr><th>#</th><th class=\"l\">change</th>"
		"<th>%s</th><th>gain</th><th class=\"l\">95 %%</th><th>price</th><th>$ per %s "
		"gained</th><th>log a "
		"day</th><th>lasts</th><th class=\"l\">lost at a cut</th><th></th></tr></thead>\n<tbody>\n",
		sl_metric_unit(workload->kind), sl_advice_each(advice, table));
	for (int i = 0; i < table->n_rows; i++) {
		page_row(advice, table, i, out);
	}
	fputs("</tbody></table></div></section>\n", out);
}

static void page_notes(const struct sl_advice *advice, FILE *out)
{
	char rule[512];

	fputs("<h2>Prices and notes</h2>\n<ul class=\"notes small\">\n", out);
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
	for (int i = 0; i < advice->n_notes; i++) {
		fputs("<li>", out);
		sl_html_text(advice->notes[i], out);
		fputs("</li>\n", out);
	}
	sl_advice_rule(advice, rule, sizeof(rule));
	fputs("<li>Rule: ", out);
	sl_html_text(rule, out);
	fprintf(out,
		".</li>\n<li>How long a drive lasts holds for this load day and night; red: less than %g "
		"years.</li>\n</ul>\n",
		advice->years);
}

void sl_advise_html_body(const struct sl_advice *advice, FILE *out)
{
	fputs("<p>What could be bought or changed, beside <code>", out);
	sl_html_text(sl_scenario_variant_name(advice->scenario, advice->base_variant), out);
	fprintf(out,
		"</code>; %d pairs of runs per row with the same seeds. Grey: no better than another row "
		"in rate, price, loss and endurance.</p>\n",
		advice->repeat);
	for (int i = 0; i < advice->n_tables; i++) {
		page_table(advice, &advice->tables[i], out);
	}
	page_notes(advice, out);
}

int sl_report_advise_html(void *arg, FILE *out, struct sl_err *err)
{
	const struct sl_advise_report *report = arg;

	(void)err;
	sl_html_head(report->advice->scenario, report->advice->seed, out);
	sl_advise_html_body(report->advice, out);
	sl_html_end(out);
	return 0;
}
