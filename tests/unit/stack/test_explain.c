/* Paths through traces made by hand, and the changes that explain tries. */
#include "sim/stack/explain.h"

#include <errno.h>
#include <math.h>

#include "sim/base/cpu.h"
#include "tests/unit/stack/lib.h"

/* A span that only worked. */
static void span(struct sl_trace *trace, const char *layer, const char *name, uint64_t op, int64_t start_ns,
		 int64_t end_ns)
{
	sl_trace_span(trace, layer, name, op, start_ns, end_ns);
}

/* The segments follow each other from 0 to the end, and are what the sums say. */
static void check_tiles(const struct sl_path *path)
{
	int64_t at_ns = 0, sum_ns = 0, service_ns[SL_LAYERS] = {0};

	for (int i = 0; i < path->n_segments; i++) {
		const struct sl_segment *s = &path->segments[i];

		cr_assert_eq(s->start_ns, at_ns);
		cr_assert(s->end_ns > s->start_ns);
		at_ns = s->end_ns;
		service_ns[s->layer] += s->waiting ? 0 : s->end_ns - s->start_ns;
	}
	cr_assert_eq(at_ns, path->latency_ns);
	for (int layer = 0; layer < SL_LAYERS; layer++) {
		cr_assert_eq(service_ns[layer], path->service_ns[layer]);
		sum_ns += path->service_ns[layer] + path->waiting_ns[layer];
	}
	cr_assert_eq(sum_ns, path->latency_ns);
}

static void check_layer(const struct sl_path *path, enum sl_layer layer, int64_t service_ns,
			int64_t waiting_ns)
{
	cr_assert(path->service_ns[layer] == service_ns && path->waiting_ns[layer] == waiting_ns,
		  "%s: %ld + %ld, not %ld + %ld", sl_layer_name(layer), (long)path->service_ns[layer],
		  (long)path->waiting_ns[layer], (long)service_ns, (long)waiting_ns);
}

/* Operation 7 is covered by the log write that operation 5 began. All times are 1000 later than its own. */
static struct sl_trace *shared_commit(void)
{
	struct sl_trace *t = sl_trace_new(100);

	cr_assert_not_null(t);
	sl_trace_add(t, &(struct sl_span){"guest vCPUs", "job", 0, 1000, 1040, 30});
	span(t, "guest work", "statements", 7, 1000, 1040);
	span(t, "InnoDB", "redo log sync", 4, 1030, 1060); /* the one before: waited for */
	sl_trace_add(t, &(struct sl_span){"guest vCPUs", "job", 0, 1060, 1062, 2});
	span(t, "virtual disk", "submit", 5, 1062, 1065);
	sl_trace_add(t, &(struct sl_span){"network", "call", 5, 1065, 1068, 1});
	sl_trace_add(t, &(struct sl_span){"nfsd queue", "wait", 5, 1068, 1070, 0});
	sl_trace_add(t, &(struct sl_span){"storage vCPUs", "job", 0, 1070, 1073, 3});
	sl_trace_add(t, &(struct sl_span){"storage vCPUs", "job", 0, 1073, 1075, 1});
	sl_trace_add(t, &(struct sl_span){"storage vCPUs", "job", 0, 1080, 1085, 5});
	span(t, "storage vCPUs", "job", 0, 1085, 1086);
	span(t, "disk", "write", 6, 1086, 1096);
	span(t, "log vdev", "write", 6, 1085, 1096);
	span(t, "ZIL", "commit batch", 6, 1080, 1096); /* its leader is yet another */
	span(t, "ZFS", "write", 5, 1073, 1096);
	span(t, "nfsd", "call", 5, 1070, 1096);
	span(t, "network", "reply", 5, 1096, 1097);
	span(t, "virtual disk", "complete", 5, 1097, 1100);
	span(t, "hypervisor", "NFS call", 5, 1062, 1100);
	span(t, "ext4", "fsync", 5, 1060, 1100);
	span(t, "InnoDB", "redo log sync", 5, 1060, 1100);
	span(t, "guest", "transaction", 7, 1000, 1100);
	span(t, "disk", "write", 99, 1090, 1099); /* of somebody else */
	return t;
}

Test(explain, an_operation_is_followed_through_work_that_others_began)
{
	struct sl_trace *trace = shared_commit();
	struct sl_box box = {.n_data = 1, .n_log = 1};
	struct sl_path path;

	box.log[0].kind = SL_DEV_SSD;
	cr_assert_eq(sl_path_find(trace, 7, &box, NULL, &path), 0);
	cr_assert_str_eq(path.name, "transaction");
	cr_assert_eq(path.start_ns, 1000);
	cr_assert_eq(path.latency_ns, 100);
	check_tiles(&path);
	check_layer(&path, SL_LAYER_GUEST, 30, 10);
	check_layer(&path, SL_LAYER_DATABASE, 0, 20);
	check_layer(&path, SL_LAYER_FS, 2, 0);
	check_layer(&path, SL_LAYER_HYP, 6, 0);
	check_layer(&path, SL_LAYER_NETWORK, 2, 2);
	check_layer(&path, SL_LAYER_NFSD, 3, 2);
	check_layer(&path, SL_LAYER_ZFS, 1, 1);
	check_layer(&path, SL_LAYER_ZIL, 5, 5);
	check_layer(&path, SL_LAYER_VDEV, 1, 0);
	check_layer(&path, SL_LAYER_LOG_DISK, 10, 0);
	check_layer(&path, SL_LAYER_DATA_DISK, 0, 0);
	cr_assert(path.writes == 1 && path.reads == 0 && path.commits == 0);
	cr_assert_eq(sl_path_most(&path), SL_LAYER_GUEST);
	sl_path_fini(&path);
	sl_trace_free(trace);
}

Test(explain, a_commit_in_flight_that_was_joined_counts_from_the_end_of_the_own_writes)
{
	struct sl_trace *t = sl_trace_new(100);
	struct sl_box box = {.n_data = 1};
	struct sl_path path;

	span(t, "guest vCPUs", "job", 0, 0, 2);
	span(t, "virtual disk", "submit", 9, 2, 20);
	span(t, "hypervisor", "NFS call", 9, 2, 20);
	span(t, "virtual disk", "submit", 3, 30, 50);
	span(t, "hypervisor", "NFS call", 3, 30, 50);
	span(t, "jbd2", "commit", 3, 10, 50);
	span(t, "ext4", "fsync", 9, 0, 50);
	span(t, "guest", "fsync", 9, 0, 50);
	cr_assert_eq(sl_path_find(t, 9, &box, NULL, &path), 0);
	check_tiles(&path);
	check_layer(&path, SL_LAYER_FS, 2, 10);
	check_layer(&path, SL_LAYER_HYP, 38, 0);
	sl_path_fini(&path);
	sl_trace_free(t);
}

/* A write of 100 ns: 60 of them before it is let into a txg, 30 of CPU, 10 of the program's. */
Test(explain, who_is_held_back_by_the_write_throttle_waits_for_that_and_not_for_the_zil)
{
	struct sl_trace *t = sl_trace_new(100);
	struct sl_box box = {.n_data = 1};
	struct sl_path path;

	span(t, "storage vCPUs", "job", 0, 0, 10);
	sl_trace_add(t, &(struct sl_span){"write throttle", "wait", 4, 10, 70, 0});
	span(t, "storage vCPUs", "job", 0, 70, 100);
	span(t, "ZFS", "write", 4, 10, 100);
	span(t, "guest", "write", 4, 0, 100);
	cr_assert_eq(sl_path_find(t, 4, &box, NULL, &path), 0);
	check_tiles(&path);
	check_layer(&path, SL_LAYER_THROTTLE, 0, 60);
	check_layer(&path, SL_LAYER_ZIL, 0, 0);
	sl_path_fini(&path);
	sl_trace_free(t);
}

Test(explain, waiting_in_a_disk_is_known_where_it_serves_one_request_at_a_time)
{
	static const struct {
		enum sl_dev_kind kind;
		int64_t service_ns, waiting_ns;
	} cases[] = {{SL_DEV_HDD, 30, 70}, {SL_DEV_SSD, 100, 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_trace *t = sl_trace_new(100);
		struct sl_box box = {.n_data = 1};
		struct sl_path path;

		box.data[0].kind = cases[i].kind;
		sl_trace_add(t, &(struct sl_span){"disk", "read", 2, 0, 100, 30});
		span(t, "data vdev", "read", 2, 0, 100);
		span(t, "ZFS", "read", 2, 0, 100);
		span(t, "nfsd", "call", 2, 0, 100);
		span(t, "hypervisor", "NFS call", 2, 0, 100);
		span(t, "guest", "read", 2, 0, 100);
		cr_assert_eq(sl_path_find(t, 2, &box, NULL, &path), 0);
		check_tiles(&path);
		check_layer(&path, SL_LAYER_DATA_DISK, cases[i].service_ns, cases[i].waiting_ns);
		cr_assert_eq(path.reads, 1);
		sl_path_fini(&path);
		sl_trace_free(t);
	}
}

static int asked;

static bool at_third_question(void)
{
	return ++asked == 3;
}

/* Each step of the walk asks once. The one above takes more than three; the third true ends it. */
Test(explain, a_walk_that_is_stopped_ends_at_that_step)
{
	struct sl_trace *trace = shared_commit();
	struct sl_box box = {.n_data = 1, .n_log = 1};
	struct sl_path path;

	cr_assert_eq(sl_path_find(trace, 7, &box, at_third_question, &path), -EINTR);
	cr_assert_eq(asked, 3);
	cr_assert_null(path.segments);
	sl_trace_free(trace);
}

Test(explain, an_operation_that_is_not_in_the_trace_is_an_error)
{
	struct sl_trace *trace = shared_commit();
	struct sl_box box = {.n_data = 1};
	struct sl_path path;

	cr_assert_eq(sl_path_find(trace, 5, &box, NULL, &path), -ENOENT);
	sl_trace_free(trace);
}

/* Byte by byte: the boxes are copies of one, padding included. */
static bool differs(const struct sl_box *a, const struct sl_box *b)
{
	const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
	size_t i = 0;

	while (i < sizeof(*a) && x[i] == y[i]) {
		i++;
	}
	return i < sizeof(*a);
}

Test(explain, a_trace_keeps_what_was_selected)
{
	static const struct sl_trace_window windows[] = {{10, 20}, {50, 60}};
	static const struct {
		const char *layer;
		int64_t start_ns, end_ns;
		bool kept;
	} cases[] = {{"disk", 0, 9, false},   {"disk", 0, 10, true},  {"disk", 5, 55, true},
		     {"disk", 21, 49, false}, {"disk", 60, 70, true}, {"disk", 61, 70, false},
		     {"ZIL", 12, 15, false}};
	struct sl_trace *t = sl_trace_new(100);
	uint32_t kept = 0;

	sl_trace_select(t, "disk", windows, 2);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		span(t, cases[i].layer, "write", i, cases[i].start_ns, cases[i].end_ns);
		kept += cases[i].kept;
		cr_assert_eq(sl_trace_count(t), kept, "case %zu", i);
	}
	cr_assert_eq(sl_trace_dropped(t), 0);
	sl_trace_select(t, NULL, NULL, 0);
	span(t, "ZIL", "commit", 1, 30, 40);
	cr_assert_eq(sl_trace_count(t), kept + 1);
	sl_trace_free(t);
}

static void job_done(struct sl_timer *timer, int64_t now_ns)
{
	(void)timer;
	(void)now_ns;
}

Test(explain, a_job_on_shared_cpus_says_how_much_of_its_time_was_work)
{
	struct sl_loop *loop = sl_loop_new_virtual();
	struct sl_trace *t = sl_trace_new(100);
	struct sl_cpu_job jobs[2] = {{.done.fire = job_done}, {.done.fire = job_done}};
	struct sl_cpu cpu;

	sl_cpu_init(&cpu, loop, 1);
	sl_cpu_set_trace(&cpu, t, "guest vCPUs");
	sl_cpu_run(&cpu, 0, &jobs[0], 100);
	sl_cpu_run(&cpu, 0, &jobs[1], 100);
	cr_assert_eq(sl_loop_run(loop, NULL), 0);
	cr_assert_eq(sl_trace_count(t), 2);
	for (uint32_t i = 0; i < 2; i++) {
		cr_assert_eq(sl_trace_get(t, i)->end_ns, 200);
		cr_assert_eq(sl_trace_get(t, i)->busy_ns, 100);
	}
	sl_trace_free(t);
	sl_loop_free(loop);
}

Test(explain, each_layer_at_no_cost_changes_the_box_where_it_means_something)
{
	struct sl_scenario *sc = load("b3n-2014");
	static const struct {
		const char *workload;
		int untried[4]; /* ends with -1 */
	} cases[] = {{"oltp2", {SL_LAYER_THROTTLE, -1}},
		     {"rndwr", {SL_LAYER_DATABASE, SL_LAYER_THROTTLE, -1}}};

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		const struct sl_workload *load = sl_scenario_workload(sc, workload(sc, cases[c].workload));
		struct sl_box box, changed;

		memset(&box, 0, sizeof(box));
		cr_assert_eq(sl_scenario_box(sc, variant(sc, "s3500"), &box, NULL), 0);
		for (int what = 0; what < SL_WHAT_IFS; what++) {
			bool expected = true;

			for (const int *u = cases[c].untried; *u >= 0; u++) {
				expected &= *u != what;
			}
			changed = box;
			cr_assert_eq(sl_what_if_apply((enum sl_what_if)what, load, &changed), expected, "%s",
				     sl_what_if_key((enum sl_what_if)what));
			cr_assert(!expected || differs(&changed, &box), "%s changes nothing",
				  sl_what_if_key((enum sl_what_if)what));
		}
	}
	sl_scenario_free(sc);
}

Test(explain, without_a_log_device_the_change_adds_an_ideal_one)
{
	struct sl_scenario *sc = load("b3n-2014");
	struct sl_box box;

	cr_assert_eq(sl_scenario_box(sc, variant(sc, "none"), &box, NULL), 0);
	cr_assert_eq(box.n_log, 0);
	cr_assert(sl_what_if_apply((enum sl_what_if)SL_LAYER_LOG_DISK, sl_scenario_workload(sc, 0), &box));
	cr_assert_eq(box.n_log, 1);
	cr_assert_eq(box.log[0].kind, SL_DEV_NULL);
	box.sync = SL_SYNC_DISABLED;
	cr_assert_not(
	    sl_what_if_apply((enum sl_what_if)SL_LAYER_LOG_DISK, sl_scenario_workload(sc, 0), &box));
	sl_scenario_free(sc);
}

Test(explain, the_best_change_is_a_safe_one_and_no_change_has_no_gain)
{
	struct sl_explain_cell cell = {.value = 100};

	cr_assert_eq(sl_what_if_best(&cell), -1);
	cr_assert(isnan(sl_what_if_gain(&cell, SL_WHAT_IF_GUEST_VCPUS)));
	cell.tried[SL_WHAT_IF_SYNC_DISABLED] = cell.tried[SL_LAYER_ZIL] = cell.tried[SL_LAYER_FS] = true;
	cell.rate[SL_WHAT_IF_SYNC_DISABLED] = 400;
	cell.rate[SL_LAYER_ZIL] = 150;
	cell.rate[SL_LAYER_FS] = 120;
	cr_assert_eq(sl_what_if_best(&cell), SL_LAYER_ZIL);
	cr_assert(fabs(sl_what_if_gain(&cell, (enum sl_what_if)SL_LAYER_ZIL) - 50) < 1e-9);
}

/* 100 operations before and after. What grew most per operation is the reason: 40 against 50 bytes of log
 * are 1.25, 2 vCPUs busy for 30 and 33 % of a second 1.1. */
Test(explain, a_slower_run_says_what_grew)
{
	struct sl_box box = {.nas_vcpus = 2, .guest_vcpus = 1}, changed = box;
	struct sl_measure before = {.operations = 100,
				    .elapsed_ns = 1000000000,
				    .log_bytes = 409600,
				    .data_bytes = 102400,
				    .n_resources = 1,
				    .resources = {{"storage VM vCPUs", 0.30}}};
	struct sl_measure after = before;
	char why[SL_WHAT_IF_WHY_MAX];

	sl_what_if_why(&box, &before, &changed, &after, why, sizeof(why));
	cr_assert_str_eq(why, "", "nothing grew");
	after.resources[0].utilisation = 0.33;
	sl_what_if_why(&box, &before, &changed, &after, why, sizeof(why));
	cr_assert_str_eq(why, "more work for the storage VM: 6e+03 -> 6.6e+03 us of CPU per operation");
	after.log_bytes = 512000;
	sl_what_if_why(&box, &before, &changed, &after, why, sizeof(why));
	cr_assert_str_eq(why, "fewer operations share a write of the log: 4 -> 5 KiB of log per operation");
	after.data_bytes = 204800;
	sl_what_if_why(&box, &before, &changed, &after, why, sizeof(why));
	cr_assert_str_eq(why, "records are written more often: 1 -> 2 KiB to the disks per operation");
}

/* The one layer there is takes all the time, and the value is that of the run itself. */
Test(explain, a_bare_disk_has_a_path_of_one_layer)
{
	static const struct sl_workload disk = {.kind = SL_WL_DISK,
						.threads = 1,
						.depth = 1,
						.block_bytes = 4096,
						.file_total_bytes = 1 << 30,
						.max_time_ns = 10e9};
	struct sl_scenario *sc = load("b3n-2014");
	const struct sl_stack_setup setup = {.seed = 1};
	struct sl_explain_cell cell = {0};
	struct sl_measure measure;
	struct sl_err err = {0};
	struct sl_box box;

	cr_assert_eq(sl_scenario_box(sc, 0, &box, &err), 0, "%s", err.msg);
	cr_assert_eq(sl_stack_run(&box, &disk, &setup, &measure, &err), 0, "%s", err.msg);
	cr_assert_eq(sl_explain_paths(&box, &disk, &setup, &cell, &err), 0, "%s", err.msg);
	cr_assert(cell.value > 0);
	cr_assert_float_eq(cell.value, sl_speed_value(&measure, &disk), 1e-9);
	cr_assert(cell.has_path);
	cr_assert_eq(cell.path[0].latency_ns, measure.p50_ns);
	cr_assert_eq(cell.path[0].service_ns[SL_LAYER_DATA_DISK], measure.p50_ns);
	cr_assert_eq(cell.path[1].latency_ns, measure.p99_ns);
	sl_path_fini(&cell.path[0]);
	sl_path_fini(&cell.path[1]);
	sl_scenario_free(sc);
}
