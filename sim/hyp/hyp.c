#include "sim/hyp/hyp.h"

#include <assert.h>

#define RPC_HEADER_BYTES 200 /* RPC, credentials, file handle, attributes: about that much each way */
#define VM_DISK_FILE 1       /* the VM's disk is one file of the datastore */

/* One NFS call on its way: to the server, through it, and back. */
struct hyp_call {
	void *pool_link;
	struct sl_hyp *hyp;
	struct sl_timer hop; /* the message is across */
	struct sl_store_req call;
	struct sl_store_req *outer; /* whose call it is: a program's ... */
	struct sl_hyp_req *req;     /* ... or the guest's disk request */
	struct hyp_call *next;      /* waits for the virtual disk, or for another flush */
	int64_t start_ns, sent_ns;
	uint64_t generation; /* flush: the writes it covers */
	bool commit_follows;
};

static void send_call(struct hyp_call *call, int64_t now_ns);
static void disk_send(struct hyp_call *call, int64_t now_ns);

static struct hyp_call *call_get(struct sl_hyp *hyp, int64_t now_ns)
{
	struct hyp_call *call = sl_slab_get(&hyp->calls);

	call->hyp = hyp;
	call->outer = NULL;
	call->req = NULL;
	call->start_ns = now_ns;
	call->commit_follows = false;
	call->hop.armed = false;
	return call;
}

/* The client's side of the ledger. */
static void enter_reply(const struct hyp_call *call, int64_t now_ns)
{
	const struct sl_store_req *req = &call->call;

	if (req->op == SL_STORE_WRITE) {
		sl_ledger_replied(call->hyp->ledger, now_ns, req->write, req->stable);
	} else if (req->op == SL_STORE_COMMIT) {
		sl_ledger_committed(call->hyp->ledger, now_ns, req->file, call->sent_ns);
	}
}

static struct hyp_call *queue_pop(struct hyp_call **first, struct hyp_call ***end)
{
	struct hyp_call *call = *first;

	*first = call->next;
	*end = *first ? *end : first;
	return call;
}

static void queue_push(struct hyp_call *call, struct hyp_call ***end)
{
	call->next = NULL;
	**end = call;
	*end = &call->next;
}

/* The virtual disk is done with a request: the next one that waits for it. */
static void disk_next(struct sl_hyp *hyp, int64_t now_ns)
{
	struct hyp_call *call;

	hyp->in_service--;
	if (hyp->waiting) {
		call = queue_pop(&hyp->waiting, &hyp->end);
		hyp->in_service++;
		call->start_ns = now_ns;
		disk_send(call, now_ns);
	}
}

static bool is_flush(const struct hyp_call *call)
{
	return call->req && call->req->op == SL_HYP_FLUSH;
}

/* The call's owner gets its answer. */
static void call_end(struct hyp_call *call, int64_t now_ns)
{
	struct sl_hyp *hyp = call->hyp;
	struct sl_timer *done = call->outer ? &call->outer->done : &call->req->done;
	bool of_disk = call->req != NULL;

	assert(call->outer || call->req);
	if (hyp->trace) {
		sl_trace_span(hyp->trace, "hypervisor", "NFS call", call->call.tag, call->start_ns, now_ns);
	}
	sl_slab_put(&hyp->calls, call);
	if (of_disk) {
		disk_next(hyp, now_ns);
	}
	sl_timer_fire(done, now_ns);
}

static void flush_skipped(struct sl_timer *timer, int64_t now_ns)
{
	call_end(sl_container_of(timer, struct hyp_call, hop), now_ns);
}

static void flush_start(struct hyp_call *call, int64_t now_ns)
{
	struct sl_hyp *hyp = call->hyp;

	if (hyp->flushing) {
		queue_push(call, &hyp->flushes_end);
	} else if (hyp->flushed == hyp->written || hyp->disk_cache == SL_CACHE_UNSAFE) {
		call->hop.fire = flush_skipped;
		sl_loop_arm(hyp->loop, &call->hop, now_ns);
	} else {
		hyp->flushing = true;
		call->generation = hyp->written;
		send_call(call, now_ns);
	}
}

static void flush_done(struct sl_hyp *hyp, uint64_t generation, int64_t now_ns)
{
	hyp->flushing = false;
	hyp->flushed = generation;
	while (!hyp->flushing && hyp->flushes) {
		flush_start(queue_pop(&hyp->flushes, &hyp->flushes_end), now_ns);
	}
}

/* A request of the guest's disk, when it is its turn. */
static void disk_send(struct hyp_call *call, int64_t now_ns)
{
	if (is_flush(call)) {
		flush_start(call, now_ns);
	} else {
		send_call(call, now_ns);
	}
}

/* The reply is back. */
static void reply_arrived(struct sl_timer *timer, int64_t now_ns)
{
	struct hyp_call *call = sl_container_of(timer, struct hyp_call, hop);
	struct sl_hyp *hyp = call->hyp;

	enter_reply(call, now_ns);
	if (call->commit_follows) {
		call->commit_follows = false;
		call->call.op = SL_STORE_COMMIT;
		call->call.bytes = 0;
		send_call(call, now_ns);
		return;
	}
	if (call->outer) {
		call->outer->stable = call->call.stable;
	} else if (call->call.op == SL_STORE_WRITE) {
		hyp->written += call->call.stable == SL_UNSTABLE;
	} else if (is_flush(call)) {
		flush_done(hyp, call->generation, now_ns);
	}
	call_end(call, now_ns);
}

/* The server is done: the reply travels. */
static void served(struct sl_timer *timer, int64_t now_ns)
{
	struct hyp_call *call = sl_container_of(timer, struct hyp_call, call.done);
	struct sl_hyp *hyp = call->hyp;
	int64_t bytes = RPC_HEADER_BYTES + (call->call.op == SL_STORE_READ ? call->call.bytes : 0);
	int64_t across_ns = sl_wire_send(hyp->wire, now_ns, SL_WIRE_FROM_NAS, bytes);
	int64_t at_ns = across_ns + hyp->half_delay_ns;

	sl_trace_add(hyp->trace, &(struct sl_span){"network", "reply", call->call.tag, now_ns, across_ns,
						   across_ns - now_ns - hyp->wire->waited_ns});
	sl_trace_span(hyp->trace, "virtual disk", "complete", call->call.tag, across_ns, at_ns);
	call->hop.fire = reply_arrived;
	sl_loop_arm(hyp->loop, &call->hop, at_ns);
}

static void call_arrived(struct sl_timer *timer, int64_t now_ns)
{
	struct hyp_call *call = sl_container_of(timer, struct hyp_call, hop);

	call->call.done = (struct sl_timer){.fire = served};
	sl_store_submit(call->hyp->server, now_ns, &call->call);
}

static void send_call(struct hyp_call *call, int64_t now_ns)
{
	struct sl_hyp *hyp = call->hyp;
	int64_t bytes = RPC_HEADER_BYTES + (call->call.op == SL_STORE_WRITE ? call->call.bytes : 0);
	int64_t sent_ns = now_ns + hyp->half_delay_ns;
	int64_t at_ns = sl_wire_send(hyp->wire, sent_ns, SL_WIRE_TO_NAS, bytes);

	sl_trace_span(hyp->trace, "virtual disk", "submit", call->call.tag, now_ns, sent_ns);
	sl_trace_add(hyp->trace, &(struct sl_span){"network", "call", call->call.tag, sent_ns, at_ns,
						   at_ns - sent_ns - hyp->wire->waited_ns});
	hyp->n_calls++;
	call->sent_ns = now_ns;
	call->hop.fire = call_arrived;
	sl_loop_arm(hyp->loop, &call->hop, at_ns);
}

/* Does the client ask for FILE_SYNC? Linux does with O_DIRECT (cache=none) where one WRITE takes it all. */
static bool is_write_stable(const struct sl_hyp *hyp)
{
	return hyp->client == SL_CLIENT_ESXI ||
	       (hyp->client == SL_CLIENT_LINUX && hyp->disk_cache == SL_CACHE_NONE);
}

bool sl_hyp_has_flush(const struct sl_hyp *hyp)
{
	return hyp->client != SL_CLIENT_ESXI;
}

void sl_hyp_submit(struct sl_hyp *hyp, int64_t now_ns, struct sl_hyp_req *req)
{
	static const enum sl_store_op ops[] = {SL_STORE_READ, SL_STORE_WRITE, SL_STORE_COMMIT};
	struct hyp_call *call = call_get(hyp, now_ns);

	assert(req->op != SL_HYP_FLUSH || sl_hyp_has_flush(hyp));
	assert(req->bytes <= SL_HYP_MAX_IO);
	call->req = req;
	call->call.op = ops[req->op];
	call->call.stable = is_write_stable(hyp) ? SL_FILE_SYNC : SL_UNSTABLE;
	call->call.zero = req->zero;
	call->call.hot = req->hot;
	call->call.bytes = req->op == SL_HYP_FLUSH ? 0 : req->bytes;
	call->call.file = VM_DISK_FILE;
	call->call.offset_bytes = req->offset_bytes;
	call->call.tag = req->tag;
	call->call.write =
	    req->op == SL_HYP_WRITE ? sl_ledger_sent(hyp->ledger, now_ns, &call->call, req->group) : 0;
	call->commit_follows = req->op == SL_HYP_WRITE && call->call.stable == SL_UNSTABLE &&
			       hyp->disk_cache == SL_CACHE_WRITETHROUGH;
	if (hyp->queue > 0 && hyp->in_service >= hyp->queue) {
		queue_push(call, &hyp->end);
		return;
	}
	hyp->in_service++;
	disk_send(call, now_ns);
}

void sl_hyp_call(struct sl_hyp *hyp, int64_t now_ns, struct sl_store_req *outer)
{
	struct hyp_call *call = call_get(hyp, now_ns);

	outer->write = outer->op == SL_STORE_WRITE ? sl_ledger_sent(hyp->ledger, now_ns, outer, 0) : 0;
	call->outer = outer;
	call->call = *outer;
	send_call(call, now_ns);
}

void sl_hyp_init(struct sl_hyp *hyp, const struct sl_box *box, struct sl_loop *loop, struct sl_wire *wire,
		 struct sl_store *server, struct sl_trace *trace)
{
	*hyp = (struct sl_hyp){
	    .loop = loop,
	    .server = server,
	    .wire = wire,
	    .trace = trace,
	    .client = box->client,
	    .disk_cache = box->disk_cache,
	    .half_delay_ns = (int64_t)(box->hyp_op_delay_ns / 2),
	    .queue = box->hyp_queue,
	};
	hyp->end = &hyp->waiting;
	hyp->flushes_end = &hyp->flushes;
	sl_slab_init(&hyp->calls, sizeof(struct hyp_call));
}

void sl_hyp_fini(struct sl_hyp *hyp)
{
	sl_slab_fini(&hyp->calls);
}
