/*
 * A connection: record marking, dispatch of calls, and their completion.
 *
 * Whole records are decoded where they lie in the caller's bytes; only a record's unfinished part, the
 * fragments of a record in pieces, and what arrives while the connection is busy are copied. Replies go to
 * one output buffer; `output` is called once per instant, by a timer, so that the replies of one instant
 * leave together.
 */
#include "sim/nfs3/numbers.h"
#include "sim/nfs3/server.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/nfs3/handle.h"

#define MARK_BYTES 4u
#define MARK_LAST 0x80000000u
/* Replies made or promised before calls are left undecoded: of a connection, and of all, each having its
 * share. One READ or READDIR of each may go beyond. */
#define OUT_MAX (4u << 20)
#define OUT_ALL_MAX (64u << 20)
/* Input kept for a caller that goes on feeding a busy connection. */
#define IN_MAX (16u << 20)

static void notify_fire(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_nfs3_conn *conn = sl_container_of(timer, struct sl_nfs3_conn, notify);

	(void)now_ns;
	conn->output(conn->output_arg); /* may free the connection */
}

static void conn_notify(struct sl_nfs3_conn *conn)
{
	struct sl_loop *loop = conn->srv->config.loop;

	if (!conn->notify.armed) {
		sl_loop_arm(loop, &conn->notify, sl_loop_now(loop));
	}
}

static void conn_fail(struct sl_nfs3_conn *conn, int rc)
{
	conn->failed = rc;
	conn_notify(conn);
}

/* Opens a reply record with room for `size` bytes behind the RPC header. */
static bool reply_begin(struct sl_nfs3_conn *conn, size_t size, struct sl_xdr_out *out)
{
	uint8_t *at = sl_buf_reserve(&conn->out, SL_RPC_REPLY_MAX + size);

	if (!at) {
		conn_fail(conn, -ENOMEM);
		return false;
	}
	out->at = at + MARK_BYTES;
	out->end = at + SL_RPC_REPLY_MAX + size;
	out->bad = false;
	return true;
}

static void reply_end(struct sl_nfs3_conn *conn, const struct sl_xdr_out *out)
{
	uint8_t *mark = conn->out.data + conn->out.tail;

	if (out->bad) {
		/* A result larger than its procedure promised: half a reply must never leave. */
		conn_fail(conn, -EPROTO);
		return;
	}
	sl_put_be32(mark, MARK_LAST | (uint32_t)(out->at - mark - MARK_BYTES));
	conn->out.tail += (size_t)(out->at - mark);
	conn_notify(conn);
}

/* A whole reply that lies elsewhere. */
static void bytes_reply(struct sl_nfs3_conn *conn, const void *bytes, size_t size)
{
	struct sl_xdr_out out;

	if (reply_begin(conn, size, &out)) {
		memcpy(out.at, bytes, size);
		out.at += size;
		reply_end(conn, &out);
	}
}

static void call_encode(struct sl_nfs3_call *call, struct sl_xdr_out *out)
{
	sl_rpc_accept(out, call->xid, SL_RPC_SUCCESS);
	call->proc->encode(call->srv, call, out);
}

/* The answer is kept, for a client that has lost its connection and asks again. */
static void call_reply_kept(struct sl_nfs3_conn *conn, struct sl_nfs3_call *call)
{
	uint8_t bytes[SL_DRC_REPLY_MAX];
	struct sl_xdr_out out = {.at = bytes, .end = bytes + sizeof(bytes)};
	size_t size;

	call_encode(call, &out);
	size = (size_t)(out.at - bytes);
	if (out.bad) {
		sl_drc_forget(call->srv->drc, call->kept);
	} else {
		sl_drc_finish(call->srv->drc, call->kept, bytes, size);
	}
	if (conn && out.bad) {
		conn_fail(conn, -EPROTO);
	} else if (conn) {
		bytes_reply(conn, bytes, size);
	}
}

static void call_reply(struct sl_nfs3_conn *conn, struct sl_nfs3_call *call)
{
	struct sl_xdr_out out;

	if (reply_begin(conn, SL_CALL_RESULT_MAX + call->bulk_bytes, &out)) {
		call_encode(call, &out);
		reply_end(conn, &out);
	}
}

/* A reply without results. `verdict` SL_RPC_GOOD: accepted, with this status. */
static void plain_reply(struct sl_nfs3_conn *conn, uint32_t xid, enum sl_rpc_verdict verdict,
			enum sl_rpc_accept accept)
{
	struct sl_xdr_out out;

	if (!reply_begin(conn, 0, &out)) {
		return;
	}
	if (verdict == SL_RPC_GOOD) {
		sl_rpc_accept(&out, xid, accept);
	} else {
		sl_rpc_deny(&out, xid, verdict);
	}
	reply_end(conn, &out);
}

static void mismatch_reply(struct sl_nfs3_conn *conn, uint32_t xid, uint32_t version)
{
	struct sl_xdr_out out;

	if (reply_begin(conn, 0, &out)) {
		sl_rpc_mismatch(&out, xid, version, version);
		reply_end(conn, &out);
	}
}

static void conn_resume(struct sl_nfs3_conn *conn);

static void conn_unlink(struct sl_nfs3_conn *conn, struct sl_nfs3_call *call)
{
	*(call->prev ? &call->prev->next : &conn->calls) = call->next;
	if (call->next) {
		call->next->prev = call->prev;
	}
	conn->in_flight--;
	conn->promised -= call->bulk_bytes;
}

static void call_count(struct sl_nfs3_call *call)
{
	struct sl_nfs3_proc_stats *stats = call->stats;

	if (!stats) {
		return;
	}
	stats->calls++;
	if (call->status != 0) {
		stats->errors++;
		return;
	}
	stats->bytes += call->req.op == SL_STORE_READ || call->req.op == SL_STORE_WRITE ? call->count : 0;
	sl_hist_add(&stats->latency, call->done_ns - call->arrival_ns);
}

static void call_done(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_nfs3_call *call = sl_container_of(timer, struct sl_nfs3_call, req.done);
	struct sl_nfs3_conn *conn = call->conn;
	struct sl_nfs3 *srv = call->srv;

	call->done_ns = now_ns;
	srv->in_service--;
	if (conn) {
		conn_unlink(conn, call);
	}
	if (call->kept) {
		call_reply_kept(conn, call);
	} else if (conn) {
		call_reply(conn, call);
	}
	call_count(call);
	sl_nfs3_call_put(srv, call);
	if (conn) {
		conn_resume(conn);
	}
}

static void call_submit(struct sl_nfs3_conn *conn, struct sl_nfs3_call *call)
{
	struct sl_nfs3 *srv = conn->srv;

	call->next = conn->calls;
	if (conn->calls) {
		conn->calls->prev = call;
	}
	conn->calls = call;
	conn->in_flight++;
	conn->promised += call->bulk_bytes;
	srv->in_service++;
	call->req.done.fire = call_done;
	call->req.op = call->status == 0 ? call->req.op : SL_STORE_GETATTR;
	call->req.file = call->object.ino;
	call->req.tag = srv->next_tag++;
	sl_store_submit(srv->config.store, sl_loop_now(srv->config.loop), &call->req);
}

/* Asked before? Then the answer of that time, or nothing while it is still being worked out: true. Else the
 * slot where the answer is to be kept (0: nowhere). */
static bool call_is_duplicate(struct sl_nfs3_conn *conn, uint32_t xid, const uint8_t *bytes, size_t size,
			      uint32_t *ret_slot)
{
	struct sl_nfs3 *srv = conn->srv;
	struct sl_drc_key key = {.client = conn->client, .xid = xid, .size = (uint32_t)size};
	enum sl_drc_verdict verdict;
	const void *reply;

	key.checksum =
	    sl_siphash(srv->config.handle_key, bytes, size < SL_DRC_CALL_MAX ? size : SL_DRC_CALL_MAX);
	verdict = sl_drc_ask(srv->drc, &key, ret_slot);
	if (verdict == SL_DRC_NEW) {
		return false;
	}
	srv->stats.duplicates++;
	if (verdict == SL_DRC_ANSWERED) {
		reply = sl_drc_answer(srv->drc, *ret_slot, &size);
		bytes_reply(conn, reply, size);
	}
	return true;
}

static void object_see(struct sl_nfs3 *srv, struct sl_nfs3_object *object)
{
	struct sl_tree *tree = srv->config.tree;

	object->seen = object->ino != 0 && tree->ops->getattr(tree, object->ino, &object->after) == 0;
}

/* Will its reply say that something is stable? */
static bool call_is_stable(const struct sl_nfs3_call *call)
{
	return call->status == 0 && call->proc->changes &&
	       (call->req.op != SL_STORE_WRITE || call->req.stable != SL_UNSTABLE);
}

/* The arguments of a known procedure are next in `in`. 0 or -ENOMEM. */
static int call_start(struct sl_nfs3_conn *conn, const struct sl_rpc_call *rpc,
		      const struct sl_nfs3_proc *proc, struct sl_xdr_in *in, uint32_t kept)
{
	struct sl_nfs3 *srv = conn->srv;
	struct sl_nfs3_call *call = sl_nfs3_call_get(srv);

	if (!call) {
		if (kept) {
			sl_drc_forget(srv->drc, kept);
		}
		return -ENOMEM;
	}
	call->conn = conn;
	call->xid = rpc->xid;
	call->cred = &rpc->cred;
	call->kept = kept;
	call->proc = proc;
	call->stats = rpc->program == SL_PROG_NFS ? &srv->stats.procs[rpc->procedure] : NULL;
	call->arrival_ns = conn->arrival_ns;
	call->req.op = proc->op;
	if (proc->start && !proc->start(srv, call, in)) {
		srv->stats.garbage++;
		plain_reply(conn, rpc->xid, SL_RPC_GOOD, SL_RPC_GARBAGE_ARGS);
		if (kept) {
			sl_drc_forget(srv->drc, kept);
		}
		sl_nfs3_call_put(srv, call);
		return 0;
	}
	if (proc->changes) {
		object_see(srv, &call->object);
		object_see(srv, &call->to);
	}
	if (srv->config.tree->settles && !srv->settle.armed && call_is_stable(call)) {
		sl_loop_arm(srv->config.loop, &srv->settle, sl_loop_now(srv->config.loop));
	}
	if (proc->timed) {
		call_submit(conn, call);
		return 0;
	}
	call->done_ns = call->arrival_ns;
	call_reply(conn, call);
	call_count(call);
	sl_nfs3_call_put(srv, call);
	return 0;
}

static const struct sl_nfs3_program *program_find(uint32_t number)
{
	static const struct sl_nfs3_program *const programs[] = {&sl_nfs_v3, &sl_mount_v3, &sl_portmap_v2};
	size_t i;

	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (programs[i]->number == number) {
			return programs[i];
		}
	}
	return NULL;
}

/* One whole record. 0 or -ENOMEM. */
static int record_take(struct sl_nfs3_conn *conn, const uint8_t *bytes, size_t size)
{
	struct sl_nfs3_stats *stats = &conn->srv->stats;
	struct sl_xdr_in in = {.at = bytes, .end = bytes + size};
	struct sl_rpc_call rpc;
	enum sl_rpc_verdict verdict = sl_rpc_decode(&in, &rpc);
	const struct sl_nfs3_program *program;
	const struct sl_nfs3_proc *proc;

	if (verdict == SL_RPC_IGNORE) {
		stats->garbage++;
		return 0;
	}
	stats->calls++;
	conn->taken++;
	program = program_find(rpc.program);
	proc = program && rpc.procedure < program->proc_count ? program->procs[rpc.procedure] : NULL;
	if (verdict == SL_RPC_GOOD && program && rpc.version == program->version && proc) {
		uint32_t kept = 0;

		if (proc->once && call_is_duplicate(conn, rpc.xid, bytes, size, &kept)) {
			return 0;
		}
		sl_cred_squash(&rpc.cred, &conn->srv->config);
		return call_start(conn, &rpc, proc, &in, kept);
	}
	stats->refused++;
	if (verdict == SL_RPC_GOOD && program && rpc.version != program->version) {
		mismatch_reply(conn, rpc.xid, program->version);
	} else {
		plain_reply(conn, rpc.xid, verdict, program ? SL_RPC_PROC_UNAVAIL : SL_RPC_PROG_UNAVAIL);
	}
	return 0;
}

/* One fragment whose bytes are all here. 0 or -ENOMEM. */
static int fragment_take(struct sl_nfs3_conn *conn, const uint8_t *bytes, size_t size, bool last)
{
	int rc;

	if (last && sl_buf_size(&conn->record) == 0) {
		return record_take(conn, bytes, size);
	}
	rc = sl_buf_append(&conn->record, bytes, size);
	if (rc == 0 && last) {
		rc = record_take(conn, sl_buf_head(&conn->record), sl_buf_size(&conn->record));
		sl_buf_consume(&conn->record, sl_buf_size(&conn->record));
	}
	return rc;
}

/* Takes whole fragments from the front while the connection is not busy; conn->need says how many bytes from
 * *ret_used on the next one wants. */
static int conn_parse(struct sl_nfs3_conn *conn, const uint8_t *bytes, size_t size, size_t *ret_used)
{
	size_t used = 0;
	int rc = 0;

	conn->need = MARK_BYTES;
	while (rc == 0 && size - used >= MARK_BYTES && !sl_nfs3_conn_busy(conn)) {
		uint32_t mark = sl_be32(bytes + used);
		size_t length = mark & ~MARK_LAST;

		if (length + sl_buf_size(&conn->record) > SL_NFS3_MAX_RECORD) {
			rc = -EPROTO;
			break;
		}
		if (size - used - MARK_BYTES < length) {
			conn->need = MARK_BYTES + length;
			break;
		}
		rc = fragment_take(conn, bytes + used + MARK_BYTES, length, (mark & MARK_LAST) != 0);
		used += MARK_BYTES + length;
		/* A reply that could not be written ends the stream too. */
		rc = rc == 0 ? conn->failed : rc;
	}
	*ret_used = used;
	return rc;
}

/* Decodes what is kept in conn->in. */
static int conn_drain(struct sl_nfs3_conn *conn)
{
	size_t used;
	int rc = conn_parse(conn, sl_buf_head(&conn->in), sl_buf_size(&conn->in), &used);

	sl_buf_consume(&conn->in, used);
	return rc;
}

/* Goes on with input that was left because the connection was busy. */
static void conn_resume(struct sl_nfs3_conn *conn)
{
	int rc;

	if (conn->failed < 0 || sl_buf_size(&conn->in) < conn->need || sl_nfs3_conn_busy(conn)) {
		return;
	}
	rc = conn_drain(conn);
	if (rc < 0) {
		conn_fail(conn, rc);
	}
}

static int conn_keep(struct sl_nfs3_conn *conn, const uint8_t *bytes, size_t size)
{
	if (sl_buf_size(&conn->in) + size > IN_MAX) {
		return -ENOMEM;
	}
	return sl_buf_append(&conn->in, bytes, size);
}

static int conn_feed(struct sl_nfs3_conn *conn, const uint8_t *bytes, size_t size)
{
	size_t used;
	int rc = 0;

	/* An unfinished fragment first: just what it lacks, so that the rest need not be copied. */
	while (rc == 0 && size > 0 && sl_buf_size(&conn->in) > 0) {
		size_t have = sl_buf_size(&conn->in);
		size_t want = have < conn->need ? conn->need - have : size;

		used = want < size ? want : size;
		rc = conn_keep(conn, bytes, used);
		bytes += used;
		size -= used;
		if (rc == 0 && have + used >= conn->need) {
			rc = conn_drain(conn);
		}
	}
	if (rc == 0 && size > 0) {
		rc = conn_parse(conn, bytes, size, &used);
		bytes += used;
		size -= used;
	}
	return rc == 0 ? conn_keep(conn, bytes, size) : rc;
}

struct sl_nfs3_conn *sl_nfs3_conn_new(struct sl_nfs3 *srv, void (*output)(void *arg), void *arg)
{
	struct sl_nfs3_conn *conn = calloc(1, sizeof(*conn));

	if (!conn) {
		return NULL;
	}
	conn->srv = srv;
	srv->connections++;
	conn->output = output;
	conn->output_arg = arg;
	conn->notify.fire = notify_fire;
	conn->need = MARK_BYTES;
	sl_nfs3_conn_client(conn, "");
	return conn;
}

void sl_nfs3_conn_client(struct sl_nfs3_conn *conn, const char *address)
{
	size_t size = strnlen(address, SL_MOUNTS_ADDRESS_MAX);

	memset(conn->address, 0, sizeof(conn->address));
	memcpy(conn->address, address, size);
	conn->client = sl_siphash(conn->srv->config.handle_key, conn->address, size);
}

uint64_t sl_nfs3_conn_calls(const struct sl_nfs3_conn *conn)
{
	return conn->taken;
}

bool sl_nfs3_conn_partial(const struct sl_nfs3_conn *conn)
{
	return sl_buf_size(&conn->in) > 0 || sl_buf_size(&conn->record) > 0;
}

void sl_nfs3_conn_trim(struct sl_nfs3_conn *conn)
{
	sl_buf_trim(&conn->in);
	sl_buf_trim(&conn->record);
	sl_buf_trim(&conn->out);
}

void sl_nfs3_conn_free(struct sl_nfs3_conn *conn)
{
	struct sl_nfs3_call *call;

	if (!conn) {
		return;
	}
	for (call = conn->calls; call; call = call->next) {
		call->conn = NULL;
	}
	if (conn->notify.armed) {
		sl_loop_cancel(conn->srv->config.loop, &conn->notify);
	}
	conn->srv->connections--;
	sl_buf_fini(&conn->in);
	sl_buf_fini(&conn->record);
	sl_buf_fini(&conn->out);
	free(conn);
}

int sl_nfs3_conn_input(struct sl_nfs3_conn *conn, int64_t arrival_ns, const void *bytes, size_t size)
{
	int64_t now = sl_loop_now(conn->srv->config.loop);

	if (conn->failed == 0) {
		conn->arrival_ns = arrival_ns < now ? arrival_ns : now;
		conn->failed = conn_feed(conn, bytes, size);
	}
	return conn->failed;
}

/* Clients that do not take their replies hold no more together than a few do alone. */
static size_t out_max(const struct sl_nfs3 *srv)
{
	size_t share = OUT_ALL_MAX / srv->connections;

	return share < OUT_MAX ? share : OUT_MAX;
}

bool sl_nfs3_conn_busy(const struct sl_nfs3_conn *conn)
{
	return conn->failed == 0 && (conn->in_flight >= conn->srv->config.max_in_flight ||
				     sl_buf_size(&conn->out) + conn->promised >= out_max(conn->srv));
}

int sl_nfs3_conn_error(const struct sl_nfs3_conn *conn)
{
	return conn->failed;
}

size_t sl_nfs3_conn_output(struct sl_nfs3_conn *conn, const uint8_t **ret)
{
	*ret = sl_buf_head(&conn->out);
	return sl_buf_size(&conn->out);
}

void sl_nfs3_conn_consume(struct sl_nfs3_conn *conn, size_t size)
{
	sl_buf_consume(&conn->out, size);
	conn_resume(conn);
}
