#include "sim/serve/pacer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "sim/base/slab.h"

/* Events of the model run while draining at the end; a store that needs more is stuck. */
#define PACER_DRAIN_MAX 10000000u

/* A request on its way through the model. */
struct paced {
	struct sl_store_req inner;
	struct sl_store_req *outer;
	struct sl_pacer *pacer;
	struct sl_pacer_client *client;
	int64_t arrival_ns;         /* wall time */
	int64_t submit_ns, done_ns; /* model time */
	struct paced *prev, *next;  /* of the requests in service */
	struct paced *ready_next;
};

struct sl_pacer {
	struct sl_store base;
	struct sl_loop *wall, *model;
	struct sl_store *store;
	int64_t offset_ns; /* wall time - model time */
	int64_t credit_cap_ns, credit_ns;
	struct sl_pacer_client *client;
	struct sl_slab slab;
	struct paced *in_service;
	struct paced *ready_first, **ready_end;
	struct sl_timer wake;
	struct sl_hist modelled;
	int64_t credit_used_ns, synced_ns;
	bool synced; /* on_synced is to be told */
};

static struct sl_pacer *pacer_of(struct sl_store *store)
{
	return sl_container_of(store, struct sl_pacer, base);
}

static void paced_unlink(struct sl_pacer *pacer, struct paced *paced)
{
	*(paced->prev ? &paced->prev->next : &pacer->in_service) = paced->next;
	if (paced->next) {
		paced->next->prev = paced->prev;
	}
}

/* Gives one completion to its owner. Requests submitted meanwhile belong to the same client, without credit.
 */
static void paced_deliver(struct sl_pacer *pacer, struct paced *paced)
{
	struct sl_store_req *outer = paced->outer;
	struct sl_pacer_client *client = paced->client;
	int64_t due_ns = paced->done_ns + pacer->offset_ns;
	int64_t ready_ns = due_ns > paced->arrival_ns ? due_ns : paced->arrival_ns;
	bool timed = outer->op != SL_STORE_GETATTR;

	if (outer->op == SL_STORE_WRITE || outer->op == SL_STORE_COMMIT) {
		sl_hist_add(&pacer->modelled, paced->done_ns - paced->submit_ns);
	}
	outer->stable = paced->inner.stable;
	paced_unlink(pacer, paced);
	sl_slab_put(&pacer->slab, paced);
	pacer->client = client;
	pacer->credit_ns = 0;
	client->completed(client, due_ns, ready_ns, timed);
	sl_timer_fire(&outer->done, due_ns);
	assert(client->in_service > 0);
	if (--client->in_service == 0) {
		client->idle(client);
	}
}

static void pacer_deliver(struct sl_pacer *pacer)
{
	while (pacer->ready_first) {
		struct paced *paced = pacer->ready_first;

		pacer->ready_first = paced->ready_next;
		if (!pacer->ready_first) {
			pacer->ready_end = &pacer->ready_first;
		}
		paced_deliver(pacer, paced);
	}
	if (pacer->synced) {
		pacer->synced = false;
		if (pacer->base.on_synced) {
			pacer->base.on_synced(pacer->base.on_synced_arg, pacer->synced_ns + pacer->offset_ns);
		}
	}
}

static void model_done(struct sl_timer *timer, int64_t now_ns)
{
	struct paced *paced = sl_container_of(timer, struct paced, inner.done);
	struct sl_pacer *pacer = paced->pacer;

	paced->done_ns = now_ns;
	if (!pacer->model) {
		/* The store runs on the wall loop: this is a callback of it already. */
		paced_deliver(pacer, paced);
		return;
	}
	paced->ready_next = NULL;
	*pacer->ready_end = paced;
	pacer->ready_end = &paced->ready_next;
}

static void model_synced(void *arg, int64_t as_of_ns)
{
	struct sl_pacer *pacer = arg;

	if (!pacer->model) {
		if (pacer->base.on_synced) {
			pacer->base.on_synced(pacer->base.on_synced_arg, as_of_ns);
		}
		return;
	}
	/* Told later: the model may be advanced from inside a submit. */
	pacer->synced = true;
	pacer->synced_ns = as_of_ns;
}

/* Runs the model's events due up to until_ns (model time), leaving its clock at the last of them. */
static void model_advance(struct sl_pacer *pacer, int64_t until_ns)
{
	int64_t due_ns;

	/* Errors of a virtual loop are "out of memory" only; the next event hits it again. */
	for (due_ns = sl_loop_next_due(pacer->model); due_ns <= until_ns;
	     due_ns = sl_loop_next_due(pacer->model)) {
		if (sl_loop_run_until(pacer->model, due_ns, NULL) < 0) {
			return;
		}
	}
}

static void wake_arm(struct sl_pacer *pacer)
{
	int64_t due_ns = sl_loop_next_due(pacer->model);

	if (pacer->ready_first || pacer->synced) {
		due_ns = sl_loop_now(pacer->wall);
	} else if (due_ns != SL_NEVER) {
		due_ns += pacer->offset_ns + (pacer->in_service ? 0 : pacer->credit_cap_ns);
	}
	if (due_ns == SL_NEVER) {
		sl_loop_cancel(pacer->wall, &pacer->wake);
	} else if (!pacer->wake.armed || pacer->wake.due_ns != due_ns) {
		sl_loop_arm(pacer->wall, &pacer->wake, due_ns);
	}
}

static void wake_fire(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_pacer *pacer = sl_container_of(timer, struct sl_pacer, wake);

	model_advance(pacer, now_ns - pacer->offset_ns - (pacer->in_service ? 0 : pacer->credit_cap_ns));
	pacer_deliver(pacer);
	wake_arm(pacer);
}

static void pacer_submit(struct sl_store *store, int64_t now_ns, struct sl_store_req *req)
{
	struct sl_pacer *pacer = pacer_of(store);
	struct paced *paced = sl_slab_get(&pacer->slab);
	int64_t at_ns = now_ns - pacer->offset_ns;

	assert(pacer->client);
	if (pacer->model) {
		int64_t credited_ns = at_ns - pacer->credit_ns;

		model_advance(pacer, credited_ns);
		if (credited_ns < sl_loop_now(pacer->model)) {
			credited_ns = sl_loop_now(pacer->model);
		}
		/* The wall loop's time is cached per wake-up; never let it push the model back or a call
		 * forward. */
		at_ns = at_ns < credited_ns ? credited_ns : at_ns;
		pacer->credit_used_ns += at_ns - credited_ns;
		at_ns = credited_ns;
		(void)sl_loop_run_until(pacer->model, at_ns, NULL);
	}
	*paced = (struct paced){.inner = *req,
				.outer = req,
				.pacer = pacer,
				.client = pacer->client,
				.arrival_ns = now_ns,
				.submit_ns = at_ns};
	paced->inner.done = (struct sl_timer){.fire = model_done};
	paced->next = pacer->in_service;
	if (paced->next) {
		paced->next->prev = paced;
	}
	pacer->in_service = paced;
	pacer->client->in_service++;
	sl_store_submit(pacer->store, at_ns, &paced->inner);
	if (pacer->model) {
		wake_arm(pacer);
	}
}

static void pacer_store_free(struct sl_store *store)
{
	sl_pacer_free(pacer_of(store));
}

static const struct sl_store_ops pacer_ops = {
    .submit = pacer_submit,
    .free = pacer_store_free,
};

/* What is in service completes now: on the model's clock, or by force where the store armed the wall loop. */
static void pacer_drain(struct sl_pacer *pacer)
{
	for (uint32_t i = 0; pacer->model && pacer->in_service && i < PACER_DRAIN_MAX; i++) {
		int64_t due_ns = sl_loop_next_due(pacer->model);

		if (due_ns == SL_NEVER) {
			break;
		}
		model_advance(pacer, due_ns);
		pacer_deliver(pacer);
	}
	while (pacer->in_service) {
		struct paced *paced = pacer->in_service;

		sl_loop_cancel(pacer->model ? pacer->model : pacer->wall, &paced->inner.done);
		paced->done_ns = paced->submit_ns;
		paced_deliver(pacer, paced);
	}
}

struct sl_pacer *sl_pacer_new(struct sl_loop *wall, struct sl_loop *model, struct sl_store *store,
			      int64_t credit_cap_ns)
{
	struct sl_pacer *pacer = calloc(1, sizeof(*pacer));

	if (!pacer || sl_hist_init(&pacer->modelled)) {
		free(pacer);
		return NULL;
	}
	pacer->base.ops = &pacer_ops;
	pacer->wall = wall;
	pacer->model = model;
	pacer->store = store;
	pacer->credit_cap_ns = credit_cap_ns > 0 ? credit_cap_ns : 0;
	pacer->offset_ns = model ? sl_loop_clock(wall) - sl_loop_now(model) : 0;
	pacer->ready_end = &pacer->ready_first;
	pacer->wake.fire = wake_fire;
	sl_slab_init(&pacer->slab, sizeof(struct paced));
	store->on_synced = model_synced;
	store->on_synced_arg = pacer;
	if (model) {
		wake_arm(pacer);
	}
	return pacer;
}

void sl_pacer_free(struct sl_pacer *pacer)
{
	if (!pacer) {
		return;
	}
	pacer_drain(pacer);
	pacer->store->on_synced = NULL;
	sl_loop_cancel(pacer->wall, &pacer->wake);
	sl_slab_fini(&pacer->slab);
	sl_hist_fini(&pacer->modelled);
	free(pacer);
}

struct sl_store *sl_pacer_store(struct sl_pacer *pacer)
{
	return &pacer->base;
}

void sl_pacer_enter(struct sl_pacer *pacer, struct sl_pacer_client *client, int64_t credit_ns)
{
	pacer->client = client;
	pacer->credit_ns = credit_ns < pacer->credit_cap_ns ? credit_ns : pacer->credit_cap_ns;
	if (pacer->credit_ns < 0) {
		pacer->credit_ns = 0;
	}
}

const struct sl_hist *sl_pacer_modelled(const struct sl_pacer *pacer)
{
	return &pacer->modelled;
}

int64_t sl_pacer_credit_used(const struct sl_pacer *pacer)
{
	return pacer->credit_used_ns;
}
