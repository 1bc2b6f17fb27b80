/* Writes that nobody syncs: what CPUs, memory and disks each allow, from published boxes and by hand. */
#include "tests/sim/lib.h"

#define MB 1e6

/* Four fast SSDs without compression; the writers are on the storage machine. */
static struct sl_scenario *fast_pool(const char *nas, const char *pool, const char *workload)
{
	char text[2048];
	int n =
	    snprintf(text, sizeof(text),
		     "title: t\nhost: {profile: modern-xeon}\nnas: {zil: 2.1, %s}\n"
		     "pool: {data: {layout: stripe, disks: [optane-p4800x-375 x 4]}, compression: \"off\", "
		     "sync: disabled%s}\nworkloads: {w: {kind: syncwrite, access: local, %s}}\n",
		     nas, pool, workload);

	cr_assert(n > 0 && n < (int)sizeof(text));
	return load_text(text);
}

static double with(struct sl_scenario *sc, const char *key, const char *value)
{
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_set(sc, key, value, "test", &err), 0, "%s", err.msg);
	return rate_of(sc, "base", "w");
}

/*
 * 1 MiB is 8 records. A writer's CPU: 350 us of copies, 8 x (3 + 6.6) us; the pipeline's: 8 x (5 + 20 + 40)
 * us, all in all 947 us: 4 CPUs make 4220 a second at most, and the four disks, 2.1 GB/s each, 8010. So 16
 * CPUs make 1.6 times as much at least and 64 no more than those, whatever the pipeline costs. (What is dirty
 * at the end, at most 410 of some 13,000 writes, has not been synced yet.)
 */
Test(writes, the_cpu_work_of_a_txg_is_shared_by_the_cpus_and_overlaps_the_writes)
{
	struct sl_scenario *sc =
	    fast_pool("vcpus: 4, memory: 4GiB", "",
		      "block: 1MiB, depth: 16, file_total: 64GiB, max_time: 3s, max_requests: 0");
	double c4 = rate_of(sc, "base", "w"), c16 = with(sc, "nas.vcpus", "16");
	double c64 = with(sc, "nas.vcpus", "64"), freesync = with(sc, "params.zfs.sync_cpu", "1us");

	cr_assert(c4 > 0.8 * 4220 && c4 <= 1.04 * 4220, "%.0f", c4);
	cr_assert(c16 >= 1.6 * c4, "%.0f %.0f", c4, c16);
	cr_assert(fabs(c64 / 8010 - 1) < 0.1, "%.0f", c64);
	cr_assert(freesync <= 1.3 * c64, "%.0f %.0f", c64, freesync);
	sl_scenario_free(sc);
}

/*
 * Records of 4 KiB, each written once: a call 2, the copy 1.4, dirty 3 + 0.2, the pipeline 5 + 20 + 1 us: 33
 * us, so that 2 CPUs make 61,000 a second at most; records of 128 KiB take 120 us each, 32 times as much data
 * for three times the work. (Up to 26,000 of 183,000 are not synced at the end: 7 instead of 33 us.)
 */
Test(writes, small_records_cost_what_every_record_costs)
{
	struct sl_scenario *sc = fast_pool("vcpus: 2, memory: 1GiB", ", recordsize: 4KiB",
					   "block: 4KiB, depth: 8, file_total: 8GiB, max_time: 3s, "
					   "max_requests: 0");
	double small = rate_of(sc, "base", "w");

	cr_assert(small > 0.75 * 61000 && small <= 1.12 * 61000, "%.0f", small);
	sl_scenario_free(sc);
}

/* bonnie++ on a C2750 and seven 4 TB disks in raidz2 (github cunnie/freenas_benchmarks): 8 jobs wrote 993
 * MB/s at 71 % of a core each, one job 272-289 MB/s at 91-96 %; 8 jobs read 1882 MB/s, which seven disks with
 * 150 MB/s each, five of data, deliver only if the data compresses 1882 / 750 = 2.5 times. */
static double bonnie_mb(const char *load, const char *ratio)
{
	char text[1024];
	struct sl_scenario *sc;
	double rate;
	int n =
	    snprintf(text, sizeof(text),
		     "title: t\nhost: {profile: avoton-c2750}\nnas: {vcpus: 8, memory: 32GiB, zil: 2014}\n"
		     "pool: {data: {layout: raidz2, disks: [hdd-7200-desktop x 7]}, compression: lz4, "
		     "sync: disabled}\n"
		     "params: {zfs.compress_ratio: {value: %s, kind: assumed, source: test}}\n"
		     "workloads: {w: {kind: syncwrite, access: local, %s, file_total: 80GiB, max_time: "
		     "60s, max_requests: 0}}\n",
		     ratio, load);

	cr_assert(n > 0 && n < (int)sizeof(text));
	sc = load_text(text);
	rate = rate_of(sc, "base", "w");
	sl_scenario_free(sc);
	return rate;
}

/*
 * Worked out before the run, per record of 128 KiB. A writer: 2 (call) + 152 (copy) + 14 + 239 (buffer) = 407
 * us: 322 MB/s alone. The pipeline: 17 + 70 + 328 (lz4) + 48 (checksum) + 184 (parity) = 647 us. Together
 * 1054 us of 8 cores: 995 MB/s.
 */
Test(writes, bonnie_on_a_c2750_eight_jobs_and_one)
{
	double eight = bonnie_mb("block: 128KiB, depth: 8", "2.5") * 131072 / MB;
	double one = bonnie_mb("block: 128KiB, depth: 1", "2.5") * 131072 / MB;

	cr_expect(eight >= 850 && eight <= 1150, "eight: %.0f MB/s", eight);
	cr_expect(one >= 230 && one <= 330, "one: %.0f MB/s", one);
}

/* Five disks' worth of data at 150 MB/s each. */
Test(writes, data_that_does_not_compress_is_written_at_the_disks_rate)
{
	double mb = bonnie_mb("block: 128KiB, depth: 8", "1") * 131072 / MB;

	cr_assert(mb > 450 && mb <= 5 * 150, "%.0f MB/s", mb);
}

/* A synchronous write of a whole record on a P3700 as log: only the record of a partial write is looked up
 * and filled. Before it cost 355 us, 180 of them for that; 9.6 us for the buffer and the like are new. */
Test(writes, whole_records_are_not_filled)
{
	struct sl_scenario *sc = load_text(
	    "title: t\nhost: {profile: modern-xeon}\nnas: {vcpus: 4, memory: 16GiB, zil: 2.1}\n"
	    "pool: {data: {layout: stripe, disks: [hdd-7200-desktop]}, log: intel-dc-p3700-400}\n"
	    "workloads: {w: {kind: syncwrite, access: local, block: 128KiB, max_requests: 2000}}\n");
	double us = 1e6 / rate_of(sc, "base", "w"), expected = 355 - 180 + 9.6;

	cr_assert(fabs(us / expected - 1) < 0.05, "%.1f us, %.1f expected", us, expected);
	sl_scenario_free(sc);
}

/*
 * 256 writers of 1 MiB on two pairs of disks: the pool is the limit, 300 MB/s at most, and everybody waits
 * for a turn. In turn: no write waits for much more than the others. Little's law: 256 are always there, so
 * rate x mean time = 256.
 */
Test(writes, a_crowd_of_writers_is_let_in_in_turn)
{
	struct sl_scenario *sc = load_text(
	    "title: t\nhost: {profile: modern-xeon}\nnas: {vcpus: 8, memory: 4GiB, zil: 2.1}\n"
	    "pool: {data: {layout: mirror, disks: [hdd-7200-desktop x 4]}, compression: \"off\", sync: "
	    "disabled}\n"
	    "workloads: {w: {kind: syncwrite, access: local, block: 1MiB, depth: 256, file_total: 64GiB, "
	    "max_time: 30s, max_requests: 0}}\n");
	struct sl_measure measure = measure_of(sc, "base", "w");

	cr_expect(measure.p99_ns <= 5 * measure.p50_ns, "p50 %.1f ms, p99 %.1f ms",
		  (double)measure.p50_ns / 1e6, (double)measure.p99_ns / 1e6);
	cr_expect(measure.rate > 200 && measure.rate < 300 * MB / 1048576 * 1.1, "%.0f/s", measure.rate);
	cr_expect(fabs(measure.rate * (double)measure.mean_ns / 1e9 / 256 - 1) < 0.05, "%.0f",
		  measure.rate * (double)measure.mean_ns / 1e9);
	sl_scenario_free(sc);
}

/* A box on which 32 threads sync 4 KiB each: a release that has several blocks on their way is not slower
 * than one with one batch, however few CPUs there are. */
Test(writes, several_log_blocks_on_their_way_are_no_slower_than_one_batch)
{
	static const char *const vcpus[] = {"2", "8"};

	for (size_t i = 0; i < sizeof(vcpus) / sizeof(vcpus[0]); i++) {
		struct sl_scenario *sc = load_text(
		    "title: t\nhost: {profile: avoton-c2750}\nnas: {memory: 8GiB}\n"
		    "pool: {data: {layout: stripe, disks: [hdd-7200-desktop]}, log: intel-dc-p3700-400}\n"
		    "workloads: {w: {kind: syncwrite, access: local, block: 4KiB, threads: 32, "
		    "max_requests: 8000}}\n");
		double new_rate = with(sc, "nas.vcpus", vcpus[i]), old = with(sc, "nas.zil", "2014");

		cr_assert(new_rate >= old, "%s vCPUs: 2014 %.0f, 2.1 %.0f", vcpus[i], old, new_rate);
		sl_scenario_free(sc);
	}
}

/*
 * 4 KiB in order into records of 128 KiB, one writer: one write of 32 is the first to its record in a txg, so
 * the 99th percentile is such a one and the median is not. It is filled and dirtied first, 63 + 3 us; real
 * boxes of this class are 50 to 75 us later. The log is memory, so that nothing else varies.
 */
Test(writes, the_first_write_to_a_record_is_a_little_late)
{
	struct sl_scenario *sc = load_text(
	    "title: t\nhost: {profile: modern-xeon}\nnas: {vcpus: 4, memory: 16GiB}\n"
	    "pool: {data: {layout: mirror, disks: [intel-dc-s3700-400 x 2]}, log: ramdisk-8, compression: "
	    "\"off\"}\n"
	    "workloads: {w: {kind: syncwrite, access: local, block: 4KiB, file_total: 4GiB, max_time: 4s, "
	    "max_requests: 0}}\n");
	struct sl_measure measure = measure_of(sc, "base", "w");

	cr_assert_float_eq((double)(measure.p99_ns - measure.p50_ns) / 1e3, 66, 9, "%.1f us",
			   (double)(measure.p99_ns - measure.p50_ns) / 1e3);
	sl_scenario_free(sc);
}
