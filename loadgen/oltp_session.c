/* Parameters are bound once, to buffers of the session; a statement is a change of those and one round trip.
 * Results are taken off the wire row by row and not converted: nobody looks at them. */
#include "loadgen/oltp_session.h"

#include <errno.h>
#include <mysqld_error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "loadgen/oltp_row.h"

#define KINDS (SL_OLTP_COMMIT + 1)
#define PARAMS_MAX 4

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
	enum source params[PARAMS_MAX];
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
	MYSQL_STMT *statements[KINDS];
	struct sl_oltp values; /* draws k, and the digits from its stream */
	int32_t key, last, k;
	char c[SL_OLTP_C_BYTES], pad[SL_OLTP_PAD_BYTES];
};

const char *sl_oltp_table(enum sl_oltp_list list)
{
	return list == SL_OLTP_COMPLEX ? "sbtest" : "sbtest1";
}

static MYSQL_BIND bind_of(struct sl_oltp_session *session, enum source from)
{
	MYSQL_BIND bind = {.buffer_type = MYSQL_TYPE_LONG};

	switch (from) {
	case FROM_LAST:
		bind.buffer = &session->last;
		break;
	case FROM_K:
		bind.buffer = &session->k;
		break;
	case FROM_C:
		bind.buffer_type = MYSQL_TYPE_STRING;
		bind.buffer = session->c;
		bind.buffer_length = sizeof(session->c);
		break;
	case FROM_PAD:
		bind.buffer_type = MYSQL_TYPE_STRING;
		bind.buffer = session->pad;
		bind.buffer_length = sizeof(session->pad);
		break;
	case FROM_KEY:
		bind.buffer = &session->key;
		break;
	}
	return bind;
}

static int statement_failed(MYSQL_STMT *statement, const char *what, struct sl_err *err)
{
	return sl_db_failed(mysql_stmt_errno(statement), mysql_stmt_error(statement), what, err);
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
	MYSQL_STMT *statement = mysql_stmt_init(session->db);
	MYSQL_BIND binds[PARAMS_MAX];
	char sql[160];
	size_t params = 0;
	int rc = 0;

	if (!statement) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	session->statements[kind] = statement;
	for (; params < PARAMS_MAX && definition->params[params] != 0; params++) {
		binds[params] = bind_of(session, definition->params[params]);
	}
	statement_text(kind, table, sql, sizeof(sql));
	if (mysql_stmt_prepare(statement, sql, strlen(sql)) != 0 ||
	    (params > 0 && mysql_stmt_bind_param(statement, binds) != 0)) {
		rc = statement_failed(statement, sql, err);
	}
	return rc;
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
		if (session->statements[kind]) {
			(void)mysql_stmt_close(session->statements[kind]);
		}
	}
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

/* Takes all rows off the wire. */
static int rows_drop(MYSQL_STMT *statement)
{
	int rc;

	do {
		rc = mysql_stmt_fetch(statement);
	} while (rc == 0 || rc == MYSQL_DATA_TRUNCATED);
	return rc == MYSQL_NO_DATA ? 0 : -1;
}

static int txn_failed(struct sl_oltp_session *session, enum sl_oltp_kind kind, struct sl_err *err)
{
	MYSQL_STMT *statement = session->statements[kind];
	unsigned number = mysql_stmt_errno(statement);
	char sql[160];

	/* sysbench's --mysql-ignore-errors. */
	if (number == ER_LOCK_DEADLOCK || number == ER_LOCK_WAIT_TIMEOUT || number == ER_CHECKREAD) {
		if (mysql_rollback(session->db) == 0) {
			return -EAGAIN;
		}
		return sl_db_failed(mysql_errno(session->db), mysql_error(session->db), "ROLLBACK", err);
	}
	statement_text(kind, sl_oltp_table(session->values.config.list), sql, sizeof(sql));
	return statement_failed(statement, sql, err);
}

int sl_oltp_session_run(struct sl_oltp_session *session, const struct sl_oltp_txn *txn, struct sl_err *err)
{
	for (int i = 0; i < txn->count; i++) {
		const struct sl_oltp_statement *s = &txn->statements[i];
		MYSQL_STMT *statement = session->statements[s->kind];

		session->key = (int32_t)s->key;
		session->last = session->key + SL_OLTP_RANGE_SIZE - 1;
		values_set(session, s->kind);
		if (mysql_stmt_execute(statement) != 0 ||
		    (mysql_stmt_field_count(statement) > 0 && rows_drop(statement) != 0)) {
			return txn_failed(session, s->kind, err);
		}
	}
	return 0;
}

void sl_oltp_session_abort(struct sl_oltp_session *session)
{
	(void)shutdown(mysql_get_socket(session->db), SHUT_RDWR);
}
