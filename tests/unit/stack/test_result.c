/* Runs of cells: which, in which order, with which seeds; what the meters say. */
#include "tests/unit/stack/lib.h"

#include <stdlib.h>
#include <unistd.h>

/* The measure of one cell, by sl_stack_run. */
static struct sl_measure measure_of(const struct sl_scenario *sc, int v, int w, uint64_t seed)
{
	struct sl_measure measure;
	struct sl_err err = {0};
	struct sl_box box;

	cr_assert_eq(sl_scenario_box(sc, v, &box, &err), 0, "%s", err.msg);
	cr_assert_eq(sl_stack_run(&box, sl_scenario_workload(sc, w), &(struct sl_stack_setup){.seed = seed},
				  &measure, &err),
		     0, "%s", err.msg);
	return measure;
}

Test(result, chosen_cells_run_in_order_and_repeat_i_has_seed_plus_i)
{
	struct sl_scenario *sc = load("b3n-2014");
	int variants[] = {variant(sc, "s3500"), variant(sc, "none")}, workloads[] = {workload(sc, "oltp2")};
	struct sl_run_options options = {.variants = variants,
					 .n_variants = 2,
					 .workloads = workloads,
					 .n_workloads = 1,
					 .repeat = 3,
					 .seed = 10};
	struct sl_result result;
	struct sl_err err = {0};

	cr_assert_eq(sl_result_run(sc, &options, &result, &err), 0, "%s", err.msg);
	cr_assert_eq(result.n_cells, 2);
	for (int i = 0; i < 2; i++) {
		const struct sl_cell *cell = &result.cells[i];

		cr_assert_eq(cell->variant, variants[i]);
		cr_assert_eq(cell->n_samples, 3);
		for (int s = 0; s < 3; s++) {
			cr_assert_eq(cell->samples[s],
				     measure_of(sc, variants[i], workloads[0], 10 + (uint64_t)s).rate);
		}
		cr_assert(cell->ci95 > 0);
		cr_assert(cell->has_published);
		cr_assert_eq(cell->role, SL_ROLE_CALIBRATE, "as the scenario says");
		cr_assert_float_eq(cell->error_pct, (cell->value / cell->published - 1) * 100, 1e-9);
	}
	cr_assert(sl_result_find(&result, variants[1], workloads[0], SL_ENGINE_MODEL) == &result.cells[1]);
	cr_assert_null(sl_result_find(&result, variants[1], workloads[0], SL_ENGINE_LIVE));
	sl_result_fini(&result);
	sl_scenario_free(sc);
}

Test(result, several_writes_in_flight_that_end_before_the_first_txg_are_a_burst)
{
	static const struct {
		const char *yaml;
		bool warns;
	} cases[] = {
	    {"{kind: syncwrite, depth: 4, max_requests: 1000}", true},
	    {"{kind: syncwrite, depth: 4, max_requests: 0, max_time: 1s}", false},
	    {"{kind: syncwrite, max_requests: 1000}", false},
	    {"{kind: syncwrite, depth: 4, max_requests: 100000, max_time: 6s}", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[] = "/tmp/sl-result-XXXXXX";
		FILE *file = fdopen(mkstemp(path), "w");
		struct sl_run_options options = {.repeat = 1, .seed = 1};
		struct sl_scenario *sc;
		struct sl_result result;
		struct sl_err err = {0};

		cr_assert(file != NULL);
		fprintf(file,
			"format: sloglab-scenario/1\ntitle: t\npool: {data: {layout: stripe, disks: "
			"[hdd-7200-desktop]}, log: intel-dc-s3700-200}\nworkloads: {w: %s}\n",
			cases[i].yaml);
		fclose(file);
		cr_assert_eq(sl_scenario_load(path, SL_SOURCE_DIR "/sim/scenario", &sc, &err), 0, "%s",
			     err.msg);
		unlink(path);
		cr_assert_eq(sl_result_run(sc, &options, &result, &err), 0, "%s", err.msg);
		cr_assert_eq(
		    strncmp(result.cells[0].warning, "a burst: its 1000 requests were done in ", 40) == 0,
		    cases[i].warns, "%s: %s", cases[i].yaml, result.cells[0].warning);
		cr_assert(cases[i].warns || result.cells[0].warning[0] == '\0', "%s",
			  result.cells[0].warning);
		sl_result_fini(&result);
		sl_scenario_free(sc);
	}
}

Test(result, the_meters_name_every_resource_and_none_is_busier_than_always)
{
	struct sl_scenario *sc = load("b3n-2014");
	struct sl_measure measure = measure_of(sc, variant(sc, "s3500"), workload(sc, "oltp4"), 1);
	static const char *const names[] = {"guest vCPUs", "storage VM vCPUs", "ZIL", "log device",
					    "data disks"};

	cr_assert_eq(measure.operations, 10000);
	cr_assert_float_eq(measure.rate, 10000e9 / (double)measure.elapsed_ns, 1e-9);
	cr_assert(0 < measure.p50_ns && measure.p50_ns <= measure.p95_ns &&
		  measure.p95_ns <= measure.p99_ns && measure.p99_ns <= measure.p999_ns &&
		  measure.p999_ns <= measure.max_ns);
	cr_assert_eq(measure.n_resources, 5);
	for (int i = 0; i < 5; i++) {
		cr_assert_str_eq(measure.resources[i].name, names[i]);
		cr_assert(measure.resources[i].utilisation > 0 && measure.resources[i].utilisation <= 1);
	}
	/* Little's law: 4 threads, each always in a transaction; 3 of 10,000 were not done at the end. */
	cr_assert_float_eq(measure.rate * (double)measure.mean_ns / 1e9, 4, 0.002);
	cr_assert_float_eq(measure.rate * (double)measure.p50_ns / 1e9, 4, 0.4);
	measure = measure_of(sc, variant(sc, "none"), workload(sc, "oltp2"), 1);
	cr_assert_eq(measure.n_resources, 4);
	sl_scenario_free(sc);
}

/* 8 requests in flight at a disk that has no flash to fill: mean x rate is 8. */
Test(result, a_bare_disk_s_writes_have_latencies_of_their_own)
{
	static const struct sl_workload disk = {.kind = SL_WL_DISK,
						.threads = 1,
						.depth = 8,
						.block_bytes = 4096,
						.file_total_bytes = 1 << 30,
						.max_time_ns = 10e9};
	struct sl_box box = {.n_data = 1};
	struct sl_scenario *sc = load("b3n-2014");
	struct sl_measure measure;
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_box(sc, 0, &box, &err), 0, "%s", err.msg);
	cr_assert_eq(sl_stack_run(&box, &disk, &(struct sl_stack_setup){.seed = 1}, &measure, &err), 0, "%s",
		     err.msg);
	cr_assert_float_eq(measure.rate * (double)measure.mean_ns / 1e9, 8, 0.05);
	cr_assert(measure.p50_ns < measure.p99_ns && measure.p99_ns <= measure.p999_ns &&
		  measure.p999_ns <= measure.max_ns);
	sl_scenario_free(sc);
}

Test(result, oltp_ends_by_time_or_by_transactions_whichever_is_first)
{
	struct sl_scenario *sc = load("b3n-2014");

	/* 148 TPS for 60 s are fewer than 10,000; 188 TPS are more. */
	cr_assert(llabs(measure_of(sc, variant(sc, "none"), workload(sc, "oltp2"), 1).elapsed_ns -
			60000000000) < 50000000);
	cr_assert_eq(measure_of(sc, variant(sc, "s3500"), workload(sc, "oltp2"), 1).operations, 10000);
	sl_scenario_free(sc);
}

Test(result, a_datastore_s_store_is_the_pool_behind_its_server)
{
	struct sl_scenario *sc = load("quick");
	struct sl_loop *loop = sl_loop_new_virtual();
	struct sl_store *store = NULL;
	struct sl_pool *pool = NULL;
	struct sl_err err = {0};
	struct sl_box box;

	cr_assert_eq(sl_scenario_box(sc, 0, &box, &err), 0, "%s", err.msg);
	cr_assert_eq(sl_stack_store(&box, loop, 1, NULL, &store, &pool, &err), 0, "%s", err.msg);
	cr_assert_not_null(store);
	cr_assert_not_null(pool);
	sl_store_free(store);
	sl_loop_free(loop);
	sl_scenario_free(sc);
}
