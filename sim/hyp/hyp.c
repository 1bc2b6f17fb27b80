#include "sim/hyp/hyp.h"

#include <assert.h>

#include "sim/hyp/transfer.h"

#define RPC_HEADER_BYTES 200 /* RPC, credentials, file handle, attributes: about that much each way */
#define VM_DISK_FILE 1       /* the VM's disk is one file of the datastore */

enum step {
	STEP_DATA,   /* READ or WRITE, in parts */
	STEP_COMMIT, /* of these writes, before they return: Linux */
	STEP_FLUSH   /* of all that was written before it: QEMU's */
};

/* A request of the guest's disk, or what a program asks for. */
struct hyp_io {
	void *pool_link;
	struct sl_hyp *hyp;
	struct sl_hyp_req *req;     /* the guest's ... */
	struct sl_store_req *outer; /* ... or the program's */
	struct hyp_io *next;        /* in a queue */
	struct sl_timer skipped;    /* a flush that finds nothing to do */
	int64_t start_ns;
	uint64_t generation;   /* flush: the writes it covers */
	uint32_t parts, calls; /* sent at once; without a reply */
	enum step step;
	enum sl_stable given; /* the least of the replies */
	bool batch;           /* the first of the writes that one fdatasync sends */
};

/* One NFS call on its way: to the server, through it, and back. */
struct hyp_call {
	void *pool_link;
	struct hyp_io *io;
	struct sl_timer hop; /* the message is across */
	struct sl_store_req call;
	int64_t sent_ns;
};

static void disk_send(struct hyp_io *io, int64_t now_ns);
static void io_replied(struct hyp_io *io, int64_t now_ns);

static struct hyp_io *io_get(struct sl_hyp *hyp, int64_t now_ns)
{
	struct hyp_io *io = sl_slab_get(&hyp->ios);

	*io = (struct hyp_io){.hyp = hyp, .start_ns = now_ns, .given = SL_FILE_SYNC};
	return io;
}

static struct hyp_io *queue_pop(struct hyp_io **first, struct hyp_io ***end)
{
	struct hyp_io *io = *first;

	*first = io->next;
	*end = *first ? *end : first;
	return io;
}

static void queue_push(struct hyp_io *io, struct hyp_io ***end)
{
	io->next = NULL;
	**end = io;
	*end = &io->next;
}

/* The virtual disk is done with a request: the next one that waits for it. */
static void disk_next(struct sl_hyp *hyp, int64_t now_ns)
{
	struct hyp_io *io;

	hyp->in_service--;
	if (hyp->waiting) {
		io = queue_pop(&hyp->waiting, &hyp->end);
		hyp->in_service++;
		io->start_ns = now_ns;
		disk_send(io, now_ns);
	}
}

static void trace_call(const struct sl_hyp *hyp, uint64_t tag, int64_t start_ns, int64_t now_ns)
{
	if (hyp->trace) {
		sl_trace_span(hyp->trace, "hypervisor", "NFS call", tag, start_ns, now_ns);
	}
}

/* The request's owner gets its answer. */
static void io_end(struct hyp_io *io, int64_t now_ns)
{
	struct sl_hyp *hyp = io->hyp;
	struct sl_timer *done = io->outer ? &io->outer->done : &io->req->done;
	bool of_disk = io->req != NULL;

	if (io->parts <= 1 || io->batch) {
		trace_call(hyp, io->outer ? io->outer->tag : io->req->tag, io->start_ns, now_ns);
	}
	sl_slab_put(&hyp->ios, io);
	if (of_disk) {
		disk_next(hyp, now_ns);
	}
	sl_timer_fire(done, now_ns);
}

/* Calls */

/* The client's side of the ledger. */
static void enter_reply(const struct hyp_call *call, int64_t now_ns)
{
	const struct sl_store_req *req = &call->call;

	if (req->op == SL_STORE_WRITE) {
		sl_ledger_replied(call->io->hyp->ledger, now_ns, req->write, req->stable);
	} else if (req->op == SL_STORE_COMMIT) {
		sl_ledger_committed(call->io->hyp->ledger, now_ns, req->file, call->sent_ns);
	}
}

/* The reply is back. */
static void reply_arrived(struct sl_timer *timer, int64_t now_ns)
{
	struct hyp_call *call = sl_container_of(timer, struct hyp_call, hop);
	struct hyp_io *io = call->io;

	enter_reply(call, now_ns);
	if (io->parts > 1 && !io->batch) {
		trace_call(io->hyp, call->call.tag, call->sent_ns, now_ns);
	}
	if (call->call.op == SL_STORE_WRITE && call->call.stable < io->given) {
		io->given = call->call.stable;
	}
	sl_slab_put(&io->hyp->calls, call);
	io->calls--;
	if (io->calls == 0) {
		io_replied(io, now_ns);
	}
}

/* The server is done: the reply travels. */
static void served(struct sl_timer *timer, int64_t now_ns)
{
	struct hyp_call *call = sl_container_of(timer, struct hyp_call, call.done);
	struct sl_hyp *hyp = call->io->hyp;
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
	sl_store_submit(call->io->hyp->server, now_ns, &call->call);
}

/* A call of `io` that is not sent yet. */
static struct hyp_call *call_new(struct hyp_io *io, int64_t now_ns, const struct sl_store_req *req)
{
	struct hyp_call *call = sl_slab_get(&io->hyp->calls);

	call->io = io;
	call->hop = (struct sl_timer){.fire = call_arrived};
	call->call = *req;
	call->sent_ns = now_ns;
	return call;
}

static void send_call(struct hyp_call *call, int64_t now_ns)
{
	const struct sl_store_req *req = &call->call;
	struct hyp_io *io = call->io;
	struct sl_hyp *hyp = io->hyp;
	int64_t bytes = RPC_HEADER_BYTES + (req->op == SL_STORE_WRITE ? req->bytes : 0);
	int64_t sent_ns = now_ns + hyp->half_delay_ns;
	int64_t at_ns = sl_wire_send(hyp->wire, sent_ns, SL_WIRE_TO_NAS, bytes);

	sl_trace_span(hyp->trace, "virtual disk", "submit", req->tag, now_ns, sent_ns);
	sl_trace_add(hyp->trace, &(struct sl_span){"network", "call", req->tag, sent_ns, at_ns,
						   at_ns - sent_ns - hyp->wire->waited_ns});
	hyp->n_calls++;
	io->calls++;
	sl_loop_arm(hyp->loop, &call->hop, at_ns);
}

static uint32_t parts_of(uint32_t bytes, uint32_t size)
{
	return bytes > size ? (bytes + size - 1) / size : 1;
}

/* READ or WRITE: all parts at once. */
static void send_parts(struct hyp_io *io, int64_t now_ns, const struct sl_store_req *whole, uint32_t group)
{
	struct sl_hyp *hyp = io->hyp;
	uint32_t size = whole->op == SL_STORE_READ ? hyp->rsize_bytes : hyp->wsize_bytes;
	uint32_t sent = 0;

	do {
		struct hyp_call *call = call_new(io, now_ns, whole);
		struct sl_store_req *part = &call->call;

		part->bytes = whole->bytes - sent < size ? whole->bytes - sent : size;
		part->offset_bytes = whole->offset_bytes + sent;
		part->write =
		    part->op == SL_STORE_WRITE ? sl_ledger_sent(hyp->ledger, now_ns, part, group) : 0;
		sent += part->bytes;
		send_call(call, now_ns);
	} while (sent < whole->bytes);
}

/* What the guest's request is as READ or WRITE of the file. */
static struct sl_store_req file_request(const struct sl_hyp_req *req, enum sl_stable stable)
{
	return (struct sl_store_req){
	    .op = req->op == SL_HYP_READ ? SL_STORE_READ : SL_STORE_WRITE,
	    .stable = stable,
	    .zero = req->zero,
	    .hot = req->hot,
	    .bytes = req->bytes,
	    .file = VM_DISK_FILE,
	    .offset_bytes = req->offset_bytes,
	    .tag = req->tag,
	};
}

static void send_commit(struct hyp_io *io, int64_t now_ns, enum step step)
{
	const struct sl_store_req commit = {.op = SL_STORE_COMMIT, .file = VM_DISK_FILE, .tag = io->req->tag};

	io->step = step;
	send_call(call_new(io, now_ns, &commit), now_ns);
}

/* Flushes: one at a time */

static void flush_skipped(struct sl_timer *timer, int64_t now_ns)
{
	io_end(sl_container_of(timer, struct hyp_io, skipped), now_ns);
}

static void flush_start(struct hyp_io *io, int64_t now_ns)
{
	struct sl_hyp *hyp = io->hyp;

	if (hyp->flushing) {
		queue_push(io, &hyp->flushes_end);
	} else if (hyp->flushed == hyp->written || hyp->disk_cache == SL_CACHE_UNSAFE) {
		io->skipped.fire = flush_skipped;
		sl_loop_arm(hyp->loop, &io->skipped, now_ns);
	} else {
		hyp->flushing = true;
		io->generation = hyp->written;
		send_commit(io, now_ns, STEP_FLUSH);
	}
}

static void flush_done(struct hyp_io *io, int64_t now_ns)
{
	struct sl_hyp *hyp = io->hyp;

	hyp->flushing = false;
	hyp->flushed = io->generation;
	while (!hyp->flushing && hyp->flushes) {
		flush_start(queue_pop(&hyp->flushes, &hyp->flushes_end), now_ns);
	}
	io_end(io, now_ns);
}

/* The host's page cache: one fdatasync at a time sends what has gathered */

static void sync_start(struct sl_hyp *hyp, int64_t now_ns)
{
	struct hyp_io *first = hyp->dirty;
	uint32_t parts = 0;

	hyp->flushing = true;
	hyp->dirty = NULL;
	hyp->dirty_end = &hyp->dirty;
	for (struct hyp_io *io = first; io; io = io->next) {
		parts += parts_of(io->req->bytes, hyp->wsize_bytes);
	}
	first->batch = true;
	first->parts = parts;
	for (struct hyp_io *io = first; io; io = io->next) {
		struct sl_store_req whole = file_request(io->req, parts > 1 ? SL_UNSTABLE : SL_FILE_SYNC);

		send_parts(first, now_ns, &whole, io->req->group);
	}
}

static void sync_done(struct hyp_io *first, int64_t now_ns)
{
	struct sl_hyp *hyp = first->hyp;

	hyp->flushing = false;
	if (hyp->dirty) {
		sync_start(hyp, now_ns);
	}
	for (struct hyp_io *io = first; io;) {
		struct hyp_io *next = io->next;

		io_end(io, now_ns);
		io = next;
	}
}

static void cache_write(struct hyp_io *io, int64_t now_ns)
{
	struct sl_hyp *hyp = io->hyp;

	queue_push(io, &hyp->dirty_end);
	if (!hyp->flushing) {
		sync_start(hyp, now_ns);
	}
}

/* Requests */

static void disk_done(struct hyp_io *io, int64_t now_ns)
{
	if (io->batch) {
		sync_done(io, now_ns);
	} else {
		io_end(io, now_ns);
	}
}

static void data_replied(struct hyp_io *io, int64_t now_ns)
{
	struct sl_hyp *hyp = io->hyp;

	if (io->req->op == SL_HYP_WRITE && hyp->client == SL_CLIENT_LIBNFS) {
		hyp->written++;
		if (hyp->disk_cache == SL_CACHE_WRITETHROUGH) {
			flush_start(io, now_ns);
			return;
		}
	} else if (io->req->op == SL_HYP_WRITE && io->given == SL_UNSTABLE &&
		   hyp->disk_cache != SL_CACHE_UNSAFE) {
		send_commit(io, now_ns, STEP_COMMIT);
		return;
	}
	disk_done(io, now_ns);
}

/* All calls of this step have their replies: what comes next. */
static void io_replied(struct hyp_io *io, int64_t now_ns)
{
	if (io->outer) {
		io->outer->stable = io->given;
		io_end(io, now_ns);
		return;
	}
	switch (io->step) {
	case STEP_DATA:
		data_replied(io, now_ns);
		break;
	case STEP_COMMIT:
		disk_done(io, now_ns);
		break;
	case STEP_FLUSH:
		flush_done(io, now_ns);
		break;
	}
}

/* What the client asks for when a write goes out in so many parts. */
static enum sl_stable stable_of(const struct sl_hyp *hyp, uint32_t parts)
{
	switch ((enum sl_nfs_client)hyp->client) {
	case SL_CLIENT_LIBNFS:
		return SL_UNSTABLE;
	case SL_CLIENT_LINUX:
		return parts > 1 || hyp->disk_cache == SL_CACHE_UNSAFE ? SL_UNSTABLE : SL_FILE_SYNC;
	case SL_CLIENT_ESXI:
	case SL_CLIENTS:
		break;
	}
	return SL_FILE_SYNC;
}

/* A request of the guest's disk, when it is its turn. */
static void disk_send(struct hyp_io *io, int64_t now_ns)
{
	struct sl_hyp *hyp = io->hyp;
	const struct sl_hyp_req *req = io->req;
	struct sl_store_req whole;

	if (req->op == SL_HYP_FLUSH) {
		flush_start(io, now_ns);
	} else if (req->op == SL_HYP_WRITE && hyp->client == SL_CLIENT_LINUX &&
		   hyp->disk_cache == SL_CACHE_WRITETHROUGH) {
		cache_write(io, now_ns);
	} else {
		io->parts =
		    parts_of(req->bytes, req->op == SL_HYP_READ ? hyp->rsize_bytes : hyp->wsize_bytes);
		whole = file_request(req, stable_of(hyp, io->parts));
		send_parts(io, now_ns, &whole, req->group);
	}
}

bool sl_hyp_has_flush(const struct sl_hyp *hyp)
{
	return hyp->client != SL_CLIENT_ESXI && hyp->disk_cache != SL_CACHE_WRITETHROUGH;
}

void sl_hyp_submit(struct sl_hyp *hyp, int64_t now_ns, struct sl_hyp_req *req)
{
	struct hyp_io *io = io_get(hyp, now_ns);

	assert(req->op != SL_HYP_FLUSH || sl_hyp_has_flush(hyp));
	assert(req->bytes <= hyp->max_io_bytes);
	io->req = req;
	if (hyp->queue > 0 && hyp->in_service >= hyp->queue) {
		queue_push(io, &hyp->end);
		return;
	}
	hyp->in_service++;
	disk_send(io, now_ns);
}

void sl_hyp_call(struct sl_hyp *hyp, int64_t now_ns, struct sl_store_req *outer, uint32_t group)
{
	struct hyp_io *io = io_get(hyp, now_ns);

	io->outer = outer;
	io->parts = parts_of(outer->bytes, outer->op == SL_STORE_READ ? hyp->rsize_bytes : hyp->wsize_bytes);
	send_parts(io, now_ns, outer, group);
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
	    .max_io_bytes = (uint32_t)box->hyp_max_io_bytes,
	    .rsize_bytes = sl_nfs_rsize(box),
	    .wsize_bytes = sl_nfs_wsize(box),
	    .half_delay_ns = (int64_t)(box->hyp_op_delay_ns / 2),
	    .queue = box->hyp_queue,
	};
	hyp->end = &hyp->waiting;
	hyp->flushes_end = &hyp->flushes;
	hyp->dirty_end = &hyp->dirty;
	sl_slab_init(&hyp->ios, sizeof(struct hyp_io));
	sl_slab_init(&hyp->calls, sizeof(struct hyp_call));
}

void sl_hyp_fini(struct sl_hyp *hyp)
{
	sl_slab_fini(&hyp->ios);
	sl_slab_fini(&hyp->calls);
}
