/*
 * The stream of one client. Input is cut into pieces whose length is known before they come: an option's
 * head, its data, a request's head, its data, which goes straight to the request. Replies are a queue of
 * requests, each with a head and perhaps a payload, handed out as pointers: no reply is copied.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/nbd/bytes.h"
#include "sim/nbd/inner.h"

#define CONN_HELD_MAX 1024u               /* requests and unsent replies */
#define CONN_HELD_BYTES_MAX SL_NBD_MAX_IO /* one large request, or many small ones */
#define OPTION_HEAD_BYTES 16u

void sl_nbd_expect(struct sl_nbd_conn *conn, enum sl_nbd_phase phase, uint8_t *into, size_t want)
{
	conn->phase = phase;
	conn->into = into;
	conn->want = want;
	conn->have = 0;
}

struct sl_nbd_req *sl_nbd_req_new(struct sl_nbd_conn *conn)
{
	struct sl_nbd_req *req = sl_slab_get(&conn->nbd->reqs);

	memset(req, 0, sizeof(*req));
	req->nbd = conn->nbd;
	req->conn = conn;
	conn->held++;
	return req;
}

bool sl_nbd_req_payload(struct sl_nbd_req *req, uint32_t bytes)
{
	req->payload = malloc(bytes > 0 ? bytes : 1);
	if (!req->payload) {
		return false;
	}
	req->payload_bytes = bytes;
	req->conn->held_bytes += bytes;
	return true;
}

void sl_nbd_req_free(struct sl_nbd_req *req)
{
	if (req->conn) {
		req->conn->held--;
		req->conn->held_bytes -= req->payload ? req->payload_bytes : 0;
	}
	free(req->payload);
	sl_slab_put(&req->nbd->reqs, req);
}

void sl_nbd_reply(struct sl_nbd_conn *conn, struct sl_nbd_req *req)
{
	req->out_next = NULL;
	*conn->out_end = req;
	conn->out_end = &req->out_next;
	conn->owner.output(conn->owner.arg);
}

static int option_head(struct sl_nbd_conn *conn)
{
	uint32_t bytes = sl_nbd_get32(conn->small + 12);

	conn->option = sl_nbd_get32(conn->small + 8);
	if (sl_nbd_get64(conn->small) != SL_NBD_OPT_MAGIC) {
		return -EPROTO;
	}
	if (bytes > SL_NBD_MAX_OPTION) {
		/* Read past it; the refusal follows when it has come. */
		sl_nbd_expect(conn, SL_NBD_OPTION_DATA, NULL, bytes);
		return 0;
	}
	conn->option_data = malloc(bytes > 0 ? bytes : 1);
	if (!conn->option_data) {
		return -ENOMEM;
	}
	sl_nbd_expect(conn, SL_NBD_OPTION_DATA, conn->option_data, bytes);
	return 0;
}

static int option_data(struct sl_nbd_conn *conn)
{
	uint32_t bytes = (uint32_t)conn->want;
	int rc;

	sl_nbd_expect(conn, SL_NBD_OPTION_HEAD, conn->small, OPTION_HEAD_BYTES);
	if (!conn->option_data) {
		return conn->option == SL_NBD_OPT_EXPORT_NAME
			   ? -EPROTO
			   : sl_nbd_option_refuse(conn, SL_NBD_REP_ERR_TOO_BIG);
	}
	rc = sl_nbd_option(conn, bytes);
	free(conn->option_data);
	conn->option_data = NULL;
	return rc;
}

/* A whole piece is there. */
static int piece_done(struct sl_nbd_conn *conn)
{
	uint32_t flags;

	switch (conn->phase) {
	case SL_NBD_CLIENT_FLAGS:
		flags = sl_nbd_get32(conn->small);
		if (flags & ~(SL_NBD_FIXED_NEWSTYLE | SL_NBD_NO_ZEROES)) {
			return -EPROTO;
		}
		conn->no_zeroes = (flags & SL_NBD_NO_ZEROES) != 0;
		sl_nbd_expect(conn, SL_NBD_OPTION_HEAD, conn->small, OPTION_HEAD_BYTES);
		return 0;
	case SL_NBD_OPTION_HEAD:
		return option_head(conn);
	case SL_NBD_OPTION_DATA:
		return option_data(conn);
	case SL_NBD_REQUEST_HEAD:
		return sl_nbd_request(conn);
	case SL_NBD_REQUEST_DATA:
		sl_nbd_request_data(conn);
		break;
	}
	return 0;
}

/* Holds too much to begin another message; one that has begun is always taken to its end. */
static bool conn_full(const struct sl_nbd_conn *conn)
{
	return conn->have == 0 && (conn->phase == SL_NBD_OPTION_HEAD || conn->phase == SL_NBD_REQUEST_HEAD) &&
	       (conn->held >= CONN_HELD_MAX || conn->held_bytes >= (int64_t)CONN_HELD_BYTES_MAX);
}

/* Decodes until the input is used up or the client holds too much. Returns the bytes used. */
static size_t conn_decode(struct sl_nbd_conn *conn, const uint8_t *bytes, size_t size)
{
	size_t at = 0;

	while (!conn->ended && conn->error == 0) {
		size_t piece = conn->want - conn->have < size - at ? conn->want - conn->have : size - at;

		if (conn->have < conn->want && (at == size || conn_full(conn))) {
			break;
		}
		if (conn->into && piece > 0) {
			memcpy(conn->into + conn->have, bytes + at, piece);
		}
		conn->have += piece;
		at += piece;
		if (conn->have < conn->want) {
			break;
		}
		conn->error = piece_done(conn);
	}
	return conn->ended || conn->error ? size : at;
}

static int kept_append(struct sl_nbd_conn *conn, const uint8_t *bytes, size_t size)
{
	size_t left = conn->kept_bytes - conn->kept_at;
	uint8_t *grown;

	if (size == 0) {
		return 0;
	}
	grown = malloc(left + size);
	if (!grown) {
		return -ENOMEM;
	}
	if (left > 0) {
		memcpy(grown, conn->kept + conn->kept_at, left);
	}
	memcpy(grown + left, bytes, size);
	free(conn->kept);
	conn->kept = grown;
	conn->kept_at = 0;
	conn->kept_bytes = left + size;
	return 0;
}

static void kept_decode(struct sl_nbd_conn *conn)
{
	if (!conn->kept) {
		return;
	}
	conn->kept_at += conn_decode(conn, conn->kept + conn->kept_at, conn->kept_bytes - conn->kept_at);
	if (conn->kept_at == conn->kept_bytes) {
		free(conn->kept);
		conn->kept = NULL;
		conn->kept_at = 0;
		conn->kept_bytes = 0;
	}
}

static void conn_greet(struct sl_nbd_conn *conn)
{
	struct sl_nbd_req *req = sl_nbd_req_new(conn);
	uint8_t *at = sl_nbd_put64(req->head, SL_NBD_MAGIC);

	at = sl_nbd_put64(at, SL_NBD_OPT_MAGIC);
	at = sl_nbd_put16(at, SL_NBD_FIXED_NEWSTYLE | SL_NBD_NO_ZEROES);
	req->head_bytes = (uint32_t)(at - req->head);
	*conn->out_end = req;
	conn->out_end = &req->out_next;
}

struct sl_nbd_conn *sl_nbd_conn_new(struct sl_nbd *nbd, const struct sl_nbd_owner *owner)
{
	struct sl_nbd_conn *conn = calloc(1, sizeof(*conn));

	if (!conn) {
		return NULL;
	}
	conn->nbd = nbd;
	conn->owner = *owner;
	conn->out_end = &conn->out_first;
	sl_nbd_expect(conn, SL_NBD_CLIENT_FLAGS, conn->small, 4);
	conn_greet(conn);
	return conn;
}

void sl_nbd_conn_free(struct sl_nbd_conn *conn)
{
	if (!conn) {
		return;
	}
	for (int i = 0; i < conn->nbd->n_exports; i++) {
		for (struct sl_nbd_req *req = conn->nbd->exports[i]->first; req; req = req->next) {
			if (req->conn == conn) {
				req->conn = NULL;
			}
		}
	}
	while (conn->out_first) {
		struct sl_nbd_req *req = conn->out_first;

		conn->out_first = req->out_next;
		sl_nbd_req_free(req);
	}
	if (conn->writing) {
		sl_nbd_req_free(conn->writing);
	}
	free(conn->option_data);
	free(conn->kept);
	free(conn);
}

int sl_nbd_conn_input(struct sl_nbd_conn *conn, int64_t arrival_ns, const void *bytes, size_t size)
{
	size_t used = 0;

	conn->arrival_ns = arrival_ns;
	if (!conn->kept) {
		used = conn_decode(conn, bytes, size);
	}
	if (conn->error == 0 && used < size) {
		conn->error = kept_append(conn, (const uint8_t *)bytes + used, size - used);
	}
	return conn->error;
}

int sl_nbd_conn_error(const struct sl_nbd_conn *conn)
{
	return conn->error;
}

bool sl_nbd_conn_busy(const struct sl_nbd_conn *conn)
{
	return conn->kept || conn_full(conn);
}

bool sl_nbd_conn_ended(const struct sl_nbd_conn *conn)
{
	return conn->ended;
}

bool sl_nbd_conn_idle(const struct sl_nbd_conn *conn)
{
	return conn->held == (conn->writing ? 1u : 0u);
}

int sl_nbd_conn_export(const struct sl_nbd_conn *conn)
{
	return conn->export ? conn->export->number : -1;
}

int sl_nbd_conn_output(const struct sl_nbd_conn *conn, struct iovec *iov, int max)
{
	size_t skip = conn->out_sent;
	int n = 0;

	for (struct sl_nbd_req *req = conn->out_first; req && n + 2 <= max; req = req->out_next) {
		if (skip < req->head_bytes) {
			iov[n++] = (struct iovec){req->head + skip, req->head_bytes - skip};
			skip = 0;
		} else {
			skip -= req->head_bytes;
		}
		if (req->payload && req->payload_bytes > skip) {
			iov[n++] = (struct iovec){req->payload + skip, req->payload_bytes - skip};
		}
		skip = 0;
	}
	return n;
}

void sl_nbd_conn_consume(struct sl_nbd_conn *conn, size_t size)
{
	conn->out_sent += size;
	while (conn->out_first) {
		struct sl_nbd_req *req = conn->out_first;
		size_t bytes = req->head_bytes + (req->payload ? req->payload_bytes : 0);

		if (conn->out_sent < bytes) {
			break;
		}
		conn->out_sent -= bytes;
		conn->out_first = req->out_next;
		if (!conn->out_first) {
			conn->out_end = &conn->out_first;
		}
		sl_nbd_req_free(req);
	}
	conn->arrival_ns = sl_loop_now(conn->nbd->loop);
	kept_decode(conn);
}
