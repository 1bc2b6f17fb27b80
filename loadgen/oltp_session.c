/* Parameters are bound once, to variables of the session; a statement is a change of those and one round
 * trip. Rows are taken off the wire, and nobody looks at them. */
#include "loadgen/oltp_session.h"

#include <errno.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "loadgen/db_wire.h"
#include "loadgen/oltp_row.h"

#define KINDS (SL_OLTP_COMMIT + 1)

/* Where a parameter comes from. */
enum source {
	FROM_KEY = 1,
	FROM_LAST, /* of a range */
	FROM_K,
	FROM_C,
	FROM_PAD
};

struct definition {
	const char *before, *after; /* the table; `after` NULL = there is none */
	enum source params[SL_DB_PARAMS_MAX];
};

static const struct definition definitions[KINDS] = {
    [SL_OLTP_BEGIN] = {"BEGIN", NULL, {0}},
    [SL_OLTP_POINT] = {"SELECT c FROM ", " WHERE id=?", {FROM_KEY}},
    [SL_OLTP_RANGE] = {"SELECT c FROM ", " WHERE id BETWEEN ? AND ?", {FROM_KEY, FROM_LAST}},
    [SL_OLTP_SUM] = {"SELECT SUM(k) FROM ", " WHERE id BETWEEN ? AND ?", {FROM_KEY, FROM_LAST}},
    [SL_OLTP_ORDER] = {"SELECT c FROM ", " WHERE id BETWEEN ? AND ? ORDER BY c", {FROM_KEY, FROM_LAST}},
    [SL_OLTP_DISTINCT] = {"SELECT DISTINCT c FROM ",
			  " WHERE id BETWEEN ? AND ? ORDER BY c",
			  {FROM_KEY, FROM_LAST}},
    [SL_OLTP_UPDATE_INDEX] = {"UPDATE ", " SET k=k+1 WHERE id=?", {FROM_KEY}},
    [SL_OLTP_UPDATE] = {"UPDATE ", " SET c=? WHERE id=?", {FROM_C, FROM_KEY}},
    [SL_OLTP_DELETE] = {"DELETE FROM ", " WHERE id=?", {FROM_KEY}},
    [SL_OLTP_INSERT] = {"INSERT INTO ",
			" (id, k, c, pad) VALUES (?, ?, ?, ?)",
			{FROM_KEY, FROM_K, FROM_C, FROM_PAD}},
    [SL_OLTP_COMMIT] = {"COMMIT", NULL, {0}},
};

struct sl_oltp_session {
	MYSQL *db;
	MYSQL_STMT *prepared[KINDS];
	struct sl_db_wire wire;
	struct sl_db_statement statements[KINDS];
	struct sl_oltp values; /* draws k, and the digits from its stream */
	int32_t key, last, k;
	char c[SL_OLTP_C_BYTES], pad[SL_OLTP_PAD_BYTES];
};

const char *sl_oltp_table(enum sl_oltp_list list)
{
	return list == SL_OLTP_COMPLEX ? "sbtest" : "sbtest1";
}

static struct sl_db_param param_of(const struct sl_oltp_session *session, enum source from)
{
	switch (from) {
	case FROM_LAST:
		return (struct sl_db_param){&session->last, 0};
	case FROM_K:
		return (struct sl_db_param){&session->k, 0};
	case FROM_C:
		return (struct sl_db_param){session->c, sizeof(session->c)};
	case FROM_PAD:
		return (struct sl_db_param){session->pad, sizeof(session->pad)};
	case FROM_KEY:
		break;
	}
	return (struct sl_db_param){&session->key, 0};
}

static void statement_text(enum sl_oltp_kind kind, const char *table, char *buf, size_t size)
{
	const struct definition *definition = &definitions[kind];

	(void)snprintf(buf, size, "%s%s%s", definition->before, definition->after ? table : "",
		       definition->after ? definition->after : "");
}

static int statement_prepare(struct sl_oltp_session *session, enum sl_oltp_kind kind, const char *table,
			     struct sl_err *err)
{
	const struct definition *definition = &definitions[kind];
	struct sl_db_statement *statement = &session->statements[kind];
	MYSQL_STMT *prepared = mysql_stmt_init(session->db);
	char sql[160];

	if (!prepared) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	session->prepared[kind] = prepared;
	statement_text(kind, table, sql, sizeof(sql));
	if (mysql_stmt_prepare(prepared, sql, strlen(sql)) != 0) {
		return sl_db_failed(mysql_stmt_errno(prepared), mysql_stmt_error(prepared), sql, err);
	}
	statement->id = (uint32_t)prepared->stmt_id;
	for (; statement->params < SL_DB_PARAMS_MAX && definition->params[statement->params] != 0;
	     statement->params++) {
		statement->param[statement->params] =
		    param_of(session, definition->params[statement->params]);
	}
	return 0;
}

int sl_oltp_session_open(const struct sl_db_config *db, const struct sl_oltp_config *source, uint64_t seed,
			 int client, struct sl_oltp_session **ret, struct sl_err *err)
{
	struct sl_oltp_session *session = calloc(1, sizeof(*session));
	char stream[40];
	int rc;

	if (!session) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	sl_oltp_init(&session->values, source, seed, client);
	(void)snprintf(stream, sizeof(stream), "oltp-values-%d", client);
	sl_rng_init(&session->values.rng, seed, stream);
	rc = sl_db_open(db, false, &session->db, err);
	for (int kind = 0; kind < KINDS && rc == 0; kind++) {
		rc = statement_prepare(session, (enum sl_oltp_kind)kind, sl_oltp_table(source->list), err);
	}
	rc = rc ? rc : sl_db_wire_check(session->db, err);
	rc = rc ? rc
		: sl_db_wire_init(&session->wire, mysql_get_socket(session->db), sl_db_timeout_ns(db), err);
	if (rc < 0) {
		sl_oltp_session_close(session);
		return rc;
	}
	*ret = session;
	return 0;
}

void sl_oltp_session_close(struct sl_oltp_session *session)
{
	if (!session) {
		return;
	}
	for (int kind = 0; kind < KINDS; kind++) {
		if (session->prepared[kind]) {
			(void)mysql_stmt_close(session->prepared[kind]);
		}
	}
	sl_db_wire_fini(&session->wire);
	sl_db_close(session->db);
	free(session);
}

/* The values that a statement writes, by the rules of its sysbench. */
static void values_set(struct sl_oltp_session *session, enum sl_oltp_kind kind)
{
	static const char pad[] = "aaaaaaaaaaffffffffffrrrrrrrrrreeeeeeeeeeyyyyyyyyyy";
	struct sl_oltp *values = &session->values;

	if (kind == SL_OLTP_UPDATE) {
		sl_oltp_digits(&values->rng, session->c, sizeof(session->c));
	} else if (kind == SL_OLTP_INSERT && values->config.list != SL_OLTP_COMPLEX) {
		session->k = (int32_t)sl_oltp_key(values);
		sl_oltp_digits(&values->rng, session->c, sizeof(session->c));
		sl_oltp_digits(&values->rng, session->pad, sizeof(session->pad));
	} else if (kind == SL_OLTP_INSERT) {
		/* sysbench 0.4: 0, ' ' and these letters; CHAR drops what spaces follow. */
		session->k = 0;
		memset(session->c, ' ', sizeof(session->c));
		memset(session->pad, ' ', sizeof(session->pad));
		memcpy(session->pad, pad, sizeof(pad) - 1);
	}
}

/* The server refused a statement. What it gave up, it gave up as a whole or is told to. */
static int txn_failed(struct sl_oltp_session *session, enum sl_oltp_kind kind, unsigned number,
		      struct sl_err *err)
{
	char sql[160];

	/* sysbench's --mysql-ignore-errors. */
	if (number == ER_LOCK_DEADLOCK || number == ER_LOCK_WAIT_TIMEOUT || number == ER_CHECKREAD) {
		if (mysql_rollback(session->db) == 0) {
			return -EAGAIN;
		}
		return sl_db_failed(mysql_errno(session->db), mysql_error(session->db), "ROLLBACK", err);
	}
	statement_text(kind, sl_oltp_table(session->values.config.list), sql, sizeof(sql));
	return sl_err_wrap(err, "%s", sql);
}

int sl_oltp_session_run(struct sl_oltp_session *session, const struct sl_oltp_txn *txn, struct sl_err *err)
{
	for (int i = 0; i < txn->count; i++) {
		const struct sl_oltp_statement *s = &txn->statements[i];
		unsigned number;
		int rc;

		session->key = (int32_t)s->key;
		session->last = session->key + SL_OLTP_RANGE_SIZE - 1;
		values_set(session, s->kind);
		rc = sl_db_wire_execute(&session->wire, &session->statements[s->kind], &number, err);
		if (rc < 0) {
			return rc == -EIO ? txn_failed(session, s->kind, number, err) : rc;
		}
	}
	return 0;
}

void sl_oltp_session_abort(struct sl_oltp_session *session)
{
	(void)shutdown(mysql_get_socket(session->db), SHUT_RDWR);
}
