/* One connection with its prepared statements: runs transactions of sim/workload/oltp.h. Internal to loadgen.
 */
#ifndef SL_LOADGEN_OLTP_SESSION_H
#define SL_LOADGEN_OLTP_SESSION_H

#include "loadgen/db.h"
#include "sim/workload/oltp.h"

struct sl_oltp_session;

/* Table of a list: sysbench 0.4's "sbtest", 1.0's "sbtest1". */
const char *sl_oltp_table(enum sl_oltp_list list);

/* Connects and prepares; `client` numbers the streams of the values that are written. */
int sl_oltp_session_open(const struct sl_db_config *db, const struct sl_oltp_config *source, uint64_t seed,
			 int client, struct sl_oltp_session **ret, struct sl_err *err);
/* Accepts NULL. */
void sl_oltp_session_close(struct sl_oltp_session *session);

/*
 * Runs the statements one after the other, all rows fetched. -EAGAIN: the server gave up the transaction
 * (deadlock, lock wait) and it is rolled back: draw another one, as sysbench does. -ECONNRESET, -EIO.
 */
int sl_oltp_session_run(struct sl_oltp_session *session, const struct sl_oltp_txn *txn, struct sl_err *err);

/* From another thread: a wait for the server ends now, and the session is of no use any more. */
void sl_oltp_session_abort(struct sl_oltp_session *session);

#endif
