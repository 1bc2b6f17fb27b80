#include "cli/report_advise.h"

#include <errno.h>
#include <string.h>

#include "cli/report.h"
#include "cli/report_costs.h"
#include "cli/table.h"

void sl_advise_price(const struct sl_candidate *candidate, char *buf, size_t size)
{
	if (!candidate->has_price) {
		snprintf(buf, size, "?");
	} else if (candidate->price_usd > 0) {
		snprintf(buf, size, "$%.0f", candidate->price_usd);
	} else {
		snprintf(buf, size, "free");
	}
}

const char *sl_advise_price_source(const struct sl_advice *advice, int drive)
{
	const struct sl_advice_drive *d = &advice->drives[drive];

	return d->spec.price_usd > 0 && d->price_source[0] ? d->price_source : NULL;
}

static const char *unit_of(const struct sl_advice *advice, const struct sl_advice_table *table)
{
	return sl_metric_unit(sl_scenario_workload(advice->scenario, table->workload)->kind);
}

/* The table keeps its headings' addresses: static ones. */
static struct sl_table *table_make(const struct sl_advice *advice, const struct sl_advice_table *table)
{
	static const char *const per_gained[] = {"$/TPS gained", "$/(request/s) gained",
						 "$/(write/s) gained"};
	enum sl_workload_kind kind = sl_scenario_workload(advice->scenario, table->workload)->kind;
	const char *headings[] = {
	    "#",       "<change", sl_metric_unit(kind), "gain", "<95 %", "price", per_gained[kind],
	    "log/day", "lasts",   "<lost at a cut",     "<"};

	return sl_table_new(headings, (int)(sizeof(headings) / sizeof(headings[0])));
}

static enum sl_tint row_tint(const struct sl_advice_table *table, int at)
{
	const struct sl_advice_row *row = &table->rows[at];

	if (at == table->best_purchase || at == table->best_free) {
		return SL_TINT_BOLD;
	}
	if (row->unsafe) {
		return SL_TINT_BAD;
	}
	return row->dominated_by >= 0 ? SL_TINT_DIM : SL_TINT_NONE;
}

static void put_remark(struct sl_table *out, const struct sl_advice_row *row, const struct sl_candidate *c,
		       enum sl_tint tint)
{
	if (row->dominated_by >= 0) {
		sl_table_put(out, tint, "no better than %d", row->dominated_by + 1);
	} else if (row->unsafe) {
		sl_table_put(out, tint, "unsafe");
	} else {
		sl_table_put(out, tint, "%s", c->remark);
	}
}

static void put_row(struct sl_table *out, const struct sl_advice *advice, const struct sl_advice_table *table,
		    int at)
{
	const struct sl_advice_row *row = &table->rows[at];
	const struct sl_candidate *c = &advice->candidates[row->candidate];
	enum sl_tint tint = row_tint(table, at);
	char text[64];

	sl_table_put(out, tint, "%d", at + 1);
	sl_table_put(out, tint, "%s%s", c->name, c->assumed ? " ~" : "");
	sl_report_number(row->paired.other, text, sizeof(text));
	sl_table_put(out, tint, "%s", text);
	sl_table_put(out, tint, "%.2fx", row->paired.ratio);
	sl_paired_interval(&row->paired, text, sizeof(text));
	sl_table_put(out, tint, "%s", at == table->base ? "" : text);
	sl_advise_price(c, text, sizeof(text));
	sl_table_put(out, tint, "%s", text);
	if (row->usd_per_gained > 0) {
		sl_table_put(out, tint, "%.3g", row->usd_per_gained);
	} else {
		sl_table_put(out, tint, "-");
	}
	sl_costs_bytes(row->endurance.log_bytes_per_day, text, sizeof(text));
	sl_table_put(out, tint, "%s", text);
	sl_endurance_span(&row->endurance, text, sizeof(text));
	sl_table_put(out, sl_advice_wears_out(row) && tint == SL_TINT_NONE ? SL_TINT_BAD : tint, "%s%s", text,
		     sl_advice_wears_out(row) ? " !" : "");
	sl_costs_loss(&row->measure.loss, text, sizeof(text));
	sl_table_put(out, tint, "%s", text);
	put_remark(out, row, c, tint);
}

/* Beyond the first rows stands only what the text below speaks of. */
static bool is_shown(const struct sl_advise_report *report, const struct sl_advice_table *table, int at)
{
	return report->rows_max == 0 || at < report->rows_max || at == table->base ||
	       at == table->best_purchase || at == table->best_lasting || at == table->best_free;
}

/* The layers that lose, each once. */
static void print_losses(const struct sl_advise_report *report, const struct sl_advice_table *table,
			 FILE *out)
{
	for (int i = 0; i < table->n_rows; i++) {
		const struct sl_loss *loss = &table->rows[i].measure.loss;
		bool seen = loss->why[0] == '\0' || !is_shown(report, table, i);

		for (int j = 0; j < i && !seen; j++) {
			seen = strcmp(table->rows[j].measure.loss.why, loss->why) == 0;
		}
		if (!seen) {
			fprintf(out, "at a cut: up to %.2g s of acknowledged writes: %s\n", loss->seconds,
				loss->why);
		}
	}
}

static int print_table(const struct sl_advise_report *report, const struct sl_advice_table *table, FILE *out)
{
	const struct sl_advice *advice = report->advice;
	struct sl_table *text = table_make(advice, table);
	int left_out = 0;

	if (!text) {
		return -ENOMEM;
	}
	for (int i = 0; i < table->n_rows; i++) {
		if (!is_shown(report, table, i)) {
			left_out++;
			continue;
		}
		if (!sl_table_row(text)) {
			sl_table_free(text);
			return -ENOMEM;
		}
		put_row(text, advice, table, i);
	}
	sl_table_print(text, out);
	sl_table_free(text);
	if (left_out > 0) {
		fprintf(out, "and %d more rows; --rows 0 shows all\n", left_out);
	}
	return 0;
}

static bool any_wears_out(const struct sl_advice *advice)
{
	for (int i = 0; i < advice->n_tables; i++) {
		for (int r = 0; r < advice->tables[i].n_rows; r++) {
			if (sl_advice_wears_out(&advice->tables[i].rows[r])) {
				return true;
			}
		}
	}
	return false;
}

static void print_prices(const struct sl_advice *advice, FILE *out)
{
	bool assumed = false;

	for (int i = 0; i < advice->n_drives; i++) {
		const char *source = sl_advise_price_source(advice, i);

		if (source) {
			fprintf(out, "price: %s $%.0f: %s\n", advice->drives[i].spec.name,
				advice->drives[i].spec.price_usd, source);
		}
		assumed |= advice->drives[i].assumed;
	}
	if (any_wears_out(advice)) {
		fputs(
		    "! the rated endurance of the drive lasts less than 3 years at this load day and night\n",
		    out);
	}
	if (assumed) {
		fputs("~ no figure of this drive's speed is published: all are assumed\n", out);
	}
}

int sl_report_advise_text(const struct sl_advise_report *report, FILE *out, struct sl_err *err)
{
	const struct sl_advice *advice = report->advice;

	if (advice->n_tables == 0) {
		fputs("nothing was measured\n", out);
		return 0;
	}
	fprintf(out, "%s\n", sl_scenario_title(advice->scenario));
	for (int i = 0; i < advice->n_tables; i++) {
		const struct sl_advice_table *table = &advice->tables[i];

		fprintf(out, "\n%s on %s, %d pairs of runs per row\n\n",
			sl_scenario_workload(advice->scenario, table->workload)->name,
			sl_scenario_variant_name(advice->scenario, advice->base_variant), advice->repeat);
		if (print_table(report, table, out) < 0) {
			return sl_err_set(err, -ENOMEM, "out of memory");
		}
		fprintf(out, "limit: %s\n", table->limit);
		print_losses(report, table, out);
		fprintf(out, "%s%s%s\n", sl_tint_wanted(out) ? sl_tint_start(SL_TINT_BOLD) : "",
			table->verdict, sl_tint_wanted(out) ? sl_tint_end(SL_TINT_BOLD) : "");
	}
	fputc('\n', out);
	print_prices(advice, out);
	return 0;
}

static void arithmetic_gain(const struct sl_advice *advice, const struct sl_advice_table *table, int at,
			    FILE *out)
{
	const struct sl_advice_row *row = &table->rows[at], *base = &table->rows[table->base];
	const struct sl_paired *p = &row->paired;
	const char *unit = unit_of(advice, table);

	for (int i = 0; i < row->n_samples; i++) {
		fprintf(out, "  seed %llu: %.6g / %.6g %s = %.4f\n",
			(unsigned long long)advice->seed + (unsigned long long)i, row->samples[i],
			base->samples[i], unit, row->samples[i] / base->samples[i]);
	}
	fprintf(out, "  gain: geometric mean %.4f", p->ratio);
	if (p->n > 1) {
		fprintf(out, ", 95 %% interval (Student, %d pairs) %.4f..%.4f", p->n, p->ratio_low,
			p->ratio_high);
	}
	fprintf(out, "; %+.6g %s", p->difference, unit);
	if (p->n > 1) {
		fprintf(out, " +-%.2g", p->difference_ci95);
	}
	fputc('\n', out);
}

static void arithmetic_price(const struct sl_advice *advice, const struct sl_advice_table *table, int at,
			     FILE *out)
{
	const struct sl_advice_row *row = &table->rows[at];
	const struct sl_candidate *c = &advice->candidates[row->candidate];
	const char *unit = unit_of(advice, table), *each = sl_advice_each(advice, table);

	if (c->has_price && c->price_usd <= 0) {
		fputs("  price: nothing is bought\n", out);
		return;
	}
	if (!c->has_price) {
		fputs("  price: not in the catalogue\n", out);
		return;
	}
	fprintf(out, "  price: %d x $%.0f = $%.0f; / %.6g %s = $%.3g per %s", c->n_drives,
		advice->drives[c->drive].spec.price_usd, c->price_usd, row->paired.other, unit,
		row->usd_per_op, each);
	if (row->usd_per_gained > 0) {
		fprintf(out, "; / %.6g %s gained = $%.3g per %s gained", row->paired.difference, unit,
			row->usd_per_gained, each);
	}
	fputc('\n', out);
}

static void arithmetic_wear(const struct sl_advice *advice, const struct sl_advice_table *table, int at,
			    FILE *out)
{
	const struct sl_advice_row *row = &table->rows[at];
	const struct sl_measure *m = &row->measure;
	const struct sl_endurance *e = &row->endurance;
	char log[32], day[32], rated[32], years[32];

	sl_costs_bytes((double)m->log_bytes, log, sizeof(log));
	sl_costs_bytes(e->log_bytes_per_day, day, sizeof(day));
	fprintf(out, "  log (seed %llu): %s in %.3g s = %.0f bytes for each of %llu operations = %s a day\n",
		(unsigned long long)advice->seed, log, (double)m->elapsed_ns / 1e9, e->bytes_per_op,
		(unsigned long long)m->operations, day);
	sl_endurance_span(e, years, sizeof(years));
	if (e->device[0] == '\0' || e->device_bytes_per_day <= 0) {
		fputs("  endurance: nothing in the box wears by this\n", out);
	} else if (e->years > 0) {
		sl_costs_bytes(e->rated_bytes, rated, sizeof(rated));
		sl_costs_bytes(e->device_bytes_per_day, day, sizeof(day));
		fprintf(out, "  endurance: %s of %s / %s a day = %s, day and night\n", rated, e->device, day,
			years);
	} else {
		fprintf(out, "  endurance: %s is not rated\n", e->device);
	}
}

static void arithmetic_table(const struct sl_advice *advice, const struct sl_advice_table *table, int at,
			     FILE *out)
{
	const struct sl_advice_row *row = &table->rows[at];
	char loss[32];

	fprintf(out, "\narithmetic of %s on %s\n", advice->candidates[row->candidate].name,
		sl_scenario_workload(advice->scenario, table->workload)->name);
	arithmetic_gain(advice, table, at, out);
	arithmetic_price(advice, table, at, out);
	arithmetic_wear(advice, table, at, out);
	sl_costs_loss(&row->measure.loss, loss, sizeof(loss));
	fprintf(out, "  lost at a cut: %s%s%s\n  busy:", loss, row->measure.loss.why[0] ? ": " : "",
		row->measure.loss.why);
	for (int i = 0; i < row->measure.n_resources; i++) {
		fprintf(out, "%s %s %.0f %%", i ? "," : "", row->measure.resources[i].name,
			row->measure.resources[i].utilisation * 100);
	}
	fputc('\n', out);
}

void sl_report_advise_arithmetic(const struct sl_advise_report *report, const char *row, FILE *out)
{
	for (int i = 0; i < report->advice->n_tables; i++) {
		const struct sl_advice_table *table = &report->advice->tables[i];
		int at = sl_advice_find(report->advice, table, row);

		if (at >= 0) {
			arithmetic_table(report->advice, table, at, out);
		}
	}
}
