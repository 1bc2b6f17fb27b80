/* A connection to MariaDB. Internal to loadgen. */
#ifndef SL_LOADGEN_DB_H
#define SL_LOADGEN_DB_H

#include <mysql.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

struct sl_db_config {
	const char *host;   /* name or address; used when there is no socket */
	const char *socket; /* path of a Unix socket, or NULL */
	uint16_t port;
	const char *user, *password; /* password may be NULL */
	const char *database;
	int64_t timeout_ns; /* of connecting and of every answer; 0 = 30 s */
};

/* The timeout that holds: 30 s where the configuration has none. */
int64_t sl_db_timeout_ns(const struct sl_db_config *config);

/* Connects; without `database` when `server_only`. -ECONNREFUSED with one line that says where it tried. */
int sl_db_open(const struct sl_db_config *config, bool server_only, MYSQL **ret, struct sl_err *err);
/* Accepts NULL. */
void sl_db_close(MYSQL *db);

/* Sends a statement and drops its result. */
int sl_db_run(MYSQL *db, const char *sql, struct sl_err *err);
/* First column of the first row as a number; *ret = 0 when it is NULL or there is no row. */
int sl_db_number(MYSQL *db, const char *sql, uint64_t *ret, struct sl_err *err);

/* Turns MariaDB's error into ours: "MariaDB: WHAT: text". -ECONNRESET when the connection is lost, else -EIO.
 */
int sl_db_failed(unsigned number, const char *text, const char *what, struct sl_err *err);

#endif
