/* InnoDB on a table that its pool does not hold, and the settings that change what is written. */
#include "tests/unit/guest/innodb_lib.h"

#define BIG 1000000000u /* rows: 13,732,911 leaves below 11,629 branches, 976,563 index pages below 827 */
#define MIB2 (2 * MIB)  /* the doublewrite buffer, ahead of the pages */

/* A pool of 5 MiB, 320 pages, keeps next to nothing of it. */
static struct sl_innodb_config big_table(void)
{
	struct sl_innodb_config config = usual(1000, 100 * MIB);

	config.pool.load = (struct sl_oltp_config){.distribution = SL_OLTP_UNIFORM, .rows = BIG};
	config.pool.pool_bytes = 5 * MIB;
	return config;
}

/* Reads of one transaction, on average. */
static double reads_of(struct sl_innodb_config config)
{
	struct rig *rig = rig_of(config);
	struct sl_innodb_waiter waiter = {0};
	struct sl_oltp_txn txn;
	struct sl_oltp source;
	double reads;

	sl_oltp_init(&source, &config.pool.load, 1, 0);
	for (int i = 0; i < 2000; i++) {
		sl_oltp_next(&source, &txn);
		cr_assert(sl_innodb_begin(&rig->db, &waiter));
		while (sl_innodb_next_read(&rig->db, &txn, &waiter) != SL_INNODB_NO_READ) {
			cr_assert_lt(waiter.statement, txn.count);
		}
		cr_assert_eq(waiter.statement, txn.count);
	}
	reads = (double)rig->db.page_reads / 2000;
	rig_free(rig);
	return reads;
}

Test(innodb_reads, a_transaction_reads_the_leaves_branches_and_index_pages_that_its_statements_use)
{
	/* 17 statements go down the tree: 10 points, 4 ranges, 3 changes (an INSERT finds what its DELETE
	 * brought). A range of 100 rows goes on for 99 / 72.8 = 1.36 leaves: 17 + 5.4 = 22.4 leaves. The pool
	 * turns over in about 7 transactions: 1 % of the branches are still there. Two changes of k each need
	 * a branch and a page of the index: 22.4 + 16.8 + 2 + 2 = 43.2. */
	struct sl_innodb_config config = big_table();

	cr_assert_float_eq(reads_of(config), 43.2, 0.3);
	/* With the change buffer of 5.5 the index pages are not wanted. */
	config.pool.change_buffer = true;
	cr_assert_float_eq(reads_of(config), 41.2, 0.3);
	/* 128 MiB of pool and 4 GiB of page cache: the branches are in the latter, and 1.9 % of the leaves.
	 */
	config.pool.pool_bytes = 128 * MIB;
	config.pool.page_cache_bytes = 4096.0 * MIB;
	cr_assert_float_eq(reads_of(config), 22.0, 0.3);
	/* write_only has no selects: 3 leaves. */
	config.pool.load.list = SL_OLTP_WRITE_ONLY;
	cr_assert_float_eq(reads_of(config), 2.9, 0.1);
	config.pool.load.rows = 100000;
	cr_assert_eq(reads_of(config), 0);
}

Test(innodb_reads, a_page_lies_in_the_data_file_where_its_rows_do)
{
	struct rig *rig = rig_of(big_table());
	struct sl_innodb_waiter waiter = {0};
	struct sl_oltp_txn txn = {.count = 1, .statements = {{SL_OLTP_RANGE, BIG / 2}}};
	/* Half of 13,732,911 leaves; the branch is taken to lie there too. */
	int64_t first = MIB2 + INT64_C(6866455) * SL_PAGE_BYTES;
	int n = 0;

	for (int64_t at; (at = sl_innodb_next_read(&rig->db, &txn, &waiter)) != SL_INNODB_NO_READ; n++) {
		cr_assert_eq(at, n == 0 ? first : first + (n - 1) * SL_PAGE_BYTES, "read %d", n);
	}
	cr_assert_geq(n, 2);
	cr_assert_leq(n, 4);
	rig_free(rig);
}

Test(innodb_reads, a_dirty_page_is_in_the_pool)
{
	struct rig *rig = rig_of(big_table());
	struct sl_oltp_txn txn = {.count = 1, .statements = {{SL_OLTP_UPDATE, 1}}};
	struct sl_innodb_waiter waiter = {0};

	waiter.done.fire = client_done;
	cr_assert_eq(sl_innodb_next_read(&rig->db, &txn, &waiter), MIB2);
	sl_innodb_commit(&rig->db, 0, &txn,
			 &(struct client){.rig = rig, .waiter.done.fire = client_done}.waiter);
	waiter = (struct sl_innodb_waiter){.step = 1, .steps = 2}; /* below the branch */
	cr_assert_eq(sl_innodb_next_read(&rig->db, &txn, &waiter), SL_INNODB_NO_READ);
	rig_free(rig);
}

static void silent(struct sl_timer *timer, int64_t now_ns)
{
	(void)timer;
	(void)now_ns;
}

/* Transactions `from` to `to`, each with a leaf of its own. */
static void commit_many(struct rig *rig, struct client *clients, int from, int to)
{
	for (int i = from; i < to; i++) {
		struct sl_oltp_txn txn = {.count = 1,
					  .statements = {{SL_OLTP_UPDATE, 1 + (uint32_t)i * 1000}}};

		clients[i].waiter = (struct sl_innodb_waiter){.done.fire = silent};
		sl_innodb_commit(&rig->db, 0, &txn, &clients[i].waiter);
	}
}

Test(innodb_reads, readers_wait_while_two_batches_of_pages_at_the_end_of_the_list_are_dirty)
{
	/* Each transaction dirties a leaf of its own and none is flushed meanwhile. The pool keeps a page for
	 * about 7 transactions, so that after 150 about 143 dirty pages should have gone: more than two
	 * batches of 64. */
	struct rig *rig = rig_of(big_table());
	static struct client clients[300];
	struct client reader = {.rig = rig, .name = "reader", .waiter.done.fire = client_done};
	int woken = 0;

	commit_many(rig, clients, 0, 100);
	cr_assert(rig->db.flushing, "a batch is worth flushing");
	cr_assert(sl_innodb_make_room(&rig->db, 0, &reader.waiter), "but there are clean pages");
	commit_many(rig, clients, 100, 190);
	cr_assert(sl_innodb_make_room(&rig->db, 0, &reader.waiter), "183 less the 64 that are being written");
	commit_many(rig, clients, 190, 220);
	cr_assert(!sl_innodb_make_room(&rig->db, 0, &reader.waiter), "213 less 64: two batches are due");
	for (int ms = 1; ms < 900; ms++) {
		run_to(rig, ms * MS);
		woken += notes_count(&rig->guest->notes, "reader done");
		notes_clear(&rig->guest->notes);
	}
	cr_assert_eq(woken, 1);
	cr_assert(rig->db.pages_flushed >= 128);
	cr_assert(sl_innodb_make_room(&rig->db, 900 * MS, &reader.waiter));
	rig_free(rig);
}

/* Bytes of the data file's writes when 20 pages are flushed. */
static int data_writes(bool doublewrite, int *ret_calls)
{
	struct sl_innodb_config config = usual(1000, 100 * MIB);
	struct client client;
	struct rig *rig;
	int pages;

	config.no_doublewrite = !doublewrite;
	rig = rig_of(config);
	commit_at(rig, &client, "a", 0);
	run_to(rig, 9900 * MS);
	notes_clear(&rig->guest->notes);
	run_to(rig, 11 * SEC);
	cr_assert_eq(rig->db.pages_flushed, 2);
	pages = notes_count(&rig->guest->notes, "WRITE FILE_SYNC 16K");
	pages += 2 * notes_count(&rig->guest->notes, "WRITE FILE_SYNC 32K");
	*ret_calls = notes_count(&rig->guest->notes, "WRITE FILE_SYNC");
	rig_free(rig);
	return pages * SL_PAGE_BYTES;
}

Test(innodb_reads, without_doublewrite_half_the_bytes_of_pages_are_written)
{
	int on_calls, off_calls;

	/* A leaf and a page of undo; with the buffer both twice, and a sync more. */
	cr_assert_eq(data_writes(true, &on_calls), 4 * SL_PAGE_BYTES);
	cr_assert_eq(data_writes(false, &off_calls), 2 * SL_PAGE_BYTES);
	cr_assert_lt(off_calls, on_calls);
}

Test(innodb_reads, commits_wait_for_their_log_with_1_and_for_nothing_with_0_and_2)
{
	static const struct {
		enum sl_flush_log flush;
		const char *first; /* what is seen of a commit at 0 within 900 ms */
		int syncs;         /* of the log within 3 s */
	} cases[] = {
	    {SL_FLUSH_LOG_SYNC, "[0ms] WRITE FILE_SYNC 4K\n[1ms] a done\n", 1},
	    {SL_FLUSH_LOG_WRITE, "[0ms] a done\n", 1},
	    {SL_FLUSH_LOG_LAZY, "[0ms] a done\n", 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_innodb_config config = usual(1000, 100 * MIB);
		struct client client;
		struct rig *rig;

		config.flush_at_commit = cases[i].flush;
		config.datasync = true;
		rig = rig_of(config);
		commit_at(rig, &client, "a", 0);
		run_to(rig, 900 * MS);
		notes_expect(&rig->guest->notes, cases[i].first);
		run_to(rig, 3 * SEC);
		cr_assert_eq(rig->db.log_syncs, (uint64_t)cases[i].syncs, "case %zu", i);
		cr_assert_eq(rig->db.flushed_lsn, 1000, "case %zu", i);
		rig_free(rig);
	}
}
