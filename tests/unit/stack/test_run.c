#include <criterion/criterion.h>
#include <errno.h>
#include <malloc.h>

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

/* Under a sanitizer mallinfo2 knows nothing, which finds leaks itself. */
static size_t memory_in_use(void)
{
	return mallinfo2().uordblks;
}

static bool at_once(void)
{
	return true;
}

#define RUNS 30
#define CHUNK_MIN 32u /* of malloc: a run that keeps anything keeps that much */

/* advise and sweep run thousands of cells in one process: what a cell keeps, all of them keep. The first runs
 * fill malloc's own bins. `stopped`: one that Ctrl-C ends in its middle gives back as much. */
static void memory_comes_back(const struct sl_scenario *sc, int w, bool (*stopped)(void))
{
	const struct sl_stack_setup setup = {.seed = 1, .stopped = stopped};
	const struct sl_workload *workload = sl_scenario_workload(sc, w);
	struct sl_err err = {0};
	struct sl_measure measure;
	struct sl_box box;
	size_t before = 0;

	cr_assert_eq(sl_scenario_box(sc, 0, &box, &err), 0, "%s", err.msg);
	for (int i = 0; i < RUNS + 3; i++) {
		before = i == 3 ? memory_in_use() : before;
		cr_assert_eq(sl_stack_run(&box, workload, &setup, &measure, &err), stopped ? -EINTR : 0, "%s",
			     err.msg);
	}
	cr_assert(memory_in_use() < before + RUNS * CHUNK_MIN, "%d runs of %s keep %zd bytes", RUNS,
		  workload->name, (ssize_t)(memory_in_use() - before));
}

Test(run, a_run_gives_back_all_its_memory)
{
	struct sl_scenario *sc;
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_load(SL_SOURCE_DIR "/scenarios/quick.yaml", DATA_DIR, &sc, &err), 0, "%s",
		     err.msg);
	for (int w = 0; w < sl_scenario_workloads(sc); w++) {
		memory_comes_back(sc, w, NULL);
	}
	memory_comes_back(sc, 0, at_once);
	sl_scenario_free(sc);
}
