#include <criterion/criterion.h>

#include "sim/scenario/scenario.h"
#include "sim/stack/result.h"

#define DATA_DIR SL_SOURCE_DIR "/sim/scenario"

#define REPEAT 3

/* Answers as sl_progress_step does after Ctrl-C, once `last` samples are done. */
struct watcher {
	int calls, last, total;
};

static bool watch(void *arg, int done, int total)
{
	struct watcher *watcher = arg;

	watcher->calls++;
	watcher->total = total;
	cr_assert_eq(done, watcher->calls);
	return done < watcher->last;
}

static void run(struct watcher *watcher, struct sl_scenario *sc, struct sl_result *ret)
{
	const int variants[] = {0}, workloads[] = {0, 1};
	struct sl_run_options options = {.variants = variants,
					 .n_variants = 1,
					 .workloads = workloads,
					 .n_workloads = 2,
					 .repeat = REPEAT,
					 .seed = 1,
					 .progress = watch,
					 .progress_arg = watcher};
	struct sl_err err = {0};

	cr_assert_eq(sl_result_run(sc, &options, ret, &err), 0, "%s", err.msg);
}

/* Ctrl-C must not wait for the rest of a cell's repeats, and what was measured stays. */
Test(run, stops_between_two_samples_of_a_cell)
{
	struct sl_scenario *sc;
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_load(SL_SOURCE_DIR "/scenarios/quick.yaml", DATA_DIR, &sc, &err), 0, "%s",
		     err.msg);
	for (int last = 1; last <= 2 * REPEAT; last++) {
		struct watcher watcher = {.last = last};
		struct sl_result result;

		run(&watcher, sc, &result);
		cr_assert_eq(watcher.calls, last);
		cr_assert_eq(watcher.total, 2 * REPEAT);
		cr_assert_eq(result.n_cells, last <= REPEAT ? 1 : 2);
		cr_assert_eq(result.cells[0].n_samples, last < REPEAT ? last : REPEAT);
		if (last > REPEAT) {
			cr_assert_eq(result.cells[1].n_samples, last - REPEAT);
		}
		for (int i = 0; i < result.n_cells; i++) {
			cr_assert(result.cells[i].value > 0);
		}
		sl_result_fini(&result);
	}
	sl_scenario_free(sc);
}
