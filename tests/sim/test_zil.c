/*
 * openindiana-zil: iostat's lines of three log devices, and what the program saw behind them.
 */
#include "tests/sim/lib.h"

#define CALIBRATE_PCT 5.0
#define PREDICT_PCT 7.0

static struct sl_scenario *load_zil(void)
{
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_load(SL_SOURCE_DIR "/scenarios/openindiana-zil.yaml",
				      SL_SOURCE_DIR "/sim/scenario", &sc, &err),
		     0, "%s", err.msg);
	return sc;
}

Test(zil, published_lines_of_iostat)
{
	struct sl_scenario *sc = load_zil();
	struct sl_result result = run_all_cells(sc, 1);
	int calibrate = 0, predict = 0;

	for (int i = 0; i < result.n_cells; i++) {
		const struct sl_cell *cell = &result.cells[i];
		double limit = cell->role == SL_ROLE_CALIBRATE ? CALIBRATE_PCT : PREDICT_PCT;

		if (cell->has_published) {
			cr_assert(fabs(cell->error_pct) <= limit, "%s/%s: %+.2f %%",
				  cell_variant(&result, cell), cell_workload(&result, cell), cell->error_pct);
			calibrate += cell->role == SL_ROLE_CALIBRATE;
			predict += cell->role == SL_ROLE_PREDICT;
		}
	}
	cr_assert_eq(calibrate, 6);
	cr_assert_eq(predict, 2);
	sl_result_fini(&result);
	sl_scenario_free(sc);
}

/* The value that a cell reports. */
static double value_of(const struct sl_result *result, const char *variant, const char *workload)
{
	const struct sl_cell *cell =
	    sl_result_find(result, sl_scenario_find_variant(result->scenario, variant),
			   sl_scenario_find_workload(result->scenario, workload), SL_ENGINE_MODEL);

	cr_assert_not_null(cell, "%s/%s", variant, workload);
	return cell->value;
}

Test(zil, half_of_what_iostat_counts_are_flushes_where_the_pattern_does_not_match)
{
	struct sl_scenario *sc = load_zil();
	struct sl_result result = run_all_cells(sc, 1);
	double commits = value_of(&result, "s3700-200", "bs1");
	double plain = value_of(&result, "stec-mlc-200", "bs1");

	cr_assert(fabs(value_of(&result, "s3700-200", "bs1-iostat-w") / commits - 2) < 0.001);
	cr_assert(fabs(value_of(&result, "stec-mlc-200", "bs1-iostat-w") / plain - 1) < 0.001);
	/* A block of 4 KiB for one byte, of 8 KiB for 4096: 2 and 4 KiB a line of iostat with flushes, 4
	 * without. */
	cr_assert(fabs(value_of(&result, "s3700-200", "bs1-iostat-kib") / commits - 4) < 0.01);
	cr_assert(fabs(value_of(&result, "s3700-200", "bs4096-iostat-kib") /
			   value_of(&result, "s3700-200", "bs4096") -
		       8) < 0.01);
	sl_result_fini(&result);
	sl_scenario_free(sc);
}

Test(zil, the_posters_three_questions)
{
	struct sl_scenario *sc = load_zil();
	struct sl_result result = run_all_cells(sc, 1);
	double fast_link = value_of(&result, "s3700-200", "bs1"),
	       slow_link = value_of(&result, "s3700-200-3g", "bs1");
	double slc = value_of(&result, "stec-slc-100", "bs1"), mlc = value_of(&result, "stec-mlc-200", "bs1");
	double no_flush = value_of(&result, "s3700-200-nonvolatile", "bs1");

	cr_assert_eq(sl_scenario_questions(sc), 3);
	cr_assert(fast_link > slow_link && fast_link < 1.06 * slow_link, "%g %g", slow_link, fast_link);
	cr_assert(mlc > 4.5 * slc, "%g %g", slc, mlc);
	cr_assert(no_flush > 1.5 * fast_link, "%g %g", fast_link, no_flush);
	sl_result_fini(&result);
	sl_scenario_free(sc);
}

/* One NAS that takes 4 KiB FILE_SYNC from so many at once, on `host`. */
static struct sl_scenario *load_depths(const char *host)
{
	char text[2048];
	int n = snprintf(text, sizeof(text),
			 "title: t\nhost: {profile: %s, hypervisor: qemu, nic: virtio}\n"
			 "nas: {vcpus: 4, memory: 16GiB, nfsd_threads: 64, zil: 2.1}\n"
			 "pool: {data: {layout: mirror, disks: [hdd-7200-uncached x 2], flush: honoured}, "
			 "log: samsung-850-pro-256}\n"
			 "guests: [{vcpus: 4, memory: 4GiB, fs: ext4}]\n"
			 "workloads:\n"
			 "  at1: {kind: syncwrite, block: 4KiB, depth: 1, max_time: 10s}\n"
			 "  writes1: {of: at1, metric: iostat_writes}\n"
			 "  kib1: {of: at1, metric: iostat_kib}\n"
			 "  at4: {kind: syncwrite, block: 4KiB, depth: 4, max_time: 10s}\n"
			 "  writes4: {of: at4, metric: iostat_writes}\n"
			 "  kib4: {of: at4, metric: iostat_kib}\n"
			 "  at8: {kind: syncwrite, block: 4KiB, depth: 8, max_time: 2s}\n"
			 "  at16: {kind: syncwrite, block: 4KiB, depth: 16, max_time: 10s}\n"
			 "  writes16: {of: at16, metric: iostat_writes}\n"
			 "  kib16: {of: at16, metric: iostat_kib}\n"
			 "  at32: {kind: syncwrite, block: 4KiB, depth: 32, max_time: 2s}\n"
			 "variants:\n"
			 "  v2014: {set: {nas.zil: 2014}}\n"
			 "  v21: {}\n"
			 "  v23: {set: {nas.zil: 2.3}}\n",
			 host);

	cr_assert(n > 0 && n < (int)sizeof(text));
	return load_text(text);
}

/*
 * Counted in the lab (docs/vm-lab.md: OpenZFS 2.1.11, disks 100 times as slow, so that no CPU decides):
 * writes and flushes, and KiB of log, for each record of 1, 4 and 16 writers on an 850 PRO. Two groups take
 * turns.
 */
Test(zil, writers_share_blocks_as_counted_with_real_openzfs)
{
	static const struct {
		const char *at, *writes, *kib;
		double writes_each, kib_each;
	} counted[] = {{"at1", "writes1", "kib1", 2.01, 8.00},
		       {"at4", "writes4", "kib4", 1.00, 6.00},
		       {"at16", "writes16", "kib16", 0.250, 4.50}};
	struct sl_scenario *sc = load_depths("modern-xeon");

	for (size_t i = 0; i < sizeof(counted) / sizeof(counted[0]); i++) {
		double records = rate_of(sc, "v21", counted[i].at);
		double writes = rate_of(sc, "v21", counted[i].writes) / records;
		double kib = rate_of(sc, "v21", counted[i].kib) / records;

		cr_expect(fabs(writes / counted[i].writes_each - 1) < 0.1, "%s: %g", counted[i].at, writes);
		cr_expect(fabs(kib / counted[i].kib_each - 1) < 0.1, "%s: %g KiB", counted[i].at, kib);
	}
	sl_scenario_free(sc);
}

/* Of the same box: from 8 writers on, with and without capacitors, on a slow and on a fast host. */
Test(zil, newer_logs_are_not_slower_than_that_of_2014)
{
	static const char *const hosts[] = {"modern-xeon", "avoton-c2750"};
	static const char *const logs[] = {"samsung-850-pro-256", "intel-dc-s3500-480", "intel-dc-p3700-400"};
	static const char *const depths[] = {"at8", "at16", "at32"};

	for (int h = 0; h < 2; h++) {
		struct sl_scenario *sc = load_depths(hosts[h]);

		for (int l = 0; l < 3; l++) {
			struct sl_err err = {0};

			cr_assert_eq(sl_scenario_set(sc, "pool.log", logs[l], "test", &err), 0, "%s",
				     err.msg);
			for (int d = 0; d < 3; d++) {
				double old = rate_of(sc, "v2014", depths[d]);
				double now21 = rate_of(sc, "v21", depths[d]),
				       now23 = rate_of(sc, "v23", depths[d]);

				cr_expect(now21 > old && now23 > old, "%s %s %s: 2014 %g, 2.1 %g, 2.3 %g",
					  hosts[h], logs[l], depths[d], old, now21, now23);
			}
		}
		sl_scenario_free(sc);
	}
}
