#include "sim/report/report_advise.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "sim/report/fudges.h"
#include "sim/report/prose.h"
#include "sim/report/report.h"
#include "sim/report/report_costs.h"
#include "sim/report/table.h"

#define YEAR_DAYS 365.25
#define NAME_WIDTH 32 /* of the table's 100 columns */

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

/* Has any row the drive? Not where it is above the budget. */
static bool is_offered(const struct sl_advice *advice, int drive)
{
	for (int i = 0; i < advice->n_candidates; i++) {
		if (advice->candidates[i].drive == drive) {
			return true;
		}
	}
	return false;
}

const char *sl_advise_price_source(const struct sl_advice *advice, int drive)
{
	const struct sl_advice_drive *d = &advice->drives[drive];

	return is_offered(advice, drive) && d->spec.price_usd > 0 && d->price_source[0] ? d->price_source
											: NULL;
}

static const char *unit_of(const struct sl_advice *advice, const struct sl_advice_table *table)
{
	return sl_metric_unit(sl_scenario_workload(advice->scenario, table->workload)->kind);
}

static struct sl_table *table_make(void)
{
	static const char *const headings[] = {"#",      "<change", "rate",  "gain",  "+-%", "$",
					       "$/gain", "GB/day",  "lasts", "<lost", "<"};

	return sl_table_new(headings, (int)(sizeof(headings) / sizeof(headings[0])));
}

static enum sl_tint row_tint(const struct sl_advice_table *table, int at)
{
	const struct sl_advice_row *row = &table->rows[at];

	if (at == table->advised) {
		return SL_TINT_BOLD;
	}
	if (row->unsafe) {
		return SL_TINT_BAD;
	}
	return row->dominated_by >= 0 ? SL_TINT_DIM : SL_TINT_NONE;
}

/* Remarks are as long as a table is wide: a letter each, and below the table what it stands for. */
struct remarks {
	int n;
	const char *text[26];
};

static char remark_letter(struct remarks *remarks, const char *text)
{
	int i = 0;

	while (i < remarks->n && strcmp(remarks->text[i], text) != 0) {
		i++;
	}
	if (i == (int)(sizeof(remarks->text) / sizeof(remarks->text[0]))) {
		return '*';
	}
	if (i == remarks->n) {
		remarks->text[remarks->n++] = text;
	}
	return (char)('a' + i);
}

static void put_remark(struct sl_table *out, const struct sl_advice_row *row, const struct sl_candidate *c,
		       struct remarks *remarks, enum sl_tint tint)
{
	const char *assumed = c->assumed ? " ~" : "";

	if (row->dominated_by >= 0) {
		sl_table_put(out, tint, "<=%d%s", row->dominated_by + 1, assumed);
	} else if (row->unsafe) {
		sl_table_put(out, tint, "unsafe%s", assumed);
	} else if (c->remark[0] != '\0') {
		sl_table_put(out, tint, "%c%s", remark_letter(remarks, c->remark), assumed);
	} else {
		sl_table_put(out, tint, "%s", assumed + (c->assumed ? 1 : 0));
	}
}

/* Where a name that is longer than its column goes on: at what is added to it, else at a blank. */
static size_t name_break(const char *name)
{
	const char *plus = strstr(name, " + ");
	size_t at = NAME_WIDTH;

	if (plus && plus - name <= NAME_WIDTH) {
		return (size_t)(plus - name);
	}
	while (at > 0 && name[at] != ' ') {
		at--;
	}
	return at > 0 ? at : NAME_WIDTH;
}

/* Rank and name; the other columns follow in the last line of the name. False when out of memory. */
static bool put_name(struct sl_table *out, enum sl_tint tint, int rank, const char *name)
{
	const char *indent = "";

	if (!sl_table_row(out)) {
		return false;
	}
	sl_table_put(out, tint, "%d", rank);
	while (strlen(indent) + strlen(name) > NAME_WIDTH) {
		size_t at = name_break(name);

		sl_table_put(out, tint, "%s%.*s", indent, (int)at, name);
		if (!sl_table_row(out)) {
			return false;
		}
		sl_table_put(out, tint, "%s", "");
		name += at;
		name += *name == ' ';
		indent = "  ";
	}
	sl_table_put(out, tint, "%s%s", indent, name);
	return true;
}

/* Half of the interval in per cent: it is as far down as up, as factors are. */
static void put_gain(struct sl_table *out, const struct sl_paired *paired, bool base, enum sl_tint tint)
{
	double half_pct = paired->ratio > 0 ? (paired->ratio_high / paired->ratio - 1) * 100 : 0;

	sl_table_put(out, tint, "%.*f", paired->ratio < 99.995 ? 2 : 0, paired->ratio);
	if (base || paired->n < 2) {
		sl_table_put(out, tint, "%s", "");
	} else {
		sl_table_put(out, tint, "%.*f", half_pct < 9.95 ? 1 : 0, half_pct);
	}
}

static void put_price(struct sl_table *out, const struct sl_advice_row *row, const struct sl_candidate *c,
		      enum sl_tint tint)
{
	char text[64];

	sl_advise_price(c, text, sizeof(text));
	sl_table_put(out, tint, "%s", text + (text[0] == '$'));
	if (row->usd_per_gained > 0) {
		sl_table_put(out, tint, "%.*g", row->usd_per_gained < 0.1 ? 2 : 3, row->usd_per_gained);
	} else {
		sl_table_put(out, tint, "-");
	}
}

static void put_lasts(struct sl_table *out, const struct sl_advice_row *row, enum sl_tint tint)
{
	const struct sl_endurance *e = &row->endurance;
	const char *mark = row->life == SL_LIFE_SHORT ? "!" : "";
	double days = e->years * YEAR_DAYS;

	tint = row->life == SL_LIFE_SHORT && tint == SL_TINT_NONE ? SL_TINT_BAD : tint;
	if (row->life == SL_LIFE_UNKNOWN) {
		sl_table_put(out, tint, "?");
	} else if (e->device[0] == '\0' || e->device_bytes_per_day <= 0) {
		sl_table_put(out, tint, "-");
	} else if (e->years > 100) {
		sl_table_put(out, tint, ">100y");
	} else if (days < YEAR_DAYS) {
		sl_table_put(out, tint, "%.*fd%s", days < 9.95 ? 1 : 0, days, mark);
	} else {
		sl_table_put(out, tint, "%.*fy%s", e->years < 9.95 ? 1 : 0, e->years, mark);
	}
}

static bool put_row(struct sl_table *out, const struct sl_advice *advice, const struct sl_advice_table *table,
		    int at, struct remarks *remarks)
{
	const struct sl_advice_row *row = &table->rows[at];
	const struct sl_candidate *c = &advice->candidates[row->candidate];
	enum sl_tint tint = row_tint(table, at);
	char text[64];

	if (!put_name(out, tint, at + 1, c->name)) {
		return false;
	}
	sl_report_number(row->paired.other, text, sizeof(text));
	sl_table_put(out, tint, "%s", text);
	put_gain(out, &row->paired, at == table->base, tint);
	put_price(out, row, c, tint);
	sl_report_number(row->endurance.log_bytes_per_day / 1e9, text, sizeof(text));
	sl_table_put(out, tint, "%s", text);
	put_lasts(out, row, tint);
	sl_units_time((int64_t)(row->measure.loss.seconds * 1e9), text, sizeof(text));
	sl_table_put(out, tint, "%s%s", row->measure.loss.at_least ? ">" : "",
		     row->measure.loss.seconds > 0 ? text : "-");
	put_remark(out, row, c, remarks, tint);
	return true;
}

/* Beyond the first rows stands only what the text below speaks of. */
static bool is_shown(const struct sl_advise_report *report, const struct sl_advice_table *table, int at)
{
	return report->rows_max == 0 || at < report->rows_max || at == table->base ||
	       at == table->best_purchase || at == table->replacement || at == table->best_free;
}

__attribute__((format(printf, 2, 3))) static void print_prose(FILE *out, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	sl_prose(text, 0, sl_prose_width(out), out);
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
			print_prose(out, "at a cut: %s %.2g s of acknowledged writes%s: %s",
				    loss->at_least ? "at least" : "up to", loss->seconds,
				    loss->at_least ? " (the run is shorter than two txgs)" : "", loss->why);
		}
	}
}

static int print_table(const struct sl_advise_report *report, const struct sl_advice_table *table, FILE *out)
{
	const struct sl_advice *advice = report->advice;
	struct sl_table *text = table_make();
	struct remarks remarks = {0};
	int left_out = 0;

	if (!text) {
		return -ENOMEM;
	}
	for (int i = 0; i < table->n_rows; i++) {
		if (!is_shown(report, table, i)) {
			left_out++;
			continue;
		}
		if (!put_row(text, advice, table, i, &remarks)) {
			sl_table_free(text);
			return -ENOMEM;
		}
	}
	sl_table_print(text, out);
	sl_table_free(text);
	if (left_out > 0) {
		fprintf(out, "and %d more rows; --rows 0 shows all\n", left_out);
	}
	for (int i = 0; i < remarks.n; i++) {
		fprintf(out, "%c  %s\n", 'a' + i, remarks.text[i]);
	}
	return 0;
}

/* What the short headings mean. */
static void print_legend(const struct sl_advice *advice, FILE *out)
{
	char rule[512];

	sl_advice_rule(advice, rule, sizeof(rule));
	print_prose(out, "rule: %s", rule);
	print_prose(
	    out,
	    "rate: as the line above the table says; gain: times the rate as it is, +-%%: half of its "
	    "95 %% interval, noise of the seed and not of the parameters; $: price, ? unknown, $/gain: "
	    "dollars per unit of rate gained; GB/day: "
	    "log written at this load day and night; lasts: days or years that the rated endurance "
	    "lasts, ! less than %g years, ? not known; lost: at a cut of the power, the oldest "
	    "acknowledged write, at worst; <=N: no better than row N; unsafe: loses more than the box "
	    "as it is",
	    advice->years);
}

static void print_prices(const struct sl_advice *advice, FILE *out)
{
	bool assumed = false;

	for (int i = 0; i < advice->n_drives; i++) {
		const char *source = sl_advise_price_source(advice, i);

		if (source) {
			print_prose(out, "price: %s $%.0f (%.0f): %s", advice->drives[i].spec.name,
				    advice->drives[i].spec.price_usd, advice->drives[i].spec.price_year,
				    source);
		}
		assumed |= is_offered(advice, i) && advice->drives[i].assumed;
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

		fprintf(out, "\n%s on %s: rate in %s, %d pair%s of runs per row\n\n",
			sl_scenario_workload(advice->scenario, table->workload)->name,
			sl_scenario_variant_name(advice->scenario, advice->base_variant),
			unit_of(advice, table), advice->repeat, advice->repeat == 1 ? "" : "s");
		if (print_table(report, table, out) < 0) {
			return sl_err_set(err, -ENOMEM, "out of memory");
		}
		print_prose(out, "limit: %s", table->limit);
		print_losses(report, table, out);
		fputs(sl_tint_wanted(out) ? sl_tint_start(SL_TINT_BOLD) : "", out);
		print_prose(out, "%s", table->verdict);
		fputs(sl_tint_wanted(out) ? sl_tint_end(SL_TINT_BOLD) : "", out);
	}
	fputc('\n', out);
	print_legend(advice, out);
	sl_fudges_text(advice->scenario, out);
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
