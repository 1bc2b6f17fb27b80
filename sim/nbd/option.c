/* Haggling: what a client may ask before it picks an export. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/nbd/bytes.h"
#include "sim/nbd/inner.h"

#define STATUS_CONTEXT "base:allocation"
#define EXPORT_NAME_ZEROES 124u
#define BLOCK_MIN 1u
#define BLOCK_PREFERRED 4096u

/* Bounds-checked reading of an option's data; `bad` is sticky. */
struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static const uint8_t *take(struct cursor *in, size_t bytes)
{
	const uint8_t *at = in->at;

	if (in->bad || (size_t)(in->end - at) < bytes) {
		in->bad = true;
		return NULL;
	}
	in->at += bytes;
	return at;
}

static uint32_t take32(struct cursor *in)
{
	const uint8_t *at = take(in, 4);

	return at ? sl_nbd_get32(at) : 0;
}

static uint32_t take16(struct cursor *in)
{
	const uint8_t *at = take(in, 2);

	return at ? sl_nbd_get16(at) : 0;
}

/* A reply with room for `bytes` of data; NULL when out of memory. */
static struct sl_nbd_req *reply_new(struct sl_nbd_conn *conn, uint32_t code, uint32_t bytes)
{
	struct sl_nbd_req *req = sl_nbd_req_new(conn);
	uint8_t *at = req->head;

	if (!sl_nbd_req_payload(req, bytes)) {
		sl_nbd_req_free(req);
		return NULL;
	}
	at = sl_nbd_put64(at, SL_NBD_OPT_REPLY_MAGIC);
	at = sl_nbd_put32(at, conn->option);
	at = sl_nbd_put32(at, code);
	at = sl_nbd_put32(at, bytes);
	req->head_bytes = (uint32_t)(at - req->head);
	return req;
}

static int reply_plain(struct sl_nbd_conn *conn, uint32_t code)
{
	struct sl_nbd_req *req = reply_new(conn, code, 0);

	if (!req) {
		return -ENOMEM;
	}
	sl_nbd_reply(conn, req);
	return 0;
}

/* A reply of a number, `lead_bytes` long, and a text. */
static int reply_text(struct sl_nbd_conn *conn, uint32_t code, uint32_t lead, uint32_t lead_bytes,
		      const char *text)
{
	size_t length = strlen(text);
	struct sl_nbd_req *req = reply_new(conn, code, lead_bytes + (uint32_t)length);

	if (!req) {
		return -ENOMEM;
	}
	(void)(lead_bytes == 2 ? sl_nbd_put16(req->payload, lead) : sl_nbd_put32(req->payload, lead));
	memcpy(req->payload + lead_bytes, text, length);
	sl_nbd_reply(conn, req);
	return 0;
}

int sl_nbd_option_refuse(struct sl_nbd_conn *conn, uint32_t code)
{
	return reply_plain(conn, code);
}

static uint32_t export_flags(const struct sl_nbd_conn *conn, const struct sl_nbd_export *export)
{
	uint32_t flags = SL_NBD_HAS_FLAGS | SL_NBD_SEND_FLUSH | SL_NBD_SEND_FUA | SL_NBD_SEND_TRIM |
			 SL_NBD_SEND_WRITE_ZEROES | SL_NBD_CAN_MULTI_CONN;

	flags |= export->config.rotational ? SL_NBD_ROTATIONAL : 0;
	flags |= conn->structured ? SL_NBD_SEND_DF : 0;
	return flags;
}

static void transmission_begin(struct sl_nbd_conn *conn, struct sl_nbd_export *export)
{
	conn->export = export;
	if (conn->status_of != export) {
		conn->status_of = NULL;
	}
	sl_nbd_expect(conn, SL_NBD_REQUEST_HEAD, conn->small, SL_NBD_REQUEST_BYTES);
}

static int option_export_name(struct sl_nbd_conn *conn, uint32_t bytes)
{
	struct sl_nbd_export *export = sl_nbd_find(conn->nbd, conn->option_data, bytes);
	struct sl_nbd_req *req;
	uint8_t *at;

	if (!export) {
		return -EPROTO; /* this option has no other way to say no */
	}
	req = sl_nbd_req_new(conn);
	if (!conn->no_zeroes) {
		if (!sl_nbd_req_payload(req, EXPORT_NAME_ZEROES)) {
			sl_nbd_req_free(req);
			return -ENOMEM;
		}
		memset(req->payload, 0, EXPORT_NAME_ZEROES);
	}
	at = sl_nbd_put64(req->head, (uint64_t) export->config.size_bytes);
	at = sl_nbd_put16(at, export_flags(conn, export));
	req->head_bytes = (uint32_t)(at - req->head);
	sl_nbd_reply(conn, req);
	transmission_begin(conn, export);
	return 0;
}

static int option_abort(struct sl_nbd_conn *conn, uint32_t bytes)
{
	(void)bytes;
	conn->ended = true;
	return reply_plain(conn, SL_NBD_REP_ACK);
}

static int option_list(struct sl_nbd_conn *conn, uint32_t bytes)
{
	int rc = 0;

	if (bytes != 0) {
		return reply_plain(conn, SL_NBD_REP_ERR_INVALID);
	}
	for (int i = 0; rc == 0 && i < conn->nbd->n_exports; i++) {
		const char *name = conn->nbd->exports[i]->config.name;

		rc = reply_text(conn, SL_NBD_REP_SERVER, (uint32_t)strlen(name), 4, name);
	}
	return rc ? rc : reply_plain(conn, SL_NBD_REP_ACK);
}

static int info_export(struct sl_nbd_conn *conn, const struct sl_nbd_export *export)
{
	struct sl_nbd_req *req = reply_new(conn, SL_NBD_REP_INFO, 12);
	uint8_t *at;

	if (!req) {
		return -ENOMEM;
	}
	at = sl_nbd_put16(req->payload, SL_NBD_INFO_EXPORT);
	at = sl_nbd_put64(at, (uint64_t) export->config.size_bytes);
	(void)sl_nbd_put16(at, export_flags(conn, export));
	sl_nbd_reply(conn, req);
	return 0;
}

static int info_blocks(struct sl_nbd_conn *conn)
{
	struct sl_nbd_req *req = reply_new(conn, SL_NBD_REP_INFO, 14);
	uint8_t *at;

	if (!req) {
		return -ENOMEM;
	}
	at = sl_nbd_put16(req->payload, SL_NBD_INFO_BLOCK_SIZE);
	at = sl_nbd_put32(at, BLOCK_MIN);
	at = sl_nbd_put32(at, BLOCK_PREFERRED);
	(void)sl_nbd_put32(at, SL_NBD_MAX_IO);
	sl_nbd_reply(conn, req);
	return 0;
}

/* Each kind of information once, however often it is asked for. */
static int info_wanted(struct sl_nbd_conn *conn, const struct sl_nbd_export *export, unsigned wanted)
{
	int rc = info_export(conn, export);

	if (rc == 0 && (wanted & 1u << SL_NBD_INFO_NAME)) {
		rc = reply_text(conn, SL_NBD_REP_INFO, SL_NBD_INFO_NAME, 2, export->config.name);
	}
	if (rc == 0 && (wanted & 1u << SL_NBD_INFO_DESCRIPTION)) {
		rc =
		    reply_text(conn, SL_NBD_REP_INFO, SL_NBD_INFO_DESCRIPTION, 2, export->config.description);
	}
	if (rc == 0 && (wanted & 1u << SL_NBD_INFO_BLOCK_SIZE)) {
		rc = info_blocks(conn);
	}
	return rc;
}

/* INFO and GO. */
static int option_info(struct sl_nbd_conn *conn, uint32_t bytes)
{
	struct cursor in = {conn->option_data, conn->option_data + bytes, false};
	uint32_t length = take32(&in);
	const uint8_t *name = take(&in, length);
	uint32_t count = take16(&in);
	struct sl_nbd_export *export;
	unsigned wanted = 0;
	int rc;

	for (uint32_t i = 0; i < count && !in.bad; i++) {
		uint32_t kind = take16(&in);

		wanted |= kind <= SL_NBD_INFO_BLOCK_SIZE ? 1u << kind : 0;
	}
	if (in.bad || in.at != in.end) {
		return reply_plain(conn, SL_NBD_REP_ERR_INVALID);
	}
	export = sl_nbd_find(conn->nbd, name, length);
	if (!export) {
		return reply_plain(conn, SL_NBD_REP_ERR_UNKNOWN);
	}
	rc = info_wanted(conn, export, wanted);
	if (rc == 0) {
		rc = reply_plain(conn, SL_NBD_REP_ACK);
	}
	if (rc == 0 && conn->option == SL_NBD_OPT_GO) {
		transmission_begin(conn, export);
	}
	return rc;
}

static int option_structured(struct sl_nbd_conn *conn, uint32_t bytes)
{
	if (bytes != 0) {
		return reply_plain(conn, SL_NBD_REP_ERR_INVALID);
	}
	conn->structured = true;
	return reply_plain(conn, SL_NBD_REP_ACK);
}

static bool query_is(const uint8_t *query, size_t bytes, const char *text)
{
	return strlen(text) == bytes && memcmp(query, text, bytes) == 0;
}

/* LIST_META_CONTEXT and SET_META_CONTEXT: there is one context. */
static int option_contexts(struct sl_nbd_conn *conn, uint32_t bytes)
{
	struct cursor in = {conn->option_data, conn->option_data + bytes, false};
	bool list = conn->option == SL_NBD_OPT_LIST_META_CONTEXT;
	uint32_t length = take32(&in);
	const uint8_t *name = take(&in, length);
	uint32_t count = take32(&in);
	bool chosen = list && count == 0;
	struct sl_nbd_export *export;
	int rc = 0;

	for (uint32_t i = 0; i < count && !in.bad; i++) {
		uint32_t query_bytes = take32(&in);
		const uint8_t *query = take(&in, query_bytes);

		if (query && (query_is(query, query_bytes, STATUS_CONTEXT) ||
			      (list && query_is(query, query_bytes, "base:")))) {
			chosen = true;
		}
	}
	if (!list) {
		conn->status_of = NULL;
	}
	if (in.bad || in.at != in.end || !conn->structured) {
		return reply_plain(conn, SL_NBD_REP_ERR_INVALID);
	}
	export = sl_nbd_find(conn->nbd, name, length);
	if (!export) {
		return reply_plain(conn, SL_NBD_REP_ERR_UNKNOWN);
	}
	if (chosen) {
		conn->status_of = list ? conn->status_of : export;
		rc = reply_text(conn, SL_NBD_REP_META_CONTEXT, list ? 0 : 1, 4, STATUS_CONTEXT);
	}
	return rc ? rc : reply_plain(conn, SL_NBD_REP_ACK);
}

int sl_nbd_option(struct sl_nbd_conn *conn, uint32_t bytes)
{
	static const struct {
		uint32_t option;
		int (*run)(struct sl_nbd_conn *conn, uint32_t bytes);
	} options[] = {
	    {SL_NBD_OPT_EXPORT_NAME, option_export_name},
	    {SL_NBD_OPT_ABORT, option_abort},
	    {SL_NBD_OPT_LIST, option_list},
	    {SL_NBD_OPT_INFO, option_info},
	    {SL_NBD_OPT_GO, option_info},
	    {SL_NBD_OPT_STRUCTURED_REPLY, option_structured},
	    {SL_NBD_OPT_LIST_META_CONTEXT, option_contexts},
	    {SL_NBD_OPT_SET_META_CONTEXT, option_contexts},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (options[i].option == conn->option) {
			return options[i].run(conn, bytes);
		}
	}
	return reply_plain(conn, SL_NBD_REP_ERR_UNSUP);
}
