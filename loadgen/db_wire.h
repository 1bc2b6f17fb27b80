/*
 * Executes prepared statements on a connection of libmariadb without its per-packet cost: the request is
 * built from bound variables, the answer's packets are counted and skipped in a large buffer. What a client
 * must do, and no more; sysbench looks at no row either. Connecting, preparing and everything else is
 * libmariadb's. Protocol: MariaDB's "COM_STMT_EXECUTE" and "Result Set Packets". Internal to loadgen.
 */
#ifndef SL_LOADGEN_DB_WIRE_H
#define SL_LOADGEN_DB_WIRE_H

#include "loadgen/db.h"

#define SL_DB_PARAMS_MAX 4

struct sl_db_param {
	const void *from; /* read at each execution: an int32_t, or characters */
	uint8_t bytes;    /* of the characters, at most 250; 0 = an int32_t */
};

struct sl_db_statement {
	uint32_t id; /* of the prepared statement */
	int params;
	struct sl_db_param param[SL_DB_PARAMS_MAX];
	bool types_sent; /* the server keeps them from the first execution on */
};

struct sl_db_wire {
	int fd; /* borrowed from the connection, which must be idle */
	int64_t timeout_ns;
	uint8_t *in; /* owned */
	size_t at, end;
};

/* -EPROTO: the connection is encrypted or compressed. */
int sl_db_wire_check(MYSQL *db, struct sl_err *err);
/* `fd` is borrowed. -ENOMEM. */
int sl_db_wire_init(struct sl_db_wire *wire, int fd, int64_t timeout_ns, struct sl_err *err);
void sl_db_wire_fini(struct sl_db_wire *wire);

/* Executes, and takes all rows off the wire. -EIO: the server refused, *ret_number is its error and the
 * connection goes on; -ECONNRESET, -ETIMEDOUT, -EPROTO: the connection is of no use any more. */
int sl_db_wire_execute(struct sl_db_wire *wire, struct sl_db_statement *statement, unsigned *ret_number,
		       struct sl_err *err);

#endif
