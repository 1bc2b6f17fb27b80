/*
 * What the rows of a table mean. Two rates closer than the noise count as equal; among equals comes first
 * what loses less at a cut, then what costs less, then what changes less, then what lasts longer. A row is
 * dominated when another is no worse in rate, price, loss and endurance and better in one of them; a mirror
 * only by another mirror, or by what need not be bought. Dominated rows stand at the end, before them those
 * that give up safety.
 */
#include "sim/stack/advise_inner.h"

#define LASTS_YEARS 10.0 /* what outlasts this outlasts the box */

static const struct sl_candidate *candidate_of(const struct sl_advice *advice,
					       const struct sl_advice_row *row)
{
	return &advice->candidates[row->candidate];
}

static double row_years(const struct sl_advice_row *row)
{
	const struct sl_endurance *e = &row->endurance;

	if (e->device[0] == '\0' || e->device_bytes_per_day <= 0) {
		return LASTS_YEARS; /* nothing wears */
	}
	return e->years < LASTS_YEARS ? e->years : LASTS_YEARS; /* not rated: 0 */
}

static enum sl_life life_of(const struct sl_advice *advice, const struct sl_advice_row *row)
{
	const struct sl_endurance *e = &row->endurance;

	if (candidate_of(advice, row)->other_use) {
		return SL_LIFE_UNKNOWN;
	}
	if (e->device[0] == '\0' || e->device_bytes_per_day <= 0) {
		return SL_LIFE_LASTS; /* nothing wears */
	}
	if (e->years <= 0) {
		return SL_LIFE_UNKNOWN; /* not rated */
	}
	return e->years < advice->years ? SL_LIFE_SHORT : SL_LIFE_LASTS;
}

static bool buys(const struct sl_candidate *c)
{
	return c->change == SL_CHANGE_PURCHASE || c->change == SL_CHANGE_BOTH;
}

/* `base` is compared with itself first. */
static void compare(struct sl_advice *advice, bool restartable, const struct sl_advice_row *base,
		    struct sl_advice_row *row)
{
	const struct sl_candidate *c = candidate_of(advice, row);
	double gained;

	sl_paired_compare(base->samples, row->samples, row->n_samples, &row->paired);
	sl_endurance_of(&c->box, &row->measure, &row->endurance);
	row->life = life_of(advice, row);
	if (c->change != SL_CHANGE_NONE && !buys(c) && base->life == SL_LIFE_SHORT) {
		row->life = SL_LIFE_LASTS; /* it is not this change that wears out what is there */
	}
	row->helps = row->paired.ratio_low > SL_ADVICE_WORTH;
	row->usd_per_op = row->usd_per_gained = 0;
	gained = row->paired.difference;
	if (c->has_price && c->price_usd > 0 && row->paired.other > 0) {
		row->usd_per_op = c->price_usd / row->paired.other;
		row->usd_per_gained = row->helps && gained > 0 ? c->price_usd / gained : 0;
	}
	row->unsafe = c->bulk_only ? !restartable : sl_loss_is_more(&row->measure.loss, &base->measure.loss);
}

/* Negative when a costs less than b; an unknown price is above every other. */
static int price_order(const struct sl_candidate *a, const struct sl_candidate *b)
{
	if (a->has_price != b->has_price) {
		return a->has_price ? -1 : 1;
	}
	return a->has_price ? (a->price_usd > b->price_usd) - (a->price_usd < b->price_usd) : 0;
}

/* Among equals in rate. */
static int equals_order(const struct sl_advice *advice, const struct sl_advice_row *a,
			const struct sl_advice_row *b)
{
	const struct sl_candidate *ca = candidate_of(advice, a), *cb = candidate_of(advice, b);
	double ya = row_years(a), yb = row_years(b);
	int order = sl_loss_class(&a->measure.loss) - sl_loss_class(&b->measure.loss);

	order = order ? order : price_order(ca, cb);
	order = order ? order : (int)ca->change - (int)cb->change;
	order = order ? order : (ya < yb) - (ya > yb);
	return order ? order : a->candidate - b->candidate;
}

/* 0: worth a look, 1: gives up safety, 2: dominated. */
static int class_of(const struct sl_advice_row *row)
{
	if (row->dominated_by >= 0) {
		return 2;
	}
	return row->unsafe ? 1 : 0;
}

/* By class, then the faster first. */
static int rate_order(const struct sl_advice_row *a, const struct sl_advice_row *b)
{
	if (class_of(a) != class_of(b)) {
		return class_of(a) - class_of(b);
	}
	return (a->paired.other < b->paired.other) - (a->paired.other > b->paired.other);
}

/* Insertion sort of rows [from, to): few of them, stable, and the order needs the advice. */
static void sort_rows(const struct sl_advice *advice, struct sl_advice_row *rows, int from, int to,
		      bool equals)
{
	for (int i = from + 1; i < to; i++) {
		struct sl_advice_row row = rows[i];
		int at = i;

		while (at > from && (equals ? equals_order(advice, &row, &rows[at - 1])
					    : rate_order(&row, &rows[at - 1])) < 0) {
			rows[at] = rows[at - 1];
			at--;
		}
		rows[at] = row;
	}
}

static void rank(const struct sl_advice *advice, struct sl_advice_table *table)
{
	struct sl_advice_row *rows = table->rows;
	int from = 0;

	sort_rows(advice, rows, 0, table->n_rows, false);
	while (from < table->n_rows) {
		double least = rows[from].paired.other * (1 - SL_ADVICE_NOISE);
		int to = from + 1;

		while (to < table->n_rows && class_of(&rows[to]) == class_of(&rows[from]) &&
		       rows[to].paired.other >= least) {
			to++;
		}
		sort_rows(advice, rows, from, to, true);
		from = to;
	}
}

/* What needs idle cores or a new pool beats only its like: not everybody has them. */
static bool may_dominate(const struct sl_candidate *winner, const struct sl_candidate *loser)
{
	switch (winner->change) {
	case SL_CHANGE_NONE:
	case SL_CHANGE_SETTING:
		return true;
	case SL_CHANGE_PURCHASE:
		return loser->change == SL_CHANGE_PURCHASE || loser->change == SL_CHANGE_BOTH;
	case SL_CHANGE_CORES:
	case SL_CHANGE_MEMORY:
	case SL_CHANGE_REBUILD:
	case SL_CHANGE_BOTH:
		break;
	}
	return winner->change == loser->change;
}

/* Goes on when one of the log devices dies, which no other figure of a row tells. */
static bool is_mirror(const struct sl_candidate *c)
{
	return c->change == SL_CHANGE_PURCHASE && c->box.log[0].kind == SL_DEV_MIRROR;
}

/* Negative when a is clearly less than b, 0 when they are equal but for the noise. */
static int noise_order(double a, double b)
{
	return (a > b * (1 + SL_ADVICE_NOISE)) - (a < b * (1 - SL_ADVICE_NOISE));
}

static bool dominates(const struct sl_advice *advice, const struct sl_advice_row *winner,
		      const struct sl_advice_row *loser)
{
	const struct sl_candidate *w = candidate_of(advice, winner), *l = candidate_of(advice, loser);
	int faster = noise_order(winner->paired.other, loser->paired.other);
	int lasting = noise_order(row_years(winner), row_years(loser));
	int riskier = sl_loss_is_more(&winner->measure.loss, &loser->measure.loss) -
		      sl_loss_is_more(&loser->measure.loss, &winner->measure.loss);
	int dearer = price_order(w, l);

	if (winner == loser || l->change == SL_CHANGE_NONE || !may_dominate(w, l) ||
	    (winner->unsafe && !loser->unsafe) ||
	    (is_mirror(l) && w->change == SL_CHANGE_PURCHASE && !is_mirror(w))) {
		return false;
	}
	if (!w->has_price || faster < 0 || lasting < 0 || riskier > 0 || dearer > 0) {
		return false;
	}
	return faster > 0 || lasting > 0 || riskier < 0 || dearer < 0 ||
	       (w->change == SL_CHANGE_NONE && l->change != SL_CHANGE_NONE);
}

static void mark_dominated(const struct sl_advice *advice, struct sl_advice_table *table)
{
	for (int i = 0; i < table->n_rows; i++) {
		table->rows[i].dominated_by = -1;
		for (int j = 0; j < table->n_rows && table->rows[i].dominated_by < 0; j++) {
			if (dominates(advice, &table->rows[j], &table->rows[i])) {
				table->rows[i].dominated_by = j;
			}
		}
	}
}

void sl_advice_judge(struct sl_advice *advice, struct sl_advice_table *table)
{
	const struct sl_workload *workload = sl_scenario_workload(advice->scenario, table->workload);
	struct sl_advice_row base = table->rows[0];

	for (int i = 0; i < table->n_rows; i++) {
		if (table->rows[i].candidate == 0) {
			base = table->rows[i];
		}
	}
	compare(advice, workload->restartable, &base, &base);
	for (int i = 0; i < table->n_rows; i++) {
		compare(advice, workload->restartable, &base, &table->rows[i]);
	}
	mark_dominated(advice, table);
	rank(advice, table);
	mark_dominated(advice, table); /* again, now by rank */
	sl_advice_choose(advice, table);
}
