/*
 * What the rows of a table mean. Two rates closer than the noise count as equal; among equals comes first
 * what loses less at a cut, then what costs less, then what changes less, then what lasts longer. A row is
 * dominated when another is no worse in rate, price, loss and endurance and better in one of them; a mirror
 * only by another mirror, or by what need not be bought. Dominated rows stand at the end, before them those
 * that give up safety.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim/stack/advise_inner.h"

#define LASTS_YEARS 10.0 /* what outlasts this outlasts the box */
#define SATURATED 0.9    /* a resource busier than this is the limit */

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

static void compare(struct sl_advice *advice, const struct sl_advice_table *table,
		    const struct sl_advice_row *base, struct sl_advice_row *row)
{
	const struct sl_candidate *c = candidate_of(advice, row);
	double gained;

	sl_paired_compare(base->samples, row->samples, row->n_samples, &row->paired);
	sl_endurance_of(&c->box, &row->measure, &row->endurance);
	row->helps = row->paired.ratio_low > 1 + SL_ADVICE_NOISE;
	row->usd_per_op = row->usd_per_gained = 0;
	gained = row->paired.difference;
	if (c->has_price && c->price_usd > 0 && row->paired.other > 0) {
		row->usd_per_op = c->price_usd / row->paired.other;
		row->usd_per_gained = row->helps && gained > 0 ? c->price_usd / gained : 0;
	}
	row->unsafe = c->bulk_only ? !table->bulk : sl_loss_is_more(&row->measure.loss, &base->measure.loss);
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

/* Is purchase a better value than b (NULL: anything is)? Rows are in order of rank. */
static bool better_value(const struct sl_advice_row *a, const struct sl_advice_row *b)
{
	if (!b || a->usd_per_gained <= 0) {
		return !b;
	}
	return b->usd_per_gained <= 0 || a->usd_per_gained < b->usd_per_gained;
}

static bool is_free(enum sl_change change)
{
	return change == SL_CHANGE_SETTING || change == SL_CHANGE_CORES || change == SL_CHANGE_REBUILD;
}

static void choose(const struct sl_advice *advice, struct sl_advice_table *table)
{
	struct sl_advice_row *rows = table->rows;

	table->base = table->best_purchase = table->best_lasting = table->best_free = -1;
	for (int i = 0; i < table->n_rows; i++) {
		enum sl_change change = candidate_of(advice, &rows[i])->change;
		bool good = rows[i].helps && !rows[i].unsafe;

		if (change == SL_CHANGE_NONE) {
			table->base = i;
		} else if (good && is_free(change) && table->best_free < 0) {
			table->best_free = i;
		}
		if (!good || change != SL_CHANGE_PURCHASE) {
			continue;
		}
		if (better_value(&rows[i], table->best_purchase < 0 ? NULL : &rows[table->best_purchase])) {
			table->best_purchase = i;
		}
		if (row_years(&rows[i]) >= SL_ADVICE_LASTING_YEARS &&
		    better_value(&rows[i], table->best_lasting < 0 ? NULL : &rows[table->best_lasting])) {
			table->best_lasting = i;
		}
	}
	if (table->best_purchase >= 0 && row_years(&rows[table->best_purchase]) >= SL_ADVICE_LASTING_YEARS) {
		table->best_lasting = -1;
	}
}

static const struct sl_resource *busiest(const struct sl_measure *measure)
{
	const struct sl_resource *most = NULL;

	for (int i = 0; i < measure->n_resources; i++) {
		if (!most || measure->resources[i].utilisation > most->utilisation) {
			most = &measure->resources[i];
		}
	}
	return most;
}

__attribute__((format(printf, 3, 4))) static void append(char *buf, size_t size, const char *fmt, ...)
{
	size_t used = strlen(buf);
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(buf + used, size - used, fmt, args);
	va_end(args);
}

/* "4 threads" */
static void load_of(const struct sl_workload *workload, char *buf, size_t size)
{
	long long n =
	    workload->kind == SL_WL_SYNCWRITE ? workload->depth * workload->threads : workload->threads;
	const char *what = workload->kind == SL_WL_SYNCWRITE ? "request" : "thread";

	(void)snprintf(buf, size, "%lld %s%s", n, what, n == 1 ? "" : "s");
}

/* What the threads of a row wait for, in words. */
static void limit_of(const struct sl_advice *advice, const struct sl_advice_table *table, int row, char *buf,
		     size_t size)
{
	const struct sl_workload *workload = sl_scenario_workload(advice->scenario, table->workload);
	const struct sl_resource *most = busiest(&table->rows[row].measure);
	char load[48];
	bool one;

	load_of(workload, load, sizeof(load));
	one = strncmp(load, "1 ", 2) == 0;
	if (most && most->utilisation >= SATURATED) {
		append(buf, size, "%s %s limited by the %s, %.0f %% busy", load, one ? "is" : "are",
		       most->name, most->utilisation * 100);
		return;
	}
	append(buf, size, "%s wait%s for one step after another and nothing is saturated", load,
	       one ? "s" : "");
	if (most) {
		append(buf, size, " (busiest: %s, %.0f %%)", most->name, most->utilisation * 100);
	}
}

static void word_limit(const struct sl_advice *advice, struct sl_advice_table *table)
{
	table->limit[0] = '\0';
	append(table->limit, sizeof(table->limit), "as it is, ");
	limit_of(advice, table, table->base, table->limit, sizeof(table->limit));
	if (table->best_purchase >= 0) {
		append(table->limit, sizeof(table->limit), "; with %s, ",
		       candidate_of(advice, &table->rows[table->best_purchase])->name);
		limit_of(advice, table, table->best_purchase, table->limit, sizeof(table->limit));
	}
}

static void word_years(const struct sl_advice_row *row, char *buf, size_t size)
{
	char span[32];

	sl_endurance_span(&row->endurance, span, sizeof(span));
	if (row->endurance.years > 0) {
		append(buf, size, "rated %.0f TB last %s at this load day and night",
		       row->endurance.rated_bytes / 1e12, span);
	} else {
		append(buf, size, "no rated endurance");
	}
}

/* The best purchase together with the best free change, where the two beat the purchase. */
static void word_both(const struct sl_advice *advice, const struct sl_advice_table *table, char *buf,
		      size_t size)
{
	const struct sl_advice_row *alone = &table->rows[table->best_purchase];

	for (int i = 0; i < table->n_rows; i++) {
		const struct sl_advice_row *row = &table->rows[i];
		const struct sl_candidate *c = candidate_of(advice, row);

		if (c->change == SL_CHANGE_BOTH && !row->unsafe &&
		    row->paired.other > alone->paired.other * (1 + SL_ADVICE_NOISE)) {
			append(buf, size, ". Then %s as well%s%s: %.2fx together",
			       candidate_of(advice, &table->rows[table->best_free])->name,
			       c->remark[0] ? ", " : "", c->remark, row->paired.ratio);
		}
	}
}

static void word_purchase(const struct sl_advice *advice, struct sl_advice_table *table)
{
	const struct sl_advice_row *row = &table->rows[table->best_purchase];
	const struct sl_candidate *c = candidate_of(advice, row);
	const char *each = sl_advice_each(advice, table);
	size_t size = sizeof(table->verdict);
	char *buf = table->verdict;

	append(buf, size, "Buy ");
	sl_paired_verdict(&row->paired, c->name, buf + strlen(buf), size - strlen(buf));
	if (row->usd_per_gained > 0) {
		append(buf, size, "; $%.0f, $%.3g per %s gained", c->price_usd, row->usd_per_gained, each);
	} else {
		append(buf, size, "; no price in the catalogue");
	}
	append(buf, size, "; ");
	word_years(row, buf, size);
	if (c->assumed) {
		append(buf, size, "; its figures are assumed");
	}
	if (table->best_lasting >= 0) {
		const struct sl_advice_row *other = &table->rows[table->best_lasting];

		append(buf, size, ". Longer: %s", candidate_of(advice, other)->name);
		if (other->usd_per_gained > 0) {
			append(buf, size, ", $%.0f", candidate_of(advice, other)->price_usd);
		}
		append(buf, size, ", ");
		word_years(other, buf, size);
	}
	word_both(advice, table, buf, size);
}

static void word_free(const struct sl_advice *advice, const struct sl_advice_table *table, char *buf,
		      size_t size)
{
	const struct sl_advice_row *row = &table->rows[table->best_free];
	const struct sl_candidate *c = candidate_of(advice, row);

	sl_paired_verdict(&row->paired, c->name, buf + strlen(buf), size - strlen(buf));
	append(buf, size, ", and costs nothing%s%s", c->remark[0] ? ", " : "", c->remark);
}

static void word_nothing(const struct sl_advice *advice, struct sl_advice_table *table, bool tried)
{
	size_t size = sizeof(table->verdict);
	char *buf = table->verdict;

	append(buf, size, "Buy nothing: ");
	if (table->best_purchase >= 0) {
		const struct sl_advice_row *best = &table->rows[table->best_purchase];

		word_free(advice, table, buf, size);
		append(buf, size, "; %s gives %.2fx", candidate_of(advice, best)->name, best->paired.ratio);
		return;
	}
	append(buf, size,
	       tried ? "no drive lifts this by more than the noise of 2 %%; the limit is that "
		     : "no drive was tried; the limit is that ");
	limit_of(advice, table, table->base, buf, size);
	if (table->best_free >= 0) {
		append(buf, size, ". What helps: ");
		word_free(advice, table, buf, size);
	}
}

static void word_verdict(const struct sl_advice *advice, struct sl_advice_table *table)
{
	const struct sl_advice_row *rows = table->rows;
	bool tried = false, free_wins;

	for (int i = 0; i < table->n_rows; i++) {
		tried |= candidate_of(advice, &rows[i])->change == SL_CHANGE_PURCHASE;
	}
	table->verdict[0] = '\0';
	/* A purchase has to beat what costs nothing by more than the noise, where everybody can have that. */
	free_wins = table->best_free >= 0 && table->best_purchase >= 0 &&
		    candidate_of(advice, &rows[table->best_free])->change == SL_CHANGE_SETTING &&
		    rows[table->best_free].paired.other * (1 + SL_ADVICE_NOISE) >=
			rows[table->best_purchase].paired.other;
	if (table->best_purchase >= 0 && !free_wins) {
		word_purchase(advice, table);
	} else {
		word_nothing(advice, table, tried);
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
	table->bulk = sl_advice_is_bulk(workload);
	compare(advice, table, &base, &base);
	for (int i = 0; i < table->n_rows; i++) {
		compare(advice, table, &base, &table->rows[i]);
	}
	mark_dominated(advice, table);
	rank(advice, table);
	mark_dominated(advice, table); /* again, now by rank */
	choose(advice, table);
	word_limit(advice, table);
	word_verdict(advice, table);
}
