/* toms-s3700 and percona-intel320: bare disks over hours of their time, as `sloglab run` shows them. */
#include "tests/sim/lib.h"

static struct sl_scenario *load(const char *path)
{
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_load(path, SL_SOURCE_DIR "/sim/scenario", &sc, &err), 0, "%s", err.msg);
	return sc;
}

/* The cells of a variant: of all workloads, or of the one named. */
static struct sl_result run(const struct sl_scenario *sc, const char *variant, const char *workload)
{
	int v = sl_scenario_find_variant(sc, variant);
	int w = workload ? sl_scenario_find_workload(sc, workload) : 0;
	struct sl_run_options options = {
	    .variants = &v, .n_variants = 1, .workloads = workload ? &w : NULL, .n_workloads = 1, .seed = 1};
	struct sl_result result;
	struct sl_err err = {0};

	cr_assert(v >= 0 && w >= 0);
	cr_assert_eq(sl_result_run(sc, &options, &result, &err), 0, "%s", err.msg);
	return result;
}

static const struct sl_cell *cell(const struct sl_result *result, const char *workload)
{
	const struct sl_cell *found = NULL;

	for (int i = 0; i < result->n_cells; i++) {
		if (strcmp(cell_workload(result, &result->cells[i]), workload) == 0) {
			found = &result->cells[i];
		}
	}
	cr_assert_not_null(found, "no cell of %s", workload);
	return found;
}

static void check_error(const struct sl_result *result, const char *workload, double limit_pct)
{
	const struct sl_cell *found = cell(result, workload);

	cr_assert(found->has_published, "%s", workload);
	cr_assert(fabs(found->error_pct) <= limit_pct, "%s on %s: %g for %g, %+.2f %%", workload,
		  cell_variant(result, found), found->value, found->published, found->error_pct);
}

Test(disks, the_200_gb_s3700_follows_from_the_800_gb_one)
{
	struct sl_scenario *sc = load(SL_SOURCE_DIR "/scenarios/toms-s3700.yaml");
	struct sl_result large = run(sc, "s3700-800", NULL), small = run(sc, "s3700-200", NULL);
	double ratio = cell(&small, "fill")->value / cell(&large, "fill")->value;

	check_error(&large, "fresh", 7);
	check_error(&large, "steady", 7);
	check_error(&small, "steady", 7);
	cr_assert(fabs(ratio - 0.25) <= 0.05, "fill time ratio %g", ratio);
	/* The looks at a run are of the same run. */
	cr_assert_eq(cell(&large, "fresh")->measure.operations,
		     cell(&large, "steady-at")->measure.operations);
	sl_result_fini(&large);
	sl_result_fini(&small);
	sl_scenario_free(sc);
}

Test(disks, the_intel_320_by_used_space_and_over_time)
{
	static const struct {
		const char *workload;
		double limit_pct;
	} cells[] = {{"gib10", 5},   {"gib20", 12}, {"gib70", 5},        {"gib100", 12},
		     {"gib120", 12}, {"gib140", 5}, {"gib100-start", 20}};
	struct sl_scenario *sc = load(SL_SOURCE_DIR "/scenarios/percona-intel320.yaml");
	struct sl_result result = run(sc, "intel-320", NULL);

	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		check_error(&result, cells[i].workload, cells[i].limit_pct);
	}
	cr_assert(cell(&result, "gib100-least")->value < 20, "no dip: %g MiB/s",
		  cell(&result, "gib100-least")->value);
	sl_result_fini(&result);
	sl_scenario_free(sc);
}

Test(disks, an_array_of_eight_disks)
{
	struct sl_scenario *sc = load(SL_SOURCE_DIR "/scenarios/percona-intel320.yaml");
	struct sl_result result = run(sc, "raid10-15k", "gib100");

	check_error(&result, "gib100", 20);
	sl_result_fini(&result);
	sl_scenario_free(sc);
}

Test(disks, synchronous_writes_by_size)
{
	static const char *const sizes[] = {"b512", "k1",   "k2",   "k4", "k8", "k16", "k32", "k64",
					    "k128", "k256", "k512", "m1", "m2", "m4",  "m8"};
	struct sl_scenario *sc = load(SL_SOURCE_DIR "/scenarios/sync-write-sizes.yaml");
	struct sl_result intel = run(sc, "intel-710", NULL), samsung = run(sc, "samsung-950-pro", NULL);
	double squares = 0;

	for (int i = 0; i < 15; i++) {
		double error_pct = cell(&samsung, sizes[i])->error_pct;

		check_error(&intel, sizes[i], 10);
		if (i <= 7) {
			check_error(&samsung, sizes[i], 10);
		} else {
			squares += error_pct * error_pct;
		}
	}
	cr_assert(sqrt(squares / 7) <= 25, "RMS %.1f %%", sqrt(squares / 7));
	sl_result_fini(&intel);
	sl_result_fini(&samsung);
	sl_scenario_free(sc);
}

/*
 * S. Han's list: the cache is off. By hand: the S3700 takes 18.5 us a command and 50 us to make it stable,
 * one after the other, 14,600 a second from two jobs on (11,443 and 17,408 in the list). The 850 PRO has one
 * commit of 2.58 ms at a time, and what comes meanwhile waits for the next: N writers end in two of them, 969
 * and 1938 a second (1024 and 1715). As delivered its flushes are merged, and the second of two finds all
 * written: N in 36.8 us + (N - 1) x 6.8 us + 2.58 ms + 30 us, 1870 and 3693. The P3700 passes 1080 MB/s:
 * 263,700 (237,056 and 235,520).
 */
Test(disks, jobs_that_write_synchronously)
{
	static const struct {
		const char *variant, *workload;
		double low, high;
	} cells[] = {
	    {"s3700-400", "sync4k-5", 14450, 14750},        {"s3700-400", "sync4k-10", 14450, 14750},
	    {"850-pro-256", "sync4k-5", 940, 998},          {"850-pro-256", "sync4k-10", 1880, 1996},
	    {"850-pro-256-cached", "sync4k-5", 1833, 1907}, {"850-pro-256-cached", "sync4k-10", 3619, 3767},
	    {"p3700-400", "sync4k-10", 263000, 267000}};
	struct sl_scenario *sc = load(SL_SOURCE_DIR "/scenarios/sync-write-list.yaml");

	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		struct sl_result result = run(sc, cells[i].variant, cells[i].workload);
		double rate = cell(&result, cells[i].workload)->value;

		cr_expect(rate > cells[i].low && rate < cells[i].high, "%s %s: %g", cells[i].variant,
			  cells[i].workload, rate);
		sl_result_fini(&result);
	}
	sl_scenario_free(sc);
}

/*
 * The tail of a log device with capacitors. By hand: of some 235 us the S3700 has 65 and 50, each 1.6 times
 * its median at the 99th percentile and 7.6 times at the 99.9th: one of both is that slow in one of fifty and
 * one of five hundred commits, so that at the 99th at least 30 us more, at the 99.9th at least 50 x 6.6 / 1.2
 * = 275 us more are waited. No step of the histogram has the whole tail. Records are without their CPU, which
 * is not the drive's.
 */
Test(disks, the_tail_of_a_log_device)
{
	struct sl_scenario *sc = load(SL_SOURCE_DIR "/scenarios/nvme-without-plp.yaml");
	struct sl_err err = {0};
	struct sl_result result;
	const struct sl_measure *measure;
	double p50, p95, p99, p999;

	cr_assert_eq(sl_scenario_set(sc, "params.zfs.record_cpu", "0us", "test", &err), 0, "%s", err.msg);
	result = run(sc, "s3700", "sync4k");
	measure = &cell(&result, "sync4k")->measure;
	p50 = (double)sl_measure_time(measure, SL_METRIC_P50);
	p95 = (double)sl_measure_time(measure, SL_METRIC_P95);
	p99 = (double)sl_measure_time(measure, SL_METRIC_P99);
	p999 = (double)sl_measure_time(measure, SL_METRIC_P999);
	cr_expect(p99 / p50 > 1.2 && p99 / p50 < 2, "%g", p99 / p50);
	cr_expect(p50 < p95 && p95 < p99);
	cr_expect(p999 > p50 + 275e3 && p999 < p50 + 1e6, "%g", p999);
	cr_expect((double)sl_measure_time(measure, SL_METRIC_MAX) > 1.5 * p999);
	sl_result_fini(&result);
	sl_scenario_free(sc);
}
