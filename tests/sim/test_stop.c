/* A caller that wants no more, in the midst of a cell: each kind of run ends there and keeps what is whole.
 */
#include <errno.h>
#include <string.h>

#include "sim/stack/advise.h"
#include "sim/stack/explain.h"
#include "sim/stack/fit.h"
#include "sim/stack/powercut.h"
#include "tests/sim/lib.h"

static int asked, patience; /* how often, and from when on the answer is yes */

static bool stopped(void)
{
	return ++asked > patience;
}

/* How often a whole run of the cell asks. */
static int questions_of(const struct sl_scenario *sc, int v, int w)
{
	struct sl_measure measure;
	struct sl_box box;

	cr_assert_eq(sl_scenario_box(sc, v, &box, NULL), 0);
	asked = 0;
	patience = INT32_MAX;
	cr_assert_eq(sl_stack_run(&box, sl_scenario_workload(sc, w),
				  &(struct sl_stack_setup){.seed = 1, .stopped = stopped}, &measure, NULL),
		     0);
	return asked;
}

/* Yes from the midst of the second run of the cell on. */
static void stop_in_the_second_run(const struct sl_scenario *sc, int v, int w)
{
	patience = questions_of(sc, v, w) * 3 / 2;
	asked = 0;
}

Test(stop, a_run_is_asked_often_and_ends_with_eintr)
{
	struct sl_scenario *sc = load_b3n();
	int v = sl_scenario_find_variant(sc, "s3700"), w = sl_scenario_find_workload(sc, "oltp2");
	struct sl_measure measure;
	struct sl_err err = {0};
	struct sl_box box;

	cr_assert(questions_of(sc, v, w) > 20, "asked %d times", asked);
	asked = patience = 0;
	cr_assert_eq(sl_scenario_box(sc, v, &box, NULL), 0);
	cr_assert_eq(sl_stack_run_loss(&box, sl_scenario_workload(sc, w),
				       &(struct sl_stack_setup){.seed = 1, .stopped = stopped}, &measure,
				       &err),
		     -EINTR);
	cr_assert_eq(asked, 1);
	cr_assert_str_eq(err.msg, "interrupted");
	sl_scenario_free(sc);
}

/* Writes without end that cost nothing, or that only fill memory: the clock hardly moves. */
Test(stop, a_load_that_takes_no_time_can_be_stopped_and_has_no_rate)
{
	struct sl_scenario *sc = load_text(
	    "title: t\nhost: {profile: modern-xeon}\n"
	    "pool: {data: {layout: mirror, disks: [hdd-7200-desktop x 2]}}\n"
	    "guests: [{vcpus: 2, memory: 64GiB}]\n"
	    "params: {guest.file_cpu: {value: 0us, kind: assumed, source: test}}\n"
	    "workloads:\n"
	    "  random: {kind: fileio, mode: rndwr, files: 1, file_total: 200GiB, fsync_every: 0, "
	    "max_time: 1s, max_requests: 0}\n"
	    "  memory: {kind: fileio, mode: rndrd, files: 1, file_total: 1GiB, fsync_every: 0, max_time: 1s, "
	    "max_requests: 0}\n");
	struct sl_measure measure;
	struct sl_err err = {0};
	struct sl_box box;

	cr_assert_eq(sl_scenario_box(sc, 0, &box, NULL), 0);
	asked = 0;
	patience = 1;
	cr_assert_eq(sl_stack_run(&box, sl_scenario_workload(sc, 0),
				  &(struct sl_stack_setup){.seed = 1, .stopped = stopped}, &measure, &err),
		     -EINTR);
	/* What memory serves ends by itself, but has no rate. */
	cr_assert_eq(sl_stack_run(&box, sl_scenario_workload(sc, 1), &(struct sl_stack_setup){.seed = 1},
				  &measure, &err),
		     -EDOM);
	cr_assert_not_null(strstr(err.msg, "take no time"), "%s", err.msg);
	sl_scenario_free(sc);
}

Test(stop, samples_before_it_are_kept)
{
	struct sl_scenario *sc = load_b3n();
	int w = sl_scenario_find_workload(sc, "oltp2");
	struct sl_run_options options = {
	    .workloads = &w, .n_workloads = 1, .repeat = 2, .seed = 1, .stopped = stopped};
	struct sl_result result;

	stop_in_the_second_run(sc, 0, w);
	cr_assert_eq(sl_result_run(sc, &options, &result, NULL), 0);
	cr_assert_eq(result.n_cells, 1);
	cr_assert_eq(result.cells[0].n_samples, 1);
	cr_assert(result.cells[0].value > 0);
	sl_result_fini(&result);
	sl_scenario_free(sc);
}

Test(stop, explain_and_powercut_keep_the_cells_before_it)
{
	struct sl_scenario *sc = load_b3n();
	int w = sl_scenario_find_workload(sc, "oltp2");
	struct sl_explain_options explain = {
	    .workloads = &w, .n_workloads = 1, .seed = 1, .stopped = stopped};
	struct sl_powercut_options cut = {.workloads = &w,
					  .n_workloads = 1,
					  .seed = 1,
					  .when = SL_WHEN_AT,
					  .n_at = 1,
					  .at_ns = {1000000000},
					  .client = -1,
					  .stopped = stopped};
	struct sl_explain explained;
	struct sl_powercut cuts;

	asked = patience = 0;
	cr_assert_eq(sl_explain_run(sc, &explain, &explained, NULL), 0);
	cr_assert_eq(explained.n_cells, 0);
	stop_in_the_second_run(sc, 0, w);
	cr_assert_eq(sl_powercut_run(sc, &cut, &cuts, NULL), 0);
	cr_assert(cuts.stopped);
	cr_assert_eq(cuts.n_verdicts, 1);
	sl_explain_fini(&explained);
	sl_powercut_fini(&cuts);
	sl_scenario_free(sc);
}

Test(stop, advice_and_fit_have_nothing_without_the_rest)
{
	struct sl_scenario *sc = load_b3n(), *shelf = load_b3n();
	int w = sl_scenario_find_workload(sc, "oltp2");
	struct sl_advise_options advise = {.workloads = &w, .n_workloads = 1, .seed = 1, .stopped = stopped};
	struct sl_fit_options fit = {.held = {-1, -1}, .seed = 1, .stopped = stopped};
	struct sl_err err = {0};
	struct sl_advice advice;
	struct sl_fit fitted;

	stop_in_the_second_run(sc, 0, w);
	cr_assert_eq(sl_advise_run(sc, shelf, &advise, &advice, &err), 0);
	cr_assert(advice.stopped);
	cr_assert_eq(advice.n_tables, 0);
	for (int i = 0; i < advice.n_notes; i++) {
		cr_assert_null(strstr(advice.notes[i], "left out"), "%s", advice.notes[i]);
	}
	asked = 0;
	cr_assert_eq(sl_fit_run(sc, &fit, &fitted, &err), -EINTR);
	sl_fit_fini(&fitted);
	sl_advice_fini(&advice);
	sl_scenario_free(shelf);
	sl_scenario_free(sc);
}
