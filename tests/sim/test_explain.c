/* Where the time of the published benchmark goes, and what would lift it. */
#include "sim/stack/explain.h"

#include <string.h>

#include "tests/sim/lib.h"

/* One cell with its changes. Release with sl_explain_fini. */
static struct sl_explain explain(const struct sl_scenario *sc, const char *variant, const char *workload)
{
	int v = sl_scenario_find_variant(sc, variant), w = sl_scenario_find_workload(sc, workload);
	struct sl_explain_options options = {
	    .variants = &v, .n_variants = 1, .workloads = &w, .n_workloads = 1, .seed = 1};
	struct sl_explain result;
	struct sl_err err = {0};

	cr_assert(v >= 0 && w >= 0);
	cr_assert_eq(sl_explain_run(sc, &options, &result, &err), 0, "%s", err.msg);
	cr_assert_eq(result.n_cells, 1);
	return result;
}

/* The median of a workload with one thread: nobody to wait for. Release with sl_path_fini (both). */
static struct sl_explain_cell alone(const struct sl_scenario *sc, const char *variant)
{
	struct sl_workload one = *sl_scenario_workload(sc, sl_scenario_find_workload(sc, "oltp2"));
	struct sl_explain_cell cell;
	struct sl_err err = {0};
	struct sl_box box;

	memset(&cell, 0, sizeof(cell));
	one.threads = 1;
	one.max_requests = 300;
	cr_assert_eq(sl_scenario_box(sc, sl_scenario_find_variant(sc, variant), &box, &err), 0, "%s",
		     err.msg);
	cr_assert_eq(sl_explain_paths(&box, &one, &(struct sl_stack_setup){.seed = 1}, &cell, &err), 0, "%s",
		     err.msg);
	return cell;
}

static void check_path(const struct sl_path *path, const char *what)
{
	int64_t at_ns = 0, sum_ns = 0;

	for (int i = 0; i < path->n_segments; i++) {
		cr_assert_eq(path->segments[i].start_ns, at_ns, "%s: a gap at %ld", what, (long)at_ns);
		at_ns = path->segments[i].end_ns;
	}
	cr_assert_eq(at_ns, path->latency_ns, "%s", what);
	for (int layer = 0; layer < SL_LAYERS; layer++) {
		cr_assert(path->service_ns[layer] >= 0 && path->waiting_ns[layer] >= 0);
		sum_ns += path->service_ns[layer] + path->waiting_ns[layer];
	}
	cr_assert_eq(sum_ns, path->latency_ns, "%s: layers %ld, operation %ld", what, (long)sum_ns,
		     (long)path->latency_ns);
	cr_assert(path->latency_ns > 0);
}

static bool near(int64_t a, int64_t b, double share)
{
	return fabs((double)a / (double)b - 1) <= share;
}

Test(explain, the_layers_add_up_to_the_operation_to_the_nanosecond_in_all_cells)
{
	struct sl_scenario *sc = load_b3n();

	for (int v = 0; v < sl_scenario_variants(sc); v++) {
		for (int w = 0; w < sl_scenario_workloads(sc); w++) {
			const struct sl_workload *workload = sl_scenario_workload(sc, w);
			struct sl_explain_cell cell;
			struct sl_err err = {0};
			struct sl_box box;

			memset(&cell, 0, sizeof(cell));
			cr_assert_eq(sl_scenario_box(sc, v, &box, &err), 0, "%s", err.msg);
			cr_assert_eq(sl_explain_paths(&box, workload, &(struct sl_stack_setup){.seed = 1},
						      &cell, &err),
				     0, "%s", err.msg);
			cr_assert(cell.has_path);
			for (int q = 0; q < SL_EXPLAIN_QUANTILES; q++) {
				check_path(&cell.path[q], workload->name);
			}
			cr_assert(cell.path[0].latency_ns < cell.path[1].latency_ns);
			if (workload->kind == SL_WL_OLTP) {
				/* They are the operations that the result speaks of. */
				cr_assert(near(cell.path[0].latency_ns, cell.measure.p50_ns, 0.01));
				cr_assert(near(cell.path[1].latency_ns, cell.measure.p99_ns, 0.01));
			}
			/* The log goes to the SLOG where there is one, else to the data disks. */
			cr_assert_eq(cell.path[0].service_ns[SL_LAYER_LOG_DISK] > 0, box.n_log > 0);
			cr_assert_eq(cell.path[0].service_ns[SL_LAYER_DATA_DISK] > 0, box.n_log == 0);
			sl_path_fini(&cell.path[0]);
			sl_path_fini(&cell.path[1]);
		}
	}
	sl_scenario_free(sc);
}

Test(explain, a_log_fsync_on_esxi_is_three_writes_one_after_the_other)
{
	struct sl_scenario *sc = load_b3n();
	struct sl_explain_cell cell = alone(sc, "s3500");
	const struct sl_path *path = &cell.path[SL_EXPLAIN_P50];

	cr_assert(path->writes == 3 && path->commits == 0 && path->reads == 0,
		  "%d writes, %d commits, %d reads", path->writes, path->commits, path->reads);
	/* Nobody else: each layer takes what its parameters say, and nothing waits. */
	cr_assert_eq(path->service_ns[SL_LAYER_HYP], 3 * 40000);
	cr_assert_eq(path->service_ns[SL_LAYER_FS], 3 * 17000);
	cr_assert(path->service_ns[SL_LAYER_ZIL] >= 3 * 880800);
	for (int layer = 0; layer < SL_LAYERS; layer++) {
		cr_assert(path->waiting_ns[layer] <= 10, "%s waits %ld ns",
			  sl_layer_name((enum sl_layer)layer), (long)path->waiting_ns[layer]);
	}
	sl_path_fini(&cell.path[0]);
	sl_path_fini(&cell.path[1]);
	sl_scenario_free(sc);
}

Test(explain, qemu_sends_commits_for_the_guests_flushes)
{
	struct sl_scenario *sc = load_b3n();
	struct sl_explain_cell cell;
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_set(sc, "host.hypervisor", "qemu", "test", &err), 0, "%s", err.msg);
	cell = alone(sc, "s3500");
	/* Data, journal, COMMIT, commit record, COMMIT. */
	cr_assert(cell.path[0].writes == 3 && cell.path[0].commits == 2, "%d writes, %d commits",
		  cell.path[0].writes, cell.path[0].commits);
	check_path(&cell.path[0], "qemu");
	sl_path_fini(&cell.path[0]);
	sl_path_fini(&cell.path[1]);
	sl_scenario_free(sc);
}

Test(explain, a_slog_at_no_cost_lifts_the_s3500_by_a_few_per_cent_only)
{
	struct sl_scenario *sc = load_b3n();
	struct sl_explain s3500 = explain(sc, "s3500", "oltp2"), none = explain(sc, "none", "oltp2");
	double with = sl_what_if_gain(&s3500.cells[0], (enum sl_what_if)SL_LAYER_LOG_DISK);
	double without = sl_what_if_gain(&none.cells[0], (enum sl_what_if)SL_LAYER_LOG_DISK);
	char text[512], part[80];

	cr_assert(with > 0 && with < 5, "%.1f %%", with);
	cr_assert(without > 20, "%.1f %%", without);
	/* The two are then the same box. */
	cr_assert(fabs(s3500.cells[0].rate[SL_LAYER_LOG_DISK] - none.cells[0].rate[SL_LAYER_LOG_DISK]) <
		  1e-9);
	sl_explain_conclusion(&s3500, s3500.cells[0].workload, text, sizeof(text));
	cr_assert(strstr(text, "no SSD can lift this"), "%s", text);
	sl_explain_conclusion(&none, none.cells[0].workload, text, sizeof(text));
	(void)snprintf(part, sizeof(part), "the best SLOG there could be brings %+.0f %%", without);
	cr_assert(strstr(text, part), "%s", text);
	sl_explain_fini(&s3500);
	sl_explain_fini(&none);
	sl_scenario_free(sc);
}

Test(explain, more_vcpus_lift_four_threads_and_not_two)
{
	struct sl_scenario *sc = load_b3n();
	struct sl_explain four = explain(sc, "s3500", "oltp4"), two = explain(sc, "s3500", "oltp2");
	double gain4 = sl_what_if_gain(&four.cells[0], SL_WHAT_IF_GUEST_VCPUS);
	double gain2 = sl_what_if_gain(&two.cells[0], SL_WHAT_IF_GUEST_VCPUS);
	char text[512], part[80];

	cr_assert(gain4 > 15, "%.1f %%", gain4);
	cr_assert(fabs(gain2) < 2, "%.1f %%", gain2);
	cr_assert(four.cells[0].path[0].waiting_ns[SL_LAYER_GUEST] > 1000000);
	cr_assert(two.cells[0].path[0].waiting_ns[SL_LAYER_GUEST] <= 10);
	sl_explain_conclusion(&four, four.cells[0].workload, text, sizeof(text));
	(void)snprintf(part, sizeof(part), "%%), twice as many bring %+.0f %%", gain4);
	cr_assert(strstr(text, "the guest vCPUs are full (9") && strstr(text, part), "%s", text);
	sl_explain_fini(&four);
	sl_explain_fini(&two);
	sl_scenario_free(sc);
}

Test(explain, threads_change_nothing_but_the_time_it_takes)
{
	struct sl_scenario *sc = load_b3n();
	int w = sl_scenario_find_workload(sc, "rndwr"), v[] = {0, 1, 2};
	struct sl_explain_options options = {
	    .variants = v, .n_variants = 3, .workloads = &w, .n_workloads = 1, .seed = 2};
	struct sl_explain one, three;
	struct sl_err err = {0};

	cr_assert_eq(sl_explain_run(sc, &options, &one, &err), 0, "%s", err.msg);
	options.jobs = 3;
	cr_assert_eq(sl_explain_run(sc, &options, &three, &err), 0, "%s", err.msg);
	cr_assert_eq(one.n_cells, three.n_cells);
	for (int i = 0; i < one.n_cells; i++) {
		const struct sl_explain_cell *a = &one.cells[i], *b = &three.cells[i];

		cr_assert_eq(a->variant, b->variant);
		for (int what = 0; what < SL_WHAT_IFS; what++) {
			cr_assert(!(a->rate[what] < b->rate[what]) && !(a->rate[what] > b->rate[what]));
		}
		cr_assert_eq(a->path[1].n_segments, b->path[1].n_segments);
		cr_assert(
		    memcmp(a->path[1].service_ns, b->path[1].service_ns, sizeof(a->path[1].service_ns)) == 0);
	}
	sl_explain_fini(&one);
	sl_explain_fini(&three);
	sl_scenario_free(sc);
}

/* Ctrl-C after the first of two cells. */
static bool stop_at_once(void *arg, int done, int total)
{
	*(int *)arg = total;
	return done < 1;
}

Test(explain, a_stop_keeps_the_cells_that_are_whole)
{
	struct sl_scenario *sc = load_b3n();
	int w = sl_scenario_find_workload(sc, "rndwr"), total = 0;
	struct sl_explain_options options = {
	    .workloads = &w, .n_workloads = 1, .seed = 1, .progress = stop_at_once, .progress_arg = &total};
	struct sl_explain result;
	struct sl_err err = {0};

	cr_assert_eq(sl_explain_run(sc, &options, &result, &err), 0, "%s", err.msg);
	cr_assert_eq(total, 5);
	cr_assert_eq(result.n_cells, 1);
	cr_assert(result.cells[0].has_path);
	sl_explain_fini(&result);
	sl_scenario_free(sc);
}
