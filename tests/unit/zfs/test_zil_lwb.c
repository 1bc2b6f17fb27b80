/* The intent log of OpenZFS 2.1 and 2.3: blocks in flight, waiting for company, sizes. */
#include "tests/unit/zfs/zil_rig.h"

/* Commits of 1 KiB at `starts`, run to the end. */
static void run_commits(struct rig *rig, struct commit *commits, const int64_t *starts, int n)
{
	static const char *const names[] = {"a", "b", "c", "d"};

	for (int i = 0; i < n; i++) {
		commits[i] = (struct commit){.rig = rig, .name = names[i], .bytes = 1024};
		event_at(&commits[i].start, rig->nas.loop, starts[i], commit_start, &commits[i]);
	}
	run_all(rig->nas.loop);
}

/* Where the log of 2014 makes b wait for a's flush, here both blocks are in flight at once. */
Test(zil_lwb, blocks_overlap_and_complete_in_order)
{
	static const int64_t starts[] = {0, 500 * US};
	struct commit commits[2];
	struct rig *rig = rig_new_of(true, SL_ZIL_21);

	run_commits(rig, commits, starts, 2);
	notes_expect(&rig->nas.notes, "[0ms] log write 4K\n"
				      "[0.5ms] log write 4K\n"
				      "[1ms] log flush\n"
				      "[1.5ms] log flush\n"
				      "[1.5ms] a done\n"
				      "[2ms] b done\n");
	cr_assert_eq(rig->zil.blocks, 2);
	rig_free(rig);
}

/* With a block latency of 2 ms, an open block waits 5 % of it: b joins a's block, c comes too late. */
Test(zil_lwb, an_open_block_waits_for_company)
{
	static const int64_t starts[] = {0, 50 * US, 200 * US};
	struct commit commits[3];
	struct rig *rig = rig_new_of(true, SL_ZIL_21);

	rig->zil.lwb_latency_ns = 2 * MS;
	run_commits(rig, commits, starts, 3);
	notes_expect(&rig->nas.notes, "[0.1ms] log write 4K\n"
				      "[0.3ms] log write 4K\n"
				      "[1.1ms] log flush\n"
				      "[1.3ms] log flush\n"
				      "[1.6ms] a done\n"
				      "[1.6ms] b done\n"
				      "[1.8ms] c done\n");
	rig_free(rig);
}

/* A lone writer pays that wait in 2.1 and not in 2.3. */
Test(zil_lwb, a_lone_writer_waits_in_2_1_only)
{
	static const enum sl_zil_generation generations[] = {SL_ZIL_21, SL_ZIL_23};
	static const int64_t expected[] = {1600 * US, 1500 * US};

	for (int i = 0; i < 2; i++) {
		struct rig *rig = rig_new_of(true, generations[i]);
		struct commit commit = {.rig = rig, .bytes = 1024};

		rig->zil.lwb_latency_ns = 2 * MS;
		commit_start(&commit, 0);
		run_all(rig->nas.loop);
		cr_assert(commit.done);
		cr_assert_eq(sl_loop_now(rig->nas.loop), expected[i], "generation %d: %lld", i,
			     (long long)sl_loop_now(rig->nas.loop));
		rig_free(rig);
	}
}

/* Below 100 us of block latency 5 % is less than 5 us: not worth waiting in 2.1 either. */
Test(zil_lwb, a_fast_log_is_not_made_to_wait)
{
	struct rig *rig = rig_new_of(true, SL_ZIL_21);
	struct commit commit = {.rig = rig, .bytes = 1024};

	rig->zil.lwb_latency_ns = 99 * US;
	commit_start(&commit, 0);
	run_all(rig->nas.loop);
	cr_assert_eq(sl_loop_now(rig->nas.loop), 1500 * US);
	rig_free(rig);
}

/* zil_min_commit_timeout is 5 us: 5 % of 100 us are just worth it, and the commit takes them more. */
Test(zil_lwb, a_log_of_100_us_is_waited_for)
{
	struct rig *rig = rig_new_of(true, SL_ZIL_21);
	struct commit commit = {.rig = rig, .bytes = 1024};

	rig->zil.lwb_latency_ns = 100 * US;
	commit_start(&commit, 0);
	run_all(rig->nas.loop);
	cr_assert_eq(sl_loop_now(rig->nas.loop), 1505 * US);
	rig_free(rig);
}

/*
 * 2.1 sends a block out at once that is more than 7/8 full. Of 4096 B that are 3584: a chain header of 192, a
 * record's header of 192, and 3200 of data are just that, and wait 5 % of 2 ms; 8 B more do not.
 */
Test(zil_lwb, a_block_that_is_nearly_full_does_not_wait)
{
	static const struct {
		uint32_t bytes;
		int64_t end_ns;
	} cases[] = {{3192, 1600 * US}, {3200, 1600 * US}, {3208, 1500 * US}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *rig = rig_new_of(true, SL_ZIL_21);
		struct commit commit = {.rig = rig, .bytes = cases[i].bytes};

		rig->zil.lwb_latency_ns = 2 * MS;
		commit_start(&commit, 0);
		run_all(rig->nas.loop);
		cr_assert_eq(sl_loop_now(rig->nas.loop), cases[i].end_ns, "%u bytes: %lld", cases[i].bytes,
			     (long long)sl_loop_now(rig->nas.loop));
		rig_free(rig);
	}
}

/*
 * 72.6 KiB of one burst do not fit: the full block goes out at once, without a flush of its own. The first
 * block holds headers of 192 B, 100 KiB and the first 28096 B of the second write; 74304 B and headers make
 * 76 KiB.
 */
Test(zil_lwb, a_block_without_waiters_leaves_its_flush_to_the_next)
{
	struct rig *rig = rig_new_of(true, SL_ZIL_21);

	for (int i = 0; i < 2; i++) {
		log_write(rig, 1, 100 * KIB, (uint64_t)i, true);
	}
	cr_assert_eq(commit_now(rig), 128 * KIB + 76 * KIB);
	notes_expect(&rig->nas.notes, "[0ms] log write 128K\n"
				      "[0ms] log write 76K\n"
				      "[1ms] log flush\n");
	rig_free(rig);
}

/*
 * Three writes of 50 KiB, 51392 B each with their headers. The first makes the first block one of 68 KiB, of
 * which 18048 B are left after it, more than an eighth of a block. Synchronous, they are copied into their
 * records (2.1: up to 65152 B), so both others go as a whole to the next (192 + 2 x 51392 B); otherwise the
 * second fills the first block with 17856 B, and 33344 B of it are left.
 */
Test(zil_lwb, what_was_copied_into_its_record_is_not_split)
{
	static const char *const expected[] = {
	    "[0ms] log write 68K\n[0ms] log write 84K\n[1ms] log flush\n",
	    "[0ms] log write 52K\n[0ms] log write 104K\n[1ms] log flush\n"};

	for (int sync = 0; sync <= 1; sync++) {
		struct rig *rig = rig_new_of(true, SL_ZIL_21);

		for (int i = 0; i < 3; i++) {
			log_write(rig, 1, 50 * KIB, (uint64_t)i, sync);
		}
		commit_now(rig);
		notes_expect(&rig->nas.notes, expected[sync]);
		rig_free(rig);
	}
}

/*
 * zil_slog_bulk, 768 KiB in 2.1: six blocks of 127.8 KiB are below it, the rest of the burst is written
 * without haste, here one at a time. 64 MiB in 2.3: all are synchronous, ten at a time.
 */
Test(zil_lwb, the_rest_of_a_large_burst_is_written_to_the_log_without_haste)
{
	for (int bulk = 0; bulk <= 1; bulk++) {
		struct rig *rig = rig_new_of(true, SL_ZIL_21);

		rig->zil.config.bulk_bytes = bulk ? 768 * KIB : 64 * MIB;
		sl_vdev_limit_async_writes(&rig->slog, 1);
		for (int i = 0; i < 14; i++) {
			log_write(rig, 1, 128 * KIB - 2 * 192, (uint64_t)i, true);
		}
		commit_now(rig);
		cr_assert_eq(notes_count(&rig->nas.notes, "[0ms] log write 128K"), bulk ? 6 + 1 : 10);
		cr_assert_eq(notes_count(&rig->nas.notes, "log write 128K"), 14);
		rig_free(rig);
	}
}

/*
 * A record that is cut has a header in each block: 64 of 1 MiB, nine parts each, need 98 KiB more than the
 * burst was counted with. The last block is sized for what is left all the same (it was 4 KiB, which took
 * nothing of it: a loop without an end). In all 24 MiB, and a block's header and a record's in each 128 KiB:
 * 0.3 %.
 */
Test(zil_lwb, a_burst_of_large_writes_ends)
{
	static const enum sl_zil_generation generations[] = {SL_ZIL_21, SL_ZIL_23};

	for (int i = 0; i < 2; i++) {
		struct rig *rig = rig_new_of(true, generations[i]);
		int64_t bytes;

		for (int n = 0; n < 24; n++) {
			log_write(rig, 1, (uint32_t)MIB, (uint64_t)n * 8, true);
		}
		bytes = commit_now(rig);
		cr_assert(bytes >= 24 * MIB && (double)bytes < 1.01 * 24 * MIB, "%lld B", (long long)bytes);
		rig_free(rig);
	}
}

/* 4480 B, headers included, at 4.48 MB/s. */
Test(zil_lwb, log_blocks_are_encrypted)
{
	struct rig *rig = rig_new_of(true, SL_ZIL_23);

	rig->zil.config.crypt_bps = 4.48e6;
	commit_write(rig, 4096);
	notes_expect(&rig->nas.notes, "[1ms] log write 8K\n"
				      "[2ms] log flush\n");
	rig_free(rig);
}

/* On raidz the whole block is written: buckets in 2.1, what the bursts need in 2.3. */
Test(zil_lwb, sizes_on_raidz)
{
	static const struct {
		enum sl_zil_generation generation;
		uint32_t write;
		int64_t bytes;
	} cases[] = {
	    {SL_ZIL_21, 8 * KIB, 12 * KIB},
	    {SL_ZIL_21, 20 * KIB, 36 * KIB},
	    {SL_ZIL_23, 8 * KIB, 12 * KIB},
	    {SL_ZIL_23, 20 * KIB, 24 * KIB},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rig *rig = rig_new_of(false, cases[i].generation);

		cr_assert_eq(commit_write(rig, cases[i].write), cases[i].bytes, "case %zu", i);
		rig_free(rig);
	}
}

/* The threshold is 32 KiB itself since 2.1, above it in 2014. */
Test(zil_lwb, a_write_of_32_kib_goes_in_place)
{
	struct rig *old = rig_new_of(false, SL_ZIL_2014), *new = rig_new_of(false, SL_ZIL_21);

	commit_write(old, 32 * KIB);
	commit_write(new, 32 * KIB);
	cr_assert_eq(old->zil.indirect, 0);
	cr_assert_eq(new->zil.indirect, 1);
	rig_free(old);
	rig_free(new);
}

/* A commit with nothing logged and nothing in flight has nothing to wait for. */
/* zil_commit_writer_stall, zil_commit_waiter_link_lwb: a commit that finds nothing to log waits for what is
 * on its way, which may be its own file's. In 2014 it is part of the next batch. */
Test(zil_lwb, a_commit_with_nothing_to_log_waits_for_what_is_in_flight)
{
	for (int generation = SL_ZIL_2014; generation <= SL_ZIL_23; generation++) {
		struct rig *rig = rig_new_of(true, (enum sl_zil_generation)generation);
		struct commit a = {.rig = rig, .name = "a", .bytes = 1024}, b = {.rig = rig, .name = "b"};

		event_at(&a.start, rig->nas.loop, 0, commit_start, &a);
		event_at(&b.start, rig->nas.loop, 500 * US, commit_start, &b);
		run_all(rig->nas.loop);
		notes_expect(&rig->nas.notes, "[0ms] log write 4K\n"
					      "[1ms] log flush\n"
					      "[1.5ms] a done\n"
					      "[1.5ms] b done\n");
		rig_free(rig);
	}
}

Test(zil_lwb, an_empty_commit_is_free)
{
	struct rig *rig = rig_new_of(true, SL_ZIL_21);

	cr_assert_eq(commit_now(rig), 0);
	cr_assert_eq(sl_loop_now(rig->nas.loop), 0);
	rig_free(rig);
}

/* zl_cur_used, zl_cur_size: what one committer logged counts for the next block of another. With 2 ms of
 * block latency a's block stays open for 0.1 ms (2.3: not for a, which is alone, but once b has seen a's
 * block on its way); b and c arrive within it, d does not. In 2.1 the first block is of 4 KiB (1216 + 192 B),
 * holds a, b and c (3840 B), and goes out; d's finds another. */
Test(zil_lwb, committers_share_what_is_open)
{
	static const int64_t starts[] = {0, 20 * US, 40 * US, 600 * US};
	struct commit commits[4];
	struct rig *rig = rig_new_of(true, SL_ZIL_21);

	rig->zil.lwb_latency_ns = 2 * MS;
	run_commits(rig, commits, starts, 4);
	notes_expect(&rig->nas.notes, "[0.1ms] log write 4K\n"
				      "[0.7ms] log write 4K\n"
				      "[1.1ms] log flush\n"
				      "[1.6ms] a done\n"
				      "[1.6ms] b done\n"
				      "[1.6ms] c done\n"
				      "[1.7ms] log flush\n"
				      "[2.2ms] d done\n");
	rig_free(rig);
}

/*
 * The size of a block follows from what all have logged since one last went out before it was full. Four
 * commits of 4 KiB, 4288 B each, on raidz, which shows it: the first makes it 12 KiB (4480 B), which takes
 * two; the third has 13056 B logged by then: 36 KiB (2.1). In 2.3 the first is alone, 8 KiB; the second finds
 * it on its way and an 8 KiB block as predicted, open for company; the third does not fit: its own 4288 B and
 * as many as are expected after it, 8768 B: 12 KiB; the fourth fits.
 */
Test(zil_lwb, the_next_block_is_sized_by_the_burst_of_all)
{
	static const enum sl_zil_generation generations[] = {SL_ZIL_21, SL_ZIL_23};
	static const int64_t expected[] = {(12 + 36) * KIB, (8 + 8 + 12) * KIB};

	for (int i = 0; i < 2; i++) {
		struct rig *rig = rig_new_of(false, generations[i]);
		struct commit commits[4];

		rig->zil.lwb_latency_ns = 2 * MS;
		for (int n = 0; n < 4; n++) {
			commits[n] = (struct commit){.rig = rig, .bytes = 4096};
			commit_start(&commits[n], 0);
		}
		run_all(rig->nas.loop);
		cr_assert_eq(rig->zil.log_bytes, expected[i], "generation %d: %lld", i,
			     (long long)rig->zil.log_bytes);
		rig_free(rig);
	}
}

/*
 * zl_cur_used counts over all committers: 14 that log a block of 127.8 KiB each at the same instant. The
 * first is alone and its block full: it goes out at once, and the count begins anew. The second waits for
 * company (5 % of 2 ms), and each next committer sends out the one before. Six blocks, seven with the first,
 * are below 768 KiB; of the six behind them so many are written at once as the pool's dirty data allow: 2
 * while it is little, 10 when more than 60 % of zfs_dirty_data_max are dirty. The fourteenth goes out when
 * its time is up.
 */
Test(zil_lwb, asynchronous_log_writes_follow_the_dirty_data)
{
	for (int much = 0; much <= 1; much++) {
		struct rig *rig = rig_new_of(true, SL_ZIL_21);
		struct sl_txg txg = {.config = {.dirty_max_bytes = 100, .async_write_min = 2}};
		struct commit commits[14];

		txg.dirty_bytes = much ? 70 : 10;
		rig->zil.config.txg = &txg;
		rig->zil.config.bulk_bytes = 768 * KIB;
		rig->zil.lwb_latency_ns = 2 * MS;
		for (int i = 0; i < 14; i++) {
			commits[i] = (struct commit){.rig = rig};
			log_write(rig, 1, 128 * KIB - 2 * 192, (uint64_t)i, true);
			commit_start(&commits[i], 0);
		}
		run_all(rig->nas.loop);
		cr_assert_eq(notes_count(&rig->nas.notes, "[0ms] log write 128K"), much ? 7 + 6 : 7 + 2, "%s",
			     rig->nas.notes.text);
		cr_assert_eq(notes_count(&rig->nas.notes, "log write 128K"), 14);
		rig_free(rig);
	}
}

/* zil_lwb_write_done: the next block need not be on its way for that, it may still wait for company: here for
 * 5 % of 30 ms, longer than the write of the first takes. */
Test(zil_lwb, a_flush_is_left_to_an_open_block_too)
{
	struct rig *rig = rig_new_of(true, SL_ZIL_21);
	struct commit a = {.rig = rig};

	rig->zil.lwb_latency_ns = 30 * MS;
	for (int i = 0; i < 2; i++) {
		log_write(rig, 1, 100 * KIB, (uint64_t)i, true);
	}
	commit_start(&a, 0);
	run_all(rig->nas.loop);
	cr_assert(a.done);
	notes_expect(&rig->nas.notes, "[0ms] log write 128K\n"
				      "[1.5ms] log write 76K\n"
				      "[2.5ms] log flush\n");
	rig_free(rig);
}
