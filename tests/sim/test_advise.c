/* Advice on whole scenarios: what it must say of b3n-2014, and when nothing need be bought. */
#include <string.h>

#include "sim/stack/advise.h"
#include "tests/sim/lib.h"

static const char *const both[] = {"intel-dc-s3700-100", "intel-dc-s3500-80"};

static struct sl_advice advise(const struct sl_scenario *sc, struct sl_scenario *shelf, const char *base,
			       const char *workload, const char *const *drives, int n_drives)
{
	const int wanted[] = {sl_scenario_find_workload(sc, workload)};
	struct sl_advise_options options = {.base_variant = sl_scenario_find_variant(sc, base),
					    .workloads = wanted,
					    .n_workloads = 1,
					    .drives = drives,
					    .n_drives = n_drives,
					    .repeat = 2,
					    .seed = 1};
	struct sl_advice advice;
	struct sl_err err = {0};

	cr_assert(options.base_variant >= 0);
	cr_assert(wanted[0] >= 0);
	cr_assert_eq(sl_advise_run(sc, shelf, &options, &advice, &err), 0, "%s", err.msg);
	cr_assert_eq(advice.n_tables, 1);
	return advice;
}

static const struct sl_advice_row *row(const struct sl_advice *advice, const char *name)
{
	int at = sl_advice_find(advice, &advice->tables[0], name);

	cr_assert(at >= 0, "no row %s", name);
	return &advice->tables[0].rows[at];
}

static void assert_says(const char *text, const char *part)
{
	cr_assert(strstr(text, part) != NULL, "\"%s\" is not in \"%s\"", part, text);
}

/* sync=disabled is the fastest that costs nothing, and no advice: it loses what was acknowledged. */
static void assert_unsafe_is_not_advised(const struct sl_advice *advice)
{
	const struct sl_advice_table *table = &advice->tables[0];
	const struct sl_advice_row *disabled = row(advice, "sync=disabled");

	cr_assert(disabled->unsafe);
	cr_assert(disabled->paired.ratio > row(advice, "intel-dc-s3500-80")->paired.ratio);
	cr_assert(disabled->measure.loss.seconds > 5 && disabled->measure.loss.seconds < 10,
		  "the open txg and the one that syncs: %f", disabled->measure.loss.seconds);
	cr_assert_eq(row(advice, "intel-dc-s3500-80")->measure.loss.seconds, 0.0);
	cr_assert(table->best_free != sl_advice_find(advice, table, "sync=disabled"));
	for (int i = 0; i < table->n_rows; i++) {
		int by = table->rows[i].dominated_by;

		cr_assert(by < 0 || !table->rows[by].unsafe || table->rows[i].unsafe);
	}
}

/* Both give the same; one costs more and lasts longer, so that neither is dominated. By the rule the cheaper
 * one is not bought: 45 TB of rated endurance at half a TB of log a day are a quarter of a year. */
Test(advise, what_wears_out_is_not_bought_however_cheap)
{
	struct sl_scenario *sc = load_b3n(), *shelf = load_b3n();
	struct sl_advice advice = advise(sc, shelf, "none", "oltp2", both, 2);
	const struct sl_advice_table *table = &advice.tables[0];
	const struct sl_advice_row *s3500 = row(&advice, "intel-dc-s3500-80");
	const struct sl_advice_row *s3700 = row(&advice, "intel-dc-s3700-100");

	cr_assert_float_eq(s3500->paired.ratio, s3700->paired.ratio, SL_ADVICE_NOISE);
	cr_assert(s3500->helps);
	cr_assert(s3500->usd_per_op < s3700->usd_per_op);
	cr_assert(s3500->usd_per_gained < s3700->usd_per_gained);
	cr_assert(s3500 < s3700, "the better value has the better rank");
	cr_assert_eq(s3500->dominated_by, -1);
	cr_assert_eq(s3700->dominated_by, -1);
	cr_assert_float_eq(s3700->endurance.years / s3500->endurance.years, 1830.0 / 45, 0.5);
	cr_assert_eq(s3500->life, SL_LIFE_SHORT);
	cr_assert_eq(s3700->life, SL_LIFE_LASTS);
	cr_assert(&table->rows[table->best_purchase] == s3700);
	cr_assert_eq(table->advised, table->best_purchase);
	assert_says(table->verdict, "Buy intel-dc-s3700-100: 1.2");
	assert_says(table->verdict, "$203, rated 1830 TB last");
	assert_says(table->verdict,
		    "the cheapest drive that lasts 3 years, loses no more than the box as it is");
	cr_assert_null(strstr(table->verdict, "intel-dc-s3500-80"), "%s", table->verdict);
	assert_unsafe_is_not_advised(&advice);
	sl_advice_fini(&advice);
	sl_scenario_free(sc);
	sl_scenario_free(shelf);
}

Test(advise, four_threads_are_limited_by_the_guest_s_vcpus)
{
	struct sl_scenario *sc = load_b3n(), *shelf = load_b3n();
	struct sl_advice advice = advise(sc, shelf, "none", "oltp4", both, 2);
	const struct sl_advice_row *more = row(&advice, "intel-dc-s3700-100 + guest vCPUs 2 -> 4");

	assert_says(advice.tables[0].limit,
		    "with intel-dc-s3700-100, program CPU at no cost would bring most");
	assert_says(advice.tables[0].limit, "a SLOG at no cost can add no more (+");
	assert_says(advice.tables[0].verdict, "; then guest vCPUs 2 -> 4 as well");
	cr_assert(more->paired.other > 1.2 * row(&advice, "intel-dc-s3700-100")->paired.other);
	sl_advice_fini(&advice);
	sl_scenario_free(sc);
	sl_scenario_free(shelf);
}

Test(advise, with_a_good_slog_buy_nothing_and_say_why)
{
	struct sl_scenario *sc = load_b3n(), *shelf = load_b3n();
	struct sl_advice advice = advise(sc, shelf, "s3500", "oltp4", both, 2);

	cr_assert_eq(advice.tables[0].best_purchase, -1);
	assert_says(advice.tables[0].verdict, "Buy nothing: guest vCPUs 2 -> 4: 1.");
	assert_says(advice.tables[0].verdict, "and costs nothing, if the host has idle cores");
	assert_says(advice.tables[0].verdict,
		    "no drive that lasts 3 years, loses no more than the box as it is and has a known price "
		    "surely gives more than 1.05x");
	/* The S3500 that is there lasts 45 TB / 0.6 TB a day; what follows it need not be faster. */
	cr_assert_eq(row(&advice, "as it is")->life, SL_LIFE_SHORT);
	cr_assert_eq(row(&advice, "guest vCPUs 2 -> 4")->life, SL_LIFE_LASTS, "it does not wear it out");
	assert_says(advice.tables[0].verdict, "what is there wears out in 7");
	assert_says(advice.tables[0].verdict, " days at this load, then intel-dc-s3700-100 follows ($203, ");
	sl_advice_fini(&advice);
	sl_scenario_free(sc);
	sl_scenario_free(shelf);
}

static struct sl_scenario *load_bulk(void)
{
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_load(SL_SOURCE_DIR "/tests/sim/advise/bulk-copy.yaml",
				      SL_SOURCE_DIR "/sim/scenario", &sc, &err),
		     0, "%s", err.msg);
	return sc;
}

Test(advise, for_a_bulk_copy_nothing_need_be_bought)
{
	struct sl_scenario *sc = load_bulk(), *shelf = load_bulk();
	struct sl_advice advice = advise(sc, shelf, "base", "copy", both, 2);
	const struct sl_advice_row *disabled = row(&advice, "sync=disabled");

	cr_assert(!disabled->unsafe);
	cr_assert(disabled->measure.loss.seconds > 0, "it is said all the same");
	cr_assert(disabled->paired.ratio > 5);
	cr_assert_eq(advice.tables[0].advised, advice.tables[0].best_free);
	assert_says(advice.tables[0].verdict, "Buy nothing: sync=disabled: ");
	assert_says(advice.tables[0].verdict, "while a copy runs that can be started again, then back");
	sl_advice_fini(&advice);
	/* The same disks under small commits, of which nobody says that they can be started again: there a
	 * log device is what helps. */
	advice = advise(sc, shelf, "base", "commits", both, 2);
	cr_assert(row(&advice, "sync=disabled")->unsafe);
	/* A thousand commits a second wear one S3700 out in less than three years, and two side by side not.
	 */
	cr_assert_eq(row(&advice, "intel-dc-s3700-100")->life, SL_LIFE_SHORT);
	assert_says(advice.tables[0].verdict, "Buy stripe of 2 x intel-dc-s3700-100: ");
	sl_advice_fini(&advice);
	sl_scenario_free(sc);
	sl_scenario_free(shelf);
}

Test(advise, a_drive_without_any_published_figure_is_marked)
{
	static const char *const drives[] = {"guess-ssd", "intel-dc-s3500-80"};
	struct sl_scenario *sc = load_bulk(), *shelf = load_bulk();
	struct sl_advice advice = advise(sc, shelf, "base", "commits", drives, 2);

	cr_assert(advice.candidates[row(&advice, "guess-ssd")->candidate].assumed);
	cr_assert(!advice.candidates[row(&advice, "guess-ssd")->candidate].has_price);
	cr_assert(!advice.candidates[row(&advice, "intel-dc-s3500-80")->candidate].assumed);
	cr_assert_eq(row(&advice, "guess-ssd")->endurance.years, 0.0, "not rated");
	sl_advice_fini(&advice);
	/* Alone, it is listed, and not bought: neither its price nor its life is known. */
	advice = advise(sc, shelf, "base", "commits", drives, 1);
	cr_assert(row(&advice, "guess-ssd")->helps);
	cr_assert_eq(row(&advice, "guess-ssd")->life, SL_LIFE_UNKNOWN);
	cr_assert_eq(advice.tables[0].best_purchase, -1);
	assert_says(advice.tables[0].verdict, "Buy nothing: ");
	cr_assert_null(strstr(advice.tables[0].verdict, "guess-ssd"), "%s", advice.tables[0].verdict);
	sl_advice_fini(&advice);
	sl_scenario_free(sc);
	sl_scenario_free(shelf);
}
