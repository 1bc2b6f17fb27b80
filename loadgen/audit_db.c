/* Records in a table of MariaDB: a transaction for each. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "loadgen/audit_place.h"

#define TABLE "sloglab_audit"

struct db {
	struct sl_audit_place place;
	MYSQL *db;
	MYSQL_STMT *insert;
	uint64_t run, number;
};

static int db_put(struct sl_audit_place *place, uint64_t number, const void *buf, size_t bytes,
		  struct sl_err *err)
{
	struct db *db = (struct db *)place;

	db->number = number;
	if (mysql_stmt_send_long_data(db->insert, 2, buf, bytes) != 0 ||
	    mysql_stmt_execute(db->insert) != 0) {
		return sl_db_failed(mysql_stmt_errno(db->insert), mysql_stmt_error(db->insert), "INSERT",
				    err);
	}
	return 0;
}

static int rows_show(struct db *db, MYSQL_RES *rows, sl_audit_found_fn found, void *arg, struct sl_err *err)
{
	MYSQL_ROW row;
	int rc = 0;

	while (rc == 0 && (row = mysql_fetch_row(rows)) != NULL) {
		unsigned long *lengths = mysql_fetch_lengths(rows);

		if (row[0] && row[1]) {
			rc = found(arg, strtoull(row[0], NULL, 10), row[1], lengths[1], err);
		}
	}
	if (rc == 0 && mysql_errno(db->db) != 0) {
		rc = sl_db_failed(mysql_errno(db->db), mysql_error(db->db), "SELECT", err);
	}
	return rc;
}

static int db_scan(struct sl_audit_place *place, uint64_t run, size_t bytes, sl_audit_found_fn found,
		   void *arg, struct sl_err *err)
{
	struct db *db = (struct db *)place;
	MYSQL_RES *rows = NULL;
	char sql[160];
	int rc;

	(void)bytes;
	(void)snprintf(sql, sizeof(sql), "SELECT id, body FROM " TABLE " WHERE run = %" PRIu64 " ORDER BY id",
		       run);
	if (mysql_query(db->db, sql) != 0 || !(rows = mysql_use_result(db->db))) {
		return sl_db_failed(mysql_errno(db->db), mysql_error(db->db), "SELECT", err);
	}
	rc = rows_show(db, rows, found, arg, err);
	mysql_free_result(rows);
	return rc;
}

static void db_abort(struct sl_audit_place *place)
{
	(void)shutdown(mysql_get_socket(((struct db *)place)->db), SHUT_RDWR);
}

static void db_close(struct sl_audit_place *place)
{
	struct db *db = (struct db *)place;

	if (db->insert) {
		(void)mysql_stmt_close(db->insert);
	}
	sl_db_close(db->db);
	free(db);
}

static int db_make(struct db *db, const char *database, struct sl_err *err)
{
	static const char insert[] = "INSERT INTO " TABLE " (run, id, body) VALUES (?, ?, ?)";
	MYSQL_BIND binds[3] = {
	    {.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &db->run, .is_unsigned = 1},
	    {.buffer_type = MYSQL_TYPE_LONGLONG, .buffer = &db->number, .is_unsigned = 1},
	    {.buffer_type = MYSQL_TYPE_BLOB},
	};
	char sql[200];
	int rc;

	(void)snprintf(sql, sizeof(sql), "CREATE DATABASE IF NOT EXISTS `%.60s`", database);
	rc = sl_db_run(db->db, sql, err);
	if (rc == 0 && mysql_select_db(db->db, database) != 0) {
		rc = sl_db_failed(mysql_errno(db->db), mysql_error(db->db), "USE", err);
	}
	rc =
	    rc ? rc
	       : sl_db_run(db->db,
			   "CREATE TABLE IF NOT EXISTS " TABLE
			   " (run BIGINT UNSIGNED NOT NULL, id BIGINT UNSIGNED NOT NULL, body MEDIUMBLOB NOT "
			   "NULL, PRIMARY KEY (run, id)) ENGINE = InnoDB",
			   err);
	if (rc < 0) {
		return rc;
	}
	db->insert = mysql_stmt_init(db->db);
	if (!db->insert) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	if (mysql_stmt_prepare(db->insert, insert, sizeof(insert) - 1) != 0 ||
	    mysql_stmt_bind_param(db->insert, binds) != 0) {
		return sl_db_failed(mysql_stmt_errno(db->insert), mysql_stmt_error(db->insert), insert, err);
	}
	return 0;
}

int sl_audit_db_open(const struct sl_audit_target *target, bool make, uint64_t run,
		     struct sl_audit_place **ret, struct sl_err *err)
{
	static const struct sl_audit_place_ops ops = {db_put, db_scan, db_abort, db_close};
	struct db *db = calloc(1, sizeof(*db));
	int rc;

	if (!db) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	db->place.ops = &ops;
	db->run = run;
	rc = sl_db_open(&target->db, make, &db->db, err);
	if (rc == 0 && make) {
		rc = db_make(db, target->db.database, err);
	}
	if (rc < 0) {
		db_close(&db->place);
		return rc;
	}
	*ret = &db->place;
	return 0;
}
