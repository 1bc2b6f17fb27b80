/* Means, intervals, the RMS of a column of errors, the sentence of the gain. */
#include "tests/unit/stack/lib.h"

Test(stats, the_interval_is_student_s_t_times_the_standard_error)
{
	static const struct {
		int n;
		double samples[4], mean, ci95;
	} rows[] = {
	    {0, {0}, 0, 0},
	    {1, {42}, 42, 0},
	    {2, {1, 3}, 2, 12.706},               /* standard deviation sqrt 2, standard error 1 */
	    {3, {1, 2, 3}, 2, 4.303 / 1.7320508}, /* 1 / sqrt 3 */
	    {4, {10, 10, 10, 10}, 10, 0},
	    {4, {2, 4, 4, 6}, 4, 3.182 * 1.6329932 / 2}, /* sqrt(8/3) / sqrt 4 */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double mean, ci95;

		sl_stats_mean_ci(rows[i].samples, rows[i].n, &mean, &ci95);
		cr_assert_float_eq(mean, rows[i].mean, 1e-12, "row %zu", i);
		cr_assert_float_eq(ci95, rows[i].ci95, 1e-6, "row %zu: %.9f", i, ci95);
	}
}

Test(stats, many_samples_use_the_normal_quantile)
{
	double samples[64], mean, ci31, ci32;

	for (int i = 0; i < 64; i++) {
		samples[i] = i % 2 ? 1 : -1;
	}
	sl_stats_mean_ci(samples, 32, &mean, &ci32);
	cr_assert_eq(mean, 0.0);
	cr_assert_float_eq(ci32, 1.96 * 1.0160010 / 5.6568542, 1e-6); /* sqrt(32/31) / sqrt 32 */
	sl_stats_mean_ci(samples, 31, &mean, &ci31);
	cr_assert(ci31 > ci32);
}

/* 1, 2, 3 and 4, 6, 8: means 2 and 6, squares about them 2 and 8; pooled t of 4 is 2.776, and the standard
 * error sqrt((2 + 8) / 2 / 3) = 1.291. */
Test(stats, the_difference_of_two_rows_of_batches)
{
	const double before[] = {1, 2, 3}, after[] = {4, 6, 8};
	double mean, ci95;

	sl_stats_difference(before, after, 3, &mean, &ci95);
	cr_assert_float_eq(mean, 4, 1e-12);
	cr_assert_float_eq(ci95, 2.776 * 1.2909944, 1e-6);
	sl_stats_difference(before, after, 1, &mean, &ci95);
	cr_assert_float_eq(mean, 3, 1e-12);
	cr_assert_eq(ci95, 0.0);
}

/* 1000 latencies of 1, 2, ... 1000 us: mean 500.5, rank q x 1000 has the value q x 1000 + 1; the last is the
 * largest, and exact. Buckets are known to 0.8 %. */
Test(stats, a_run_s_latencies_have_mean_quantiles_and_maximum)
{
	struct sl_measure m = {0};
	struct sl_hist hist;

	cr_assert_eq(sl_hist_init(&hist), 0);
	for (int64_t us = 1; us <= 1000; us++) {
		sl_hist_add(&hist, us * 1000);
	}
	sl_measure_latency(&m, &hist);
	sl_hist_fini(&hist);
	cr_assert_eq(m.mean_ns, 500500);
	cr_assert_float_eq((double)m.p50_ns, 501e3, 501e3 * 0.008);
	cr_assert_float_eq((double)m.p95_ns, 951e3, 951e3 * 0.008);
	cr_assert_float_eq((double)m.p99_ns, 991e3, 991e3 * 0.008);
	cr_assert_eq(m.p999_ns, 1000000);
	cr_assert_eq(m.max_ns, 1000000);
}

/* One made run: 1000 operations of 16 KiB a second, 250 log writes of 500 KiB in all over 2 s; each metric of
 * each kind by hand. */
Test(stats, every_metric_of_a_run_in_its_unit)
{
	const struct sl_measure run = {.rate = 1000,
				       .elapsed_ns = 2000000000,
				       .mean_ns = 2100000,
				       .p50_ns = 2000000,
				       .p95_ns = 3000000,
				       .p99_ns = 4500000,
				       .p999_ns = 9000000,
				       .max_ns = 12345678,
				       .log_requests = 250,
				       .log_bytes = 512000};
	static const struct {
		enum sl_workload_kind kind;
		int metric;
		double value;
		const char *unit;
	} rows[] = {
	    {SL_WL_OLTP, SL_METRIC_RATE, 1000, "TPS"},
	    {SL_WL_FILEIO, SL_METRIC_RATE, 1000, "requests/s"},
	    {SL_WL_SYNCWRITE, SL_METRIC_RATE, 1000, "writes/s"},
	    {SL_WL_DISK, SL_DISK_IOPS, 1000, "IOPS"},
	    {SL_WL_SYNCWRITE, SL_METRIC_IOSTAT_WRITES, 125, "log writes/s"},
	    {SL_WL_SYNCWRITE, SL_METRIC_IOSTAT_KIB, 250, "log KiB/s"},
	    {SL_WL_FILEIO, SL_METRIC_THROUGHPUT, 16.384, "MB/s"},
	    {SL_WL_SYNCWRITE, SL_METRIC_THROUGHPUT, 16.384, "MB/s"},
	    {SL_WL_DISK, SL_DISK_THROUGHPUT, 16.384, "MB/s"},
	    {SL_WL_DISK, SL_DISK_MIB, 15.625, "MiB/s"},
	    {SL_WL_OLTP, SL_METRIC_MEAN, 2.1, "ms"},
	    {SL_WL_FILEIO, SL_METRIC_P50, 2, "ms"},
	    {SL_WL_SYNCWRITE, SL_METRIC_P95, 3, "ms"},
	    {SL_WL_OLTP, SL_METRIC_P99, 4.5, "ms"},
	    {SL_WL_FILEIO, SL_METRIC_P999, 9, "ms"},
	    {SL_WL_SYNCWRITE, SL_METRIC_MAX, 12.345678, "ms"},
	    {SL_WL_DISK, SL_DISK_MEAN, 4, "ms"}, /* Little's law: 4 in flight */
	    {SL_WL_DISK, SL_DISK_LATENCY_US, 4000, "us"},
	    {SL_WL_DISK, SL_DISK_P50, 2, "ms"},
	    {SL_WL_DISK, SL_DISK_P95, 3, "ms"},
	    {SL_WL_DISK, SL_DISK_P99, 4.5, "ms"},
	    {SL_WL_DISK, SL_DISK_P999, 9, "ms"},
	    {SL_WL_DISK, SL_DISK_MAX, 12.345678, "ms"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_workload w = {.kind = rows[i].kind,
					.block_bytes = 16384,
					.depth = 4,
					.threads = 1,
					.metric = rows[i].metric,
					.disk_metric = rows[i].metric};

		cr_assert_float_eq(sl_metric_value(&run, &w), rows[i].value, 1e-9, "row %zu: %.9g", i,
				   sl_metric_value(&run, &w));
		cr_assert_str_eq(sl_workload_unit(&w), rows[i].unit, "row %zu", i);
	}
}

static struct sl_cell cell_of(enum sl_role role, double error_pct)
{
	return (struct sl_cell){.has_published = true, .role = role, .error_pct = error_pct};
}

Test(stats, calibrate_and_predict_cells_have_their_own_rms)
{
	struct sl_cell cells[] = {cell_of(SL_ROLE_CALIBRATE, 3),
				  cell_of(SL_ROLE_PREDICT, -7),
				  cell_of(SL_ROLE_CALIBRATE, -4),
				  {.role = SL_ROLE_CALIBRATE, .error_pct = 99}};
	struct sl_result result = {.n_cells = 4, .cells = cells};
	int n;

	cr_assert_float_eq(sl_result_rms(&result, SL_ROLE_CALIBRATE, SL_ENGINE_MODEL, &n), 3.5355339, 1e-6);
	cr_assert_eq(n, 2);
	cr_assert_float_eq(sl_result_rms(&result, SL_ROLE_PREDICT, SL_ENGINE_MODEL, &n), 7, 1e-9);
	cr_assert_eq(n, 1);
	cr_assert_eq(sl_result_rms(&result, SL_ROLE_PREDICT, SL_ENGINE_LIVE, &n), 0.0);
	cr_assert_eq(n, 0);
}

Test(stats, the_median_error_takes_sizes)
{
	struct sl_cell cells[] = {cell_of(SL_ROLE_PREDICT, -30), cell_of(SL_ROLE_PREDICT, 2),
				  cell_of(SL_ROLE_PREDICT, 2), cell_of(SL_ROLE_CALIBRATE, 50),
				  cell_of(SL_ROLE_PREDICT, -4)};
	struct sl_result result = {.n_cells = 4, .cells = cells};

	cr_assert_eq(sl_result_median_error(&result, SL_ROLE_PREDICT, SL_ENGINE_MODEL), 2.0);
	result.n_cells = 5;
	cr_assert_eq(sl_result_median_error(&result, SL_ROLE_PREDICT, SL_ENGINE_MODEL), 3.0);
	cr_assert_eq(sl_result_median_error(&result, SL_ROLE_PREDICT, SL_ENGINE_LIVE), 0.0);
}

/* 207 +- 2.07 and 271 +- 5.42: 1 % and 2 %, together sqrt(5) % of 271 / 207. */
Test(stats, the_gain_has_an_interval_and_names_the_limit)
{
	struct sl_scenario *sc = load("b3n-2014");
	struct sl_cell cells[] = {
	    {.variant = variant(sc, "none"), .workload = workload(sc, "oltp4"), .value = 207, .ci95 = 2.07},
	    {.variant = variant(sc, "s3500"), .workload = workload(sc, "oltp4"), .value = 271, .ci95 = 5.42}};
	struct sl_result result = {.scenario = sc, .n_cells = 2, .cells = cells};
	struct sl_gain gain;

	cr_assert(sl_result_gain_find(&result, workload(sc, "oltp4"), SL_ENGINE_MODEL, &gain));
	cr_assert_float_eq(gain.ratio, 1.309179, 1e-6);
	cr_assert_float_eq(gain.ratio_ci95, 0.0292741, 1e-6);
	cr_assert_null(gain.limit, "nothing is known to be busy");
	cells[1].measure.n_resources = 2;
	cells[1].measure.resources[0] = (struct sl_resource){"guest vCPUs", 0.94};
	cells[1].measure.resources[1] = (struct sl_resource){"ZIL", 0.5};
	cr_assert(sl_result_gain_find(&result, workload(sc, "oltp4"), SL_ENGINE_MODEL, &gain));
	cr_assert_str_eq(gain.limit->name, "guest vCPUs");
	cr_assert(!sl_result_gain_find(&result, workload(sc, "oltp2"), SL_ENGINE_MODEL, &gain));
	sl_scenario_free(sc);
}
