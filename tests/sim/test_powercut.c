/* What a cut of the power takes, case by case: exact expectations. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim/stack/powercut.h"
#include "tests/sim/lib.h"

#define SEC INT64_C(1000000000)

/* Boxes are those of the published benchmark, with parts exchanged. */
struct rig {
	struct sl_scenario *sc;
	struct sl_box box;
	const struct sl_workload *workload;
};

static struct rig rig_new(const char *variant, const char *workload)
{
	struct rig rig = {.sc = load_b3n()};
	struct sl_err err = {0};
	int v = sl_scenario_find_variant(rig.sc, variant);

	cr_assert_eq(sl_scenario_box(rig.sc, v, &rig.box, &err), 0, "%s", err.msg);
	rig.workload = sl_scenario_workload(rig.sc, sl_scenario_find_workload(rig.sc, workload));
	return rig;
}

static struct sl_verdict cut(const struct rig *rig, const struct sl_powercut_options *options)
{
	struct sl_verdict verdict = {0};
	struct sl_err err = {0};

	cr_assert_eq(sl_powercut_cell(&rig->box, rig->workload, options, &verdict, &err), 0, "%s", err.msg);
	cr_assert(verdict.n_cuts > 0);
	cr_assert(verdict.acknowledged > 1000, "something was acknowledged");
	return verdict;
}

static struct sl_powercut_options random_cuts(uint64_t n)
{
	return (struct sl_powercut_options){.seed = 1, .when = SL_WHEN_RANDOM, .n_random = n, .client = -1};
}

/* Consumer SSD in the place of the log device. */
static struct sl_dev_spec without_plp(const struct sl_dev_spec *spec, const char *name)
{
	struct sl_dev_spec bare = *spec;

	(void)snprintf(bare.name, sizeof(bare.name), "%s", name);
	bare.plp = 0;
	bare.buffer_bytes = 1 << 20;
	return bare;
}

static void expect_why(const struct sl_verdict *verdict, enum sl_cause cause, const char *why)
{
	cr_assert_eq(verdict->worst.cause, cause, "%s: %s", sl_cause_name(verdict->worst.cause),
		     verdict->why);
	cr_assert_str_eq(verdict->why, why);
	cr_assert_eq(verdict->causes[cause], verdict->lossy, "nobody else is to blame");
}

Test(powercut, ten_thousand_cuts_of_the_slog_with_protection_lose_nothing)
{
	struct rig rig = rig_new("s3700", "oltp2");
	struct sl_powercut_options options = random_cuts(10000);
	uint64_t rolled_back = 0;

	/* A txg that only the disks' caches hold is there for some milliseconds in five seconds. */
	for (options.seed = 1; options.seed <= 3; options.seed++) {
		struct sl_verdict verdict = cut(&rig, &options);

		cr_assert_eq(verdict.n_cuts, 10000);
		cr_assert_eq(verdict.lossy, 0);
		cr_assert_eq(verdict.worst.lost, 0);
		cr_assert(verdict.most_blocks > 1000, "the log was replayed");
		rolled_back += verdict.most_rolled_back;
	}
	cr_assert(rolled_back >= 1, "the data disks' caches lie, the log makes up for it");
	sl_scenario_free(rig.sc);
}

Test(powercut, disks_that_keep_what_flushes_do_not_reach_lose_it)
{
	struct rig rig = rig_new("none", "oltp2");
	struct sl_powercut_options options = random_cuts(2000);
	struct sl_verdict verdict = cut(&rig, &options);

	cr_assert(verdict.lossy > 0 && verdict.lossy < verdict.n_cuts, "not at every moment");
	/* A txg leaves 138 writes of metadata in each disk's cache (207 copies, two disks of three), 5 ms
	 * each in the order of addresses: 0.7 s. */
	cr_assert(verdict.window_ns > 0 && verdict.window_ns < SEC, "the mechanism destages: %.3f s",
		  (double)verdict.window_ns / 1e9);
	expect_why(
	    &verdict, SL_CAUSE_UNREACHED,
	    "hdd-7200-desktop kept it in its volatile cache: flushes do not reach it (pool.data.flush: "
	    "ignored)");
	/* The same with flushes that arrive, at disks that lie about them; and at honest ones. */
	rig.box.data_flush = SL_FLUSH_HONOURED;
	for (int i = 0; i < rig.box.n_data; i++) {
		rig.box.data[i].flush_honoured = 0;
	}
	verdict = cut(&rig, &options);
	cr_assert(verdict.lossy > 0);
	expect_why(&verdict, SL_CAUSE_LIAR, "hdd-7200-desktop acknowledged a flush that it did not do");
	for (int i = 0; i < rig.box.n_data; i++) {
		rig.box.data[i].flush_honoured = 1;
	}
	verdict = cut(&rig, &options);
	cr_assert_eq(verdict.lossy, 0);
	cr_assert_eq(verdict.most_rolled_back, 0, "honest disks: ZFS believes what is true");
	sl_scenario_free(rig.sc);
}

Test(powercut, sync_disabled_loses_up_to_the_txgs_that_are_not_synced)
{
	struct rig rig = rig_new("s3700", "oltp2");
	struct sl_powercut_options options = random_cuts(2000);
	struct sl_verdict verdict;

	rig.box.sync = SL_SYNC_DISABLED;
	verdict = cut(&rig, &options);
	cr_assert(verdict.lossy > verdict.n_cuts * 99 / 100, "at nearly every moment");
	cr_assert(verdict.window_ns > 5 * SEC && verdict.window_ns < 10 * SEC, "%f s",
		  (double)verdict.window_ns / 1e9);
	expect_why(&verdict, SL_CAUSE_DISABLED, "asked for by sync=disabled");
	/* A crash of the storage VM alone is as bad, whoever the client is: it was told FILE_SYNC. */
	options.radius = SL_RADIUS_STORAGE;
	options.client = SL_CLIENT_LINUX;
	verdict = cut(&rig, &options);
	cr_assert(verdict.window_ns > 5 * SEC);
	expect_why(&verdict, SL_CAUSE_DISABLED, "asked for by sync=disabled");
	sl_scenario_free(rig.sc);
}

Test(powercut, consumer_ssd_loses_when_no_flush_reaches_it)
{
	struct rig rig = rig_new("s3700", "oltp2");
	struct sl_powercut_options options = random_cuts(2000);
	struct sl_verdict verdict;

	rig.box.log[0] = without_plp(&rig.box.log[0], "consumer");
	rig.box.log_flush = SL_FLUSH_IGNORED;
	verdict = cut(&rig, &options);
	cr_assert(verdict.lossy > verdict.n_cuts / 2);
	cr_assert(verdict.worst.lost_bytes <= (1 << 20) + 65536, "a buffer full at most");
	expect_why(
	    &verdict, SL_CAUSE_UNREACHED,
	    "consumer kept it in its volatile cache: flushes do not reach it (pool.log_flush: ignored)");
	rig.box.log_flush = SL_FLUSH_HONOURED;
	verdict = cut(&rig, &options);
	cr_assert_eq(verdict.lossy, 0, "with flushes it is slow and safe");
	rig.box.log[0].kind = SL_DEV_NVRAM;
	rig.box.log[0].parallel = 1;
	verdict = cut(&rig, &options);
	expect_why(&verdict, SL_CAUSE_MEMORY, "consumer is volatile memory");
	sl_scenario_free(rig.sc);
}

/* Only the storage VM crashes: what is on the disks, and in their caches, stays. */
Test(powercut, storage_vm_alone_takes_what_libnfs_forgets)
{
	struct rig rig = rig_new("none", "oltp2");
	struct sl_powercut_options options = random_cuts(2000);
	struct sl_verdict verdict;

	options.radius = SL_RADIUS_STORAGE;
	verdict = cut(&rig, &options);
	cr_assert_eq(verdict.client, SL_CLIENT_ESXI);
	cr_assert_eq(verdict.lossy, 0, "ESXi sends FILE_SYNC, and disks keep their power");
	rig.box.client = SL_CLIENT_LIBNFS;
	verdict = cut(&rig, &options);
	cr_assert_eq(verdict.client, SL_CLIENT_LIBNFS);
	cr_assert(verdict.lossy > 0);
	cr_assert_eq(verdict.most_resent, 0);
	expect_why(&verdict, SL_CAUSE_CLIENT,
		   "libnfs does not compare the write verifier: it forgets UNSTABLE data and takes the next "
		   "COMMIT for good");
	options.client = SL_CLIENT_LINUX;
	verdict = cut(&rig, &options);
	cr_assert_eq(verdict.lossy, 0, "the verifier has changed: all that was not committed is sent again");
	cr_assert(verdict.most_resent > 0);
	/* With the whole box nobody was promised what was only unstable. */
	options = random_cuts(2000);
	rig.box.data_flush = SL_FLUSH_HONOURED;
	verdict = cut(&rig, &options);
	cr_assert_eq(verdict.lossy, 0);
	sl_scenario_free(rig.sc);
}

/* Who answers follows from the radius and from what each layer was told: with the whole box gone, libnfs,
 * whose client died with it, is to blame for nothing, by whatever name its rules go. */
Test(powercut, virtual_disk_that_sends_no_flush_is_named)
{
	struct rig rig = rig_new("s3700", "oltp2");
	struct sl_powercut_options options = random_cuts(500);
	struct sl_verdict verdict;

	rig.box.hypervisor = SL_HYP_QEMU;
	rig.box.client = SL_CLIENT_LIBNFS;
	rig.box.data_flush = SL_FLUSH_HONOURED;
	for (int client = SL_CLIENT_ESXI; client < SL_CLIENTS; client++) {
		options.client = client;
		rig.box.disk_cache = SL_CACHE_NONE;
		verdict = cut(&rig, &options);
		cr_assert_eq(verdict.lossy, 0);
		rig.box.disk_cache = SL_CACHE_UNSAFE;
		verdict = cut(&rig, &options);
		cr_assert(verdict.lossy > 490, "at nearly every moment, not %d", (int)verdict.lossy);
		expect_why(&verdict, SL_CAUSE_DISK_CACHE,
			   "the virtual disk answered the guest's flushes and sent none (guests.disk_cache: "
			   "unsafe)");
	}
	sl_scenario_free(rig.sc);
}

Test(powercut, slog_pulled_in_mid_write_loses_nothing_unless_the_power_fails_too)
{
	struct rig rig = rig_new("s3700", "oltp4");
	struct sl_powercut_options options = random_cuts(2000);
	struct sl_verdict verdict;

	options.radius = SL_RADIUS_NONE;
	options.fault = SL_FAULT_SLOG_PULLED;
	options.pulled_ns = 20 * SEC;
	verdict = cut(&rig, &options);
	cr_assert_eq(verdict.lossy, 0, "memory has it");
	cr_assert(verdict.longest_answer_ns > SEC / 10, "a commit waited for the txgs");
	cr_assert(verdict.end_ns > 30 * SEC, "and the box went on");
	/* With a cut right after it: what the log alone held is gone; before it, and a while later: nothing.
	 */
	options.radius = SL_RADIUS_BOX;
	options.when = SL_WHEN_AT;
	options.n_at = 1;
	options.at_ns[0] = 20 * SEC;
	verdict = cut(&rig, &options);
	expect_why(&verdict, SL_CAUSE_LOG_LOST,
		   "intel-dc-s3700-100 did not come back: what only the log held is gone");
	cr_assert(verdict.worst.lost > 100);
	options.n_at = 1;
	options.at_ns[0] = 20 * SEC - 1;
	verdict = cut(&rig, &options);
	cr_assert_eq(verdict.lossy, 0);
	sl_scenario_free(rig.sc);
}

Test(powercut, slog_dead_at_import_takes_what_only_it_held)
{
	struct rig rig = rig_new("s3700", "oltp2");
	struct sl_powercut_options options = random_cuts(2000);
	struct sl_verdict verdict;

	options.fault = SL_FAULT_SLOG;
	verdict = cut(&rig, &options);
	cr_assert(verdict.lossy > verdict.n_cuts * 99 / 100);
	cr_assert(verdict.window_ns > 5 * SEC && verdict.window_ns < 10 * SEC);
	cr_assert_eq(verdict.most_blocks, 0, "nothing to replay");
	expect_why(&verdict, SL_CAUSE_LOG_LOST,
		   "intel-dc-s3700-100 did not come back: what only the log held is gone");
	sl_scenario_free(rig.sc);
}

Test(powercut, mirrored_slog_bears_the_death_of_one_side)
{
	struct rig rig = rig_new("s3700", "oltp2");
	struct sl_dev_spec side = rig.box.log[0], bare = without_plp(&side, "consumer");
	struct sl_powercut_options options = random_cuts(2000);
	struct sl_verdict verdict;

	rig.box.log[0] = (struct sl_dev_spec){
	    .name = "pair", .kind = SL_DEV_MIRROR, .n_members = 2, .members = {&side, &side}};
	rig.box.log[0].capacity_bytes = side.capacity_bytes;
	options.fault = SL_FAULT_SLOG_SIDE;
	verdict = cut(&rig, &options);
	cr_assert_eq(verdict.lossy, 0);
	cr_assert(verdict.most_blocks > 1000, "replayed from the other side");
	/* A pair is as good as its worse side, once the better one is dead. */
	rig.box.log[0].members[1] = &bare;
	verdict = cut(&rig, &options);
	cr_assert(verdict.lossy > 0);
	options.fault = SL_FAULT_NONE;
	verdict = cut(&rig, &options);
	cr_assert_eq(verdict.lossy, 0);
	sl_scenario_free(rig.sc);
}

/* Each rule of the log is there for something: without it the audit finds losses. */
Test(powercut, audit_finds_a_broken_rule_of_the_log)
{
	struct rig rig = rig_new("s3700", "oltp4");
	struct sl_powercut_options options = random_cuts(10000);
	struct sl_verdict verdict = cut(&rig, &options);

	cr_assert_eq(verdict.lossy, 0);
	options.broken = SL_ZIL_EARLY_ACK;
	verdict = cut(&rig, &options);
	cr_assert(verdict.lossy > 0);
	expect_why(&verdict, SL_CAUSE_EARLY,
		   "the ZIL acknowledged before the chain of log blocks was written");
	rig.box.zil = SL_ZIL_21;
	verdict = cut(&rig, &options);
	cr_assert(verdict.lossy > 0, "2.1 as well");
	/* A drive without protection needs the flush. */
	rig.box.log[0] = without_plp(&rig.box.log[0], "consumer");
	rig.box.log_flush = SL_FLUSH_HONOURED;
	options.broken = SL_ZIL_NO_FLUSH;
	verdict = cut(&rig, &options);
	cr_assert(verdict.lossy > 0);
	expect_why(&verdict, SL_CAUSE_UNFLUSHED, "the ZIL acknowledged without flushing consumer");
	options.broken = SL_ZIL_INTACT;
	verdict = cut(&rig, &options);
	cr_assert_eq(verdict.lossy, 0);
	sl_scenario_free(rig.sc);
}

/* Two log devices of which one is slow: a later block is there before an earlier one. */
Test(powercut, audit_finds_commits_that_do_not_wait_for_the_chain)
{
	static const struct sl_workload writers = {.name = "writers",
						   .kind = SL_WL_SYNCWRITE,
						   .threads = 8,
						   .depth = 1,
						   .block_bytes = 16384,
						   .file_total_bytes = 1 << 30,
						   .pattern = SL_PATTERN_RANDOM,
						   .stable = SL_WRITE_FILE_SYNC,
						   .max_requests = 5000};
	struct rig rig = rig_new("s3700", "rndwr");
	struct sl_powercut_options options = random_cuts(10000);
	struct sl_verdict verdict;

	rig.workload = &writers;
	rig.box.nfsd_threads = 8;
	rig.box.nas_vcpus = 8;
	rig.box.zil = SL_ZIL_21;
	rig.box.n_log = 2;
	rig.box.log[1] = rig.box.log[0];
	rig.box.log[1].write_ns = 5e6;
	verdict = cut(&rig, &options);
	cr_assert_eq(verdict.lossy, 0);
	options.broken = SL_ZIL_UNORDERED;
	verdict = cut(&rig, &options);
	cr_assert(verdict.lossy > 0);
	cr_assert_eq(verdict.worst.cause, SL_CAUSE_EARLY);
	sl_scenario_free(rig.sc);
}

Test(powercut, recording_changes_nothing_and_cuts_are_drawn_from_the_seed)
{
	struct rig rig = rig_new("none", "rndwr");
	struct sl_powercut_options options = random_cuts(500);
	struct sl_verdict a = cut(&rig, &options), b = cut(&rig, &options);
	struct sl_measure plain, recorded;

	cr_assert_eq(a.worst.at_ns, b.worst.at_ns);
	cr_assert_eq(a.worst.lost, b.worst.lost);
	cr_assert_eq(a.worst.window_ns, b.worst.window_ns);
	cr_assert_str_eq(a.worst.disk, b.worst.disk);
	cr_assert_eq(a.lossy, b.lossy);
	cr_assert_eq(sl_stack_run(&rig.box, rig.workload, &(struct sl_stack_setup){.seed = 1}, &plain, NULL),
		     0);
	cr_assert_eq(
	    sl_stack_run_loss(&rig.box, rig.workload, &(struct sl_stack_setup){.seed = 1}, &recorded, NULL),
	    0);
	cr_assert_eq(plain.events, recorded.events);
	cr_assert_eq(plain.rate, recorded.rate);
	cr_assert(!plain.loss.known && recorded.loss.known);
	cr_assert(recorded.loss.seconds > 0 && recorded.loss.writes > 0);
	sl_scenario_free(rig.sc);
}

/* Over a scenario: what cannot be cut is a note, the rest goes on. */
Test(powercut, what_cannot_be_cut_is_said)
{
	static const int only[] = {0, 2}, oltp2[] = {0};
	struct sl_scenario *sc = load_b3n();
	struct sl_powercut_options options = {.variants = only,
					      .n_variants = 2,
					      .workloads = oltp2,
					      .n_workloads = 1,
					      .seed = 1,
					      .when = SL_WHEN_AT,
					      .n_at = 2,
					      .at_ns = {10 * SEC, 100 * SEC},
					      .client = -1};
	struct sl_powercut result;

	cr_assert_eq(sl_powercut_run(sc, &options, &result, NULL), 0);
	cr_assert_eq(result.n_verdicts, 2);
	cr_assert_eq(result.verdicts[0].n_cuts, 1);
	cr_assert_eq(result.n_notes, 2);
	cr_assert(strstr(result.notes[1], "oltp2, s3700: its run ends after 5") &&
		      strstr(result.notes[1], " s: no cut at 100 s"),
		  "%s", result.notes[1]);
	sl_powercut_fini(&result);
	options.fault = SL_FAULT_SLOG;
	cr_assert_eq(sl_powercut_run(sc, &options, &result, NULL), 0);
	cr_assert_eq(result.n_verdicts, 1);
	cr_assert_str_eq(result.notes[0], "oltp2, none: has no log device that could fail");
	sl_powercut_fini(&result);
	options.fault = SL_FAULT_SLOG_SIDE;
	cr_assert_eq(sl_powercut_run(sc, &options, &result, NULL), 0);
	cr_assert_eq(result.n_verdicts, 0);
	cr_assert(strstr(result.notes[1], "is no mirror; take --fail slog"));
	sl_powercut_fini(&result);
	sl_scenario_free(sc);
}
