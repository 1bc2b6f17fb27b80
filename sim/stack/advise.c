#include "sim/stack/advise.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/stack/advise_inner.h"

#define REPEAT_DEFAULT 3
#define YEARS_DEFAULT 3

/* A run over all tables: how far it is, in samples. */
struct run {
	struct sl_advice *advice;
	const struct sl_advise_options *options;
	int done, total;
};

const char *sl_change_name(enum sl_change change)
{
	static const char *const names[] = {"none",    "setting",  "cores", "memory",
					    "rebuild", "purchase", "both"};

	return names[change];
}

const char *sl_advice_each(const struct sl_advice *advice, const struct sl_advice_table *table)
{
	static const char *const names[] = {"TPS", "request/s", "write/s", "IOPS"};

	return names[sl_scenario_workload(advice->scenario, table->workload)->kind];
}

static int repeats(const struct sl_advise_options *options)
{
	int n = options->repeat > 0 ? options->repeat : REPEAT_DEFAULT;

	return n < SL_SAMPLES_MAX ? n : SL_SAMPLES_MAX;
}

static int table_workload(const struct sl_advise_options *options, int at)
{
	return options->workloads ? options->workloads[at] : at;
}

/* All samples of a row. A box that cannot run is a note, and no row. 1 = row is complete. */
static int run_row(struct run *run, const struct sl_workload *workload, struct sl_advice_row *row)
{
	struct sl_advice *advice = run->advice;
	const struct sl_candidate *candidate = &advice->candidates[row->candidate];

	while (row->n_samples < advice->repeat && !advice->stopped) {
		const struct sl_advise_options *options = run->options;
		const struct sl_stack_setup setup = {.seed = advice->seed + (uint64_t)row->n_samples,
						     .stopped = options->stopped};
		struct sl_measure measure;
		struct sl_err err = {0};
		int rc = row->n_samples == 0
			     ? sl_stack_run_loss(&candidate->box, workload, &setup, &measure, &err)
			     : sl_stack_run(&candidate->box, workload, &setup, &measure, &err);

		if (rc == -EINTR) {
			advice->stopped = true;
			return 0;
		}
		if (rc < 0) {
			sl_advice_note(advice, "left out: %s on %s: %s", candidate->name, workload->name,
				       err.msg);
			run->done += advice->repeat - row->n_samples;
			return 0;
		}
		row->measure = row->n_samples == 0 ? measure : row->measure;
		row->samples[row->n_samples++] = measure.rate;
		run->done++;
		advice->stopped =
		    options->progress && !options->progress(options->progress_arg, run->done, run->total);
	}
	return row->n_samples == advice->repeat ? 1 : 0;
}

static int add_row(struct run *run, struct sl_advice_table *table, int candidate)
{
	struct sl_advice_row *rows = realloc(table->rows, (size_t)(table->n_rows + 1) * sizeof(*table->rows));

	if (!rows) {
		return -ENOMEM;
	}
	table->rows = rows;
	rows[table->n_rows] = (struct sl_advice_row){.candidate = candidate, .dominated_by = -1};
	table->n_rows +=
	    run_row(run, sl_scenario_workload(run->advice->scenario, table->workload), &rows[table->n_rows]);
	return 0;
}

/* What each layer at no cost would bring to the box of a row. */
static int run_what_ifs(struct run *run, const struct sl_advice_table *table, int row,
			struct sl_explain_cell *ret)
{
	struct sl_advice *advice = run->advice;
	const struct sl_workload *workload = sl_scenario_workload(advice->scenario, table->workload);
	const struct sl_stack_setup setup = {.seed = advice->seed, .stopped = run->options->stopped};
	struct sl_err err = {0};
	int rc;

	if (row < 0) {
		return 0;
	}
	ret->measure = table->rows[row].measure;
	ret->value = sl_speed_value(&ret->measure, workload);
	rc = sl_what_if_run(&advice->candidates[table->rows[row].candidate].box, workload, &setup, ret, &err);
	if (rc == -EINTR) {
		advice->stopped = true;
		return 0;
	}
	if (rc < 0 && rc != -ENOMEM) {
		sl_advice_note(advice, "what-ifs of %s: %s", workload->name, err.msg);
		return 0;
	}
	return rc;
}

/* The rate of the first seed with a purchase and a change; 0 when that box cannot run. */
static double rate_of_both(struct run *run, const struct sl_advice_table *table,
			   const struct sl_candidate *bought, const struct sl_candidate *changed)
{
	struct sl_advice *advice = run->advice;
	const struct sl_workload *workload = sl_scenario_workload(advice->scenario, table->workload);
	const struct sl_stack_setup setup = {.seed = advice->seed, .stopped = run->options->stopped};
	struct sl_measure measure;
	struct sl_box box;
	int rc;

	sl_advice_both_box(bought, changed, &box);
	rc = sl_stack_run(&box, workload, &setup, &measure, NULL);
	advice->stopped |= rc == -EINTR;
	return rc < 0 ? 0 : measure.rate;
}

/* What limits the box changes with the purchase, so that each change which costs nothing is tried beside it:
 * of those that bring most, but for the noise, the least change. */
static void find_partner(struct run *run, struct sl_advice_table *table)
{
	struct sl_advice *advice = run->advice;
	const struct sl_advice_row *bought = &table->rows[table->best_purchase];
	double best = bought->samples[0] * SL_ADVICE_WORTH;

	for (int i = 0; i < table->n_rows && !advice->stopped; i++) {
		const struct sl_candidate *c = &advice->candidates[table->rows[i].candidate];
		bool free = c->change >= SL_CHANGE_SETTING && c->change <= SL_CHANGE_REBUILD;
		bool less = table->partner >= 0 && c->change < advice->candidates[table->partner].change;
		double rate, noise = table->partner < 0 ? 0 : less ? -SL_ADVICE_NOISE : SL_ADVICE_NOISE;

		if (!free || table->rows[i].unsafe) {
			continue;
		}
		rate = rate_of_both(run, table, &advice->candidates[bought->candidate], c);
		if (rate > best * (1 + noise)) {
			table->partner = table->rows[i].candidate;
			best = rate > best ? rate : best;
		}
	}
}

/* The best purchase and the change that costs nothing and brings most beside it, together. */
static int add_combination(struct run *run, struct sl_advice_table *table)
{
	struct sl_advice *advice = run->advice;
	int rc;

	if (table->best_purchase >= 0) {
		find_partner(run, table);
	}
	if (table->partner < 0 || advice->stopped) {
		return 0;
	}
	rc = sl_advice_add_both(advice, table->rows[table->best_purchase].candidate, table->partner);
	run->total += advice->repeat;
	rc = rc == 0 ? add_row(run, table, advice->n_candidates - 1) : rc;
	if (rc == 0 && !advice->stopped) {
		sl_advice_judge(advice, table);
	}
	return rc;
}

static int run_table(struct run *run, int workload, int n_candidates)
{
	struct sl_advice *advice = run->advice;
	struct sl_advice_table *table = &advice->tables[advice->n_tables];
	bool base_ran = false;
	int rc = 0;

	*table = (struct sl_advice_table){.workload = workload, .base = -1, .partner = -1};
	for (int i = 0; rc == 0 && i < n_candidates && !advice->stopped; i++) {
		rc = add_row(run, table, i);
		base_ran |= i == 0 && table->n_rows == 1;
	}
	if (rc == 0 && !advice->stopped && base_ran) {
		sl_advice_keep_steps(advice, table);
		sl_advice_judge(advice, table);
		rc = add_combination(run, table);
		rc = rc == 0 ? run_what_ifs(run, table, table->base, &table->as_it_is) : rc;
		rc = rc == 0 ? run_what_ifs(run, table, table->best_purchase, &table->bought) : rc;
		sl_advice_word(advice, table);
	}
	if (rc == 0 && !advice->stopped && table->base >= 0) {
		advice->n_tables++;
	} else {
		free(table->rows);
		table->rows = NULL;
	}
	return rc;
}

static int prepare(struct sl_advice *advice, struct sl_scenario *shelf,
		   const struct sl_advise_options *options, struct sl_err *err)
{
	const struct sl_scenario *sc = advice->scenario;
	int n = options->workloads ? options->n_workloads : sl_scenario_workloads(sc);
	int rc;

	advice->base = calloc(1, sizeof(*advice->base));
	advice->tables = calloc((size_t)n + 1, sizeof(*advice->tables));
	if (!advice->base || !advice->tables) {
		return sl_err_set(err, -ENOMEM, "advice: out of memory");
	}
	rc = sl_scenario_box(sc, options->base_variant, advice->base, err);
	if (rc < 0) {
		return rc;
	}
	if (advice->base->sync == SL_SYNC_DISABLED) {
		sl_advice_note(
		    advice, "pool.sync=disabled: nothing is written to a SLOG, so that none can help; --set "
			    "pool.sync=standard says what one would bring");
	}
	rc = sl_advice_load_drives(advice, shelf, options);
	rc = rc == 0 ? sl_advice_add_settings(advice) : rc;
	rc = rc == 0 ? sl_advice_add_purchases(advice, options->budget_usd) : rc;
	return rc < 0 ? sl_err_set(err, rc, "advice: out of memory") : 0;
}

static bool is_bare(const struct sl_scenario *sc, int workload)
{
	return sl_scenario_workload(sc, workload)->kind == SL_WL_DISK;
}

int sl_advise_run(const struct sl_scenario *sc, struct sl_scenario *shelf,
		  const struct sl_advise_options *options, struct sl_advice *ret, struct sl_err *err)
{
	struct run run = {.advice = ret, .options = options};
	int n_tables = options->workloads ? options->n_workloads : sl_scenario_workloads(sc);
	int rc, n_candidates;

	*ret = (struct sl_advice){.scenario = sc,
				  .base_variant = options->base_variant,
				  .seed = options->seed,
				  .repeat = repeats(options),
				  .years = options->years > 0 ? options->years : YEARS_DEFAULT,
				  .mirrored = options->mirrored};
	rc = prepare(ret, shelf, options, err);
	if (rc < 0) {
		return rc;
	}
	n_candidates = ret->n_candidates;
	for (int i = 0; i < n_tables; i++) {
		run.total += is_bare(sc, table_workload(options, i)) ? 0 : n_candidates * ret->repeat;
	}
	for (int i = 0; i < n_tables && !ret->stopped; i++) {
		if (is_bare(sc, table_workload(options, i))) {
			sl_advice_note(
			    ret, "%s: writes to a bare disk, which no SLOG and no setting changes; left out",
			    sl_scenario_workload(sc, table_workload(options, i))->name);
			continue;
		}
		rc = run_table(&run, table_workload(options, i), n_candidates);
		if (rc < 0) {
			return sl_err_set(err, rc, "advice: out of memory");
		}
	}
	return 0;
}

void sl_advice_fini(struct sl_advice *advice)
{
	for (int i = 0; i < advice->n_tables; i++) {
		free(advice->tables[i].rows);
	}
	free(advice->tables);
	free(advice->candidates);
	free(advice->drives);
	free(advice->base);
	*advice = (struct sl_advice){0};
}

int sl_advice_find(const struct sl_advice *advice, const struct sl_advice_table *table, const char *row)
{
	char *end;
	long rank = strtol(row, &end, 10);

	if (*row != '\0' && *end == '\0') {
		return rank >= 1 && rank <= table->n_rows ? (int)rank - 1 : -1;
	}
	for (int i = 0; i < table->n_rows; i++) {
		if (strcmp(advice->candidates[table->rows[i].candidate].name, row) == 0) {
			return i;
		}
	}
	return -1;
}
