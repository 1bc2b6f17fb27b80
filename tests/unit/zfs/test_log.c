/* Log devices: several take turns, and what happens to commits when one dies. */
#include "sim/zfs/txg.h"
#include "tests/unit/zfs/zil_rig.h"

static const struct sl_zil_config no_costs = {.has_slog = true,
					      .bulk_bytes = UINT64_MAX,
					      .copy_bps = 1e15,
					      .recordsize_bytes = 128 * KIB,
					      .compress_ratio = 1};

/* A raidz1 of d0 to d2 and two log disks, "left" and "right". */
static struct rig *two_logs(enum sl_zil_generation generation)
{
	static const char *const data[] = {"d0", "d1", "d2"}, *const log[] = {"left", "right"};
	struct rig *rig = calloc(1, sizeof(*rig));
	struct sl_zil_config config = no_costs;

	cr_assert_not_null(rig);
	nas_init(&rig->nas);
	vdev_of_disks(&rig->data, &rig->nas, SL_VDEV_RAIDZ1, data, 3);
	vdev_of_disks(&rig->slog, &rig->nas, SL_VDEV_STRIPE, log, 2);
	config.generation = generation;
	config.data = config.records = &rig->data;
	config.log = &rig->slog;
	sl_zil_init(&rig->zil, &config, rig->nas.loop, &rig->nas.cpu, NULL);
	return rig;
}

static void fail_log(struct rig *rig, int64_t now_ns, int disk)
{
	cr_assert_eq(sl_vdev_fail_disk(&rig->slog, now_ns, disk, -1), 0);
}

static void left_dies(void *arg, int64_t now_ns)
{
	fail_log(arg, now_ns, 0);
}

static void both_die(void *arg, int64_t now_ns)
{
	fail_log(arg, now_ns, 0);
	fail_log(arg, now_ns, 1);
}

Test(log, blocks_take_turns_and_only_the_disk_written_is_flushed)
{
	struct rig *rig = two_logs(SL_ZIL_23);

	for (int i = 0; i < 2; i++) {
		commit_write(rig, 4096);
	}
	notes_expect(&rig->nas.notes, "[0ms] left write 8K\n"
				      "[1ms] left flush\n"
				      "[1.5ms] right write 8K\n"
				      "[2.5ms] right flush\n");
	rig_free(rig);
}

static void written(struct sl_timer *timer, int64_t now_ns)
{
	(void)timer;
	(void)now_ns;
}

/* fastwrite: the rotor has come round to the busy disk, the block goes to the idle one. */
Test(log, until_2_1_a_block_goes_to_the_disk_with_the_fewest_bytes_on_their_way)
{
	for (int fastwrite = 0; fastwrite <= 1; fastwrite++) {
		struct rig *rig = two_logs(SL_ZIL_21);
		struct sl_vdev_io blocks[3] = {{.bytes = 128 * KIB}, {.bytes = 4 * KIB}, {.bytes = 4 * KIB}};

		rig->slog.config.fastwrite = fastwrite;
		for (int i = 0; i < 3; i++) {
			blocks[i].done.fire = written;
			blocks[i].op = SL_DEV_WRITE;
			sl_vdev_alloc(&rig->slog, &blocks[i]);
			sl_vdev_submit(&rig->slog, 0, &blocks[i]);
		}
		cr_assert_eq(blocks[0].top, 0);
		cr_assert_eq(blocks[1].top, 1);
		cr_assert_eq(blocks[2].top, fastwrite ? 1 : 0);
		run_all(rig->nas.loop);
		rig_free(rig);
	}
}

/* The block on the dead device is lost, and so is the commit; the next one goes to the device that is left.
 */
Test(log, a_commit_whose_device_dies_fails_and_the_next_goes_to_the_other)
{
	for (int g = SL_ZIL_2014; g <= SL_ZIL_23; g++) {
		struct rig *rig = two_logs((enum sl_zil_generation)g);
		struct commit lost = {.rig = rig, .bytes = 100}, next = {.rig = rig, .bytes = 100};
		struct event pull;

		commit_start(&lost, 0);
		event_at(&pull, rig->nas.loop, MS / 2, left_dies, rig);
		run_all(rig->nas.loop);
		cr_assert(lost.done && lost.waiter.failed, "generation %d", g);
		cr_assert_eq(rig->zil.failures, 1);
		notes_expect(&rig->nas.notes, "[0ms] left write 4K\n");
		notes_clear(&rig->nas.notes);
		commit_start(&next, 2 * MS);
		run_all(rig->nas.loop);
		cr_assert(next.done && !next.waiter.failed);
		cr_assert_eq(notes_count(&rig->nas.notes, "right write 4K"), 1);
		cr_assert_eq(notes_count(&rig->nas.notes, "left"), 0);
		rig_free(rig);
	}
}

Test(log, without_a_working_device_blocks_go_to_the_data_vdevs)
{
	struct rig *rig = two_logs(SL_ZIL_23);
	struct commit commit = {.rig = rig, .bytes = 100};

	both_die(rig, 0);
	commit_start(&commit, 0);
	run_all(rig->nas.loop);
	cr_assert(commit.done && !commit.waiter.failed);
	notes_expect(&rig->nas.notes, "[0ms] d0 write 4K\n"
				      "[0ms] d1 write 4K\n"
				      "[1ms] d0 flush\n"
				      "[1ms] d1 flush\n");
	rig_free(rig);
}

/* The second block is on a device that lives, but the chain that leads to it is broken. */
Test(log, blocks_in_flight_behind_a_lost_one_are_lost_with_it)
{
	struct rig *rig = two_logs(SL_ZIL_23);
	struct commit first = {.rig = rig, .bytes = 100}, second = {.rig = rig, .bytes = 100};
	struct event pull;

	rig->zil.lwb_latency_ns = 0;
	commit_start(&first, 0);
	commit_start(&second, 0); /* its block opens, waits 0 ns for company and follows */
	event_at(&pull, rig->nas.loop, MS / 2, left_dies, rig);
	run_all(rig->nas.loop);
	cr_assert_eq(notes_count(&rig->nas.notes, "right write"), 1);
	cr_assert(first.done && first.waiter.failed);
	cr_assert(second.done && second.waiter.failed);
	rig_free(rig);
}

/* logbias=throughput: the data went to the data vdevs, so these are flushed as well as the log. */
Test(log, records_in_place_are_flushed_with_the_log_block_that_points_to_them)
{
	for (int g = SL_ZIL_2014; g <= SL_ZIL_23; g++) {
		struct rig *rig = two_logs((enum sl_zil_generation)g);

		rig->zil.config.throughput = true;
		commit_write(rig, 4096);
		cr_assert_eq(notes_count(&rig->nas.notes, "left flush"), 1);
		cr_assert_eq(notes_count(&rig->nas.notes, "d0 flush"), 1);
		rig_free(rig);
	}
}

struct waiting {
	struct sl_txg_waiter waiter;
	int64_t at_ns;
};

static void waited(struct sl_timer *timer, int64_t now_ns)
{
	sl_container_of(timer, struct waiting, waiter.done)->at_ns = now_ns;
}

/*
 * TXG_DEFER_SIZE: the open txg and two more, without waiting for the timeout. The first changes a dnode: 139
 * blocks (test_txg.c), one after the other in 1 ms each, a flush of 0.5 ms, the uberblock in 1 ms, a flush:
 * 141 ms. The others change nothing and take no time.
 */
Test(log, a_failed_commit_waits_for_three_txgs_in_a_row)
{
	static const char *const names[] = {"disk"};
	struct sl_txg_config config = {
	    .timeout_ns = 5 * SEC,
	    .recordsize_bytes = 128 * KIB,
	    .old = true,
	    .metaslab_bytes = 1024 * MIB,
	    .async_write_min = 1,
	    .stored_bytes = 128 * KIB,
	    .feeders = 1,
	    .workers = 1,
	    .dirty_max_bytes = INT64_MAX,
	    .dirty_sync_bytes = INT64_MAX,
	};
	struct waiting first = {.waiter.done.fire = waited}, second = first;
	struct sl_vdev data;
	struct sl_txg txg;
	struct nas nas;

	nas_init(&nas);
	vdev_of_disks(&data, &nas, SL_VDEV_STRIPE, names, 1);
	data.disks[0]->stats.writes = 0;
	((struct fake_disk *)(void *)data.disks[0])->notes = NULL;
	config.data = config.meta = &data;
	sl_txg_init(&txg, &config, nas.loop, &nas.cpu, NULL);
	sl_txg_dirty_dnode(&txg, 0, 1);
	sl_txg_wait(&txg, 0, &first.waiter);
	cr_assert_eq(sl_loop_run_until(nas.loop, 40 * MS, NULL), 0);
	sl_txg_wait(&txg, 40 * MS, &second.waiter); /* while the first syncs: until the fourth */
	run_all(nas.loop);
	cr_assert_eq(first.at_ns, 141 * MS);
	cr_assert_eq(second.at_ns, 141 * MS);
	cr_assert_eq(txg.synced, 4);
	sl_txg_fini(&txg);
	sl_vdev_fini(&data);
	nas_fini(&nas);
}
