/* ZFS as people run it now: whole runs of small boxes, and what must follow from a choice. */
#include "sim/base/trace.h"
#include "tests/sim/lib.h"

#define OPTANE_POOL_US \
	155.0 /* fio 4 KiB with fdatasync on an OpenZFS pool of one Optane M10 (d-uzlov/k8s-homelab) */

/* A scenario with this pool (and workloads w) on a modern host. */
static struct sl_scenario *box_of(const char *pool, const char *workload)
{
	char text[2048];
	int n = snprintf(text, sizeof(text),
			 "title: t\nhost: {profile: modern-xeon}\nnas: {vcpus: 4, memory: 8GiB, zil: 2.1}\n"
			 "pool: %s\nworkloads: {w: %s}\n",
			 pool, workload);

	cr_assert(n > 0 && n < (int)sizeof(text));
	return load_text(text);
}

/* Rate of w with `key` set to `value` (NULL: as it is). */
static double with(struct sl_scenario *sc, const char *key, const char *value)
{
	struct sl_err err = {0};

	if (key) {
		cr_assert_eq(sl_scenario_set(sc, key, value, "test", &err), 0, "%s", err.msg);
	}
	return rate_of(sc, "base", "w");
}

Test(zfs, a_pool_on_an_optane_m10_syncs_4_kib_in_155_us)
{
	struct sl_scenario *sc = box_of(
	    "{data: {layout: stripe, disks: [optane-m10-16]}}",
	    "{kind: syncwrite, access: local, stable: unstable_commit, block: 4KiB, max_requests: 2000}");
	double us = 1e6 / with(sc, NULL, NULL);

	cr_assert(fabs(us / OPTANE_POOL_US - 1) <= 0.15, "%.1f us", us);
	sl_scenario_free(sc);
}

static double us_of(const struct sl_measure *measure, int metric)
{
	return (double)sl_measure_time(measure, metric) / 1e3;
}

/*
 * The same pool as published, 5632 writes in one second (before any txg): fdatasync takes 153 us at the
 * median, 184 at the 95th percentile, 206 at the 99th and 239 at the 99.9th. How hand-offs vary is derived
 * from all but the second. The write itself, which looks up the record, was timed apart.
 */
Test(zfs, fdatasync_on_that_pool_varies_as_published)
{
	static const struct {
		int metric;
		double us;
	} published[] = {
	    {SL_METRIC_P50, 153}, {SL_METRIC_P95, 184}, {SL_METRIC_P99, 206}, {SL_METRIC_P999, 239}};
	struct sl_scenario *sc = box_of(
	    "{data: {layout: stripe, disks: [optane-m10-16]}}",
	    "{kind: syncwrite, access: local, stable: unstable_commit, block: 4KiB, max_requests: 5632}");
	struct sl_measure measure;
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_set(sc, "params.zfs.record_cpu", "0us", "test", &err), 0, "%s", err.msg);
	measure = measure_of(sc, "base", "w");
	for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
		double us = us_of(&measure, published[i].metric);

		cr_expect(fabs(us / published[i].us - 1) <= 0.15, "%.0f us, published %.0f", us,
			  published[i].us);
	}
	sl_scenario_free(sc);
}

/*
 * One writer over NFS for a minute. Without a log device a commit is a turn of the platter, and some wait for
 * what a txg writes meanwhile: in the lab, OpenZFS 2.1.11 on a mirror that nobody else uses has a mean 1.04
 * times its median (docs/decisions/0024); a pool of six such disks that others use as well, 1.16, and a 99th
 * percentile of 7 (github d-uzlov/k8s-homelab docs/disk-test/test-fsync.md). By hand: disks without a cache
 * take two asynchronous writes at a time between the commits; some 57 a txg, in pairs and each pair half a
 * turn to a turn: 29 x 4 to 10 ms of 5 s are 2 to 6 %, and a commit behind one of them takes two turns. With
 * an NVMe log with capacitors hand-offs, the first write to a record and the drive vary, none of them alone.
 */
Test(zfs, the_tail_of_one_writer)
{
	struct sl_scenario *sc = load_text(
	    "title: t\nhost: {profile: modern-xeon, hypervisor: qemu, nic: virtio}\n"
	    "nas: {vcpus: 4, memory: 16GiB, zil: 2.1}\n"
	    "pool: {data: {layout: mirror, disks: [hdd-7200-uncached x 2], flush: honoured}, log: none}\n"
	    "guests: [{vcpus: 4, memory: 4GiB, fs: ext4}]\n"
	    "workloads: {w: {kind: syncwrite, block: 4KiB, max_time: 60s, max_requests: 0}}\n"
	    "variants:\n"
	    "  none21: {}\n"
	    "  none23: {set: {nas.zil: 2.3}}\n"
	    "  nvme: {set: {pool.log: intel-dc-p3700-400}}\n");

	for (int none = 21; none <= 23; none += 2) {
		struct sl_measure measure = measure_of(sc, none == 21 ? "none21" : "none23", "w");
		double p50 = us_of(&measure, SL_METRIC_P50), mean = us_of(&measure, SL_METRIC_MEAN);
		double p99 = us_of(&measure, SL_METRIC_P99);

		cr_expect(mean > 1.02 * p50 && mean < 1.1 * p50, "2.%d: %g", none - 20, mean / p50);
		cr_expect(p99 > 1.9 * p50, "2.%d: %g", none - 20, p99 / p50);
	}
	for (uint64_t seed = 1; seed <= 2; seed++) {
		struct sl_stack_setup setup = {.seed = seed};
		struct sl_measure measure;
		struct sl_err err = {0};
		struct sl_box box;
		double p50, p95, p99, p999;

		cr_assert_eq(sl_scenario_box(sc, sl_scenario_find_variant(sc, "nvme"), &box, &err), 0);
		cr_assert_eq(sl_stack_run(&box, sl_scenario_workload(sc, 0), &setup, &measure, &err), 0, "%s",
			     err.msg);
		p50 = us_of(&measure, SL_METRIC_P50);
		p95 = us_of(&measure, SL_METRIC_P95);
		p99 = us_of(&measure, SL_METRIC_P99);
		p999 = us_of(&measure, SL_METRIC_P999);
		cr_expect(p99 / p50 > 1.2 && p99 / p50 < 2, "%g", p99 / p50);
		cr_expect(p95 > 1.1 * p50 && p99 > 1.1 * p95 && p999 > 1.1 * p99, "%g %g %g %g", p50, p95,
			  p99, p999);
	}
	sl_scenario_free(sc);
}

/* Transactions per sync of InnoDB's log, without a SLOG, of 2000 transactions. */
static double group_size(struct sl_scenario *sc, int threads, double *ret_rate)
{
	struct sl_workload workload = *sl_scenario_workload(sc, sl_scenario_find_workload(sc, "oltp2"));
	struct sl_trace *trace = sl_trace_new(100000);
	struct sl_measure measure;
	struct sl_err err = {0};
	struct sl_box box;
	double syncs;

	cr_assert_not_null(trace);
	sl_trace_select(trace, "InnoDB", NULL, 0);
	workload.threads = threads;
	workload.max_requests = 2000;
	cr_assert_eq(sl_scenario_box(sc, sl_scenario_find_variant(sc, "none"), &box, &err), 0, "%s", err.msg);
	cr_assert_eq(sl_stack_run(&box, &workload, &(struct sl_stack_setup){.seed = 1, .trace = trace},
				  &measure, &err),
		     0, "%s", err.msg);
	syncs = sl_trace_count(trace);
	cr_assert_eq(sl_trace_dropped(trace), 0);
	sl_trace_free(trace);
	*ret_rate = measure.rate;
	return (double)measure.operations / syncs;
}

/* MODEL.md 8.6: 1.0, 1.0, 1.5 and 2.3 transactions per flush with 1, 2, 4 and 8 threads at 84, 147, 197, 238
 * TPS. */
Test(zfs, transactions_per_flush_grow_with_the_threads)
{
	static const struct {
		int threads;
		double group, rate;
	} rows[] = {{1, 1.0, 84}, {2, 1.0, 147}, {4, 1.5, 197}, {8, 2.3, 0}};
	struct sl_scenario *sc = load_b3n();
	double before = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double rate, group = group_size(sc, rows[i].threads, &rate);

		cr_assert(fabs(group / rows[i].group - 1) < 0.2, "%d threads: %.2f", rows[i].threads, group);
		cr_assert(rows[i].rate <= 0 || fabs(rate / rows[i].rate - 1) < 0.1, "%d threads: %.1f TPS",
			  rows[i].threads, rate);
		cr_assert(group >= before * 0.99);
		before = group;
	}
	sl_scenario_free(sc);
}

/* Two log devices take turns: they help where one is the limit, not one thread that waits for each block. */
Test(zfs, a_stripe_of_two_log_devices_helps_only_where_one_is_the_limit)
{
	static const char pool[] =
	    "{data: {layout: mirror, disks: [hdd-7200-desktop x 2]}, log: intel-dc-s3500-80}";
	struct sl_scenario *one_thread = box_of(pool, "{kind: syncwrite, access: local, block: 4KiB}");
	struct sl_scenario *stream =
	    box_of(pool, "{kind: syncwrite, access: local, block: 128KiB, depth: 16, max_requests: 4000}");
	double alone = with(one_thread, NULL, NULL), streamed = with(stream, NULL, NULL);

	cr_assert(fabs(with(one_thread, "pool.log", "intel-dc-s3500-80 x 2") / alone - 1) < 0.02);
	cr_assert(with(stream, "pool.log", "intel-dc-s3500-80 x 2") > 1.3 * streamed);
	sl_scenario_free(one_thread);
	sl_scenario_free(stream);
}

/* The log dies: commits go on, at the pace of the data disks. */
Test(zfs, a_pool_outlives_its_log_devices)
{
	struct sl_scenario *sc =
	    box_of("{data: {layout: mirror, disks: [hdd-7200-desktop x 2]}, log: intel-dc-s3500-80}",
		   "{kind: syncwrite, access: local, block: 4KiB, max_time: 4s, max_requests: 0}");
	double alive = with(sc, NULL, NULL), dead, none;

	dead = with(sc, "params.log.fail_at", "1ms");
	none = with(sc, "pool.log", "none");
	cr_assert(none < alive / 10, "%.0f %.0f", none, alive);
	cr_assert(dead < none * 1.1 && dead > none * 0.8, "%.0f %.0f", dead, none);
	sl_scenario_free(sc);
}

/* Encryption costs every record and log block on the way; nothing where the log waits for a platter. */
Test(zfs, native_encryption_costs_cpu)
{
	struct sl_scenario *sc = box_of("{data: {layout: stripe, disks: [optane-900p-280]}}",
					"{kind: syncwrite, access: local, block: 64KiB, max_requests: 4000}");
	double plain = with(sc, NULL, NULL), encrypted = with(sc, "pool.encryption", "zfs");

	/* One write: 64 KiB at 1 GB/s is 66 us, of the log block; the record's share comes later. */
	cr_assert(1e6 / encrypted - 1e6 / plain > 60, "%.1f us", 1e6 / encrypted - 1e6 / plain);
	sl_scenario_free(sc);
}

/* Random 16 KiB writes into 64 GiB on 8 GiB of memory: nearly every write reads its record first. */
Test(zfs, writes_of_a_part_of_a_cold_record_wait_for_the_disk_unless_an_l2arc_has_it)
{
	struct sl_scenario *sc =
	    box_of("{data: {layout: mirror, disks: [hdd-7200-desktop x 2]}, log: optane-900p-280}",
		   "{kind: syncwrite, access: local, pattern: random, block: 16KiB, file_total: 64GiB, "
		   "max_requests: 500}");
	double cold = with(sc, NULL, NULL), l2arc = with(sc, "pool.cache", "samsung-960-pro-512");

	cr_assert(cold < 200, "%.0f", cold); /* a disk's turn and seek */
	cr_assert(l2arc > 10 * cold, "%.0f %.0f", l2arc, cold);
	sl_scenario_free(sc);
	sc = box_of("{data: {layout: mirror, disks: [hdd-7200-desktop x 2]}, log: optane-900p-280, "
		    "recordsize: 16KiB}",
		    "{kind: syncwrite, access: local, pattern: random, block: 16KiB, file_total: 64GiB, "
		    "max_requests: 500}");
	cr_assert(with(sc, NULL, NULL) > 10 * cold); /* whole records: nothing to read */
	sl_scenario_free(sc);
}

/* More vdevs, more places at once: reads of a cold file by eight threads. */
Test(zfs, three_mirrors_read_faster_than_one_raidz2_of_the_same_disks)
{
	static const char load[] =
	    "{kind: fileio, mode: rndrd, file_total: 64GiB, threads: 16, max_requests: 1000}";
	struct sl_scenario *z2 =
	    box_of("{data: {layout: raidz2, disks: [hdd-7200-desktop x 6]}, compression: off}", load);
	struct sl_scenario *mirrors = box_of(
	    "{data: {layout: mirror, disks: [hdd-7200-desktop x 6], vdevs: 3}, compression: off}", load);
	double slow = with(z2, NULL, NULL), fast = with(mirrors, NULL, NULL);

	cr_assert(fast > 2 * slow, "%.0f %.0f", slow, fast);
	sl_scenario_free(z2);
	sl_scenario_free(mirrors);
}
