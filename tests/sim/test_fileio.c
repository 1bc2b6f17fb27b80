/* File I/O of a guest, whole runs: what the page cache takes, and what the pool behind it gives. */
#include "tests/sim/lib.h"

/*
 * One file, fsync after N x 64 KiB: 0.6, 3.75 and 4.4 GiB of dirty data, the last more than 32 bits count.
 * Each fsync writes all that is new, so that the rate is the pool's, however much is written at a time.
 */
Test(fileio, more_than_4_gib_of_dirty_data_are_written_as_fast_as_less)
{
	static const char *const loads[] = {"n10000", "n60000", "n70000"};
	struct sl_scenario *sc =
	    load_text("title: t\nhost: {profile: modern-xeon, hypervisor: esxi}\n"
		      "pool: {data: {layout: mirror, disks: [hdd-7200-desktop x 2]}}\n"
		      "workloads:\n"
		      "  n10000: {kind: fileio, mode: seqwr, files: 1, block: 64KiB, file_total: 16GiB, "
		      "fsync_every: 10000, max_time: 0s, max_requests: 140000}\n"
		      "  n60000: {kind: fileio, mode: seqwr, files: 1, block: 64KiB, file_total: 16GiB, "
		      "fsync_every: 60000, max_time: 0s, max_requests: 120000}\n"
		      "  n70000: {kind: fileio, mode: seqwr, files: 1, block: 64KiB, file_total: 16GiB, "
		      "fsync_every: 70000, max_time: 0s, max_requests: 140000}\n");
	double first = rate_of(sc, "base", loads[0]);

	for (int i = 1; i < 3; i++) {
		double rate = rate_of(sc, "base", loads[i]);

		cr_assert(fabs(rate / first - 1) < 0.1, "%s: %.0f, %s: %.0f", loads[0], first, loads[i],
			  rate);
	}
	sl_scenario_free(sc);
}

#define MIRROR_OF_DISKS                                                                                \
	"title: t\nhost: {profile: modern-xeon, hypervisor: qemu}\n"                                   \
	"nas: {vcpus: 4, memory: 16GiB, zil: 2.1}\n"                                                   \
	"pool: {data: {layout: mirror, disks: [hdd-7200-desktop x 2]}, compression: off, recordsize: " \
	"64KiB}\n"

static double with(struct sl_scenario *sc, const char *key, const char *value, const char *workload)
{
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_set(sc, key, value, "test", &err), 0, "%s", err.msg);
	return rate_of(sc, "base", workload);
}

/*
 * 1 MiB buffered writes for 30 s that nobody syncs. In memory stay 20 % of the page cache, 0.6 of the
 * guest's: 123 MiB of 1 GiB, 983 MiB of 8 GiB. The rest goes at the pace of the disks, 150 MB/s on the
 * average of their zones and a third more outside. So: 107..200 MiB/s, and with 8 GiB (983 - 123) / 30 = 28.7
 * MiB/s more. (jbd2 does not commit by itself: its flushes would put what is not synced yet into the log,
 * more where more is dirty.)
 */
Test(fileio, buffered_writes_run_at_the_pools_rate_but_for_what_fits_into_memory)
{
	struct sl_scenario *sc = load_text(
	    MIRROR_OF_DISKS "params: {guest.commit_interval: {value: 0s, kind: assumed, source: test}}\n"
			    "workloads:\n"
			    "  w: {kind: fileio, mode: seqwr, block: 1MiB, files: 1, file_total: 50GiB, "
			    "fsync_every: 0, max_time: 30s, max_requests: 0}\n");
	double small = with(sc, "guests.memory", "1GiB", "w"), large = with(sc, "guests.memory", "8GiB", "w");

	cr_assert(small > 107 && small < 200, "%.1f MiB/s", small);
	cr_assert(fabs(large - small - 28.7) < 6, "%.1f and %.1f MiB/s", small, large);
	sl_scenario_free(sc);
}

/*
 * 1 MiB buffered writes for 60 s that nobody syncs, with a log device: the commits of jbd2 go there, the
 * disks have the txgs alone: 150 MB/s = 143 MiB/s. At the end 123 MiB are in the guest's memory and 60 to 100
 * % of 1638 MiB dirty in the server's: 18.4 to 29.4 MiB/s. Taking 10 % for head moves and metadata: 147..173
 * MiB/s.
 *
 * Linux's requests of 1280 KiB are WRITEs of 1 MiB and 256 KiB: whole records. If no two pages adjoined in
 * memory, they would be of 254 pages: 15 of 16 ends are within a record, which is read before it is written.
 * 16 requests take 111 ms of each disk, 15 reads at one of two disks 7.5 x 8 ms more (there, half a turn, and
 * back): two thirds of the rate at most, 122 MiB/s with what is in memory.
 */
Test(fileio, a_stream_of_a_guest_writes_whole_records_at_the_disks_rate)
{
	struct sl_scenario *sc = load_text(
	    "title: t\nhost: {profile: modern-xeon, hypervisor: qemu}\n"
	    "nas: {vcpus: 4, memory: 16GiB, zil: 2.1}\n"
	    "pool: {data: {layout: mirror, disks: [hdd-7200-desktop x 2]}, log: intel-dc-s3700-200, "
	    "compression: off}\nguests: [{memory: 1GiB}]\nworkloads:\n"
	    "  w: {kind: fileio, mode: seqwr, block: 1MiB, files: 1, file_total: 50GiB, fsync_every: 0, "
	    "max_time: 60s, max_requests: 0}\n");
	double whole = rate_of(sc, "base", "w"), scattered = with(sc, "params.hyp.max_io", "1016KiB", "w");

	cr_assert(whole > 147 && whole < 173, "%.1f MiB/s", whole);
	cr_assert(scattered < 122, "%.1f MiB/s", scattered);
	sl_scenario_free(sc);
}

/*
 * The same without a log device: jbd2's commits have the records written in place, which costs nothing but
 * for those whose txg is syncing: they are written twice. In 2.1 each of these is a transaction at the write
 * throttle, in turn with those of the seven threads of the server that do not serve the COMMIT: 7 of 8 are
 * writes, 143 x 7 / 8 = 125 MiB/s of the disks' rate are left, 10 % off for head moves, 18.4 to 29.4 MiB/s in
 * memory at the end: 131 MiB/s at least, and no more than with a log device. Since 2.2 they do not wait: all
 * of it may be written twice, not more: 143 / 2 = 71.5 MiB/s, so 82..128 MiB/s.
 */
Test(fileio, without_a_log_device_what_comes_too_late_for_its_txg_is_written_twice)
{
	struct sl_scenario *sc = load_text(
	    "title: t\nhost: {profile: modern-xeon, hypervisor: qemu}\n"
	    "nas: {vcpus: 4, memory: 16GiB, nfsd_threads: 8, zil: 2.1}\n"
	    "pool: {data: {layout: mirror, disks: [hdd-7200-desktop x 2]}, compression: off}\n"
	    "guests: [{memory: 1GiB}]\nworkloads:\n"
	    "  w: {kind: fileio, mode: seqwr, block: 1MiB, files: 1, file_total: 50GiB, fsync_every: 0, "
	    "max_time: 60s, max_requests: 0}\n");
	double in_turn = rate_of(sc, "base", "w"), at_once = with(sc, "nas.zil", "2.3", "w");

	cr_assert(in_turn > 131 && in_turn < 173, "%.1f MiB/s", in_turn);
	cr_assert(at_once > 82 && at_once < 128, "%.1f MiB/s", at_once);
	sl_scenario_free(sc);
}

/* The last fsync counts where sysbench has it within the measured time: then memory helps nothing. */
Test(fileio, an_fsync_at_the_end_takes_back_what_memory_gave)
{
	struct sl_scenario *sc = load_text(
	    MIRROR_OF_DISKS
	    "guests: [{memory: 8GiB}]\nworkloads:\n"
	    "  w: {kind: fileio, mode: seqwr, block: 1MiB, files: 1, file_total: 2GiB, fsync_every: 0, "
	    "max_time: 0s, max_requests: 2048}\n"
	    "  no: {kind: fileio, mode: seqwr, block: 1MiB, files: 1, file_total: 2GiB, fsync_every: 0, "
	    "max_time: 0s, max_requests: 2048, fsync_end: never}\n");
	double synced = rate_of(sc, "base", "w"), not = rate_of(sc, "base", "no");

	/* 983 MiB stay in the guest's memory, and the pool holds 1.6 GiB of dirty data: no disk is needed for
	 * 2 GiB. */
	cr_assert(synced < 200, "%.1f MiB/s", synced);
	cr_assert(not > 5 * synced, "%.1f and %.1f MiB/s", synced, not );
	sl_scenario_free(sc);
}

/* O_DIRECT with one request at a time: each is a round trip, whatever the memory. */
Test(fileio, direct_writes_wait_for_the_server)
{
	struct sl_scenario *sc = load_text(
	    MIRROR_OF_DISKS "guests: [{memory: 8GiB}]\nworkloads:\n"
			    "  w: {kind: fileio, mode: seqwr, block: 64KiB, files: 1, file_total: 1GiB, "
			    "fsync_every: 0, fsync_end: never, max_requests: 2000}\n"
			    "  d: {kind: fileio, mode: seqwr, block: 64KiB, files: 1, file_total: 1GiB, "
			    "fsync_every: 0, fsync_end: never, max_requests: 2000, direct: yes}\n");
	double buffered = rate_of(sc, "base", "w"), direct = rate_of(sc, "base", "d");
	struct sl_box box;

	cr_assert_eq(sl_scenario_box(sc, 0, &box, NULL), 0);
	cr_assert(direct < 1e9 / (box.hyp_op_delay_ns + box.nfsd_op_cpu_ns), "%.0f/s", direct);
	cr_assert(buffered > 2 * direct, "%.0f and %.0f/s", buffered, direct);
	sl_scenario_free(sc);
}

#define EIGHT_DISKS                                                                                     \
	"title: t\nhost: {profile: modern-xeon, hypervisor: qemu}\nnas: {vcpus: 4, memory: 8GiB, zil: " \
	"2.1}\n"                                                                                        \
	"pool: {data: {layout: mirror, vdevs: 4, disks: [hdd-7200-desktop x 8]}}\n"                     \
	"workloads:\n"

/*
 * Random reads of a file 16 times the ARC: eight disks give some hundreds a second, each a seek and a turn
 * (8.5 and 4.2 ms: 79/s and disk, less where heads are shared well). Zeros are holes under compression: no
 * disk is asked.
 */
Test(fileio, only_a_load_that_writes_zeros_reads_holes)
{
	static const char load[] =
	    "{kind: fileio, mode: rndrd, file_total: 128GiB, threads: 16, fsync_every: 0, "
	    "max_time: 2s, max_requests: 0";
	char text[2048];
	struct sl_scenario *sc;
	double plain, off;

	(void)snprintf(text, sizeof(text),
		       EIGHT_DISKS
		       "  plain: %s}\n  old: %s, dialect: sysbench-0.4}\n  zero: %s, data: zero}\n"
		       "  filled: %s, dialect: sysbench-0.4, data: random}\n",
		       load, load, load, load);
	sc = load_text(text);
	plain = rate_of(sc, "base", "plain");
	cr_assert(plain > 8 * 50 && plain < 8 * 250, "%.0f/s", plain);
	cr_assert(fabs(rate_of(sc, "base", "filled") / plain - 1) < 1e-9);
	cr_assert(rate_of(sc, "base", "zero") > 10 * plain);
	cr_assert(fabs(rate_of(sc, "base", "old") / rate_of(sc, "base", "zero") - 1) < 1e-9);
	off = with(sc, "pool.compression", "off", "plain");
	cr_assert(fabs(off / plain - 1) < 0.02, "%.0f with lz4, %.0f without", plain, off);
	sl_scenario_free(sc);
}

/* A mirror of two disks bounds the rate: half the bytes, up to twice the rate. Not all of it: memory takes
 * its 1.7 GiB of both, and blocks of half the size are more work for the disks. */
Test(fileio, data_that_compresses_to_a_half_is_written_faster)
{
	static const char load[] = "{kind: fileio, mode: seqwr, block: 1MiB, files: 1, file_total: 50GiB, "
				   "fsync_every: 0, max_time: 20s, max_requests: 0";
	char text[2048];
	struct sl_scenario *sc;
	double once, half;

	(void)snprintf(text, sizeof(text), MIRROR_OF_DISKS "workloads:\n  r: %s}\n  h: %s, data: 2x}\n", load,
		       load);
	sc = load_text(text);
	(void)with(sc, "params.guest.commit_interval", "0s", "r"); /* the log would not be compressed */
	once = with(sc, "pool.compression", "lz4", "r");
	half = rate_of(sc, "base", "h");
	cr_assert(half / once > 1.2 && half / once < 2, "%.0f and %.0f MiB/s", once, half);
	sl_scenario_free(sc);
}
