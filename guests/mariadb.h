/* A MariaDB server of our own: data folder, configuration from the scenario's guest, unix socket, no network.
 */
#ifndef SL_GUESTS_MARIADB_H
#define SL_GUESTS_MARIADB_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

#include "guests/chain.h"
#include "guests/process.h"
#include "sim/box/box.h"

/* Zero-initialise. */
struct sl_mariadb {
	const char *run_dir;  /* for configuration, log and socket */
	const char *data_dir; /* on the disk that is measured */
	const struct sl_box *box;
	int flush_at_commit;         /* innodb_flush_log_at_trx_commit */
	struct sl_patience patience; /* the timeouts are its own */
	/* private */
	char config[PATH_MAX], socket[PATH_MAX];
	struct sl_process server;
};

/* Makes an empty data folder whose user root needs no password. Needs mariadb-install-db (mariadb-server). */
int sl_mariadb_install(struct sl_mariadb *db, struct sl_err *err);
/* Runs SQL in `database` as root. */
int sl_mariadb_sql(struct sl_mariadb *db, const char *database, const char *sql, struct sl_err *err);
/* The same, and the last word of what it answers as a number. -EIO when that is none. */
int sl_mariadb_number(struct sl_mariadb *db, const char *sql, double *ret, struct sl_err *err);
/* Adds the server; up when it answers at db->socket. */
void sl_mariadb_part(struct sl_mariadb *db, struct sl_chain *chain);

struct sl_mariadb_limits {
	const struct sl_box *box;
	int flush_at_commit; /* innodb_flush_log_at_trx_commit */
	double dilate;       /* of its timers; 0 = 1 */
};
/* What the scenario says of a database, an option each between `before` and `after`. What the model knows of
 * is set; what would write behind its back (binary log, dumps of the buffer pool) is off. */
void sl_mariadb_settings(const struct sl_mariadb_limits *limits, const char *before, const char *after,
			 FILE *out);

#endif
