/* What a table says: what would lift the box, and what to buy, by which rule and why. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/guest/client.h"
#include "sim/stack/advise_inner.h"

#define MANY_TIMES_PCT 900.0 /* from here on a percentage is hard to read */

static const struct sl_candidate *candidate_at(const struct sl_advice *advice,
					       const struct sl_advice_table *table, int row)
{
	return &advice->candidates[table->rows[row].candidate];
}

__attribute__((format(printf, 3, 4))) static void append(char *buf, size_t size, const char *fmt, ...)
{
	size_t used = strlen(buf);
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(buf + used, size - used, fmt, args);
	va_end(args);
}

/* "+31 %", "25 times as much" */
static void word_gain(double pct, char *buf, size_t size)
{
	if (pct >= MANY_TIMES_PCT) {
		append(buf, size, "%.0f times as much", pct / 100 + 1);
	} else {
		append(buf, size, "%+.*f %%", fabs(pct) < 10 ? 1 : 0, pct);
	}
}

/* What would bring most, and what a SLOG could: from the what-ifs, so that the two cannot contradict. */
static void word_what_ifs(const struct sl_explain_cell *cell, char *buf, size_t size)
{
	int best = sl_what_if_best(cell);
	double most = best < 0 ? 0 : sl_what_if_gain(cell, (enum sl_what_if)best);
	double slog = sl_what_if_gain(cell, (enum sl_what_if)SL_LAYER_LOG_DISK);

	if (most < SL_WHAT_IF_NOTHING_PCT) {
		append(buf, size, "no layer at no cost would bring %.0f %%", SL_WHAT_IF_NOTHING_PCT);
		return;
	}
	append(buf, size, "%s would bring most, ", sl_what_if_name((enum sl_what_if)best));
	word_gain(most, buf, size);
	if (best == (int)SL_LAYER_LOG_DISK || isnan(slog)) {
		return;
	}
	if (slog < SL_WHAT_IF_NOTHING_PCT) {
		append(buf, size, "; a SLOG at no cost can add no more (%+.1f %%)", slog);
	} else {
		append(buf, size, "; a SLOG at no cost ");
		word_gain(slog, buf, size);
	}
}

static void word_limit(const struct sl_advice *advice, struct sl_advice_table *table)
{
	table->limit[0] = '\0';
	append(table->limit, sizeof(table->limit), "as it is, ");
	word_what_ifs(&table->as_it_is, table->limit, sizeof(table->limit));
	if (table->best_purchase >= 0 && table->bought.value > 0) {
		append(table->limit, sizeof(table->limit), "; with %s, ",
		       candidate_at(advice, table, table->best_purchase)->name);
		word_what_ifs(&table->bought, table->limit, sizeof(table->limit));
	}
}

/* "drive that lasts 3 years, loses no more than the box as it is and has a known price" */
static void word_such(const struct sl_advice *advice, char *buf, size_t size)
{
	append(buf, size,
	       "%s that lasts %g year%s, loses no more than the box as it is and has a known price",
	       advice->mirrored ? "mirror" : "drive", advice->years, advice->years > 1 ? "s" : "");
}

/* "$203, 4.8 years": what a purchase costs and how long it lasts. */
static void word_terms(const struct sl_advice *advice, const struct sl_advice_table *table, int row,
		       char *buf, size_t size)
{
	const struct sl_endurance *e = &table->rows[row].endurance;
	char span[32];

	append(buf, size, "$%.0f, ", candidate_at(advice, table, row)->price_usd);
	if (e->years > 0) {
		sl_endurance_span(e, span, sizeof(span));
		append(buf, size, "rated %.0f TB last %s day and night", e->rated_bytes / 1e12, span);
	} else {
		append(buf, size, "nothing wears");
	}
}

/* The best purchase together with what costs nothing, where that is better than row `alone`; else NULL. */
static const struct sl_advice_row *better_together(const struct sl_advice *advice,
						   const struct sl_advice_table *table, int alone)
{
	double enough = table->rows[alone].paired.ratio * (1 + SL_ADVICE_NOISE);

	for (int i = 0; i < table->n_rows; i++) {
		const struct sl_advice_row *row = &table->rows[i];

		if (candidate_at(advice, table, i)->change == SL_CHANGE_BOTH && !row->unsafe &&
		    row->life != SL_LIFE_SHORT && row->paired.ratio_low > enough) {
			return row;
		}
	}
	return NULL;
}

static void word_both(const struct sl_advice *advice, const struct sl_advice_table *table, char *buf,
		      size_t size)
{
	const struct sl_advice_row *both = better_together(advice, table, table->best_purchase);
	const struct sl_candidate *partner = both ? &advice->candidates[table->partner] : NULL;

	if (both) {
		append(buf, size, "; then %s as well%s%s: %.2fx together", partner->name,
		       partner->remark[0] ? ", " : "", partner->remark, both->paired.ratio);
	}
}

/* Between two parts of a verdict. */
static void word_next(char *buf, size_t size)
{
	if (buf[0] != '\0' && buf[strlen(buf) - 1] != ' ') {
		append(buf, size, "; ");
	}
}

/* That the database reads for most of the time, and in how much memory it would not. */
static void word_reads(const struct sl_advice *advice, const struct sl_advice_table *table, char *buf,
		       size_t size)
{
	const struct sl_workload *workload = sl_scenario_workload(advice->scenario, table->workload);

	if (sl_advice_reads_limit(table)) {
		word_next(buf, size);
		append(buf, size,
		       "reads of the database limit it, %.0f %% of a transaction's time; the table with its "
		       "index in memory would take %.3g GB",
		       table->rows[table->base].measure.read_share * 100,
		       sl_oltp_table_bytes(advice->base, workload) / 1e9);
	}
}

static void word_purchase(const struct sl_advice *advice, struct sl_advice_table *table)
{
	const struct sl_advice_row *row = &table->rows[table->best_purchase];
	const struct sl_candidate *c = candidate_at(advice, table, table->best_purchase);
	size_t size = sizeof(table->verdict);
	char *buf = table->verdict;

	if (sl_advice_reads_limit(table)) {
		append(buf, size, "As it is, ");
		word_reads(advice, table, buf, size);
		append(buf, size, ". Short of that: ");
	}
	append(buf, size, "Buy ");
	sl_paired_verdict(&row->paired, c->name, buf + strlen(buf), size - strlen(buf));
	append(buf, size, "; ");
	word_terms(advice, table, table->best_purchase, buf, size);
	append(buf, size, ": the cheapest ");
	word_such(advice, buf, size);
	append(buf, size, ", of those within %.0f %% of the best", 100 - SL_ADVICE_NEAR_BEST * 100);
	if (c->assumed) {
		append(buf, size, "; its figures are assumed");
	}
	word_both(advice, table, buf, size);
}

static void word_free(const struct sl_advice *advice, const struct sl_advice_table *table, char *buf,
		      size_t size)
{
	const struct sl_candidate *c = candidate_at(advice, table, table->best_free);

	sl_paired_verdict(&table->rows[table->best_free].paired, c->name, buf + strlen(buf),
			  size - strlen(buf));
	append(buf, size, ", and costs nothing%s%s", c->remark[0] ? ", " : "", c->remark);
}

/* The purchase that is not advised. */
static void word_instead(const struct sl_advice *advice, const struct sl_advice_table *table, char *buf,
			 size_t size)
{
	const struct sl_candidate *c = candidate_at(advice, table, table->best_purchase);
	const struct sl_advice_row *alone = &table->rows[table->best_purchase], *both = NULL;
	bool little = alone->paired.ratio < SL_ADVICE_WORTH_READS;

	if (table->best_free >= 0 && table->partner == table->rows[table->best_free].candidate) {
		both = better_together(advice, table, table->best_free);
	}
	word_next(buf, size);
	append(buf, size, "the cheapest ");
	word_such(advice, buf, size);
	append(buf, size, ", %s for $%.0f, gives %s%.2fx", c->name, c->price_usd,
	       sl_advice_reads_limit(table) && little ? "only " : "", alone->paired.ratio);
	if (both) {
		append(buf, size, ", both together %.2fx", both->paired.ratio);
	}
}

/* Why no drive: none is good enough, or a free change is better, or reads limit the box. */
static void word_nothing(const struct sl_advice *advice, struct sl_advice_table *table, bool tried)
{
	size_t size = sizeof(table->verdict);
	char *buf = table->verdict;

	append(buf, size, tried ? "Buy nothing: " : "Buy nothing: no drive was tried; ");
	if (table->best_free >= 0) {
		word_free(advice, table, buf, size);
	}
	word_reads(advice, table, buf, size);
	if (table->best_purchase >= 0) {
		word_instead(advice, table, buf, size);
	} else if (tried) {
		word_next(buf, size);
		append(buf, size, "no ");
		word_such(advice, buf, size);
		append(buf, size, " surely gives more than %.2fx", SL_ADVICE_WORTH);
	}
	if (table->best_free < 0) {
		word_next(buf, size);
		word_what_ifs(&table->as_it_is, buf, size);
	}
}

/* A log device that is there and dies before the asked years. */
static void word_worn(const struct sl_advice *advice, struct sl_advice_table *table)
{
	size_t size = sizeof(table->verdict);
	char span[32];

	if (table->rows[table->base].life != SL_LIFE_SHORT) {
		return;
	}
	sl_endurance_span(&table->rows[table->base].endurance, span, sizeof(span));
	append(table->verdict, size, "; what is there wears out in %s at this load", span);
	if (table->replacement >= 0) {
		append(table->verdict, size, ", then %s follows (",
		       candidate_at(advice, table, table->replacement)->name);
		word_terms(advice, table, table->replacement, table->verdict, size);
		append(table->verdict, size, ")");
	}
}

void sl_advice_word(const struct sl_advice *advice, struct sl_advice_table *table)
{
	bool tried = false;

	for (int i = 0; i < table->n_rows; i++) {
		tried |= candidate_at(advice, table, i)->change == SL_CHANGE_PURCHASE;
	}
	table->verdict[0] = '\0';
	if (table->advised >= 0 && table->advised == table->best_purchase) {
		word_purchase(advice, table);
	} else {
		word_nothing(advice, table, tried);
		word_worn(advice, table);
	}
	word_limit(advice, table);
}
