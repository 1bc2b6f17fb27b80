/* The rule of buying, on rows made up for it: which one is chosen, and on which side of each boundary. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim/stack/advise_inner.h"

#define ROWS 6
#define BASE                                       \
	{                                          \
		.change = SL_CHANGE_NONE, .low = 1 \
	}

struct made {
	enum sl_change change;
	double usd; /* < 0: not known */
	double low; /* of the gain's interval */
	enum sl_life life;
	bool unsafe, mirror;
	double added; /* memory */
};

struct example {
	const char *says;
	struct made rows[ROWS]; /* in order of rank; one that is all 0 but for its rank is the base */
	bool mirrored;
	double read_share; /* of the base */
	/* positions, -1 = none */
	int purchase, free, advised, replacement;
};

static void make(const struct example *e, struct sl_advice *advice, struct sl_candidate *candidates,
		 struct sl_advice_row *rows, struct sl_advice_table *table)
{
	memset(candidates, 0, ROWS * sizeof(*candidates));
	memset(rows, 0, ROWS * sizeof(*rows));
	*advice = (struct sl_advice){.candidates = candidates, .years = 3, .mirrored = e->mirrored};
	*table = (struct sl_advice_table){.rows = rows};
	for (int i = 0; i < ROWS && e->rows[i].low > 0; i++) {
		const struct made *m = &e->rows[i];

		candidates[i].change = m->change;
		candidates[i].has_price = m->usd >= 0;
		candidates[i].price_usd = m->usd;
		candidates[i].box.log[0].kind = m->mirror ? SL_DEV_MIRROR : SL_DEV_SSD;
		candidates[i].added_bytes = m->added;
		rows[i].candidate = i;
		rows[i].measure.read_share = m->change == SL_CHANGE_NONE ? e->read_share : 0;
		rows[i].paired.ratio_low = m->low;
		rows[i].life = m->life;
		rows[i].unsafe = m->unsafe;
		rows[i].helps = m->low > SL_ADVICE_WORTH;
		table->n_rows++;
	}
}

#define BUY SL_CHANGE_PURCHASE

Test(advise_rule, chooses)
{
	static const struct example examples[] = {
	    {.says = "the cheapest at 95 % of the best: 2.0 x 0.95 = 1.9",
	     .rows = {{.change = BUY, .usd = 500, .low = 2.0},
		      {.change = BUY, .usd = 100, .low = 1.901},
		      {.change = BUY, .usd = 50, .low = 1.899},
		      BASE},
	     .purchase = 1,
	     .free = -1,
	     .advised = 1,
	     .replacement = -1},
	    {.says = "the best's own lower bound counts only when the best may be bought itself",
	     .rows = {{.change = BUY, .usd = 10, .low = 3.0, .life = SL_LIFE_SHORT},
		      {.change = BUY, .usd = -1, .low = 3.0},
		      {.change = BUY, .usd = 10, .low = 3.0, .life = SL_LIFE_UNKNOWN},
		      {.change = BUY, .usd = 10, .low = 3.0, .life = SL_LIFE_LASTS, .unsafe = true},
		      {.change = BUY, .usd = 100, .low = 1.2},
		      BASE},
	     .purchase = 4,
	     .free = -1,
	     .advised = 4,
	     .replacement = -1},
	    {.says = "nothing where the interval touches 1.05",
	     .rows = {{.change = BUY, .usd = 10, .low = 1.05}, BASE},
	     .purchase = -1,
	     .free = -1,
	     .advised = -1,
	     .replacement = -1},
	    {.says = "and a purchase just above it",
	     .rows = {{.change = BUY, .usd = 10, .low = 1.0501}, BASE},
	     .purchase = 0,
	     .free = -1,
	     .advised = 0,
	     .replacement = -1},
	    {.says =
		 "what only comes near the best without being worth it is not bought: 1.08 x 0.95 = 1.026",
	     .rows = {{.change = BUY, .usd = 300, .low = 1.08},
		      {.change = BUY, .usd = 10, .low = 1.04},
		      BASE},
	     .purchase = 0,
	     .free = -1,
	     .advised = 0,
	     .replacement = -1},
	    {.says = "of equal prices the one of better rank",
	     .rows = {{.change = BUY, .usd = 100, .low = 2.0},
		      {.change = BUY, .usd = 100, .low = 1.99},
		      BASE},
	     .purchase = 0,
	     .free = -1,
	     .advised = 0,
	     .replacement = -1},
	    {.says = "a setting is a purchase of $0: 1.9 reaches 95 % of 2.0",
	     .rows = {{.change = BUY, .usd = 100, .low = 2.0},
		      {.change = SL_CHANGE_SETTING, .usd = 0, .low = 1.9},
		      BASE},
	     .purchase = 0,
	     .free = 1,
	     .advised = 1,
	     .replacement = -1},
	    {.says = "a setting that does not is named beside the drive",
	     .rows = {{.change = BUY, .usd = 100, .low = 2.0},
		      {.change = SL_CHANGE_SETTING, .usd = 0, .low = 1.89},
		      BASE},
	     .purchase = 0,
	     .free = 1,
	     .advised = 0,
	     .replacement = -1},
	    {.says = "memory that not everybody has does not push out a drive that comes near it",
	     .rows = {{.change = SL_CHANGE_MEMORY, .usd = 0, .low = 2.1},
		      {.change = BUY, .usd = 100, .low = 2.0},
		      BASE},
	     .purchase = 1,
	     .free = 0,
	     .advised = 1,
	     .replacement = -1},
	    {.says = "but one that does not: 2.2 x 0.95 = 2.09",
	     .rows = {{.change = SL_CHANGE_MEMORY, .usd = 0, .low = 2.2},
		      {.change = BUY, .usd = 100, .low = 2.0},
		      BASE},
	     .purchase = 1,
	     .free = 0,
	     .advised = 0,
	     .replacement = -1},
	    {.says = "of what costs nothing the least change near the best",
	     .rows = {{.change = SL_CHANGE_REBUILD, .usd = 0, .low = 2.0},
		      {.change = SL_CHANGE_MEMORY, .usd = 0, .low = 1.95},
		      {.change = SL_CHANGE_CORES, .usd = 0, .low = 1.91},
		      {.change = SL_CHANGE_SETTING, .usd = 0, .low = 1.5},
		      BASE},
	     .purchase = -1,
	     .free = 2,
	     .advised = 2,
	     .replacement = -1},
	    {.says = "of two VMs' memory near the best the one that takes less",
	     .rows = {{.change = SL_CHANGE_MEMORY, .usd = 0, .low = 2.0, .added = 7},
		      {.change = SL_CHANGE_MEMORY, .usd = 0, .low = 1.95, .added = 4},
		      {.change = SL_CHANGE_MEMORY, .usd = 0, .low = 1.5, .added = 1},
		      BASE},
	     .purchase = -1,
	     .free = 1,
	     .advised = 1,
	     .replacement = -1},
	    {.says = "reads are more than half of the time: no drive that takes away less than a quarter",
	     .rows = {{.change = BUY, .usd = 100, .low = 1.32}, BASE},
	     .read_share = 0.51,
	     .purchase = 0,
	     .free = -1,
	     .advised = -1,
	     .replacement = -1},
	    {.says = "as before, and memory that brings less than the drive is named",
	     .rows = {{.change = BUY, .usd = 100, .low = 1.32},
		      {.change = SL_CHANGE_MEMORY, .usd = 0, .low = 1.1},
		      BASE},
	     .read_share = 0.51,
	     .purchase = 0,
	     .free = 1,
	     .advised = 1,
	     .replacement = -1},
	    {.says = "a drive that takes away more",
	     .rows = {{.change = BUY, .usd = 100, .low = 1.34}, BASE},
	     .read_share = 0.51,
	     .purchase = 0,
	     .free = -1,
	     .advised = 0,
	     .replacement = -1},
	    {.says = "reads are less than half of the time",
	     .rows = {{.change = BUY, .usd = 100, .low = 1.32}, BASE},
	     .read_share = 0.49,
	     .purchase = 0,
	     .free = -1,
	     .advised = 0,
	     .replacement = -1},
	    {.says = "unsafe settings and such as wear out what is there are not named",
	     .rows =
		 {{.change = SL_CHANGE_SETTING, .usd = 0, .low = 9, .life = SL_LIFE_LASTS, .unsafe = true},
		  {.change = SL_CHANGE_CORES, .usd = 0, .low = 3, .life = SL_LIFE_SHORT},
		  BASE},
	     .purchase = -1,
	     .free = -1,
	     .advised = -1,
	     .replacement = -1},
	    {.says = "asked for a log that outlives a drive: the cheapest mirror",
	     .rows = {{.change = BUY, .usd = 100, .low = 2.0},
		      {.change = BUY, .usd = 400, .low = 2.0, .life = SL_LIFE_LASTS, .mirror = true},
		      {.change = BUY, .usd = 200, .low = 1.95, .life = SL_LIFE_LASTS, .mirror = true},
		      BASE},
	     .mirrored = true,
	     .purchase = 2,
	     .free = -1,
	     .advised = 2,
	     .replacement = -1},
	    {.says = "a combination is no purchase of its own",
	     .rows = {{.change = SL_CHANGE_BOTH, .usd = 10, .low = 3.0},
		      {.change = BUY, .usd = 100, .low = 2.0},
		      BASE},
	     .purchase = 1,
	     .free = -1,
	     .advised = 1,
	     .replacement = -1},
	    {.says = "what is there wears out: the same rule without a gain, 1.01 x 0.95 = 0.9595",
	     .rows = {{.change = BUY, .usd = 300, .low = 1.01},
		      {.change = BUY, .usd = 200, .low = 0.96},
		      {.change = BUY, .usd = 100, .low = 0.95},
		      {.change = SL_CHANGE_NONE, .usd = 0, .low = 1, .life = SL_LIFE_SHORT}},
	     .purchase = -1,
	     .free = -1,
	     .advised = -1,
	     .replacement = 1},
	};

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct example *e = &examples[i];
		static struct sl_candidate candidates[ROWS];
		struct sl_advice_row rows[ROWS];
		struct sl_advice advice;
		struct sl_advice_table table;

		make(e, &advice, candidates, rows, &table);
		sl_advice_choose(&advice, &table);
		cr_assert_eq(table.best_purchase, e->purchase, "%s: bought %d", e->says, table.best_purchase);
		cr_assert_eq(table.best_free, e->free, "%s: free %d", e->says, table.best_free);
		cr_assert_eq(table.advised, e->advised, "%s: advised %d", e->says, table.advised);
		cr_assert_eq(table.replacement, e->replacement, "%s: replacement %d", e->says,
			     table.replacement);
	}
}

Test(advise_rule, is_said_with_the_years)
{
	struct sl_advice advice = {.years = 5};
	char text[512];

	sl_advice_rule(&advice, text, sizeof(text));
	cr_assert_not_null(strstr(text, "last 5 years"), "%s", text);
	cr_assert_not_null(strstr(text, "at least 95 %"), "%s", text);
	cr_assert_not_null(strstr(text, "touches 1.05x"), "%s", text);
}
