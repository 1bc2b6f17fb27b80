/* The intent log of 2014: batches, block sizes, what goes in place, what a txg takes over. */
#include "tests/unit/zfs/zil_rig.h"

Test(zil, one_batch_is_in_flight_and_the_next_is_what_arrived_meanwhile)
{
	static const int64_t starts[] = {0, 500 * US, 600 * US, 1400 * US, 1700 * US};
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	struct commit commits[5];
	struct rig *rig = rig_new(true);

	rig->zil.config.commit_cpu_ns = 100 * US;
	for (int i = 0; i < 5; i++) {
		commits[i] = (struct commit){.rig = rig, .name = names[i], .bytes = 1024};
		event_at(&commits[i].start, rig->nas.loop, starts[i], commit_start, &commits[i]);
	}
	run_all(rig->nas.loop);
	/* A batch: 0.1 ms of CPU, 1 ms for the block, 0.5 ms for the flush. */
	notes_expect(&rig->nas.notes, "[0.1ms] log write 4K\n"
				      "[1.1ms] log flush\n"
				      "[1.6ms] a done\n"
				      "[1.7ms] log write 4K\n"
				      "[2.7ms] log flush\n"
				      "[3.2ms] b done\n"
				      "[3.2ms] c done\n"
				      "[3.2ms] d done\n"
				      "[3.3ms] log write 4K\n"
				      "[4.3ms] log flush\n"
				      "[4.8ms] e done\n");
	cr_assert_eq(rig->zil.batches, 3);
	cr_assert_eq(rig->zil.commits, 5);
	cr_assert_eq(rig->zil.busy_ns, 4800 * US);
	rig_free(rig);
}

/* A block's bucket is chosen when the one before it is issued, so the first 8 KiB write finds a 4 KiB block.
 */
Test(zil, block_sizes_come_in_buckets_chosen_one_block_ahead)
{
	struct rig *rig = rig_new(false);

	cr_assert_eq(commit_write(rig, 1000), 4 * KIB);
	cr_assert_eq(commit_write(rig, 8192), (4 + 12) * KIB);
	cr_assert_eq(commit_write(rig, 8192), 12 * KIB);
	cr_assert_eq(commit_write(rig, 16384), (12 + 36) * KIB);
	cr_assert_eq(commit_write(rig, 32768), 36 * KIB); /* 192 + 192 + 32768 fit */
	rig_free(rig);
}

Test(zil, the_bucket_grows_with_the_batch)
{
	struct rig *rig = rig_new(false);

	for (int i = 0; i < 3; i++) {
		log_write(rig, 1, 8192, 0, true);
	}
	/* 4K was open, 8.2 KiB of batch ask for 12K, 16.4 KiB for 36K, which takes the rest. */
	cr_assert_eq(commit_now(rig), (4 + 12 + 36) * KIB);
	cr_assert_eq(rig->zil.blocks, 3);
	for (int i = 0; i < 8; i++) {
		log_write(rig, 1, 8192, 0, true);
	}
	/* 36K takes four records; the fifth makes it 41 KiB: 128K. */
	cr_assert_eq(commit_now(rig), (36 + 128) * KIB);
	rig_free(rig);
}

Test(zil, a_large_block_is_remembered_for_16_choices)
{
	struct rig *rig = rig_new(false);

	commit_write(rig, 1000);
	cr_assert_eq(commit_write(rig, 8192), (4 + 12) * KIB);
	for (int i = 0; i < 16; i++) {
		cr_assert_eq(commit_write(rig, 1000), 12 * KIB, "commit %d", i);
	}
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(commit_write(rig, 1000), 4 * KIB, "commit %d", i);
	}
	rig_free(rig);
}

Test(zil, a_log_device_gets_the_used_part_raidz_the_whole_block)
{
	struct rig *slog = rig_new(true), *raidz = rig_new(false);

	commit_write(slog, 16384);
	commit_write(raidz, 16384);
	notes_clear(&slog->nas.notes);
	notes_clear(&raidz->nas.notes);
	/* 192 + 192 + 1000 bytes in an open block of 36 KiB. */
	cr_assert_eq(commit_write(slog, 1000), 4 * KIB);
	cr_assert_eq(commit_write(raidz, 1000), 36 * KIB);
	notes_expect(&slog->nas.notes, "[1.5ms] log write 4K\n"
				       "[2.5ms] log flush\n");
	cr_assert_eq(notes_count(&raidz->nas.notes, "write 20K"), 2); /* 9 sectors: 5 + 4 and 5 of parity */
	cr_assert_eq(notes_count(&raidz->nas.notes, "write 16K"), 1);
	cr_assert_eq(notes_count(&raidz->nas.notes, "flush"), 3);
	rig_free(slog);
	rig_free(raidz);
}

Test(zil, writes_above_32_kib_go_in_place_unless_a_log_device_takes_them)
{
	struct rig *none = rig_new(false), *slog = rig_new(true);

	commit_write(none, 32768);
	cr_assert_eq(none->zil.indirect, 0);
	notes_clear(&none->nas.notes);
	commit_write(none, 65536);
	cr_assert_eq(none->zil.indirect, 1);
	/* The whole record of 128 KiB, and 192 + 192 bytes in the open block of 36 KiB. */
	cr_assert_eq(notes_count(&none->nas.notes, "write 64K"), 3);
	cr_assert_eq(notes_count(&none->nas.notes, "write 20K"), 2);

	cr_assert_eq(commit_write(slog, 65536),
		     (4 + 68) * KIB); /* the block that was open, then 65,920 bytes */
	cr_assert_eq(slog->zil.indirect, 0);
	rig_free(none);
	rig_free(slog);
}

Test(zil, logbias_throughput_puts_everything_in_place)
{
	struct rig *rig = rig_new(true);

	rig->zil.config.throughput = true;
	cr_assert_eq(commit_write(rig, 4096), 4 * KIB); /* only the header */
	cr_assert_eq(rig->zil.indirect, 1);
	rig_free(rig);
}

/* Nor does the next commit write it again, unless it has changed: the log then has the header only. */
Test(zil, a_record_is_written_in_place_once_as_long_as_it_does_not_change)
{
	struct rig *rig = rig_new(false);

	rig->zil.config.compress_ratio = 4;
	log_write(rig, 1, 65536, 7, true);
	log_write(rig, 1, 65536, 7, true);
	log_write(rig, 1, 65536, 8, true);
	log_write(rig, 2, 65536, 8, true);
	commit_now(rig);
	cr_assert_eq(rig->zil.indirect, 3);
	cr_assert_eq(notes_count(&rig->nas.notes, "write 16K"),
		     9); /* 32 KiB each, in two columns and parity */
	log_write(rig, 1, 65536, 7, true);
	cr_assert_eq(commit_now(rig), 4 * KIB);
	cr_assert_eq(rig->zil.indirect, 3);
	cr_assert(sl_placed_drop(&rig->placed, 1, 7));
	log_write(rig, 1, 65536, 7, true);
	commit_now(rig);
	cr_assert_eq(rig->zil.indirect, 4);
	rig_free(rig);
}

/* Of all zero data under compression nothing is stored. */
Test(zil, a_hole_in_place_is_no_write)
{
	struct rig *rig = rig_new(false);
	struct sl_zil_change change = {.file = 1, .txg = KEEP, .bytes = 65536, .hole = true};

	sl_zil_log(&rig->zil, &change, true);
	cr_assert_eq(commit_now(rig), 4 * KIB);
	cr_assert_eq(rig->zil.indirect, 0);
	rig_free(rig);
}

/* 0.6.3 cuts a write that fits into no block, 131,072 - 2 x 192 B, into halves of 64 KiB: each with its
 * headers is 65,920 B, 68 KiB. The block of 4 KiB that was open goes out empty. */
Test(zil, a_write_too_large_for_a_block_is_split)
{
	struct rig *rig = rig_new(true);

	cr_assert_eq(commit_write(rig, 131072), (4 + 68 + 68) * KIB);
	cr_assert_eq(rig->zil.blocks, 3);
	rig_free(rig);
}

Test(zil, asynchronous_changes_go_out_when_their_own_file_is_committed)
{
	struct rig *rig = rig_new(true);

	log_write(rig, 1, 1000, 0, false);
	log_write(rig, 2, 5000, 0, false);
	cr_assert_eq(commit_now(rig), 4 * KIB); /* file 1 only */
	cr_assert_eq(commit_now(rig), 0);
	log_write(rig, 3, 1000, 0, true);
	cr_assert_eq(commit_now(rig), 4 * KIB); /* synchronous changes of other files go with any commit */
	cr_assert_eq(rig->zil.async.count, 1);
	rig_free(rig);
}

Test(zil, a_commit_with_nothing_to_log_costs_its_cpu)
{
	struct rig *rig = rig_new(true);
	struct commit commit = {.rig = rig, .name = "a"};

	rig->zil.config.commit_cpu_ns = 100 * US;
	commit_start(&commit, 0);
	run_all(rig->nas.loop);
	notes_expect(&rig->nas.notes, "[0.1ms] a done\n");
	rig_free(rig);
}

Test(zil, copying_and_records_in_place_cost_cpu)
{
	struct rig *rig = rig_new(false);

	rig->zil.config.copy_bps = 163.84e6;
	rig->zil.config.indirect_cpu_ns = 300 * US;
	commit_write(rig, 16384);
	cr_assert_eq(notes_count(&rig->nas.notes, "[0.1ms] d0 write"), 2); /* two blocks, 0.1 ms of copying */
	notes_clear(&rig->nas.notes);
	commit_write(rig, 65536); /* nothing is copied */
	cr_assert(notes_count(&rig->nas.notes, "[1.9ms] d0 write") > 0, "%s", rig->nas.notes.text);
	rig_free(rig);
}

Test(zil, what_a_txg_has_written_needs_no_log)
{
	struct sl_zil_change old = {.file = 1, .txg = 5, .bytes = 1000};
	struct rig *rig = rig_new(true);

	sl_zil_log(&rig->zil, &old, true);
	sl_zil_log(&rig->zil, &old, false);
	old.txg = 6;
	sl_zil_log(&rig->zil, &old, true);
	sl_zil_synced(&rig->zil, 5);
	cr_assert_eq(rig->zil.sync.count, 1);
	cr_assert_eq(rig->zil.async.count, 0);
	sl_zil_synced(&rig->zil, 6);
	cr_assert_eq(commit_now(rig), 0);
	rig_free(rig);
}
