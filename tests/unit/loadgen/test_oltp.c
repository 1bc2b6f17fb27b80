/* OLTP against a MariaDB of this test: the table, the statements and their values, failures, stages. */
#include <criterion/criterion.h>
#include <endian.h>
#include <errno.h>
#include <mysqld_error.h>
#include <stdlib.h>
#include <string.h>

#include "loadgen/audit.h"
#include "loadgen/oltp.h"
#include "mariadb.h"

#define MS 1000000LL
#define ALL (SL_LOAD_PREPARE | SL_LOAD_RUN | SL_LOAD_CLEANUP)

struct bench {
	struct mariadb db;
	struct sl_oltp_load load;
	struct sl_load_result result;
	struct sl_err err;
	uint64_t progress_rows, progress_of;
};

static void progress(void *arg, uint64_t rows, uint64_t of)
{
	struct bench *bench = arg;

	cr_assert(rows >= bench->progress_rows, "rows never vanish");
	bench->progress_rows = rows;
	bench->progress_of = of;
}

/* One thread, 10 transactions on 300 rows; the caller changes what it wants before bench_run. */
static struct bench *bench_new(unsigned stages)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	cr_assert_not_null(bench);
	bench->db.rows = 300;
	mariadb_start(&bench->db);
	cr_assert_eq(sl_load_result_init(&bench->result), 0);
	bench->load = (struct sl_oltp_load){
	    .db = {.socket = bench->db.socket, .user = "sbtest", .database = "sbtest"},
	    .stages = stages,
	    .source = {.list = SL_OLTP_READ_WRITE, .distribution = SL_OLTP_UNIFORM, .rows = 300},
	    .threads = 1,
	    .seed = 1,
	    .progress = progress,
	    .progress_arg = bench,
	    .limits = {.max_requests = 10},
	};
	return bench;
}

/* Runs; the server is stopped afterwards, so that what it was told can be read. */
static int bench_run(struct bench *bench)
{
	int rc = sl_oltp_load_run(&bench->load, &bench->result, &bench->err);

	mariadb_stop(&bench->db);
	return rc;
}

static void bench_free(struct bench *bench)
{
	mariadb_fini(&bench->db);
	sl_load_result_fini(&bench->result);
	free(bench);
}

/* Notes each row of an INSERT: "(ID,K,'...','...')". */
static int rows_note(const char *sql, uint8_t *seen, uint32_t rows)
{
	int n = 0;

	for (const char *at = strstr(sql, "VALUES ("); at; at = strstr(at, ",(")) {
		unsigned long id;

		at = strchr(at, '(') + 1;
		id = strtoul(at, NULL, 10);
		cr_assert(id >= 1 && id <= rows, "row %lu", id);
		cr_assert_eq(seen[id]++, 0, "row %lu is there twice", id);
		n++;
	}
	return n;
}

Test(oltp, prepare_makes_each_row_once_in_chunks_of_a_thousand)
{
	struct bench *bench = bench_new(SL_LOAD_PREPARE);
	uint8_t seen[2501] = {0};
	int rows = 0, fewest = 1000;

	bench->load.source.rows = 2500;
	bench->load.threads = 2;
	cr_assert_eq(bench_run(bench), 0, "%s", bench->err.msg);
	for (int i = 0; i < bench->db.n_said; i++) {
		if (strncmp(bench->db.said[i].sql, "INSERT INTO sbtest1 (id, k, c, pad) VALUES ", 43) == 0) {
			int n = rows_note(bench->db.said[i].sql, seen, 2500);

			rows += n;
			fewest = n < fewest ? n : fewest;
		}
	}
	cr_assert_eq(rows, 2500);
	cr_assert_eq(mariadb_count(&bench->db, "INSERT"), 3);
	cr_assert_eq(fewest, 500, "1000, 1000 and 500");
	cr_assert_eq(bench->progress_rows, 2500u);
	cr_assert_eq(bench->progress_of, 2500u);
	cr_assert_str_eq(bench->db.said[0].sql, "CREATE DATABASE IF NOT EXISTS `sbtest`");
	cr_assert_eq(mariadb_count(&bench->db, "CREATE TABLE sbtest1 (id INTEGER NOT NULL "), 1);
	cr_assert_str_eq(bench->db.said[bench->db.n_said - 1].sql, "CREATE INDEX k_1 ON sbtest1(k)");
	cr_assert_eq(bench->result.requests, 0u);
	bench_free(bench);
}

Test(oltp, the_old_list_has_the_old_table)
{
	struct bench *bench = bench_new(SL_LOAD_PREPARE);
	int at;

	bench->load.source.list = SL_OLTP_COMPLEX;
	bench->load.source.rows = 2;
	cr_assert_eq(bench_run(bench), 0, "%s", bench->err.msg);
	at = mariadb_find(&bench->db, "INSERT");
	cr_assert_str_eq(bench->db.said[at].sql,
			 "INSERT INTO sbtest (id, k, c, pad) VALUES "
			 "(1,0,' ','qqqqqqqqqqwwwwwwwwwweeeeeeeeeerrrrrrrrrrtttttttttt'),"
			 "(2,0,' ','qqqqqqqqqqwwwwwwwwwweeeeeeeeeerrrrrrrrrrtttttttttt')");
	cr_assert_eq(mariadb_count(&bench->db, "CREATE TABLE sbtest (id INTEGER UNSIGNED NOT NULL "), 1);
	cr_assert_eq(mariadb_count(&bench->db, "CREATE INDEX k ON sbtest(k)"), 1);
	bench_free(bench);
}

/* A transaction: BEGIN, 10 points, 4 ranges of four kinds, 2 UPDATEs, DELETE, INSERT, COMMIT. */
Test(oltp, a_transaction_has_sysbench_s_statements)
{
	static const struct {
		const char *begin;
		int count; /* of 10 transactions */
	} cases[] = {
	    {"BEGIN", 10},
	    {"SELECT c FROM sbtest1 WHERE id=?", 100},
	    {"SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?", 10},
	    {"SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c", 10},
	    {"SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?", 20}, /* of them 10 in the order of c */
	    {"SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ? ORDER BY c", 10},
	    {"UPDATE sbtest1 SET k=k+1 WHERE id=?", 10},
	    {"UPDATE sbtest1 SET c=? WHERE id=?", 10},
	    {"DELETE FROM sbtest1 WHERE id=?", 10},
	    {"INSERT INTO sbtest1 (id, k, c, pad) VALUES (?, ?, ?, ?)", 10},
	    {"COMMIT", 10},
	};
	struct bench *bench = bench_new(SL_LOAD_RUN);

	cr_assert_eq(bench_run(bench), 0, "%s", bench->err.msg);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		cr_assert_eq(mariadb_count(&bench->db, cases[i].begin), cases[i].count, "%s: %d",
			     cases[i].begin, mariadb_count(&bench->db, cases[i].begin));
	}
	cr_assert_eq(bench->result.requests, 10u);
	cr_assert_eq(bench->result.latency.count, 10u);
	cr_assert_eq(bench->result.ops[SL_LOAD_READ], 140u);
	cr_assert_eq(bench->result.ops[SL_LOAD_WRITE], 40u);
	cr_assert_eq(bench->result.ops[SL_LOAD_OTHER], 20u);
	cr_assert_eq(bench->result.errors, 0u);
	cr_assert_eq(mariadb_count(&bench->db, "DROP"), 0, "cleanup was not asked for");
	bench_free(bench);
}

static int32_t int_at(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return (int32_t)le32toh(value);
}

/* The parameters of the first execution: a byte for NULLs, 1, two bytes of type each, then the values. */
Test(oltp, statements_carry_the_key_the_range_and_the_values)
{
	struct bench *bench = bench_new(SL_LOAD_RUN);
	const struct mariadb_said *range, *delete, *insert, *update;
	int32_t first;

	bench->load.limits.max_requests = 1;
	cr_assert_eq(bench_run(bench), 0, "%s", bench->err.msg);
	range = &bench->db.said[mariadb_find(&bench->db, "SELECT c FROM sbtest1 WHERE id BETWEEN ? AND ?")];
	cr_assert_eq(range->param_bytes, 2u + 4 + 8);
	first = int_at(range->params + 6);
	cr_assert(first >= 1 && first <= 300);
	cr_assert_eq(int_at(range->params + 10), first + 99, "a range is of 100 rows");
	delete = &bench->db.said[mariadb_find(&bench->db, "DELETE")];
	insert = &bench->db.said[mariadb_find(&bench->db, "INSERT")];
	cr_assert_eq(delete->param_bytes, 2u + 2 + 4);
	/* key, k, c of 120 characters, pad of 60: sysbench's columns, eleven and five groups of digits. */
	cr_assert_eq(insert->param_bytes, 2u + 8 + 4 + 4 + 120 + 60);
	cr_assert_eq(int_at(insert->params + 10), int_at(delete->params + 4), "what was deleted comes back");
	cr_assert(int_at(insert->params + 14) >= 1 && int_at(insert->params + 14) <= 300);
	update = &bench->db.said[mariadb_find(&bench->db, "UPDATE sbtest1 SET c=? WHERE id=?")];
	cr_assert_eq(update->params[2], 254, "a string");
	cr_assert_eq(update->params[4], 3, "a number");
	cr_assert(int_at(update->params + update->param_bytes - 4) >= 1);
	bench_free(bench);
}

Test(oltp, a_deadlock_is_rolled_back_counted_and_another_one_is_drawn)
{
	struct bench *bench = bench_new(SL_LOAD_RUN);

	bench->db.refuse = "DELETE";
	bench->db.number = ER_LOCK_DEADLOCK;
	bench->db.refusals = 3;
	cr_assert_eq(bench_run(bench), 0, "%s", bench->err.msg);
	cr_assert_eq(bench->result.requests, 10u);
	cr_assert_eq(bench->result.errors, 3u);
	cr_assert_eq(mariadb_count(&bench->db, "ROLLBACK"), 3);
	cr_assert_eq(mariadb_count(&bench->db, "BEGIN"), 13);
	cr_assert_eq(mariadb_count(&bench->db, "COMMIT"), 10);
	cr_assert_eq(bench->result.ops[SL_LOAD_READ], 140u, "only of those that were done");
	bench_free(bench);
}

Test(oltp, another_refusal_ends_the_load_and_names_the_statement)
{
	struct bench *bench = bench_new(SL_LOAD_RUN);

	bench->db.refuse = "UPDATE sbtest1 SET k";
	bench->db.number = ER_RECORD_FILE_FULL;
	bench->db.refusals = 1;
	cr_assert_eq(bench_run(bench), -EIO);
	cr_assert_str_eq(bench->err.msg, "UPDATE sbtest1 SET k=k+1 WHERE id=?: MariaDB: no (error 1114)");
	cr_assert_eq(mariadb_count(&bench->db, "ROLLBACK"), 0);
	bench_free(bench);
}

Test(oltp, a_server_that_dies_is_reported_as_dead)
{
	struct bench *bench = bench_new(SL_LOAD_RUN);

	bench->db.die_at = "COMMIT";
	cr_assert_eq(bench_run(bench), -ECONNRESET);
	cr_assert_not_null(strstr(bench->err.msg, "did the server die?"), "%s", bench->err.msg);
	cr_assert_eq(bench->result.requests, 0u);
	bench_free(bench);
}

/* No timeout is given: an answer may take its time, up to 30 s. */
Test(oltp, without_a_timeout_answers_may_take_a_while)
{
	struct bench *bench = bench_new(SL_LOAD_RUN);

	bench->load.source.list = SL_OLTP_INDEX_ONLY;
	bench->load.limits.max_requests = 2;
	bench->db.delay_ns = 30 * MS;
	cr_assert_eq(bench_run(bench), 0, "%s", bench->err.msg);
	cr_assert_eq(bench->result.requests, 2u);
	cr_assert(bench->result.latency.min >= 30 * MS);
	cr_assert_eq(bench->result.ops[SL_LOAD_WRITE], 2u);
	cr_assert_eq(bench->result.ops[SL_LOAD_OTHER], 0u);
	bench_free(bench);
	cr_assert_eq(sl_db_timeout_ns(&(struct sl_db_config){0}), 30000 * MS);
	cr_assert_eq(sl_db_timeout_ns(&(struct sl_db_config){.timeout_ns = 1}), 1);
}

Test(oltp, all_stages_leave_nothing_behind)
{
	struct bench *bench = bench_new(ALL);

	bench->load.threads = 4;
	bench->load.limits.max_requests = 40;
	cr_assert_eq(bench_run(bench), 0, "%s", bench->err.msg);
	cr_assert_eq(bench->result.requests, 40u);
	cr_assert_str_eq(bench->db.said[bench->db.n_said - 1].sql, "DROP TABLE IF EXISTS `sbtest`.sbtest1");
	bench_free(bench);
}

/* A table that was there before is somebody's. */
Test(oltp, a_table_that_exists_is_neither_filled_nor_dropped)
{
	struct bench *bench = bench_new(ALL);

	bench->db.refuse = "CREATE TABLE";
	bench->db.number = ER_TABLE_EXISTS_ERROR;
	bench->db.refusals = 1;
	cr_assert_eq(bench_run(bench), -EEXIST);
	cr_assert_str_eq(bench->err.msg, "table sbtest.sbtest1 exists already; run \"oltp cleanup\" first");
	cr_assert_eq(mariadb_count(&bench->db, "INSERT"), 0);
	cr_assert_eq(mariadb_count(&bench->db, "DROP"), 0);
	bench_free(bench);
}

Test(oltp, a_table_that_cannot_be_filled_is_dropped)
{
	struct bench *bench = bench_new(SL_LOAD_PREPARE);

	bench->db.refuse = "INSERT";
	bench->db.number = ER_RECORD_FILE_FULL;
	bench->db.refusals = 1;
	cr_assert_eq(bench_run(bench), -EIO);
	cr_assert_not_null(strstr(bench->err.msg, "INSERT of rows: no (error 1114)"), "%s", bench->err.msg);
	cr_assert_eq(mariadb_count(&bench->db, "CREATE INDEX"), 0);
	cr_assert_eq(mariadb_count(&bench->db, "DROP TABLE"), 1);
	bench_free(bench);
}

static bool always(void)
{
	return true;
}

Test(oltp, ctrl_c_while_the_table_is_filled_drops_it_and_is_no_error)
{
	struct bench *bench = bench_new(ALL);

	bench->load.source.rows = 3000000; /* 3000 chunks: it is stopped before */
	bench->load.limits.stopped = always;
	cr_assert_eq(bench_run(bench), 0, "%s", bench->err.msg);
	cr_assert(bench->result.interrupted);
	cr_assert_eq(mariadb_count(&bench->db, "DROP TABLE"), 1);
	cr_assert(mariadb_count(&bench->db, "INSERT") < 3000);
	bench_free(bench);
}

Test(oltp, a_table_that_is_missing_or_too_small_is_told_with_the_remedy)
{
	struct bench *bench = bench_new(SL_LOAD_RUN);

	bench->db.rows = 299;
	cr_assert_eq(bench_run(bench), -ENOENT);
	cr_assert_str_eq(bench->err.msg, "table sbtest.sbtest1 has 299 rows, not 300; run \"oltp prepare\" "
					 "with --rows=300 first");
	bench_free(bench);
	bench = bench_new(SL_LOAD_RUN);
	bench->db.refuse = "SELECT MAX(id)";
	bench->db.number = ER_NO_SUCH_TABLE;
	bench->db.refusals = 1;
	cr_assert_eq(bench_run(bench), -ENOENT);
	cr_assert_not_null(strstr(bench->err.msg, "has 0 rows"), "%s", bench->err.msg);
	bench_free(bench);
	bench = bench_new(SL_LOAD_RUN);
	bench->db.refuse = "SELECT MAX(id)";
	bench->db.number = ER_ACCESS_DENIED_ERROR;
	bench->db.refusals = 1;
	cr_assert_eq(bench_run(bench), -EIO, "that is another matter");
	bench_free(bench);
}

Test(oltp, cleanup_alone_drops_what_is_there)
{
	struct bench *bench = bench_new(SL_LOAD_CLEANUP);

	cr_assert_eq(bench_run(bench), 0, "%s", bench->err.msg);
	cr_assert_eq(mariadb_count(&bench->db, "DROP TABLE"), 1);
	cr_assert_eq(bench->db.n_said, 1);
	bench_free(bench);
}

Test(oltp, an_open_loop_has_a_queue)
{
	struct bench *bench = bench_new(SL_LOAD_RUN);

	bench->load.rate = 1000;
	bench->load.constant = true;
	cr_assert_eq(bench_run(bench), 0, "%s", bench->err.msg);
	cr_assert_eq(bench->result.requests, 10u);
	cr_assert_eq(bench->result.queue.count, 10u);
	cr_assert(bench->result.elapsed_ns >= 9 * MS, "the tenth is due at 9 ms");
	bench_free(bench);
}

Test(oltp, figures_out_of_range_and_nobody_there_are_refused)
{
	struct sl_oltp_load load = {.db = {.host = "127.0.0.1", .port = 1, .user = "u", .database = "d"},
				    .stages = SL_LOAD_RUN,
				    .source = {.rows = 1},
				    .threads = 1};
	struct sl_load_result result;
	struct sl_err err = {0};

	cr_assert_eq(sl_load_result_init(&result), 0);
	for (uint32_t threads = 0; threads <= 1025; threads += 1025) {
		load.threads = threads;
		cr_assert_eq(sl_oltp_load_run(&load, &result, &err), -EINVAL, "%u threads", threads);
	}
	load.threads = 1024;
	cr_assert_eq(sl_oltp_load_run(&load, &result, &err), -ECONNREFUSED);
	cr_assert_not_null(strstr(err.msg, "cannot connect to MariaDB at 127.0.0.1:1 as u: "), "%s", err.msg);
	load.source.rows = 0;
	cr_assert_eq(sl_oltp_load_run(&load, &result, &err), -EINVAL);
	load.source.rows = 0x80000000u;
	cr_assert_eq(sl_oltp_load_run(&load, &result, &err), -EINVAL);
	load.source.rows = 0x7fffffffu;
	cr_assert_eq(sl_oltp_load_run(&load, &result, &err), -ECONNREFUSED);
	sl_load_result_fini(&result);
}
