/* The pool as a store: which call is stable when, under each setting of `sync`, and what it costs. */
#include <errno.h>

#include "sim/zfs/pool_inner.h"
#include "tests/unit/zfs/pool_rig.h"

Test(pool, a_file_sync_write_is_in_the_log_before_the_reply)
{
	struct rig *rig = rig_new(SL_SYNC_STANDARD);
	int64_t took_ns;

	rig_start(rig, 0);
	cr_assert_eq(submit(rig, file_sync, &took_ns).stable, SL_FILE_SYNC);
	cr_assert_eq(took_ns, MS + 100 * US); /* CPU of the commit, the blocks side by side */
	cr_assert_eq(stats_of(rig).zil_batches, 1);
	cr_assert_eq(stats_of(rig).log_bytes, (4 + 8) * KIB); /* the open block, then header and data */
	rig_free(rig);
}

/* Hand-offs between threads take 0.5 ms of the commit, and no CPU: that is busy for its 1 ms only. With 0.1
 * ms of the log device a block takes 0.6 ms: 2.1 keeps it open for 5 % of that, 30 us. */
Test(pool, a_commits_hand_offs_take_time_and_no_cpu)
{
	static const int generations[] = {SL_ZIL_2014, SL_ZIL_21, SL_ZIL_23};

	for (size_t i = 0; i < sizeof(generations) / sizeof(generations[0]); i++) {
		struct rig *rig = rig_new(SL_SYNC_STANDARD);
		int64_t took_ns;

		rig->box.zil = generations[i];
		rig->box.zil_commit_delay_ns = (double)(MS / 2);
		rig_start(rig, 0);
		submit(rig, file_sync, &took_ns);
		cr_assert_eq(took_ns, MS + MS / 2 + 100 * US + (generations[i] == SL_ZIL_21 ? 30 * US : 0));
		cr_assert_float_eq(rig->nas.cpu.busy_ns, (double)MS, 1);
		rig_free(rig);
	}
}

Test(pool, unstable_data_goes_out_at_the_commit_of_its_file)
{
	struct rig *rig = rig_new(SL_SYNC_STANDARD);
	int64_t took_ns;

	rig_start(rig, 0);
	cr_assert_eq(submit(rig, unstable, &took_ns).stable, SL_UNSTABLE);
	cr_assert_eq(took_ns, 0);
	cr_assert_eq(stats_of(rig).zil_batches, 0);
	submit(rig, commit_2, &took_ns);
	cr_assert_eq(stats_of(rig).log_bytes, 0);
	submit(rig, commit_1, &took_ns);
	cr_assert_eq(took_ns, MS + 100 * US);
	cr_assert_eq(stats_of(rig).log_bytes, (4 + 8) * KIB);
	submit(rig, commit_1, &took_ns);
	cr_assert_eq(took_ns, MS); /* nothing left to log */
	rig_free(rig);
}

Test(pool, sync_always_makes_unstable_writes_stable)
{
	struct rig *rig = rig_new(SL_SYNC_ALWAYS);
	int64_t took_ns;

	rig_start(rig, 0);
	cr_assert_eq(submit(rig, unstable, &took_ns).stable, SL_FILE_SYNC);
	cr_assert_eq(took_ns, MS + 100 * US);
	rig_free(rig);
}

Test(pool, sync_disabled_logs_nothing)
{
	struct rig *rig = rig_new(SL_SYNC_DISABLED);
	int64_t took_ns;

	rig_start(rig, 0);
	submit(rig, file_sync, &took_ns);
	cr_assert_eq(took_ns, 0);
	submit(rig, commit_1, &took_ns);
	cr_assert_eq(took_ns, 0);
	cr_assert_eq(stats_of(rig).zil_batches, 0);
	cr_assert_eq(stats_of(rig).log_bytes, 0);
	rig_free(rig);
}

Test(pool, changes_of_names_are_logged_and_look_ups_are_not)
{
	struct rig *rig = rig_new(SL_SYNC_STANDARD);
	int64_t took_ns;

	rig_start(rig, 0);
	submit(rig, (struct sl_store_req){.op = SL_STORE_GETATTR, .file = 1}, &took_ns);
	cr_assert_eq(took_ns, 0);
	submit(rig, (struct sl_store_req){.op = SL_STORE_META, .file = 1}, &took_ns);
	cr_assert_eq(took_ns, MS + 100 * US);
	cr_assert_eq(stats_of(rig).log_bytes, 4 * KIB);
	rig_free(rig);
}

Test(pool, the_first_touch_of_a_record_in_a_txg_is_a_read_modify_write)
{
	struct rig *rig = rig_new(SL_SYNC_DISABLED);
	struct sl_store_req write = unstable;
	int64_t took_ns;

	rig->box.zfs_record_cpu_ns = 640e3;
	rig_start(rig, 0);
	submit(rig, write, &took_ns);
	cr_assert_eq(took_ns, 640 * US);
	submit(rig, write, &took_ns);
	cr_assert_eq(took_ns, 0);
	write.offset_bytes = 128 * KIB - 1;
	submit(rig, write, &took_ns);
	cr_assert_eq(took_ns, 640 * US); /* the second of its two records was clean */
	rig_free(rig);
}

/* 128 KiB: each record costs 10 us when it becomes dirty; whole ones 100 us more for a buffer (1 us for
 * 1311 bytes), those written in part 640 us for being filled. */
Test(pool, records_written_whole_are_not_filled)
{
	static const struct {
		int64_t offset_kib, kib, us;
	} rows[] = {
	    {0, 128, 110}, {0, 128, 0}, {1024, 256, 2 * 110}, {2048, 64, 650}, {3136, 256, 2 * 650 + 110}};
	struct rig *rig = rig_new(SL_SYNC_DISABLED);

	rig->box.zfs_record_cpu_ns = 640e3;
	rig->box.zfs_dirty_cpu_ns = 10e3;
	rig->box.zfs_buffer_bps = 131072 / 100e-6;
	rig_start(rig, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_store_req write = unstable;
		int64_t took_ns;

		write.hot = true; /* in memory: no disk is read */
		write.offset_bytes = rows[i].offset_kib * KIB;
		write.bytes = (uint32_t)(rows[i].kib * KIB);
		submit(rig, write, &took_ns);
		cr_assert_eq(took_ns, rows[i].us * US, "row %zu: %lld", i, (long long)took_ns);
	}
	rig_free(rig);
}

/* Bytes on the data disks after one record of a pool. */
static int64_t bytes_of_a_record(int64_t recordsize, double ratio, int ashift)
{
	struct rig *rig = rig_new(SL_SYNC_DISABLED);
	struct sl_store_req write = unstable;
	int64_t bytes;

	rig->box.recordsize_bytes = (double)recordsize;
	rig->box.compress_ratio = ratio;
	rig->box.ashift = ashift;
	rig_start(rig, 0);
	write.bytes = (uint32_t)recordsize;
	submit(rig, write, NULL);
	run_all(rig->nas.loop);
	bytes = stats_of(rig).data_bytes;
	rig_free(rig);
	return bytes;
}

/* Compression saves whole sectors, and nothing below an eighth: 52429 bytes are 13 sectors of 4 KiB or 7 of 8
 * KiB; 119157 of 131072 are not worth it; half of 8 KiB is no sector of 8 KiB. */
Test(pool, compression_saves_whole_sectors_and_an_eighth_at_least)
{
	static const struct {
		int64_t recordsize_kib;
		double ratio;
		int ashift;
		int64_t stored_kib;
	} rows[] = {{128, 2.5, 12, 52}, {128, 2.5, 13, 56}, {128, 1.1, 12, 128}, {128, 1e6, 12, 4},
		    {8, 2, 12, 4},      {8, 2, 13, 8},      {4, 4, 12, 4},       {16, 2, 9, 8}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int64_t size = rows[i].recordsize_kib * KIB;
		int64_t plain = bytes_of_a_record(size, 1, rows[i].ashift);
		int64_t bytes = bytes_of_a_record(size, rows[i].ratio, rows[i].ashift);

		cr_assert_eq(plain - bytes, size - rows[i].stored_kib * KIB, "row %zu: %lld", i,
			     (long long)(size - plain + bytes));
	}
}

static void heard(void *arg, int64_t as_of_ns)
{
	notes_add(arg, as_of_ns, "stable up to here");
}

Test(pool, tells_when_a_txg_has_made_everything_stable_and_forgets_its_log_records)
{
	struct rig *rig = rig_new(SL_SYNC_STANDARD);
	int64_t took_ns;

	rig_start(rig, 0);
	rig->store->on_synced = heard;
	rig->store->on_synced_arg = &rig->nas.notes;
	cr_assert_eq(sl_loop_run_until(rig->nas.loop, SEC, NULL), 0);
	submit(rig, unstable, NULL);
	run_all(rig->nas.loop);
	notes_expect(&rig->nas.notes, "[6000ms] stable up to here\n");
	cr_assert_eq(stats_of(rig).txgs, 1);
	submit(rig, commit_1, &took_ns);
	cr_assert_eq(stats_of(rig).log_bytes, 0);
	rig_free(rig);
}

/*
 * The write in flight waits for three txgs, the next one finds the data disk. One asynchronous write is
 * active at a time, 0.1 ms each, neighbours joined: of what goes out together the first block goes alone, the
 * rest of its copy and each other copy as one. First txg: the record 1; data set, 8 blocks twice: 3; MOS (see
 * test_meta.c), three times, pass 1, 5 blocks: 4; pass 2, 7 blocks behind those 5, which are written again
 * where they are: 4, and the first copy of the 5 at the end: 5; passes 3 and 4, 7 more blocks that lie behind
 * those of the pass before and so not beside the 5: 1 + 1 + 2 + 2 + 1 = 7 each; four labels side by side 1.
 * 28 x 0.1 ms. The other two have nothing to write.
 */
Test(pool, a_dead_log_device_costs_time_and_no_data)
{
	struct rig *rig = rig_new(SL_SYNC_STANDARD);
	struct call call = {.req = file_sync, .done_ns = -1};
	int64_t took_ns;

	rig_start(rig, 0);
	call.req.done = (struct sl_timer){.fire = call_done};
	sl_store_submit(rig->store, 0, &call.req);
	cr_assert_eq(sl_loop_run_until(rig->nas.loop, MS + 50 * US, NULL), 0);
	cr_assert_eq(sl_pool_fail_log(rig->pool, MS + 50 * US, 1, -1), -EINVAL);
	cr_assert_eq(sl_pool_fail_log(rig->pool, MS + 50 * US, 0, 0), -EINVAL); /* no mirror: no sides */
	cr_assert_eq(sl_pool_fail_log(rig->pool, MS + 50 * US, 0, -1), 0);
	cr_assert_eq(sl_pool_fail_log(rig->pool, MS + 50 * US, 0, -1), -EINVAL);
	run_all(rig->nas.loop);
	cr_assert_eq(stats_of(rig).zil_failures, 1);
	cr_assert_eq(stats_of(rig).txgs, 3);
	cr_assert_eq(call.done_ns, MS + 100 * US + 28 * 100 * US, "%lld", (long long)call.done_ns);
	cr_assert_eq(submit(rig, file_sync, &took_ns).stable, SL_FILE_SYNC);
	cr_assert_eq(took_ns, MS + 100 * US);
	cr_assert_eq(stats_of(rig).zil_failures, 1);
	rig_free(rig);
}

Test(pool, log_devices_can_be_told_to_die_at_a_time_of_the_run)
{
	struct rig *rig = rig_new(SL_SYNC_STANDARD);
	uint64_t before;

	rig->box.log_fail_at_ns = (double)(20 * MS);
	rig_start(rig, 0);
	submit(rig, file_sync, NULL);
	cr_assert_eq(sl_loop_run_until(rig->nas.loop, 20 * MS, NULL), 0);
	before = stats_of(rig).log_requests;
	submit(rig, file_sync, NULL);
	cr_assert(before > 0);
	cr_assert_eq(stats_of(rig).log_requests, before);
	rig_free(rig);
}

/* 100 records may be dirty: from 61 on writes are held back, one after the other. With 90 dirty the next one
 * is let in 500 us x 30 / 10 = 1.5 ms after the one before. */
Test(pool, dirty_data_can_be_given_a_limit)
{
	struct rig *rig = rig_new(SL_SYNC_DISABLED);
	int64_t took_ns = 0;

	rig->box.dirty_max_bytes = (double)(100 * 128 * KIB);
	rig->box.zil = SL_ZIL_2014; /* syncs from 64 MiB on, or after 5 s */
	rig_start(rig, 0);
	for (int i = 0; i <= 90; i++) {
		struct sl_store_req write = unstable;

		write.offset_bytes = i * 128 * KIB;
		write.bytes = (uint32_t)(128 * KIB);
		submit(rig, write, &took_ns);
		cr_assert_eq(took_ns > 0, i > 60, "record %d: %lld", i, (long long)took_ns);
	}
	cr_assert_eq(took_ns, 1500 * US);
	cr_assert(stats_of(rig).throttle_utilisation > 0);
	rig_free(rig);
}

/* zfs_write up to 2.1: a transaction for each record. With 80 records of 100 dirty one is let in every 500 us
 * x 20 / 20, then, with 81, four of one write every 500 us x 21 / 19. */
Test(pool, each_record_of_a_write_passes_the_throttle)
{
	struct rig *rig = rig_new(SL_SYNC_DISABLED);
	struct sl_store_req write = unstable;
	int64_t took_ns = 0;

	rig->box.dirty_max_bytes = (double)(100 * 128 * KIB);
	rig->box.zil = SL_ZIL_2014;
	rig_start(rig, 0);
	for (int i = 0; i <= 80; i++) {
		write.offset_bytes = i * 128 * KIB;
		write.bytes = (uint32_t)(128 * KIB);
		submit(rig, write, &took_ns);
	}
	cr_assert_eq(took_ns, 500 * US);
	write.offset_bytes += 128 * KIB;
	write.bytes = (uint32_t)(4 * 128 * KIB);
	submit(rig, write, &took_ns);
	cr_assert_eq(took_ns / US, 4 * 500 * 21 / 19);
	rig_free(rig);
}

/* Records of 16 KiB: with special_small_blocks=16K they follow the metadata to the special vdev. */
Test(pool, small_records_go_to_the_special_vdev_when_told_so)
{
	for (int small = 0; small <= 1; small++) {
		struct rig *rig = rig_new(SL_SYNC_STANDARD);
		struct sl_store_req write = unstable;

		rig->box.zil = SL_ZIL_23;
		rig->box.recordsize_bytes = (double)(16 * KIB);
		rig->box.special_small_bytes = (double)(small ? 16 * KIB : 8 * KIB);
		rig->box.n_special = 1;
		rig->box.special[0] = ssd();
		rig_start(rig, 0);
		write.bytes = 160 * KIB;
		submit(rig, write, NULL);
		run_all(rig->nas.loop);
		/* Beside records four labels get an uberblock. */
		cr_assert_eq(stats_of(rig).data_bytes, small ? 0 : (160 + 4 * 4) * KIB);
		rig_free(rig);
	}
}

Test(pool, a_disk_that_cannot_be_built_is_an_error_that_names_it)
{
	struct rig *rig = rig_new(SL_SYNC_STANDARD);
	struct sl_pool_env env = {.loop = rig->nas.loop, .cpu = &rig->nas.cpu, .seed = 1};
	struct sl_err err = {0};

	rig->box.log[0].ssd_write_bps = 0;
	cr_assert(sl_pool_new(&rig->box, &env, &rig->pool, &err) < 0);
	cr_assert(strstr(err.msg, "log0") != NULL, "%s", err.msg);
	rig_free(rig);
}

/* Bytes that 1 MiB costs the data disks until its txg is on disk: `stable` or not, without a log device; then
 * 4 KiB of one of its records are written again if `again`. */
static int64_t cost_of_1_mib(enum sl_stable stable, bool again)
{
	struct rig *rig = rig_new(SL_SYNC_STANDARD);
	struct sl_store_req whole = file_sync, part = unstable;
	int64_t bytes;

	rig->box.n_log = 0;
	rig->box.zil = SL_ZFS_21;
	rig_start(rig, 0);
	whole.bytes = (uint32_t)MIB;
	whole.stable = stable;
	submit(rig, whole, NULL);
	if (again) {
		submit(rig, part, NULL);
	}
	run_all(rig->nas.loop);
	bytes = stats_of(rig).data_bytes;
	rig_free(rig);
	return bytes;
}

/* dbuf_write_override: with its txg a record that the log has put in place costs no more than it does without
 * the log, so that 4 KiB of log are all the difference. What is changed again is written again: 128 KiB. */
Test(pool, what_the_log_has_put_in_place_is_written_once)
{
	int64_t without = cost_of_1_mib(SL_UNSTABLE, false), with = cost_of_1_mib(SL_FILE_SYNC, false);

	cr_assert_gt(without, MIB);
	cr_assert_eq(with - without, 4 * KIB, "%lld and %lld B", (long long)without, (long long)with);
	cr_assert_eq(cost_of_1_mib(SL_FILE_SYNC, true) - with, 128 * KIB);
	cr_assert_eq(cost_of_1_mib(SL_UNSTABLE, true), without);
}

/* zio_alloc_zil: in 2.4 the log goes to special vdevs where there is no log device, up to 2.3 to the data
 * disks: one block of 8 KiB for a write of 4 KiB. */
Test(pool, a_special_vdev_takes_the_log_in_2_4)
{
	static const struct {
		double zil;
		int n_log;
		uint64_t on_data, on_log;
	} boxes[] = {{SL_ZFS_23, 0, 1, 0}, {SL_ZFS_24, 0, 0, 0}, {SL_ZFS_24, 1, 0, 1}};

	for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
		struct rig *rig = rig_new(SL_SYNC_STANDARD);
		struct sl_pool_stats stats;

		rig->box.zil = (int)boxes[i].zil;
		rig->box.n_log = boxes[i].n_log;
		rig->box.n_special = 1;
		rig->box.special[0] = ssd();
		rig_start(rig, 0);
		submit(rig, file_sync, NULL);
		stats = stats_of(rig);
		cr_expect_eq(stats.log_bytes, 8 * KIB);
		cr_expect_eq(stats.data.writes, boxes[i].on_data, "box %zu", i);
		cr_expect_eq(stats.log.writes, boxes[i].on_log, "box %zu", i);
		rig_free(rig);
	}
}

/* SPA_MINDEVSIZE. */
Test(pool, a_device_below_64_mib_is_refused)
{
	struct rig *rig = rig_new(SL_SYNC_STANDARD);
	struct sl_pool_env env = {.loop = rig->nas.loop, .cpu = &rig->nas.cpu, .seed = 1};
	struct sl_err err = {0};

	rig->box.log[0].capacity_bytes = (double)(63 * MIB);
	cr_assert_eq(sl_pool_new(&rig->box, &env, &rig->pool, &err), -EINVAL);
	cr_assert_not_null(strstr(err.msg, "log device 0"), "%s", err.msg);
	rig_free(rig);
}

/*
 * The same 64 KiB written and synced again and again, one record, are never much that is dirty; what counts
 * since 2.1 is the log. zfs_dirty_data_max is a tenth of 10 GB; after 0.3 GB, 4578 writes, the txg is kicked:
 * one txg is on disk after 4600 writes, which take less than the 5 s of zfs_txg_timeout. In 2.0 there is
 * none.
 */
Test(pool, much_in_the_log_kicks_the_txg)
{
	for (int zil = SL_ZFS_20; zil <= SL_ZFS_21; zil++) {
		struct rig *rig = rig_new(SL_SYNC_STANDARD);
		struct sl_store_req write = file_sync;

		rig->box.zil = zil;
		rig->box.zil_commit_cpu_ns = 0;
		rig_start(rig, 0);
		write.bytes = 64 << 10;
		for (int i = 0; i < 4600; i++) {
			struct call call = {.req = write, .done_ns = -1};

			call.req.done = (struct sl_timer){.fire = call_done};
			sl_store_submit(rig->store, sl_loop_now(rig->nas.loop), &call.req);
			while (call.done_ns < 0) {
				cr_assert_eq(sl_loop_run_until(rig->nas.loop,
							       sl_loop_now(rig->nas.loop) + 100 * US, NULL),
					     0);
			}
			if (i == 4500) {
				cr_assert_eq(stats_of(rig).txgs, 0, "generation %d", zil);
			}
		}
		cr_assert_lt(sl_loop_now(rig->nas.loop), 5 * SEC);
		cr_assert_eq(sl_loop_run_until(rig->nas.loop, sl_loop_now(rig->nas.loop) + 50 * MS, NULL), 0);
		cr_assert_eq(stats_of(rig).txgs, zil == SL_ZFS_20 ? 0 : 1, "generation %d", zil);
		rig_free(rig);
	}
}

/*
 * What a pool's vdevs are, by generation: fastwrite chooses among log devices up to 2.1 (removed in 2.2), far
 * copies are those of 2014, data and special vdevs have an embedded log since 2.4 (here; the cache has none).
 */
Test(pool, its_vdevs_are_those_of_their_generation)
{
	static const struct {
		int zil;
		bool fastwrite, far, embedded;
	} cases[] = {
	    {SL_ZFS_2014, true, true, false}, {SL_ZFS_20, true, false, false},
	    {SL_ZFS_21, true, false, false},  {SL_ZFS_22, false, false, false},
	    {SL_ZFS_23, false, false, false}, {SL_ZFS_24, false, false, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *rig = rig_new(SL_SYNC_STANDARD);
		const struct sl_pool *pool;

		rig->box.zil = cases[i].zil;
		rig_start(rig, 0);
		pool = rig->pool;
		cr_assert_eq(pool->log.config.fastwrite, cases[i].fastwrite, "generation %zu", i);
		cr_assert_eq(pool->data.config.alloc.far_copies, cases[i].far, "generation %zu", i);
		cr_assert_eq(pool->special.config.alloc.embedded_log, cases[i].embedded, "generation %zu", i);
		cr_assert_not(pool->cache.config.alloc.embedded_log || pool->log.config.alloc.embedded_log);
		cr_assert(pool->log.config.is_log && !pool->data.config.is_log &&
			  !pool->special.config.is_log && !pool->cache.config.is_log);
		cr_assert_str_eq(pool->data.config.layer, "data vdev");
		cr_assert_str_eq(pool->special.config.layer, "special vdev");
		cr_assert_str_eq(pool->cache.config.layer, "cache vdev");
		cr_assert_str_eq(pool->log.config.layer, "log vdev");
		rig_free(rig);
	}
}
