#include "loadgen/oltp_table.h"

#include <errno.h>
#include <mysqld_error.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadgen/oltp_row.h"
#include "loadgen/oltp_session.h"

#define CHUNK_ROWS 1000u
#define ROW_BYTES_MAX 240 /* "(id,k,'c','pad')," */
#define SQL_BYTES 600
#define NAP_NS 100000000
#define INDEX_TIMEOUT_NS 3600000000000 /* CREATE INDEX of a large table answers late */

struct fill {
	const struct sl_oltp_load *load;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	uint32_t next_row; /* begins the next chunk, from 0 */
	uint32_t done;
	uint32_t alive;
	bool ending;
	int failed;
	struct sl_err err;
};

/* A chunk's rows depend on its number alone. */
static size_t chunk_text(const struct sl_oltp_load *load, uint32_t first, uint32_t rows, char *text)
{
	bool plain = load->source.list == SL_OLTP_COMPLEX;
	struct sl_oltp values;
	char stream[40];
	size_t n =
	    (size_t)sprintf(text, "INSERT INTO %s (id, k, c, pad) VALUES ", sl_oltp_table(load->source.list));

	sl_oltp_init(&values, &load->source, load->seed, 0);
	(void)snprintf(stream, sizeof(stream), "oltp-rows-%u", first);
	sl_rng_init(&values.rng, load->seed, stream);
	for (uint32_t i = 0; i < rows; i++) {
		char c[SL_OLTP_C_BYTES], pad[SL_OLTP_PAD_BYTES];

		if (plain) { /* sysbench 0.4 */
			n += (size_t)sprintf(
			    text + n, "%s(%u,0,' ','qqqqqqqqqqwwwwwwwwwweeeeeeeeeerrrrrrrrrrtttttttttt')",
			    i > 0 ? "," : "", first + i + 1);
			continue;
		}
		sl_oltp_digits(&values.rng, c, sizeof(c));
		sl_oltp_digits(&values.rng, pad, sizeof(pad));
		n += (size_t)sprintf(text + n, "%s(%u,%u,'%.*s','%.*s')", i > 0 ? "," : "", first + i + 1,
				     sl_oltp_key(&values), (int)sizeof(c), c, (int)sizeof(pad), pad);
	}
	return n;
}

static bool chunk_take(struct fill *fill, uint32_t *ret_first, uint32_t *ret_rows)
{
	uint32_t rows = fill->load->source.rows;
	bool some;

	(void)pthread_mutex_lock(&fill->lock);
	some = !fill->ending && fill->next_row < rows;
	*ret_first = fill->next_row;
	*ret_rows = rows - fill->next_row < CHUNK_ROWS ? rows - fill->next_row : CHUNK_ROWS;
	fill->next_row += some ? *ret_rows : 0;
	(void)pthread_mutex_unlock(&fill->lock);
	return some;
}

static int chunks_send(struct fill *fill, MYSQL *db, char *text, struct sl_err *err)
{
	uint32_t first, rows;

	while (chunk_take(fill, &first, &rows)) {
		size_t n = chunk_text(fill->load, first, rows, text);

		if (mysql_real_query(db, text, n) != 0) {
			return sl_db_failed(mysql_errno(db), mysql_error(db), "INSERT of rows", err);
		}
		(void)pthread_mutex_lock(&fill->lock);
		fill->done += rows;
		(void)pthread_mutex_unlock(&fill->lock);
	}
	return 0;
}

static void *fill_main(void *arg)
{
	struct fill *fill = arg;
	char *text = malloc(SQL_BYTES + (size_t)CHUNK_ROWS * ROW_BYTES_MAX);
	struct sl_err err = {0};
	MYSQL *db = NULL;
	int rc = text ? 0 : sl_err_set(&err, -ENOMEM, "out of memory");

	(void)mysql_thread_init();
	rc = rc ? rc : sl_db_open(&fill->load->db, false, &db, &err);
	rc = rc ? rc : chunks_send(fill, db, text, &err);
	sl_db_close(db);
	free(text);
	mysql_thread_end();
	(void)pthread_mutex_lock(&fill->lock);
	if (rc < 0 && fill->failed == 0) {
		fill->failed = rc;
		fill->err = err;
		fill->ending = true;
	}
	fill->alive--;
	(void)pthread_cond_signal(&fill->changed);
	(void)pthread_mutex_unlock(&fill->lock);
	return NULL;
}

/* Until all threads are done; reports, and asks whether to stop. The lock is held. */
static void fill_watch(struct fill *fill)
{
	const struct sl_oltp_load *load = fill->load;

	while (fill->alive > 0) {
		struct timespec until;
		uint32_t done = fill->done;

		(void)clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += NAP_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (load->limits.stopped && load->limits.stopped()) {
			fill->ending = true;
		}
		(void)pthread_mutex_unlock(&fill->lock);
		if (load->progress) {
			load->progress(load->progress_arg, done, load->source.rows);
		}
		(void)pthread_mutex_lock(&fill->lock);
		if (fill->alive > 0) {
			(void)pthread_cond_timedwait(&fill->changed, &fill->lock, &until);
		}
	}
}

static int table_fill(const struct sl_oltp_load *load, struct sl_err *err)
{
	struct fill fill = {
	    .load = load, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
	pthread_t *threads = calloc(load->threads, sizeof(*threads));
	uint32_t started = 0;

	if (!threads) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	(void)pthread_mutex_lock(&fill.lock);
	for (; started < load->threads && fill.failed == 0; started++) {
		if (pthread_create(&threads[started], NULL, fill_main, &fill) != 0) {
			fill.failed = sl_err_set(&fill.err, -EAGAIN, "cannot start thread %u", started + 1);
			fill.ending = true;
			break;
		}
		fill.alive++;
	}
	fill_watch(&fill);
	(void)pthread_mutex_unlock(&fill.lock);
	for (uint32_t i = 0; i < started; i++) {
		(void)pthread_join(threads[i], NULL);
	}
	free(threads);
	if (fill.failed) {
		*err = fill.err;
		return fill.failed;
	}
	if (fill.done < load->source.rows) {
		return sl_err_set(err, -EINTR, "interrupted");
	}
	if (load->progress) {
		load->progress(load->progress_arg, fill.done, load->source.rows);
	}
	return 0;
}

static int table_create(const struct sl_oltp_load *load, MYSQL *db, struct sl_err *err)
{
	bool old = load->source.list == SL_OLTP_COMPLEX;
	const char *table = sl_oltp_table(load->source.list), *sign = old ? " UNSIGNED" : "";
	char sql[SQL_BYTES];
	int rc;

	(void)snprintf(sql, sizeof(sql), "CREATE DATABASE IF NOT EXISTS `%.60s`", load->db.database);
	rc = sl_db_run(db, sql, err);
	if (rc == 0 && mysql_select_db(db, load->db.database) != 0) {
		rc = sl_db_failed(mysql_errno(db), mysql_error(db), "USE", err);
	}
	(void)snprintf(
	    sql, sizeof(sql),
	    "CREATE TABLE %s (id INTEGER%s NOT NULL AUTO_INCREMENT, k INTEGER%s DEFAULT '0' NOT NULL, "
	    "c CHAR(120) DEFAULT '' NOT NULL, pad CHAR(60) DEFAULT '' NOT NULL, PRIMARY KEY (id)) "
	    "ENGINE = InnoDB",
	    table, sign, sign);
	rc = rc ? rc : sl_db_run(db, sql, err);
	if (rc < 0 && mysql_errno(db) == ER_TABLE_EXISTS_ERROR) {
		return sl_err_set(err, -EEXIST, "table %.60s.%s exists already; run \"oltp cleanup\" first",
				  load->db.database, table);
	}
	return rc;
}

int sl_oltp_table_make(const struct sl_oltp_load *load, struct sl_err *err)
{
	const char *table = sl_oltp_table(load->source.list);
	char sql[SQL_BYTES];
	struct sl_db_config patient = load->db;
	MYSQL *db;
	int rc;

	patient.timeout_ns = INDEX_TIMEOUT_NS;
	rc = sl_db_open(&patient, true, &db, err);
	if (rc < 0) {
		return rc;
	}
	rc = table_create(load, db, err);
	if (rc < 0) {
		sl_db_close(db);
		return rc;
	}
	rc = table_fill(load, err);
	(void)snprintf(sql, sizeof(sql), "CREATE INDEX k%s ON %s(k)",
		       load->source.list == SL_OLTP_COMPLEX ? "" : "_1", table);
	rc = rc ? rc : sl_db_run(db, sql, err);
	sl_db_close(db);
	if (rc < 0) {
		struct sl_err late = {0};

		(void)sl_oltp_table_drop(load, &late);
	}
	return rc;
}

int sl_oltp_table_drop(const struct sl_oltp_load *load, struct sl_err *err)
{
	char sql[SQL_BYTES];
	MYSQL *db;
	int rc = sl_db_open(&load->db, true, &db, err);

	if (rc < 0) {
		return rc;
	}
	(void)snprintf(sql, sizeof(sql), "DROP TABLE IF EXISTS `%.60s`.%s", load->db.database,
		       sl_oltp_table(load->source.list));
	rc = sl_db_run(db, sql, err);
	sl_db_close(db);
	return rc;
}

int sl_oltp_table_check(const struct sl_oltp_load *load, struct sl_err *err)
{
	const char *table = sl_oltp_table(load->source.list);
	char sql[SQL_BYTES];
	uint64_t rows = 0;
	MYSQL *db;
	int rc = sl_db_open(&load->db, true, &db, err);

	if (rc < 0) {
		return rc;
	}
	(void)snprintf(sql, sizeof(sql), "SELECT MAX(id) FROM `%.60s`.%s", load->db.database, table);
	rc = sl_db_number(db, sql, &rows, err);
	if (rc < 0 && mysql_errno(db) != ER_NO_SUCH_TABLE) {
		sl_db_close(db);
		return rc;
	}
	sl_db_close(db);
	if (rows < load->source.rows) {
		return sl_err_set(
		    err, -ENOENT,
		    "table %.60s.%s has %llu rows, not %u; run \"oltp prepare\" with --rows=%u first",
		    load->db.database, table, (unsigned long long)rows, load->source.rows, load->source.rows);
	}
	return 0;
}
