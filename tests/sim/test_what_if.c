/*
 * What-ifs of the ready scenarios, loads cut short: a cost taken away makes nothing slower, or the report
 * says why; and what the conclusion says of a SLOG is what the row of the table says.
 */
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/stack/explain.h"
#include "tests/sim/lib.h"

#define LIBRARY SL_SOURCE_DIR "/scenarios"
#define MAX_TIME_NS 2e9
#define MAX_REQUESTS 500

static int is_yaml(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 5 && strcmp(entry->d_name + length - 5, ".yaml") == 0;
}

/* The first variant with a log device, else the first. */
static int subject_of(const struct sl_scenario *sc, struct sl_box *box)
{
	for (int v = 0; v < sl_scenario_variants(sc); v++) {
		if (sl_scenario_box(sc, v, box, NULL) == 0 && box->n_log > 0) {
			return v;
		}
	}
	cr_assert_eq(sl_scenario_box(sc, 0, box, NULL), 0);
	return 0;
}

static struct sl_workload shortened(const struct sl_workload *workload)
{
	struct sl_workload ret = *workload;

	ret.max_time_ns =
	    ret.max_time_ns > 0 && ret.max_time_ns < MAX_TIME_NS ? ret.max_time_ns : MAX_TIME_NS;
	ret.max_requests =
	    ret.max_requests > 0 && ret.max_requests < MAX_REQUESTS ? ret.max_requests : MAX_REQUESTS;
	return ret;
}

static void check_sentence(const struct sl_scenario *sc, struct sl_explain_cell *cell)
{
	struct sl_explain explain = {.scenario = sc, .n_cells = 1, .cells = cell};
	double slog = sl_what_if_gain(cell, (enum sl_what_if)SL_LAYER_LOG_DISK);
	char text[512];

	sl_explain_conclusion(&explain, cell->workload, text, sizeof(text));
	cr_expect_eq(strstr(text, "can add no more") != NULL, !isnan(slog) && slog < SL_WHAT_IF_NOTHING_PCT,
		     "%.1f %%: %s", slog, text);
	cr_expect_eq(strstr(text, "the best SLOG there could be") != NULL, !isnan(slog) && slog >= 5,
		     "%.1f %%: %s", slog, text);
}

/* Returns how many changes were tried. */
static int check_cell(const struct sl_scenario *sc, const struct sl_box *box, int variant, int workload)
{
	const struct sl_workload run = shortened(sl_scenario_workload(sc, workload));
	const struct sl_stack_setup setup = {.seed = 1};
	struct sl_explain_cell cell = {.variant = variant, .workload = workload};
	struct sl_err err = {0};
	int tried = 0;

	cr_assert_eq(sl_stack_run(box, &run, &setup, &cell.measure, &err), 0, "%s", err.msg);
	cell.value = sl_speed_value(&cell.measure, &run);
	cr_assert_eq(sl_what_if_run(box, &run, &setup, &cell, &err), 0, "%s", err.msg);
	for (int what = 0; what < SL_WHAT_IFS; what++) {
		double gain = sl_what_if_gain(&cell, (enum sl_what_if)what);

		tried += cell.tried[what];
		cr_expect(isnan(gain) || gain >= -SL_WHAT_IF_NOTHING_PCT || cell.why[what][0] != '\0',
			  "%s, %s on %s: %s takes %.1f %% and nobody says why", sl_scenario_name(sc),
			  run.name, sl_scenario_variant_name(sc, variant),
			  sl_what_if_name((enum sl_what_if)what), gain);
		cr_expect(!(gain > 0) || cell.why[what][0] == '\0', "a reason for a gain: %s",
			  cell.why[what]);
	}
	check_sentence(sc, &cell);
	return tried;
}

Test(what_if, a_cost_taken_away_makes_nothing_slower_or_says_why)
{
	struct dirent **entries;
	int n = scandir(LIBRARY, &entries, is_yaml, alphasort), tried = 0;

	cr_assert(n > 0);
	for (int i = 0; i < n; i++) {
		struct sl_scenario *sc = NULL;
		struct sl_err err = {0};
		struct sl_box box;
		char path[512];
		int variant;

		(void)snprintf(path, sizeof(path), LIBRARY "/%s", entries[i]->d_name);
		cr_assert_eq(sl_scenario_load(path, SL_SOURCE_DIR "/sim/scenario", &sc, &err), 0, "%s",
			     err.msg);
		variant = subject_of(sc, &box);
		for (int w = 0; w < sl_scenario_workloads(sc); w++) {
			const struct sl_workload *workload = sl_scenario_workload(sc, w);

			if (workload->kind != SL_WL_DISK && workload->run == w) {
				tried += check_cell(sc, &box, variant, w);
			}
		}
		sl_scenario_free(sc);
		free(entries[i]);
	}
	free(entries);
	cr_assert(tried > 300, "only %d", tried);
}
