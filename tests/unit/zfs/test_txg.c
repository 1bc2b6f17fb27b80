/* Transaction groups: when they sync, what that writes, and what it costs. */
#include "sim/zfs/txg.h"
#include "tests/unit/zfs/lib.h"

#define UBERBLOCKS 4 /* to each disk */
#define SYNC_BYTES (64 * MIB)

struct rig {
	struct nas nas;
	struct sl_vdev data, meta;
	struct sl_txg txg;
	struct fake_disk *disk, *meta_disk;
};

static void synced(void *arg, uint64_t txg, int64_t closed_ns, int64_t now_ns)
{
	struct rig *rig = arg;

	(void)closed_ns;
	notes_add(&rig->nas.notes, now_ns, "txg %d on disk", (int)txg);
}

/* A disk for records and one for metadata (test_meta.c), which take no time; as usual with compression:
 * all-zero records become holes. The format is that of 0.6.3. */
static struct rig *rig_new(void)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	struct sl_txg_config config = {.timeout_ns = 5 * SEC,
				       .recordsize_bytes = 128 * KIB,
				       .old = true,
				       .metaslab_bytes = 1024 * MIB,
				       .async_write_min = 1,
				       .stored_bytes = 128 * KIB,
				       .feeders = 1,
				       .workers = 1,
				       .holes = true,
				       .dirty_max_bytes = 640 * MIB,
				       .dirty_sync_bytes = SYNC_BYTES};
	struct sl_vdev_config vdev = {.layout = SL_VDEV_STRIPE, .ashift = 12, .flush_honoured = true};

	cr_assert_not_null(rig);
	nas_init(&rig->nas);
	sl_vdev_init(&rig->data, &vdev, rig->nas.loop, &rig->nas.cpu, NULL);
	rig->disk = fake_disk_new(rig->nas.loop, NULL, "disk", 0, 0);
	sl_vdev_add_disk(&rig->data, &rig->disk->dev, INT64_C(1) << 40);
	sl_vdev_init(&rig->meta, &vdev, rig->nas.loop, &rig->nas.cpu, NULL);
	rig->meta_disk = fake_disk_new(rig->nas.loop, NULL, "meta", 0, 0);
	sl_vdev_add_disk(&rig->meta, &rig->meta_disk->dev, INT64_C(1) << 40);
	config.data = &rig->data;
	config.meta = &rig->meta;
	sl_txg_init(&rig->txg, &config, rig->nas.loop, &rig->nas.cpu, NULL);
	rig->txg.on_synced = synced;
	rig->txg.arg = rig;
	return rig;
}

static void rig_free(struct rig *rig)
{
	sl_txg_fini(&rig->txg);
	sl_vdev_fini(&rig->data);
	sl_vdev_fini(&rig->meta);
	nas_fini(&rig->nas);
	free(rig);
}

/* Lets time pass up to at_ns, then writes. Returns how many records were clean. */
static uint32_t write_at(struct rig *rig, int64_t at_ns, int64_t offset, uint32_t bytes, bool zero)
{
	cr_assert_eq(sl_loop_run_until(rig->nas.loop, at_ns, NULL), 0);
	return sl_txg_dirty(&rig->txg, at_ns, 1, offset, bytes, zero).fresh;
}

Test(txg, a_write_touches_records_and_each_is_clean_once_per_txg)
{
	struct rig *rig = rig_new();

	cr_assert_eq(sl_txg_records(&rig->txg, 0, 0), 0);
	cr_assert_eq(sl_txg_records(&rig->txg, 0, 128 * KIB), 1);
	cr_assert_eq(sl_txg_records(&rig->txg, 127 * KIB, 2 * KIB), 2);
	cr_assert_eq(write_at(rig, 0, 0, 16 * KIB, false), 1);
	cr_assert_eq(write_at(rig, 0, 16 * KIB, 16 * KIB, false), 0);
	cr_assert_eq(write_at(rig, 0, 120 * KIB, 16 * KIB, false), 1);
	cr_assert_eq(sl_txg_dirty(&rig->txg, 0, 2, 0, 16 * KIB, false).fresh, 1); /* another file */
	run_all(rig->nas.loop);
	cr_assert_eq(write_at(rig, 10 * SEC, 0, 16 * KIB, false), 1); /* a new txg */
	rig_free(rig);
}

Test(txg, a_txg_syncs_five_seconds_after_its_first_change)
{
	struct rig *rig = rig_new();

	write_at(rig, 1 * SEC, 0, 16 * KIB, false);
	write_at(rig, 4 * SEC, MIB, 16 * KIB, false);
	write_at(rig, 8 * SEC, 0, 16 * KIB, false);
	run_all(rig->nas.loop);
	notes_expect(&rig->nas.notes, "[6000ms] txg 1 on disk\n"
				      "[13000ms] txg 2 on disk\n");
	rig_free(rig);
}

Test(txg, much_dirty_data_does_not_wait)
{
	struct rig *rig = rig_new();

	write_at(rig, SEC, 0, SYNC_BYTES - 128 * KIB, false);
	write_at(rig, 2 * SEC, SYNC_BYTES, 1, false); /* one byte makes a record dirty, as a whole */
	run_all(rig->nas.loop);
	notes_expect(&rig->nas.notes, "[2000ms] txg 1 on disk\n");
	rig_free(rig);
}

/* A record counts once, whole, however often and however little of it is written. */
/* Only the first and the last record of a write can be covered in part; a record that is dirty is in memory.
 */
Test(txg, records_that_a_write_covers_in_part_have_to_be_read)
{
	static const struct {
		int64_t offset_kib, kib;
		uint32_t fresh, partial;
	} rows[] = {{0, 128, 1, 0}, {0, 4, 1, 1},    {4, 124, 1, 1},
		    {0, 384, 3, 0}, {64, 256, 3, 2}, {128, 300, 3, 1}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rig *rig = rig_new();
		struct sl_txg_touch touch = sl_txg_dirty(&rig->txg, 0, 1, rows[i].offset_kib * KIB,
							 (uint32_t)(rows[i].kib * KIB), false);

		cr_assert_eq(touch.fresh, rows[i].fresh, "row %zu", i);
		cr_assert_eq(touch.partial, rows[i].partial, "row %zu", i);
		touch = sl_txg_dirty(&rig->txg, 0, 1, rows[i].offset_kib * KIB, 4096, false);
		cr_assert_eq(touch.fresh + touch.partial, 0);
		run_all(rig->nas.loop);
		rig_free(rig);
	}
}

/* 32 dnodes of 512 bytes share a block: two blocks, 6 above them and the root, twice: 18. MOS: see
 * test_meta.c, without frees three space maps: 5 + 3 x 12 = 41, three times: 123. */
Test(txg, changes_of_names_dirty_blocks_of_dnodes)
{
	struct rig *rig = rig_new();

	for (uint64_t file = 64; file < 64 + 33; file++) {
		sl_txg_dirty_dnode(&rig->txg, 0, file);
	}
	cr_assert_eq(sl_txg_unsynced(&rig->txg), 2 * 16 * KIB);
	run_all(rig->nas.loop);
	cr_assert_eq(rig->meta_disk->dev.stats.writes, 18 + 123 + UBERBLOCKS);
	cr_assert_eq(rig->meta_disk->dev.stats.bytes_written, (18 + 123 + UBERBLOCKS) * 4 * KIB);
	cr_assert_eq(rig->disk->dev.stats.writes, UBERBLOCKS);
	rig_free(rig);
}

/* Compression, checksum and encryption: per record that is written; holes are only looked through. */
Test(txg, records_that_are_written_cost_more_cpu_than_holes)
{
	struct rig *rig = rig_new();

	rig->txg.config.record_cpu_ns = 3 * MS;
	rig->txg.config.hole_cpu_ns = MS;
	write_at(rig, 0, 0, 10 * 128 * KIB, false);
	write_at(rig, 0, 100 * 128 * KIB, 10 * 128 * KIB, true);
	run_all(rig->nas.loop);
	notes_expect(&rig->nas.notes, "[5040ms] txg 1 on disk\n"); /* 10 x 3 + 10 x 1 ms */
	rig_free(rig);
}

/*
 * Work and writes overlap: one issue thread with 1 ms a record, a disk with 1 ms a write, one at a time. The
 * first two records are ready after 2 ms; then 100 writes, and the uberblock into four labels side by side.
 */
Test(txg, records_are_written_while_others_are_worked_on)
{
	struct rig *rig = rig_new();

	rig->txg.config.record_cpu_ns = MS;
	rig->disk->io_ns = MS;
	write_at(rig, 0, 0, 100 * 128 * KIB, false);
	run_all(rig->nas.loop);
	notes_expect(&rig->nas.notes, "[5103ms] txg 1 on disk\n");
	rig_free(rig);
}

/* 80 records of 1 ms, two at a time: 10 rounds of 2 ms for four threads, and for no more than those. */
Test(txg, issue_threads_share_the_records)
{
	static const struct {
		uint32_t workers;
		const char *notes;
	} rows[] = {{1, "[5080ms] txg 1 on disk\n"},
		    {4, "[5020ms] txg 1 on disk\n"},
		    {40, "[5002ms] txg 1 on disk\n"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rig *rig = rig_new();

		rig->txg.config.workers = rows[i].workers;
		rig->txg.config.hole_cpu_ns = MS;
		write_at(rig, 0, 0, 80 * 128 * KIB, true);
		run_all(rig->nas.loop);
		notes_expect(&rig->nas.notes, rows[i].notes);
		rig_free(rig);
	}
}

/* 64 records of 1 ms each: one after the other where they are of one file or where there is one sync thread
 * (up to 0.7), else by file, as many as there are threads. */
Test(txg, a_file_has_one_sync_thread)
{
	static const struct {
		uint32_t feeders;
		int files;
		const char *notes;
	} rows[] = {{4, 1, "[5064ms] txg 1 on disk\n"},
		    {4, 2, "[5032ms] txg 1 on disk\n"},
		    {4, 4, "[5016ms] txg 1 on disk\n"},
		    {4, 64, "[5016ms] txg 1 on disk\n"},
		    {1, 64, "[5064ms] txg 1 on disk\n"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rig *rig = rig_new();

		rig->txg.config.feeders = rows[i].feeders;
		rig->txg.config.issue_cpu_ns = MS;
		for (int k = 0; k < 64; k++) {
			sl_txg_dirty(&rig->txg, 0, (uint64_t)(1 + k % rows[i].files), k * 128 * KIB,
				     128 * KIB, true);
		}
		run_all(rig->nas.loop);
		notes_expect(&rig->nas.notes, rows[i].notes);
		rig_free(rig);
	}
}

/* Each record counts until it is written: after 60 ms 60 of 100 are. */
Test(txg, dirty_data_becomes_less_as_it_is_written)
{
	struct rig *rig = rig_new();

	rig->disk->io_ns = MS;
	write_at(rig, 0, 0, 100 * 128 * KIB, false);
	cr_assert_eq(sl_loop_run_until(rig->nas.loop, 5 * SEC + 60 * MS + US, NULL), 0);
	cr_assert_eq(sl_txg_unsynced(&rig->txg), 40 * 128 * KIB);
	run_all(rig->nas.loop);
	rig_free(rig);
}

/*
 * 200 records: two blocks of level 1 and one of level 2, twice: 6. Dnode, 6 above it, root, twice: 16. MOS
 * with a fourth space map, for what is freed: 43, three times: 129. 151 in all.
 */
Test(txg, metadata_goes_to_the_special_vdevs)
{
	struct rig *rig = rig_new();

	write_at(rig, 0, 0, 200 * 128 * KIB, false);
	run_all(rig->nas.loop);
	cr_assert_eq(rig->disk->dev.stats.writes, 200 + UBERBLOCKS);
	cr_assert_eq(rig->disk->dev.stats.flushes, 2);
	cr_assert_eq(rig->meta_disk->dev.stats.writes, 151 + UBERBLOCKS);
	cr_assert_eq(rig->meta_disk->dev.stats.flushes, 2);
	rig_free(rig);
}

Test(txg, dirty_data_is_counted_in_records)
{
	struct rig *rig = rig_new();

	for (int i = 0; i < 10; i++) {
		write_at(rig, 0, i * 4 * KIB, 4 * KIB, false);
	}
	cr_assert_eq(sl_txg_unsynced(&rig->txg), 128 * KIB);
	write_at(rig, 0, 126 * KIB, 4 * KIB, true);
	cr_assert_eq(sl_txg_unsynced(&rig->txg), 256 * KIB); /* holes are holes only when they are synced */
	run_all(rig->nas.loop);
	cr_assert_eq(sl_txg_unsynced(&rig->txg), 0);
	rig_free(rig);
}

/* As above; of the 151 four are of 8 KiB (128 pointers of 50 bytes), the others of 4. */
Test(txg, records_go_out_with_their_pointers_and_the_pools_metadata_and_two_flushes)
{
	struct rig *rig = rig_new();

	rig->txg.config.meta = rig->txg.sync.meta.config.meta = &rig->data;
	write_at(rig, 0, 0, 200 * 128 * KIB, false);
	run_all(rig->nas.loop);
	cr_assert_eq(rig->disk->dev.stats.writes, 200 + 151 + UBERBLOCKS);
	cr_assert_eq(rig->disk->dev.stats.bytes_written,
		     200 * 128 * KIB + 4 * 8 * KIB + (147 + UBERBLOCKS) * 4 * KIB);
	cr_assert_eq(rig->disk->dev.stats.flushes, 2); /* before and after the uberblock */
	rig_free(rig);
}

static void wait_over(struct sl_timer *timer, int64_t now_ns)
{
	(void)timer;
	(void)now_ns;
}

/* Not even an uberblock (spa_sync). */
Test(txg, an_empty_txg_writes_nothing)
{
	struct sl_txg_waiter waiter = {.done.fire = wait_over};
	struct rig *rig = rig_new();

	sl_txg_wait(&rig->txg, 0, &waiter);
	run_all(rig->nas.loop);
	cr_assert_eq(rig->txg.synced, 3);
	cr_assert_eq(rig->disk->dev.stats.writes + rig->meta_disk->dev.stats.writes, 0);
	rig_free(rig);
}

Test(txg, all_zero_records_become_holes_and_cost_only_cpu)
{
	struct rig *rig = rig_new();

	rig->txg.config.hole_cpu_ns = 300 * US;
	write_at(rig, 0, 0, 100 * 128 * KIB, true);
	run_all(rig->nas.loop);
	cr_assert_eq(rig->disk->dev.stats.writes, UBERBLOCKS);
	cr_assert_eq(rig->meta_disk->dev.stats.writes, 16 + 123 + UBERBLOCKS); /* a hole has no pointer */
	notes_expect(&rig->nas.notes, "[5030ms] txg 1 on disk\n");
	rig->txg.config.holes = false; /* without compression zeros are data */
	write_at(rig, 10 * SEC, 0, 100 * 128 * KIB, true);
	run_all(rig->nas.loop);
	cr_assert_eq(rig->disk->dev.stats.writes, UBERBLOCKS + 100 + UBERBLOCKS);
	rig_free(rig);
}

Test(txg, compression_makes_records_smaller)
{
	struct rig *rig = rig_new();

	rig->txg.config.stored_bytes = 32 * KIB;
	write_at(rig, 0, 0, 10 * 128 * KIB, false);
	run_all(rig->nas.loop);
	cr_assert_eq(rig->disk->dev.stats.bytes_written, 10 * 32 * KIB + UBERBLOCKS * 4 * KIB);
	rig_free(rig);
}

Test(txg, a_timeout_during_a_sync_starts_the_next_one_right_after)
{
	struct rig *rig = rig_new();

	rig->txg.config.hole_cpu_ns = 100 * MS;
	write_at(rig, 0, 0, 80 * 128 * KIB, true); /* syncs from 5 s to 13 s */
	write_at(rig, 6 * SEC, 0, 128 * KIB, true);
	run_all(rig->nas.loop);
	notes_expect(&rig->nas.notes, "[13000ms] txg 1 on disk\n"
				      "[13100ms] txg 2 on disk\n");
	rig_free(rig);
}

/* 64 MiB are 512 records, 1 ms each, from 5 s on; as much comes meanwhile, and then nothing more. */
Test(txg, much_that_became_dirty_during_a_sync_is_synced_right_after)
{
	struct rig *rig = rig_new();

	rig->txg.config.hole_cpu_ns = MS;
	write_at(rig, 0, 0, SYNC_BYTES - 128 * KIB, true);
	write_at(rig, 5 * SEC + 100 * MS, 0, SYNC_BYTES, true);
	run_all(rig->nas.loop);
	notes_expect(&rig->nas.notes, "[5511ms] txg 1 on disk\n"
				      "[6023ms] txg 2 on disk\n");
	rig_free(rig);
}

/* zfs_vdev_async_write_min_active 1 to max_active 10, linear between 30 and 60 % of zfs_dirty_data_max. The
 * uberblock takes one more millisecond. */
Test(txg, few_writes_are_in_flight_while_little_is_dirty)
{
	static const struct {
		int dirty_mib, side_by_side;
	} rows[] = {{10, 1}, {192, 1}, {288, 5}, {384, 10}, {600, 10}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rig *rig = rig_new();
		int writes = rows[i].dirty_mib * 8, all;

		rig->txg.config.dirty_sync_bytes = INT64_MAX;
		rig->disk->io_ns = MS;
		for (int m = 0; m < rows[i].dirty_mib; m++) {
			write_at(rig, 0, m * MIB, MIB, false);
		}
		all = (writes + rows[i].side_by_side - 1) / rows[i].side_by_side;
		run_all(rig->nas.loop);
		cr_assert_eq(sl_loop_now(rig->nas.loop) - 5 * SEC, (all + 1) * MS, "%d MiB: %lld",
			     rows[i].dirty_mib, (long long)sl_loop_now(rig->nas.loop));
		rig_free(rig);
	}
}
