/* ext4 and jbd2: how many round trips an fsync takes, and for whom. */
#include "tests/unit/guest/lib.h"

struct sync {
	struct sl_ext4_fsync req;
	struct event start;
	struct guest *guest;
};

static void sync_done(struct sl_timer *timer, int64_t now_ns)
{
	struct sync *sync = sl_container_of(timer, struct sync, req.done);

	notes_add(&sync->guest->notes, now_ns, "fsync of file %u done", sync->req.file);
}

static void sync_start(void *arg, int64_t now_ns)
{
	struct sync *sync = arg;

	sync->req.done.fire = sync_done;
	sl_ext4_fsync(&sync->guest->fs, now_ns, &sync->req);
}

static void write_file(struct guest *guest, uint32_t file, int64_t offset, uint32_t bytes)
{
	sl_ext4_write(&guest->fs, sl_loop_now(guest->loop), file, offset, bytes, false);
}

/* Syncs `file` now and waits; the notes begin anew. */
static void fsync_now(struct guest *guest, uint32_t file)
{
	struct sync sync = {.guest = guest, .req.file = file};

	notes_clear(&guest->notes);
	sync_start(&sync, sl_loop_now(guest->loop));
	run_all(guest->loop);
}

Test(ext4, on_esxi_an_fsync_is_three_serial_writes)
{
	struct guest *guest = guest_new(SL_CLIENT_ESXI, 2, MIB);

	write_file(guest, 0, 0, 1024);
	cr_assert_eq(guest->server.calls, 0, "a buffered write reached the server");
	fsync_now(guest, 0);
	/* Data; descriptor and inode table block; commit record. */
	notes_expect(&guest->notes, "[0ms] WRITE FILE_SYNC 4K\n"
				    "[1ms] WRITE FILE_SYNC 8K\n"
				    "[2ms] WRITE FILE_SYNC 4K\n"
				    "[3ms] fsync of file 0 done\n");
	guest_free(guest);
}

Test(ext4, on_qemu_the_journal_commits_before_and_after_its_record)
{
	struct guest *guest = guest_new(SL_CLIENT_LIBNFS, 2, MIB);

	write_file(guest, 0, 0, 1024);
	fsync_now(guest, 0);
	notes_expect(&guest->notes, "[0ms] WRITE UNSTABLE 4K\n"
				    "[1ms] WRITE UNSTABLE 8K\n"
				    "[2ms] COMMIT\n"
				    "[3ms] WRITE UNSTABLE 4K\n"
				    "[4ms] COMMIT\n"
				    "[5ms] fsync of file 0 done\n");
	guest_free(guest);
}

Test(ext4, the_first_fsync_of_a_round_commits_for_all_files)
{
	struct guest *guest = guest_new(SL_CLIENT_ESXI, 128, MIB);

	for (uint32_t i = 0; i < 128; i++) {
		write_file(guest, i, 0, 16384);
	}
	fsync_now(guest, 0);
	/* 128 inodes lie in 8 blocks of the inode table. */
	notes_expect(&guest->notes, "[0ms] WRITE FILE_SYNC 16K\n"
				    "[1ms] WRITE FILE_SYNC 36K\n"
				    "[2ms] WRITE FILE_SYNC 4K\n"
				    "[3ms] fsync of file 0 done\n");
	fsync_now(guest, 1);
	notes_expect(&guest->notes, "[3ms] WRITE FILE_SYNC 16K\n"
				    "[4ms] fsync of file 1 done\n");
	fsync_now(guest, 127);
	notes_expect(&guest->notes, "[4ms] WRITE FILE_SYNC 16K\n"
				    "[5ms] fsync of file 127 done\n");
	guest_free(guest);
}

Test(ext4, a_clean_fsync_is_free_on_esxi_and_a_flush_on_qemu)
{
	struct guest *esxi = guest_new(SL_CLIENT_ESXI, 2, MIB), *qemu = guest_new(SL_CLIENT_LIBNFS, 2, MIB);

	cr_assert(sl_ext4_is_clean(&esxi->fs, 1));
	fsync_now(esxi, 1);
	notes_expect(&esxi->notes, "[0ms] fsync of file 1 done\n");
	write_file(esxi, 1, 0, 1);
	cr_assert(!sl_ext4_is_clean(&esxi->fs, 1));
	cr_assert(!sl_ext4_is_clean(&qemu->fs, 1), "the guest cannot know what the disk holds");
	/* QEMU does: nothing was written since its last flush. */
	fsync_now(qemu, 1);
	notes_expect(&qemu->notes, "[0ms] fsync of file 1 done\n");
	guest_free(esxi);
	guest_free(qemu);
}

Test(ext4, an_overwrite_changes_the_inode_once_per_tick)
{
	struct guest *guest = guest_new(SL_CLIENT_ESXI, 2, MIB);

	write_file(guest, 0, 0, 4096);
	fsync_now(guest, 0); /* until 3 ms */
	write_file(guest, 0, 0, 4096);
	fsync_now(guest, 0);
	notes_expect(&guest->notes, "[3ms] WRITE FILE_SYNC 4K\n"
				    "[4ms] fsync of file 0 done\n");
	write_file(guest, 0, 0, 4096); /* the clock has ticked */
	fsync_now(guest, 0);
	notes_expect(&guest->notes, "[4ms] WRITE FILE_SYNC 4K\n"
				    "[5ms] WRITE FILE_SYNC 8K\n"
				    "[6ms] WRITE FILE_SYNC 4K\n"
				    "[7ms] fsync of file 0 done\n");
	guest_free(guest);
}

Test(ext4, fdatasync_does_not_wait_for_time_stamps)
{
	struct guest *guest = guest_new(SL_CLIENT_LIBNFS, 2, MIB);
	struct sync sync = {.guest = guest, .req.datasync = true};

	write_file(guest, 0, 0, 4096);
	sync_start(&sync, 0);
	run_all(guest->loop);
	notes_expect(&guest->notes, "[0ms] WRITE UNSTABLE 4K\n"
				    "[1ms] COMMIT\n"
				    "[2ms] fsync of file 0 done\n");
	guest_free(guest);
}

static void write_file_1(void *arg, int64_t now_ns)
{
	struct guest *guest = arg;

	sl_ext4_write(&guest->fs, now_ns, 1, 0, 4096, false);
}

Test(ext4, who_comes_during_a_commit_waits_for_the_next_one)
{
	struct guest *guest = guest_new(SL_CLIENT_ESXI, 3, MIB);
	struct sync first = {.guest = guest, .req.file = 0}, second = {.guest = guest, .req.file = 1},
		    third = {.guest = guest, .req.file = 2};
	struct event later;

	write_file(guest, 0, 0, 4096);
	write_file(guest, 2, 0, 4096);
	event_at(&first.start, guest->loop, 0, sync_start, &first);
	event_at(&later, guest->loop, 1500 * US, write_file_1, guest);
	event_at(&second.start, guest->loop, 1500 * US, sync_start, &second);
	event_at(&third.start, guest->loop, 1500 * US, sync_start,
		 &third); /* was written before the commit */
	run_all(guest->loop);
	notes_expect(&guest->notes, "[0ms] WRITE FILE_SYNC 4K\n"
				    "[1ms] WRITE FILE_SYNC 8K\n"
				    "[1.5ms] WRITE FILE_SYNC 4K\n"
				    "[1.5ms] WRITE FILE_SYNC 4K\n"
				    "[2ms] WRITE FILE_SYNC 4K\n"
				    "[3ms] fsync of file 0 done\n"
				    "[3ms] fsync of file 2 done\n"
				    "[3ms] WRITE FILE_SYNC 8K\n"
				    "[4ms] WRITE FILE_SYNC 4K\n"
				    "[5ms] fsync of file 1 done\n");
	cr_assert_eq(guest->fs.commits, 2);
	guest_free(guest);
}

Test(ext4, who_is_in_the_commit_under_way_asks_for_no_other)
{
	struct guest *guest = guest_new(SL_CLIENT_ESXI, 2, MIB);
	struct sync first = {.guest = guest, .req.file = 0}, second = {.guest = guest, .req.file = 1};

	write_file(guest, 0, 0, 4096);
	write_file(guest, 1, 0, 4096);
	event_at(&first.start, guest->loop, 0, sync_start, &first);
	event_at(&second.start, guest->loop, 500 * US, sync_start, &second);
	run_all(guest->loop);
	notes_expect(&guest->notes, "[0ms] WRITE FILE_SYNC 4K\n"
				    "[0.5ms] WRITE FILE_SYNC 4K\n"
				    "[1ms] WRITE FILE_SYNC 8K\n"
				    "[2ms] WRITE FILE_SYNC 4K\n"
				    "[3ms] fsync of file 0 done\n"
				    "[3ms] fsync of file 1 done\n");
	cr_assert_eq(guest->fs.commits, 1);
	guest_free(guest);
}

Test(ext4, adjacent_writes_are_one_request_of_up_to_64_kib_and_all_go_side_by_side)
{
	struct guest *guest = guest_new(SL_CLIENT_ESXI, 1, MIB);

	write_file(guest, 0, 0, 16384);
	write_file(guest, 0, 16384, 16384);
	write_file(guest, 0, 100, 200); /* again in the first page */
	write_file(guest, 0, 512 * KIB, 80 * KIB);
	fsync_now(guest, 0);
	notes_expect(&guest->notes, "[0ms] WRITE FILE_SYNC 32K\n"
				    "[0ms] WRITE FILE_SYNC 64K\n"
				    "[0ms] WRITE FILE_SYNC 16K\n"
				    "[1ms] WRITE FILE_SYNC 8K\n"
				    "[2ms] WRITE FILE_SYNC 4K\n"
				    "[3ms] fsync of file 0 done\n");
	guest_free(guest);
}

Test(ext4, each_request_costs_cpu_before_it_goes)
{
	struct guest *guest = guest_new(SL_CLIENT_ESXI, 1, MIB);

	guest->fs.config.block_cpu_ns = 100 * US;
	write_file(guest, 0, 0, 4096);
	write_file(guest, 0, 64 * KIB, 4096);
	fsync_now(guest, 0);
	notes_expect(&guest->notes, "[0.2ms] WRITE FILE_SYNC 4K\n"
				    "[0.2ms] WRITE FILE_SYNC 4K\n"
				    "[1.3ms] WRITE FILE_SYNC 8K\n"
				    "[2.4ms] WRITE FILE_SYNC 4K\n"
				    "[3.4ms] fsync of file 0 done\n");
	guest_free(guest);
}

Test(ext4, files_lie_one_after_the_other_on_the_disk)
{
	struct guest *guest = guest_new(SL_CLIENT_ESXI, 3, MIB + 1);

	cr_assert_eq(sl_ext4_position(&guest->fs, 1, 0) - sl_ext4_position(&guest->fs, 0, 0), MIB + 4096);
	cr_assert_eq(sl_ext4_position(&guest->fs, 2, 77) - sl_ext4_position(&guest->fs, 1, 0),
		     MIB + 4096 + 77);
	guest_free(guest);
}
