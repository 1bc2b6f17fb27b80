#include "loadgen/db.h"

#include <errmsg.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define TIMEOUT_DEFAULT_NS 30000000000

int sl_db_failed(unsigned number, const char *text, const char *what, struct sl_err *err)
{
	if (number == CR_SERVER_LOST || number == CR_SERVER_GONE_ERROR) {
		return sl_err_set(err, -ECONNRESET, "MariaDB: %s: %s (error %u); did the server die?", what,
				  text, number);
	}
	return sl_err_set(err, -EIO, "MariaDB: %s: %s (error %u)", what, text, number);
}

int64_t sl_db_timeout_ns(const struct sl_db_config *config)
{
	return config->timeout_ns != 0 ? config->timeout_ns : TIMEOUT_DEFAULT_NS;
}

int sl_db_open(const struct sl_db_config *config, bool server_only, MYSQL **ret, struct sl_err *err)
{
	unsigned timeout_s = (unsigned)((sl_db_timeout_ns(config) + 999999999) / 1000000000);
	unsigned protocol = config->socket ? MYSQL_PROTOCOL_SOCKET : MYSQL_PROTOCOL_TCP;
	MYSQL *db = mysql_init(NULL);
	char where[200];
	int rc;

	if (!db) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	(void)mysql_options(db, MYSQL_OPT_CONNECT_TIMEOUT, &timeout_s);
	(void)mysql_options(db, MYSQL_OPT_READ_TIMEOUT, &timeout_s);
	(void)mysql_options(db, MYSQL_OPT_WRITE_TIMEOUT, &timeout_s);
	(void)mysql_options(db, MYSQL_OPT_PROTOCOL, &protocol);
	if (mysql_real_connect(db, config->socket ? NULL : config->host, config->user, config->password,
			       server_only ? NULL : config->database, config->port, config->socket, 0)) {
		*ret = db;
		return 0;
	}
	if (config->socket) {
		(void)snprintf(where, sizeof(where), "%s", config->socket);
	} else {
		(void)snprintf(where, sizeof(where), "%s:%u", config->host, config->port);
	}
	rc = sl_err_set(err, -ECONNREFUSED, "cannot connect to MariaDB at %s as %s: %s (error %u)", where,
			config->user, mysql_error(db), mysql_errno(db));
	mysql_close(db);
	return rc;
}

void sl_db_close(MYSQL *db)
{
	if (db) {
		mysql_close(db);
	}
}

int sl_db_run(MYSQL *db, const char *sql, struct sl_err *err)
{
	MYSQL_RES *result;
	char what[60];

	(void)snprintf(what, sizeof(what), "%s", sql);
	if (mysql_query(db, sql) != 0) {
		return sl_db_failed(mysql_errno(db), mysql_error(db), what, err);
	}
	result = mysql_store_result(db);
	if (result) {
		mysql_free_result(result);
	} else if (mysql_errno(db) != 0) {
		return sl_db_failed(mysql_errno(db), mysql_error(db), what, err);
	}
	return 0;
}

int sl_db_number(MYSQL *db, const char *sql, uint64_t *ret, struct sl_err *err)
{
	MYSQL_RES *result;
	MYSQL_ROW row;

	*ret = 0;
	if (mysql_query(db, sql) != 0 || !(result = mysql_store_result(db))) {
		return sl_db_failed(mysql_errno(db), mysql_error(db), sql, err);
	}
	row = mysql_fetch_row(result);
	if (row && row[0]) {
		*ret = strtoull(row[0], NULL, 10);
	}
	mysql_free_result(result);
	return 0;
}
