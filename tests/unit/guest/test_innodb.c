/* InnoDB: group commit of the redo log, flushing of pages, the stall when the log is full. */
#include "tests/unit/guest/innodb_lib.h"

Test(innodb, commits_that_come_during_a_log_sync_share_the_next_one)
{
	struct rig *rig = rig_new(1000, 100 * MIB);
	struct client clients[4];

	commit_at(rig, &clients[0], "a", 0);
	commit_at(rig, &clients[1], "b", 1 * MS);
	commit_at(rig, &clients[2], "c", 2500 * US);
	commit_at(rig, &clients[3], "d", 3500 * US);
	run_to(rig, 100 * MS);
	/* A sync commits the inode too, but for that of b and c, which falls into the tick of the first. */
	notes_expect(&rig->guest->notes, "[0ms] WRITE FILE_SYNC 4K\n"
					 "[1ms] WRITE FILE_SYNC 8K\n"
					 "[2ms] WRITE FILE_SYNC 4K\n"
					 "[3ms] a done\n"
					 "[3ms] WRITE FILE_SYNC 4K\n"
					 "[4ms] b done\n"
					 "[4ms] c done\n"
					 "[4ms] WRITE FILE_SYNC 4K\n"
					 "[5ms] WRITE FILE_SYNC 8K\n"
					 "[6ms] WRITE FILE_SYNC 4K\n"
					 "[7ms] d done\n");
	cr_assert_eq(rig->db.log_syncs, 3);
	cr_assert_eq(rig->db.txns, 4);
	cr_assert_eq(rig->db.flushed_lsn, 4000);
	rig_free(rig);
}

Test(innodb, the_log_is_written_in_blocks_from_the_last_one_synced)
{
	struct rig *rig = rig_new(20000, 100 * MIB);
	struct client clients[2];

	commit_at(rig, &clients[0], "a", 0);
	commit_at(rig, &clients[1], "b", 500 * MS);
	run_to(rig, 900 * MS);
	/* 20,000 bytes are 5 pages; the second write begins in the fifth. */
	cr_assert_eq(notes_count(&rig->guest->notes, "WRITE FILE_SYNC 20K"), 1);
	cr_assert_eq(notes_count(&rig->guest->notes, "WRITE FILE_SYNC 24K"), 1, "%s", rig->guest->notes.text);
	rig_free(rig);
}

Test(innodb, with_fdatasync_a_log_sync_is_one_round_trip)
{
	struct rig *rig = rig_new(1000, 100 * MIB);
	struct client client;

	rig->db.config.datasync = true;
	commit_at(rig, &client, "a", 0);
	run_to(rig, 100 * MS);
	notes_expect(&rig->guest->notes, "[0ms] WRITE FILE_SYNC 4K\n"
					 "[1ms] a done\n");
	rig_free(rig);
}

Test(innodb, little_redo_means_no_page_flushing_but_a_tenth_of_io_capacity_each_ten_seconds)
{
	struct rig *rig = rig_new(1000, 100 * MIB);
	struct client client;

	commit_at(rig, &client, "a", 0);
	run_to(rig, 9900 * MS);
	cr_assert_eq(rig->db.pages_flushed, 0);
	notes_clear(&rig->guest->notes);
	run_to(rig, 11 * SEC);
	/* The row's page and one of undo: doublewrite buffer with its sync, then the pages with theirs. */
	cr_assert_eq(rig->db.pages_flushed, 2);
	cr_assert_eq(notes_count(&rig->guest->notes, "WRITE FILE_SYNC 32K"), 1, "%s", rig->guest->notes.text);
	cr_assert_eq(notes_count(&rig->guest->notes, "WRITE FILE_SYNC 16K"), 2, "%s", rig->guest->notes.text);
	rig_free(rig);
}

Test(innodb, a_full_log_stalls_transactions_until_pages_are_flushed)
{
	struct rig *rig =
	    rig_new(300 * KIB, MIB); /* 0.8 MiB of age is the limit: the third commit passes it */
	struct client clients[3], stalled = {.rig = rig, .name = "stall of d", .key = 1};

	for (int i = 0; i < 3; i++) {
		static const char *const names[] = {"a", "b", "c"};

		cr_assert(sl_innodb_begin(&rig->db, &clients[i].waiter), "%d", i);
		clients[i] = (struct client){.rig = rig, .name = names[i], .key = 1};
		client_commit(&clients[i], 0);
	}
	stalled.waiter.done.fire = client_done;
	cr_assert(!sl_innodb_begin(&rig->db, &stalled.waiter));
	notes_clear(&rig->guest->notes);
	run_to(rig, 500 * MS);
	cr_assert_eq(notes_count(&rig->guest->notes, "stall of d done"), 1, "%s", rig->guest->notes.text);
	cr_assert(rig->db.pages_flushed > 0);
	cr_assert(sl_innodb_begin(&rig->db, &stalled.waiter));
	rig_free(rig);
}
