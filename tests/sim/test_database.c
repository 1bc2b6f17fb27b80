/* Databases larger than their memory: where the knees are, and what the settings of MariaDB bring. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/sim/lib.h"

/* Two 7200 rpm disks, 128 MiB of buffer pool, in a guest with 486 MiB of page cache behind it (60 % of 1 GiB,
 * less the pool), in front of an ARC of 1.4 GiB (70 % of 2 GiB). A SLOG, so that commits do not wait for the
 * disks. */
static struct sl_scenario *box_of(const char *workload)
{
	char path[] = "database-XXXXXX", text[2048];
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};
	int fd = mkstemp(path), n;

	n = snprintf(
	    text, sizeof(text),
	    "format: sloglab-scenario/1\ntitle: t\nhost: {profile: modern-xeon, hypervisor: qemu}\n"
	    "nas: {vcpus: 4, memory: 2GiB, zil: 2.1}\n"
	    "pool: {data: {layout: mirror, disks: [hdd-7200-desktop x 2]}, log: intel-dc-s3700-100}\n"
	    "guests: [{vcpus: 2, memory: 1GiB, database: mariadb-5.5}]\n"
	    "workloads: {w: {kind: oltp, threads: 4, max_time: 20s, max_requests: 0, %s}}\n",
	    workload);
	cr_assert(fd >= 0 && n > 0 && n < (int)sizeof(text));
	cr_assert_eq(write(fd, text, (size_t)n), n);
	cr_assert_eq(close(fd), 0);
	cr_assert_eq(sl_scenario_load(path, SL_SOURCE_DIR "/sim/scenario", &sc, &err), 0, "%s", err.msg);
	cr_assert_eq(unlink(path), 0);
	return sc;
}

/* TPS of such a workload, with up to two keys set. */
static double tps(const char *workload, const char *key, const char *value, const char *key2,
		  const char *value2)
{
	struct sl_scenario *sc = box_of(workload);
	struct sl_err err = {0};
	double rate;

	if (key) {
		cr_assert_eq(sl_scenario_set(sc, key, value, "test", &err), 0, "%s", err.msg);
	}
	if (key2) {
		cr_assert_eq(sl_scenario_set(sc, key2, value2, "test", &err), 0, "%s", err.msg);
	}
	rate = rate_of(sc, "base", "w");
	sl_scenario_free(sc);
	return rate;
}

#define ROWS(n) "distribution: uniform, rows: " #n
#define PLAIN(w) tps(w, NULL, NULL, NULL, NULL)

Test(database, a_table_of_225_gb_on_two_disks_runs_at_their_seeks_by_its_reads)
{
	/* 22.4 leaves a transaction (tests/unit/guest/test_innodb_reads.c), of which no cache has any to
	 * speak of. A read of a record of 128 KiB: the table lies on an eighth of 2 TB, where a seek is 1 +
	 * 15 x 8/15 x sqrt(1/8) = 3.8 ms, half a turn 4.2 ms, 0.9 ms of data: 8.9 ms, 112 a second and disk.
	 * 4 threads wait for one read each: on average 2 x (1 - 1/2^4) = 1.9 disks have one. 1.9 x 112 / 22.4
	 * = 9.5. It was 464. */
	double rate = PLAIN("distribution: uniform, rows: 1000000000");

	cr_assert(rate > 9.5 / 1.5 && rate < 9.5 * 1.5, "%.1f", rate);
	/* An L2ARC of 80 GB has at most 80 of 225 GB: 1 / (1 - 0.36) = 1.6 times as many, and a little for
	 * branches of the tree that the guest had no room for. */
	cr_assert(tps("distribution: uniform, rows: 1000000000", "pool.cache", "intel-dc-s3500-80", NULL,
		      NULL) < 1.9 * rate);
	/* Without selects 3 leaves are left: at most 22.4 / 3 = 7.5 times as many, less what the pages that
	 * come back to the disks cost. */
	cr_assert(tps("list: write_only, distribution: uniform, rows: 1000000000", NULL, NULL, NULL, NULL) >
		  2.5 * rate);
}

Test(database, the_rate_falls_where_each_cache_ends)
{
	/* Table and index: 60, 480, 960 MB; 4.8 and 24 GB. In the pool: no reads. In pool and page cache, and
	 * in the ARC: no reads of disks, but the pool is too small for pages to stay until they have changed
	 * often: each of the three leaves that a transaction changes makes a record of 128 KiB dirty, and 150
	 * MB/s of a mirror are 150 / 0.39 = 380 a second. Beyond: reads of disks. At 4.8 GB the ARC has 1.5
	 * of the 4.5 GB that the guest has not: 15 reads of 8 ms and more at 4 threads: below 4 / 0.12 = 33.
	 */
	double pool = PLAIN(ROWS(250000)), cached = PLAIN(ROWS(2000000)), arc = PLAIN(ROWS(4000000)),
	       beyond = PLAIN(ROWS(20000000)), far = PLAIN(ROWS(100000000));

	cr_assert(pool > 1.5 * cached, "%.0f, in the pool %.0f", cached, pool);
	cr_assert(cached < 380 * 1.25 && cached > 380 / 1.25, "%.0f", cached);
	cr_assert(arc < cached && arc > 0.85 * cached, "%.0f, in the page cache %.0f", arc, cached);
	cr_assert(beyond < 33 && beyond > 10, "%.1f", beyond);
	cr_assert(far < 0.8 * beyond && far > 6, "%.1f", far);
}

Test(database, more_memory_moves_the_knee_and_nothing_else)
{
	/* 2.4 GB: beyond the ARC of 1.4 GiB, within one of 11 GiB, a page cache of 2.3 GiB or a pool of 3
	 * GiB. */
	const char *w = ROWS(10000000);
	double small = PLAIN(w);

	cr_assert(tps(w, "nas.memory", "16GiB", NULL, NULL) > 3 * small);
	cr_assert(tps(w, "guests.memory", "8GiB", NULL, NULL) > 3 * small);
	cr_assert(tps(w, "guests.memory", "8GiB", "guests.buffer_pool", "3GiB") > 2.5 * small);
	/* A table that fits anyway gains nothing. */
	cr_assert_float_eq(tps(ROWS(250000), "guests.memory", "8GiB", "guests.buffer_pool", "3GiB") /
			       PLAIN(ROWS(250000)),
			   1, 0.02);
	/* With O_DIRECT the guest's memory beyond the pool is of no use. */
	cr_assert_float_eq(tps(w, "guests.memory", "8GiB", "guests.flush_method", "O_DIRECT") /
			       tps(w, "guests.flush_method", "O_DIRECT", NULL, NULL),
			   1, 0.02);
}

Test(database, uneven_keys_need_less_memory)
{
	/* 24 GB of which special uses an eighth (2 x 3 standard deviations of 1/12 are half) and three times
	 * in four 1 %, 240 MB; the first hundredth of the ids has 40 % of the keys with zipf (0.01^0.2) and
	 * 53 % with pareto (0.01^0.139). */
	double uniform = PLAIN(ROWS(100000000)), zipf = PLAIN("distribution: zipf, rows: 100000000"),
	       pareto = PLAIN("distribution: pareto, rows: 100000000"),
	       special = PLAIN("distribution: special, rows: 100000000");

	cr_assert(uniform < zipf && zipf < pareto && pareto < special, "%.1f %.1f %.1f %.1f", uniform, zipf,
		  pareto, special);
	/* Of 22.4 reads special leaves the quarter of the bell: 3 to 4 times as many transactions. */
	cr_assert(special > 2.5 * uniform && special < 5 * uniform, "%.1f, uniform %.1f", special, uniform);
}

Test(database, commits_that_wait_for_nothing_run_as_fast_as_the_cpu_and_pages_twice_cost_little)
{
	/* Without a SLOG, one thread: a commit is two rotations of a disk and more (write, commit, journal),
	 * and with 2 it is the statements' CPU only. */
	struct sl_scenario *sc = box_of("rows: 100000");
	double cpu_s, lazy, written, synced;
	struct sl_box box;

	cr_assert_eq(sl_scenario_box(sc, 0, &box, NULL), 0);
	cpu_s = box.guest_oltp_cpu_ns / 1e9;
	sl_scenario_free(sc);
	synced = tps("rows: 100000", "pool.log", "none", NULL, NULL);
	written = tps("rows: 100000", "pool.log", "none", "guests.flush_log_at_commit", "2");
	lazy = tps("rows: 100000", "pool.log", "none", "guests.flush_log_at_commit", "0");
	/* 4 threads on 2 vCPUs, less what they lose by switching. */
	cr_assert(written > 0.8 * 2 / cpu_s && written <= 2 / cpu_s, "%.0f of %.0f", written, 2 / cpu_s);
	cr_assert_float_eq(lazy / written, 1, 0.02);
	cr_assert(synced < 0.5 * written, "%.0f, without waiting %.0f", synced, written);
	cr_assert(tps("rows: 250000", "guests.doublewrite", "off", NULL, NULL) >=
		  0.99 * tps("rows: 250000", NULL, NULL, NULL, NULL));
}

Test(database, a_pool_that_does_not_fit_into_its_guest_is_refused)
{
	struct sl_scenario *sc = box_of("rows: 1000");
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_set(sc, "guests.buffer_pool", "1GiB", "test", &err), -EINVAL);
	cr_assert_str_eq(
	    err.msg, "test: guests.buffer_pool: 1GiB does not fit into guests.memory, 1GiB (variant base); "
		     "change one of them");
	sl_scenario_free(sc);
}

Test(database, commits_of_the_last_second_are_lost_when_nothing_waits_for_the_log)
{
	struct sl_scenario *sc = box_of("rows: 100000");
	const struct sl_run_options options = {.repeat = 1, .seed = 1};
	struct sl_result result;
	struct sl_err err = {0};

	for (int flush = 0; flush <= 2; flush++) {
		const struct sl_measure *measure;
		char value[2] = {(char)('0' + flush), '\0'};

		cr_assert_eq(sl_scenario_set(sc, "guests.flush_log_at_commit", value, "test", &err), 0);
		cr_assert_eq(sl_result_run(sc, &options, &result, &err), 0, "%s", err.msg);
		measure = &result.cells[0].measure;
		if (flush == 1) {
			cr_assert_eq(measure->loss.seconds, 0, "%s", measure->loss.why);
		} else {
			cr_assert_eq(measure->loss.seconds, 1);
			cr_assert_eq(measure->loss.writes, (uint64_t)measure->rate);
			cr_assert(strstr(measure->loss.why, "guests.flush_log_at_commit"));
		}
		sl_result_fini(&result);
	}
	sl_scenario_free(sc);
}
