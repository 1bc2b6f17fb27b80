/* The rule of buying (advise.h): which row the verdict is about. Rows are in order of rank. */
#include <stdio.h>

#include "sim/stack/advise_inner.h"

#define ANY_RATE 0.0 /* of what replaces a drive that wears out: nothing need be gained */

static const struct sl_candidate *candidate_of(const struct sl_advice *advice,
					       const struct sl_advice_row *row)
{
	return &advice->candidates[row->candidate];
}

const char *sl_life_name(enum sl_life life)
{
	static const char *const names[] = {"lasts", "short", "unknown"};

	return names[life];
}

void sl_advice_rule(const struct sl_advice *advice, char *buf, size_t size)
{
	(void)snprintf(
	    buf, size,
	    "of the %s that last %g year%s at this load, lose no more at a cut than the box as it "
	    "is and have a known price, the cheapest whose lower bound of rate is at least %.0f %% "
	    "of the best one's; nothing where its gain's interval touches %.2fx, or %.2fx where reads of "
	    "the database take most of the time",
	    advice->mirrored ? "mirrors of drives" : "drives", advice->years, advice->years > 1 ? "s" : "",
	    SL_ADVICE_NEAR_BEST * 100, SL_ADVICE_WORTH, SL_ADVICE_WORTH_READS);
}

/* May the rule name this purchase when its gain is certainly above `worth`? */
static bool may_buy(const struct sl_advice *advice, const struct sl_advice_row *row, double worth)
{
	const struct sl_candidate *c = candidate_of(advice, row);

	return c->change == SL_CHANGE_PURCHASE && row->life == SL_LIFE_LASTS && !row->unsafe &&
	       c->has_price && row->paired.ratio_low > worth &&
	       (!advice->mirrored || c->box.log[0].kind == SL_DEV_MIRROR);
}

/* The cheapest of those within SL_ADVICE_NEAR_BEST of the best, -1 = none. */
static int cheapest_of(const struct sl_advice *advice, const struct sl_advice_table *table, double worth)
{
	const struct sl_advice_row *rows = table->rows;
	double best = 0;
	int chosen = -1;

	for (int i = 0; i < table->n_rows; i++) {
		if (may_buy(advice, &rows[i], worth) && rows[i].paired.ratio_low > best) {
			best = rows[i].paired.ratio_low;
		}
	}
	for (int i = 0; i < table->n_rows; i++) {
		if (may_buy(advice, &rows[i], worth) &&
		    rows[i].paired.ratio_low >= best * SL_ADVICE_NEAR_BEST &&
		    (chosen < 0 || candidate_of(advice, &rows[i])->price_usd <
				       candidate_of(advice, &rows[chosen])->price_usd)) {
			chosen = i;
		}
	}
	return chosen;
}

static bool is_free(const struct sl_advice *advice, const struct sl_advice_row *row, double worth)
{
	enum sl_change change = candidate_of(advice, row)->change;

	return change >= SL_CHANGE_SETTING && change <= SL_CHANGE_REBUILD && row->paired.ratio_low > worth &&
	       !row->unsafe && row->life != SL_LIFE_SHORT;
}

/* Negative when a changes less than b: in kind, then in memory that the host must have. */
static int change_order(const struct sl_candidate *a, const struct sl_candidate *b)
{
	if (a->change != b->change) {
		return a->change < b->change ? -1 : 1;
	}
	return (a->added_bytes > b->added_bytes) - (a->added_bytes < b->added_bytes);
}

/* Of what costs nothing and comes within SL_ADVICE_NEAR_BEST of the best of its kind: the least change. */
static int least_change(const struct sl_advice *advice, const struct sl_advice_table *table, double worth)
{
	const struct sl_advice_row *rows = table->rows;
	double best = 0;
	int chosen = -1;

	for (int i = 0; i < table->n_rows; i++) {
		if (is_free(advice, &rows[i], worth) && rows[i].paired.ratio_low > best) {
			best = rows[i].paired.ratio_low;
		}
	}
	for (int i = 0; i < table->n_rows; i++) {
		if (is_free(advice, &rows[i], worth) &&
		    rows[i].paired.ratio_low >= best * SL_ADVICE_NEAR_BEST &&
		    (chosen < 0 ||
		     change_order(candidate_of(advice, &rows[i]), candidate_of(advice, &rows[chosen])) < 0)) {
			chosen = i;
		}
	}
	return chosen;
}

/* Everybody can have a setting, so that it competes as a purchase of $0. What not everybody has takes the
 * place of a drive only where that does not come near it. */
static bool free_wins(const struct sl_advice *advice, const struct sl_advice_table *table)
{
	const struct sl_advice_row *bought, *changed;

	if (table->best_free < 0 || table->best_purchase < 0) {
		return table->best_free >= 0;
	}
	bought = &table->rows[table->best_purchase];
	changed = &table->rows[table->best_free];
	if (candidate_of(advice, changed)->change == SL_CHANGE_SETTING) {
		return changed->paired.ratio_low >= bought->paired.ratio_low * SL_ADVICE_NEAR_BEST;
	}
	return bought->paired.ratio_low < changed->paired.ratio_low * SL_ADVICE_NEAR_BEST;
}

bool sl_advice_reads_limit(const struct sl_advice_table *table)
{
	return table->rows[table->base].measure.read_share > SL_ADVICE_MOST;
}

/* Is the drive worth its price where reads, which stay, limit the box? */
static bool is_worth(const struct sl_advice_table *table)
{
	return table->best_purchase < 0 || !sl_advice_reads_limit(table) ||
	       table->rows[table->best_purchase].paired.ratio_low > SL_ADVICE_WORTH_READS;
}

void sl_advice_choose(const struct sl_advice *advice, struct sl_advice_table *table)
{
	table->base = table->replacement = -1;
	for (int i = 0; i < table->n_rows; i++) {
		if (candidate_of(advice, &table->rows[i])->change == SL_CHANGE_NONE) {
			table->base = i;
		}
	}
	table->best_purchase = cheapest_of(advice, table, SL_ADVICE_WORTH);
	table->best_free = least_change(advice, table, SL_ADVICE_WORTH);
	table->advised =
	    free_wins(advice, table) || !is_worth(table) ? table->best_free : table->best_purchase;
	if (table->best_purchase < 0 && table->rows[table->base].life == SL_LIFE_SHORT) {
		table->replacement = cheapest_of(advice, table, ANY_RATE);
	}
}
