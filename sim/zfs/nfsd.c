#include "sim/zfs/nfsd.h"

#include <stdlib.h>

#include "sim/base/slab.h"

struct nfsd {
	struct sl_store store;
	struct sl_nfsd_config config;
	int idle_threads;
	struct sl_store_req *waiting, **waiting_tail;
	struct sl_slab calls;
};

/* A call in service: `inner` is what the store below sees of it. */
struct nfsd_call {
	void *pool_link;
	struct nfsd *nfsd;
	struct sl_store_req *outer;
	struct sl_store_req inner;
	struct sl_cpu_job job;
	int64_t start_ns;
};

static void start_call(struct nfsd *nfsd, int64_t now_ns, struct sl_store_req *req);

static int64_t bytes_cpu_ns(const struct nfsd_call *call)
{
	return (int64_t)(call->outer->bytes * 1e9 / call->nfsd->config.byte_bps);
}

static void call_end(struct nfsd_call *call, int64_t now_ns)
{
	struct sl_store_req *outer = call->outer;
	struct nfsd *nfsd = call->nfsd;

	outer->stable = call->inner.stable;
	if (nfsd->config.trace) {
		sl_trace_thread(nfsd->config.trace, "nfsd", "call", outer->tag, call->start_ns, now_ns);
	}
	sl_slab_put(&nfsd->calls, call);
	nfsd->idle_threads++;
	if (nfsd->waiting) {
		struct sl_store_req *next = nfsd->waiting;

		nfsd->waiting = next->next;
		if (!nfsd->waiting) {
			nfsd->waiting_tail = &nfsd->waiting;
		}
		sl_trace_add(nfsd->config.trace,
			     &(struct sl_span){"nfsd queue", "wait", next->tag, next->queued_ns, now_ns, 0});
		start_call(nfsd, now_ns, next);
	}
	sl_timer_fire(&outer->done, now_ns);
}

static void reply_sent(struct sl_timer *timer, int64_t now_ns)
{
	call_end(sl_container_of(timer, struct nfsd_call, job.done), now_ns);
}

/* The data of a READ goes out now. Not before: calls of different sizes would overtake each other on their
 * way to the store, whose prefetcher loses a stream that is not in order. */
static void call_done(struct sl_timer *timer, int64_t now_ns)
{
	struct nfsd_call *call = sl_container_of(timer, struct nfsd_call, inner.done);

	if (call->outer->op == SL_STORE_READ) {
		call->job.done.fire = reply_sent;
		sl_cpu_run(call->nfsd->config.cpu, now_ns, &call->job, bytes_cpu_ns(call));
	} else {
		call_end(call, now_ns);
	}
}

static void cpu_done(struct sl_timer *timer, int64_t now_ns)
{
	struct nfsd_call *call = sl_container_of(timer, struct nfsd_call, job.done);

	sl_store_submit(call->nfsd->config.below, now_ns, &call->inner);
}

static void start_call(struct nfsd *nfsd, int64_t now_ns, struct sl_store_req *req)
{
	struct nfsd_call *call = sl_slab_get(&nfsd->calls);

	nfsd->idle_threads--;
	call->nfsd = nfsd;
	call->outer = req;
	call->inner = *req;
	call->inner.done = (struct sl_timer){.fire = call_done};
	call->job.done.fire = cpu_done;
	call->start_ns = now_ns;
	sl_cpu_run(nfsd->config.cpu, now_ns, &call->job,
		   nfsd->config.op_cpu_ns + (req->op == SL_STORE_READ ? 0 : bytes_cpu_ns(call)));
}

static void nfsd_submit(struct sl_store *store, int64_t now_ns, struct sl_store_req *req)
{
	struct nfsd *nfsd = sl_container_of(store, struct nfsd, store);

	if (nfsd->idle_threads > 0) {
		start_call(nfsd, now_ns, req);
		return;
	}
	req->next = NULL;
	req->queued_ns = now_ns;
	*nfsd->waiting_tail = req;
	nfsd->waiting_tail = &req->next;
}

static void nfsd_free(struct sl_store *store)
{
	struct nfsd *nfsd = sl_container_of(store, struct nfsd, store);

	sl_store_free(nfsd->config.below);
	sl_slab_fini(&nfsd->calls);
	free(nfsd);
}

static const struct sl_store_ops nfsd_ops = {.submit = nfsd_submit, .free = nfsd_free};

/* What the store below says of its txgs goes to whoever listens to the server. */
static void below_synced(void *arg, int64_t as_of_ns)
{
	struct nfsd *nfsd = arg;

	if (nfsd->store.on_synced) {
		nfsd->store.on_synced(nfsd->store.on_synced_arg, as_of_ns);
	}
}

struct sl_store *sl_nfsd_new(const struct sl_nfsd_config *config)
{
	struct nfsd *nfsd = calloc(1, sizeof(*nfsd));

	if (!nfsd) {
		return NULL;
	}
	nfsd->store.ops = &nfsd_ops;
	nfsd->config = *config;
	nfsd->idle_threads = config->threads;
	nfsd->waiting_tail = &nfsd->waiting;
	sl_slab_init(&nfsd->calls, sizeof(struct nfsd_call));
	config->below->on_synced = below_synced;
	config->below->on_synced_arg = nfsd;
	return &nfsd->store;
}
