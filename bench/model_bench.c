/*
 * What the model costs: all 20 cells of b3n-2014 with three repeats, and how many transactions and file
 * requests one CPU second simulates; a file of 200 GiB with random unsynced writes; 32 writers that wait for
 * every block; each beside its goal. CPU time of this process, the peak of its memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "sim/scenario/scenario.h"
#include "sim/stack/result.h"

#define REPEATS 3
#define GOAL_SECONDS 0.6
#define GOAL_MIB 64.0
#define GOAL_TRANSACTIONS 250e3 /* per CPU second */
#define GOAL_REQUESTS 1e6
#define GOAL_UNSYNCED_SECONDS 5.0 /* 30 s of random writes into 200 GiB */
#define GOAL_SYNC_SECONDS 10.0    /* 60 s of 32 writers on NVMe */

static double cpu_seconds(void)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts) != 0) {
		abort();
	}
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double peak_mib(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) != 0) {
		abort();
	}
	return (double)usage.ru_maxrss / 1024;
}

/* One line: figure, goal, and how many times better than the goal it is. */
static void print_line(const char *what, const char *unit, double value, double goal, double times)
{
	printf("%-44s %12.6g %-6s goal %10.6g   %6.2fx\n", what, value, unit, goal, times);
}

/* Operations of one kind that a CPU second simulates, over all variants. */
static int print_rate(const struct sl_scenario *sc, enum sl_workload_kind kind, const char *what, double goal,
		      struct sl_err *err)
{
	double start = cpu_seconds(), seconds;
	uint64_t operations = 0, events = 0;

	for (int i = 0; i < REPEATS * sl_scenario_variants(sc) * sl_scenario_workloads(sc); i++) {
		int w = i % sl_scenario_workloads(sc),
		    v = i / sl_scenario_workloads(sc) % sl_scenario_variants(sc);
		const struct sl_workload *workload = sl_scenario_workload(sc, w);
		struct sl_measure measure;
		struct sl_box box;
		int rc = sl_scenario_box(sc, v, &box, err);

		if (workload->kind != kind) {
			continue;
		}
		rc = rc == 0
			 ? sl_stack_run(&box, workload, &(struct sl_stack_setup){.seed = 1}, &measure, err)
			 : rc;
		if (rc < 0) {
			return rc;
		}
		operations += measure.operations;
		events += measure.events;
	}
	seconds = cpu_seconds() - start;
	print_line(what, "/s", (double)operations / seconds, goal, (double)operations / seconds / goal);
	printf("%-44s %12.6g per operation, %.3g events per CPU second\n", "  events",
	       (double)events / (double)operations, (double)events / seconds);
	return 0;
}

static int run_b3n(struct sl_scenario *sc, struct sl_err *err)
{
	struct sl_run_options options = {.repeat = REPEATS, .seed = 1};
	double start = cpu_seconds(), seconds;
	struct sl_result result;
	int rc = sl_result_run(sc, &options, &result, err);

	if (rc < 0) {
		return rc;
	}
	seconds = cpu_seconds() - start;
	printf("%s: %d cells x %d\n", sl_scenario_name(sc), result.n_cells, REPEATS);
	print_line("CPU time", "s", seconds, GOAL_SECONDS, GOAL_SECONDS / seconds);
	print_line("peak memory", "MiB", peak_mib(), GOAL_MIB, GOAL_MIB / peak_mib());
	sl_result_fini(&result);
	rc = print_rate(sc, SL_WL_OLTP, "OLTP transactions per CPU second", GOAL_TRANSACTIONS, err);
	return rc == 0 ? print_rate(sc, SL_WL_FILEIO, "file requests per CPU second", GOAL_REQUESTS, err)
		       : rc;
}

/* The first cell of a scenario, with the goal for its CPU time. */
static int run_first(struct sl_scenario *sc, double goal_seconds, struct sl_err *err)
{
	double start = cpu_seconds(), seconds;
	struct sl_measure measure;
	struct sl_box box;
	int rc = sl_scenario_box(sc, 0, &box, err);

	rc = rc == 0 ? sl_stack_run(&box, sl_scenario_workload(sc, 0), &(struct sl_stack_setup){.seed = 1},
				    &measure, err)
		     : rc;
	seconds = cpu_seconds() - start;
	if (rc == 0) {
		print_line(sl_scenario_name(sc), "s", seconds, goal_seconds, goal_seconds / seconds);
	}
	return rc;
}

static int run_unsynced(struct sl_scenario *sc, struct sl_err *err)
{
	return run_first(sc, GOAL_UNSYNCED_SECONDS, err);
}

static int run_sync_writers(struct sl_scenario *sc, struct sl_err *err)
{
	return run_first(sc, GOAL_SYNC_SECONDS, err);
}

static int with_scenario(const char *path, int (*run)(struct sl_scenario *sc, struct sl_err *err),
			 struct sl_err *err)
{
	struct sl_scenario *sc = NULL;
	int rc = sl_scenario_load(path, SL_SOURCE_DIR "/sim/scenario", &sc, err);

	rc = rc == 0 ? run(sc, err) : rc;
	sl_scenario_free(sc);
	return rc;
}

int main(void)
{
	struct sl_err err = {0};
	int rc = with_scenario(SL_SOURCE_DIR "/scenarios/b3n-2014.yaml", run_b3n, &err);

	rc = rc == 0 ? with_scenario(SL_SOURCE_DIR "/bench/random_unsynced.yaml", run_unsynced, &err) : rc;
	rc = rc == 0 ? with_scenario(SL_SOURCE_DIR "/bench/sync_writers.yaml", run_sync_writers, &err) : rc;
	if (rc < 0) {
		(void)fprintf(stderr, "model_bench: %s\n", err.msg);
	}
	return rc < 0;
}
