/*
 * An fsync that joins work somebody else has begun waits for what covers its own data, and for no less. Each
 * call takes 1 ms. ext4_sync_file writes, waits for all of the file's pages under writeback, joins the
 * journal's commit, and flushes by itself unless that commit's flush is still to come
 * (jbd2_trans_will_send_data_barrier: state below T_COMMIT_JFLUSH, or a transaction that is only running).
 */
#include "tests/unit/guest/lib.h"

struct sync {
	struct sl_ext4_fsync req;
	struct event start;
	struct guest *guest;
};

static void sync_done(struct sl_timer *timer, int64_t now_ns)
{
	struct sync *sync = sl_container_of(timer, struct sync, req.done);

	notes_add(&sync->guest->notes, now_ns, "%s of file %u done",
		  sync->req.datasync ? "fdatasync" : "fsync", sync->req.file);
}

static void sync_start(void *arg, int64_t now_ns)
{
	struct sync *sync = arg;

	sync->req.done.fire = sync_done;
	sl_ext4_fsync(&sync->guest->fs, now_ns, &sync->req);
}

static void sync_at(struct sync *sync, int64_t at_ns)
{
	event_at(&sync->start, sync->guest->loop, at_ns, sync_start, sync);
}

static struct guest *qemu_with_two_dirty_files(void)
{
	struct guest *guest = guest_new(SL_HYP_QEMU, 2, MIB);

	sl_ext4_write(&guest->fs, 0, 0, 0, 4096, false);
	sl_ext4_write(&guest->fs, 0, 1, 0, 4096, false);
	return guest;
}

/* Written at 1.5 ms, and the commit flushes at 2 ms: that covers it. */
Test(joins, data_written_before_the_commits_flush_needs_none_of_its_own)
{
	struct guest *guest = qemu_with_two_dirty_files();
	struct sync first = {.guest = guest}, second = {.guest = guest, .req.file = 1};

	sync_at(&first, 0);
	sync_at(&second, 500 * US);
	run_all(guest->loop);
	notes_expect(&guest->notes, "[0ms] WRITE UNSTABLE 4K\n"
				    "[0.5ms] WRITE UNSTABLE 4K\n"
				    "[1ms] WRITE UNSTABLE 8K\n"
				    "[2ms] COMMIT\n"
				    "[3ms] WRITE UNSTABLE 4K\n"
				    "[4ms] COMMIT\n"
				    "[5ms] fsync of file 0 done\n"
				    "[5ms] fsync of file 1 done\n");
	guest_free(guest);
}

/* Written at 4.8 ms, after the commit's last flush has left: when it returns at 5 ms, the data is in the
 * disk's cache only. */
Test(joins, data_written_after_the_commits_flush_is_flushed_after_the_commit)
{
	struct guest *guest = qemu_with_two_dirty_files();
	struct sync first = {.guest = guest}, second = {.guest = guest, .req.file = 1};

	sync_at(&first, 0);
	sync_at(&second, 3800 * US);
	run_all(guest->loop);
	notes_expect(&guest->notes, "[0ms] WRITE UNSTABLE 4K\n"
				    "[1ms] WRITE UNSTABLE 8K\n"
				    "[2ms] COMMIT\n"
				    "[3ms] WRITE UNSTABLE 4K\n"
				    "[3.8ms] WRITE UNSTABLE 4K\n"
				    "[4ms] COMMIT\n"
				    "[5ms] fsync of file 0 done\n"
				    "[5ms] COMMIT\n"
				    "[6ms] fsync of file 1 done\n");
	guest_free(guest);
}

/* Written at 3.5 ms, between the two flushes: ext4 asks for one more, the virtual disk finds it done by the
 * second and sends nothing. */
Test(joins, a_flush_that_another_has_done_costs_nothing)
{
	struct guest *guest = qemu_with_two_dirty_files();
	struct sync first = {.guest = guest}, second = {.guest = guest, .req.file = 1};

	sync_at(&first, 0);
	sync_at(&second, 2500 * US);
	run_all(guest->loop);
	notes_expect(&guest->notes, "[0ms] WRITE UNSTABLE 4K\n"
				    "[1ms] WRITE UNSTABLE 8K\n"
				    "[2ms] COMMIT\n"
				    "[2.5ms] WRITE UNSTABLE 4K\n"
				    "[3ms] WRITE UNSTABLE 4K\n"
				    "[4ms] COMMIT\n"
				    "[5ms] fsync of file 0 done\n"
				    "[5ms] fsync of file 1 done\n");
	guest_free(guest);
}

/* The second finds no dirty page: the first has taken it and has it on its way until 1 ms. */
Test(joins, a_second_fsync_waits_for_the_data_that_the_first_has_on_its_way)
{
	struct guest *guest = guest_new(SL_HYP_ESXI, 1, MIB);
	struct sync first = {.guest = guest}, second = {.guest = guest};

	sl_ext4_write(&guest->fs, 0, 0, 0, 4096, false);
	sync_at(&first, 0);
	sync_at(&second, 500 * US);
	run_all(guest->loop);
	notes_expect(&guest->notes, "[0ms] WRITE FILE_SYNC 4K\n"
				    "[1ms] WRITE FILE_SYNC 8K\n"
				    "[2ms] WRITE FILE_SYNC 4K\n"
				    "[3ms] fsync of file 0 done\n"
				    "[3ms] fsync of file 0 done\n");
	guest_free(guest);
}

static void write_another_page(void *arg, int64_t now_ns)
{
	struct guest *guest = arg;

	sl_ext4_write(&guest->fs, now_ns, 0, 64 * KIB, 4096, false);
}

/* The second's page is there at 1.5 ms, while the first's flush is under way since 1 ms, which does not cover
 * it: another follows. */
Test(joins, fdatasyncs_of_one_file_each_wait_for_a_flush_after_their_data)
{
	struct guest *guest = guest_new(SL_HYP_QEMU, 1, MIB);
	struct sync first = {.guest = guest, .req.datasync = true},
		    second = {.guest = guest, .req.datasync = true};
	struct event write;

	sl_ext4_write(&guest->fs, 0, 0, 0, 4096, false);
	sync_at(&first, 0);
	event_at(&write, guest->loop, 500 * US, write_another_page, guest);
	sync_at(&second, 500 * US);
	run_all(guest->loop);
	notes_expect(&guest->notes, "[0ms] WRITE UNSTABLE 4K\n"
				    "[0.5ms] WRITE UNSTABLE 4K\n"
				    "[1ms] COMMIT\n"
				    "[2ms] fdatasync of file 0 done\n"
				    "[2ms] COMMIT\n"
				    "[3ms] fdatasync of file 0 done\n");
	guest_free(guest);
}

/* fdatasync returns at 2 ms with its promise for the file's whole data: also for the page that the fsync,
 * which waits for the journal until 5 ms, has written. */
Test(joins, a_promise_covers_what_another_fsync_has_written)
{
	struct guest *guest = guest_new(SL_HYP_QEMU, 1, MIB);
	struct sync full = {.guest = guest}, data = {.guest = guest, .req.datasync = true};
	struct sl_ledger ledger;

	sl_ledger_init(&ledger, 100);
	guest->hyp.ledger = &ledger;
	sl_ext4_write(&guest->fs, 0, 0, 0, 4096, false);
	sync_at(&full, 0);
	sync_at(&data, 500 * US);
	run_all(guest->loop);
	notes_expect(&guest->notes, "[0ms] WRITE UNSTABLE 4K\n"
				    "[1ms] COMMIT\n"
				    "[1ms] WRITE UNSTABLE 8K\n"
				    "[2ms] fdatasync of file 0 done\n"
				    "[2ms] COMMIT\n"
				    "[3ms] WRITE UNSTABLE 4K\n"
				    "[4ms] COMMIT\n"
				    "[5ms] fsync of file 0 done\n");
	cr_assert_eq(sl_ledger_at(&ledger, 1)->promised_ns, 2 * MS);
	cr_assert_eq(sl_ledger_at(&ledger, 1)->committed_ns, 2 * MS);
	cr_assert_eq(ledger.n_sent, 3, "data and two of the journal");
	for (uint32_t i = 2; i <= 3; i++) {
		cr_assert_eq(sl_ledger_at(&ledger, i)->promised_ns, 5 * MS);
		cr_assert(sl_ledger_at(&ledger, i)->committed_ns <= 5 * MS);
	}
	sl_ledger_fini(&ledger);
	guest_free(guest);
}
