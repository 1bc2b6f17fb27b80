/*
 * Laws that no queueing model may break, and what follows from platters and records by hand: each value is
 * worked out in the comment above its test.
 */
#include "tests/sim/lib.h"

/* A box on a modern host, its sizes chosen so that the law shows: no CPU or thread is short. */
static struct sl_scenario *box_of(const char *pool, const char *load)
{
	char text[4096];
	int n = snprintf(text, sizeof(text),
			 "title: t\nhost: {profile: modern-xeon, hypervisor: qemu}\n"
			 "nas: {vcpus: 16, memory: 8GiB, nfsd_threads: 256, zil: 2.1}\n"
			 "guests: [{vcpus: 16, memory: 1GiB}]\npool: %s\nworkloads: %s\n",
			 pool, load);

	cr_assert(n > 0 && n < (int)sizeof(text));
	return load_text(text);
}

static double utilisation_of(const struct sl_measure *measure, const char *name)
{
	for (int i = 0; i < measure->n_resources; i++) {
		if (strcmp(measure->resources[i].name, name) == 0) {
			return measure->resources[i].utilisation;
		}
	}
	cr_assert(false, "no resource %s", name);
	return 0;
}

/* N = X R: so many requests are in flight as there are clients, whatever they wait for: a log device,
 * platters, reads, the write throttle. The N in flight at the end are counted by neither side: N x N /
 * operations. */
Test(laws, little)
{
	static const struct {
		const char *workload;
		double n;
	} cells[] = {{"alone", 1}, {"eight", 8}, {"deep", 64}, {"large", 16}};
	static const char *const pools[] = {
	    "{data: {layout: mirror, disks: [hdd-7200-desktop x 2]}, compression: off}",
	    "{data: {layout: raidz1, disks: [hdd-7200-desktop x 3]}, compression: off, log: "
	    "intel-dc-s3500-80}"};

	for (size_t p = 0; p < sizeof(pools) / sizeof(pools[0]); p++) {
		struct sl_scenario *sc = box_of(
		    pools[p],
		    "{alone: {kind: syncwrite, access: local, block: 4KiB, max_time: 4s, max_requests: 0}, "
		    "eight: {kind: syncwrite, access: nfs, block: 16KiB, threads: 8, max_time: 4s, "
		    "max_requests: 0}, "
		    "deep: {kind: syncwrite, access: local, pattern: random, block: 16KiB, depth: 64, "
		    "file_total: 64GiB, max_time: 4s, max_requests: 0}, "
		    "large: {kind: syncwrite, access: local, block: 1MiB, threads: 16, max_time: 4s, "
		    "max_requests: 0}}");

		for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
			struct sl_measure measure = measure_of(sc, "base", cells[i].workload);
			double n = measure.rate * (double)measure.mean_ns / 1e9;

			cr_assert_float_eq(n, cells[i].n,
					   0.01 * cells[i].n +
					       cells[i].n * cells[i].n / (double)measure.operations,
					   "%s on pool %zu: %.3f", cells[i].workload, p, n);
		}
		sl_scenario_free(sc);
	}
}

/*
 * U = X S: an Optane 900P writes the 8 KiB log block of 4 KiB and their headers in 8 us + 8192 B at 2 GB/s =
 * 12.1 us and has nothing to flush. So it is busy for 12.1 us a commit, whether the rest of a commit is short
 * (local) or long (NFS, a slow link).
 */
Test(laws, utilisation)
{
	static const char *const cells[] = {"local", "nfs"};
	struct sl_scenario *sc =
	    box_of("{data: {layout: mirror, disks: [hdd-7200-desktop x 2]}, log: optane-900p-280}",
		   "{local: {kind: syncwrite, access: local, block: 4KiB, max_requests: 20000}, "
		   "nfs: {kind: syncwrite, access: nfs, block: 4KiB, max_requests: 20000}}");
	double rate[2];

	for (int i = 0; i < 2; i++) {
		struct sl_measure measure = measure_of(sc, "base", cells[i]);
		double service_us = utilisation_of(&measure, "log device") / measure.rate * 1e6;

		cr_assert_float_eq(service_us, 12.1, 0.15, "%s: %.2f us", cells[i], service_us);
		rate[i] = measure.rate;
	}
	cr_assert(rate[1] < 0.8 * rate[0], "%.0f %.0f", rate[0], rate[1]);
	sl_scenario_free(sc);
}

/*
 * A disk whose flush is honest commits once per turn: the next block lies behind the last one, which has just
 * passed the head. 7200, 10,000 and 15,000 turns a minute are 8.33, 6 and 4 ms, and 0.7 % of a turn for the 8
 * KiB. That is the median: one of twenty waits for what a txg writes in between (test_meta.c), which takes up
 * to a sixth of the rate.
 */
Test(laws, a_commit_is_a_turn_of_the_platter)
{
	static const struct {
		const char *disk;
		double rpm;
	} rows[] = {{"hdd-7200-desktop", 7200}, {"hdd-10k-sas-300", 10000}, {"hdd-15k-sas-600", 15000}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char pool[128];
		struct sl_scenario *sc;
		struct sl_measure measure;
		double turn_ns = 60e9 / rows[i].rpm;

		(void)snprintf(pool, sizeof(pool), "{data: {layout: stripe, disks: [%s]}}", rows[i].disk);
		sc = box_of(
		    pool,
		    "{w: {kind: syncwrite, access: local, block: 4KiB, max_time: 20s, max_requests: 0}}");
		measure = measure_of(sc, "base", "w");
		cr_assert_float_eq((double)measure.p50_ns / turn_ns, 1.007, 0.015, "%s: %.2f ms",
				   rows[i].disk, (double)measure.p50_ns / 1e6);
		cr_assert(measure.rate * turn_ns / 1e9 > 0.83 && measure.rate * turn_ns / 1e9 < 1,
			  "%s: %.1f/s", rows[i].disk, measure.rate);
		sl_scenario_free(sc);
	}
}

/*
 * Random changes of 16 KiB in 64 GiB, commits free (Optane): with records of 128 KiB nine of ten read theirs
 * first (5.6 of 64 GiB are in memory): seek in half the stroke 5.9 ms, half a turn 4.2, electronics 0.1, 128
 * KiB at 150 MB/s 0.9: 11 ms x 0.91 = 10.1 ms, 99/s, less what the txgs take of the disks. With records of 16
 * KiB nothing is read.
 */
Test(laws, the_recordsize_cliff)
{
	static const char load[] = "{w: {kind: syncwrite, access: local, pattern: random, block: 16KiB, "
				   "file_total: 64GiB, max_time: 10s, max_requests: 0}}";
	struct sl_scenario *sc =
	    box_of("{data: {layout: mirror, disks: [hdd-7200-desktop x 2]}, compression: off, "
		   "log: optane-900p-280}",
		   load);
	double large = rate_of(sc, "base", "w"), fitting;
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_set(sc, "pool.recordsize", "16KiB", "test", &err), 0, "%s", err.msg);
	fitting = rate_of(sc, "base", "w");
	cr_assert(large > 0.7 * 99 && large < 1.05 * 99, "%.0f/s", large);
	cr_assert(fitting > 20 * large, "%.0f/s after %.0f/s", fitting, large);
	sl_scenario_free(sc);
}

/*
 * Random reads of 8 KiB, 16 readers for a disk: mirrors read a record from one side, so six disks have the
 * rate of six. A raidz2 reads it from its four data columns, so six disks have the rate of 6 / 4 at most, a
 * fourth of that (a column of 32 KiB takes 0.7 ms less than the record of 128: 1.5 x 6.6 / 5.9 = 1.7), and of
 * one disk or less where few read (test_reads.c).
 */
Test(laws, mirrors_read_with_all_their_disks_and_a_raidz_with_one)
{
	static const struct {
		const char *pool;
		double disks, least, most;
	} rows[] = {
	    {"{data: {layout: stripe, disks: [hdd-7200-desktop]}, compression: off}", 1, 1, 1},
	    {"{data: {layout: raidz2, disks: [hdd-7200-desktop x 6]}, compression: off}", 1, 1.2, 1.7},
	    {"{data: {layout: mirror, disks: [hdd-7200-desktop x 6]}, compression: off}", 6, 0.9, 1.05}};
	double alone = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char load[256];
		struct sl_scenario *sc;
		double rate;

		(void)snprintf(load, sizeof(load),
			       "{w: {kind: fileio, mode: rndrd, files: 1, block: 8KiB, file_total: 200GiB, "
			       "threads: %.0f, "
			       "fsync_every: 0, max_time: 10s, max_requests: 0}}",
			       16 * rows[i].disks);
		sc = box_of(rows[i].pool, load);
		rate = rate_of(sc, "base", "w");
		alone = i == 0 ? rate : alone;
		cr_assert(rate >= rows[i].least * rows[i].disks * alone &&
			      rate <= rows[i].most * rows[i].disks * alone,
			  "row %zu: %.0f/s, one disk %.0f/s", i, rate, alone);
		sl_scenario_free(sc);
	}
}
