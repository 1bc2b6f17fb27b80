#include "sim/datastore/pacer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "sim/base/slab.h"
#include "sim/datastore/pace.h"

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
	bool instant;               /* never saw the model: done when it arrived */
	struct paced *prev, *next;  /* of the requests in service */
	struct paced *ready_next;
};

struct sl_pacer {
	struct sl_store base;
	struct sl_loop *wall, *model;
	struct sl_store *store;
	struct sl_pace pace;
	bool instant;
	int64_t credit_cap_ns, credit_ns;
	struct sl_pacer_client *client;
	struct sl_pacer_watch watch;
	struct sl_slab slab;
	struct paced *in_service;
	struct paced *ready_first, **ready_end;
	uint32_t n_modelled; /* in service of `store` */
	struct swap {
		struct sl_loop *model;
		struct sl_store *store; /* NULL: no swap under way */
		void (*retired)(void *arg);
		void *arg;
		struct paced *held_first, **held_end; /* arrived meanwhile */
	} swap;
	struct sl_timer wake;
	struct sl_hist modelled;
	int64_t credit_used_ns, synced_ns; /* synced: wall time */
	bool synced;                       /* on_synced is to be told */
};

static int64_t to_wall(const struct sl_pacer *pacer, int64_t model_ns)
{
	return pacer->model ? sl_pace_to_wall(&pacer->pace, model_ns) : model_ns;
}

static int64_t to_model(const struct sl_pacer *pacer, int64_t wall_ns)
{
	return pacer->model ? sl_pace_to_model(&pacer->pace, wall_ns) : wall_ns;
}

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
	int64_t due_ns = paced->instant ? paced->arrival_ns : to_wall(pacer, paced->done_ns);
	int64_t ready_ns = due_ns > paced->arrival_ns ? due_ns : paced->arrival_ns;
	bool timed = outer->op != SL_STORE_GETATTR && !paced->instant;

	pacer->n_modelled -= !paced->instant;
	if (timed &&
	    (outer->op == SL_STORE_COMMIT || (outer->op == SL_STORE_WRITE && outer->stable != SL_UNSTABLE))) {
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

static struct paced *paced_pop(struct paced **first, struct paced ***end)
{
	struct paced *paced = *first;

	*first = paced->ready_next;
	if (!*first) {
		*end = first;
	}
	return paced;
}

static void paced_push(struct paced *paced, struct paced ***end)
{
	paced->ready_next = NULL;
	**end = paced;
	*end = &paced->ready_next;
}

static void pacer_deliver(struct sl_pacer *pacer)
{
	while (pacer->ready_first) {
		paced_deliver(pacer, paced_pop(&pacer->ready_first, &pacer->ready_end));
	}
	if (pacer->synced) {
		pacer->synced = false;
		if (pacer->base.on_synced) {
			pacer->base.on_synced(pacer->base.on_synced_arg, pacer->synced_ns);
		}
	}
}

static void wake_arm(struct sl_pacer *pacer);

static void model_done(struct sl_timer *timer, int64_t now_ns)
{
	struct paced *paced = sl_container_of(timer, struct paced, inner.done);
	struct sl_pacer *pacer = paced->pacer;

	paced->done_ns = now_ns;
	if (pacer->watch.done) {
		pacer->watch.done(pacer->watch.arg, paced->submit_ns, now_ns, &paced->inner);
	}
	if (!pacer->model) {
		/* The store runs on the wall loop: this is a callback of it already. */
		paced_deliver(pacer, paced);
		wake_arm(pacer);
		return;
	}
	paced_push(paced, &pacer->ready_end);
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
	pacer->synced_ns = to_wall(pacer, as_of_ns);
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
	int64_t due_ns = pacer->model ? sl_loop_next_due(pacer->model) : SL_NEVER;

	if (pacer->ready_first || pacer->synced || (pacer->swap.store && pacer->n_modelled == 0)) {
		due_ns = sl_loop_now(pacer->wall);
	} else if (due_ns != SL_NEVER) {
		due_ns = to_wall(pacer, due_ns) + (pacer->in_service ? 0 : pacer->credit_cap_ns);
	}
	if (due_ns == SL_NEVER) {
		sl_loop_cancel(pacer->wall, &pacer->wake);
	} else if (!pacer->wake.armed || pacer->wake.due_ns != due_ns) {
		sl_loop_arm(pacer->wall, &pacer->wake, due_ns);
	}
}

/* Brings the model to when the request arrived, earlier by the credit where it can, and submits. */
static void paced_start(struct sl_pacer *pacer, struct paced *paced, int64_t credit_ns)
{
	int64_t at_ns = to_model(pacer, paced->arrival_ns);

	if (pacer->model) {
		int64_t credited_ns = to_model(pacer, paced->arrival_ns - credit_ns);

		model_advance(pacer, credited_ns);
		if (credited_ns < sl_loop_now(pacer->model)) {
			credited_ns = sl_loop_now(pacer->model);
		}
		/* The wall loop's time is cached per wake-up; never let it push the model back or a call
		 * forward. */
		at_ns = at_ns < credited_ns ? credited_ns : at_ns;
		pacer->credit_used_ns += to_wall(pacer, at_ns) - to_wall(pacer, credited_ns);
		at_ns = credited_ns;
		(void)sl_loop_run_until(pacer->model, at_ns, NULL);
	}
	paced->submit_ns = at_ns;
	pacer->n_modelled++;
	if (pacer->watch.sent) {
		pacer->watch.sent(pacer->watch.arg, at_ns, &paced->inner);
	}
	sl_store_submit(pacer->store, at_ns, &paced->inner);
}

static void store_attach(struct sl_pacer *pacer, struct sl_loop *model, struct sl_store *store)
{
	pacer->model = model;
	pacer->store = store;
	if (model) {
		pacer->pace.wall_zero_ns = sl_loop_clock(pacer->wall);
		pacer->pace.model_zero_ns = sl_loop_now(model);
	}
	store->on_synced = model_synced;
	store->on_synced_arg = pacer;
}

/* The present store has nothing in service any more: the next one takes what has waited. */
static void swap_finish(struct sl_pacer *pacer)
{
	struct swap swap = pacer->swap;

	pacer->store->on_synced = NULL;
	pacer->swap = (struct swap){0};
	store_attach(pacer, swap.model, swap.store);
	pacer->synced = true;
	pacer->synced_ns = sl_loop_now(pacer->wall);
	swap.retired(swap.arg);
	while (swap.held_first) {
		struct paced *paced = swap.held_first;

		swap.held_first = paced->ready_next;
		paced_start(pacer, paced, 0);
	}
}

static void wake_fire(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_pacer *pacer = sl_container_of(timer, struct sl_pacer, wake);

	if (pacer->model) {
		model_advance(pacer,
			      to_model(pacer, now_ns - (pacer->in_service ? 0 : pacer->credit_cap_ns)));
	}
	pacer_deliver(pacer);
	if (pacer->swap.store && pacer->n_modelled == 0) {
		swap_finish(pacer);
	}
	wake_arm(pacer);
}

static void pacer_submit(struct sl_store *store, int64_t now_ns, struct sl_store_req *req)
{
	struct sl_pacer *pacer = pacer_of(store);
	struct paced *paced = sl_slab_get(&pacer->slab);

	assert(pacer->client);
	*paced = (struct paced){.inner = *req,
				.outer = req,
				.pacer = pacer,
				.client = pacer->client,
				.arrival_ns = now_ns,
				.instant = pacer->instant};
	paced->inner.done = (struct sl_timer){.fire = model_done};
	paced->next = pacer->in_service;
	if (paced->next) {
		paced->next->prev = paced;
	}
	pacer->in_service = paced;
	pacer->client->in_service++;
	if (paced->instant) {
		paced_push(paced, &pacer->ready_end);
	} else if (pacer->swap.store) {
		paced_push(paced, &pacer->swap.held_end);
	} else {
		paced_start(pacer, paced, pacer->credit_ns);
	}
	wake_arm(pacer);
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
	pacer_deliver(pacer);
	for (uint32_t i = 0; pacer->model && pacer->in_service && i < PACER_DRAIN_MAX; i++) {
		int64_t due_ns = sl_loop_next_due(pacer->model);

		if (due_ns == SL_NEVER) {
			break;
		}
		model_advance(pacer, due_ns);
		pacer_deliver(pacer);
		if (pacer->swap.store && pacer->n_modelled == 0) {
			swap_finish(pacer);
		}
	}
	pacer->n_modelled = 0;
	while (pacer->in_service) {
		struct paced *paced = pacer->in_service;

		sl_loop_cancel(pacer->model ? pacer->model : pacer->wall, &paced->inner.done);
		paced->instant = true;
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
	pacer->pace.pace = 1;
	pacer->credit_cap_ns = credit_cap_ns > 0 ? credit_cap_ns : 0;
	pacer->ready_end = &pacer->ready_first;
	pacer->wake.fire = wake_fire;
	sl_slab_init(&pacer->slab, sizeof(struct paced));
	store_attach(pacer, model, store);
	wake_arm(pacer);
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

void sl_pacer_set_watch(struct sl_pacer *pacer, const struct sl_pacer_watch *watch)
{
	pacer->watch = *watch;
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

/* From the later of wall_ns and the present on, the model goes on from where it is now. */
static void clocks_set(struct sl_pacer *pacer, int64_t wall_ns, double pace)
{
	int64_t now_ns = sl_loop_clock(pacer->wall);

	if (pacer->model) {
		int64_t model_ns = to_model(pacer, now_ns);

		model_advance(pacer, model_ns);
		pacer->pace.model_zero_ns = model_ns;
		pacer->pace.wall_zero_ns = wall_ns > now_ns ? wall_ns : now_ns;
	}
	pacer->pace.pace = pace;
	wake_arm(pacer);
}

void sl_pacer_set_pace(struct sl_pacer *pacer, double pace)
{
	assert(pace > 0);
	clocks_set(pacer, pacer->pace.wall_zero_ns, pace);
}

void sl_pacer_stall(struct sl_pacer *pacer, int64_t stall_ns)
{
	int64_t until_ns = sl_loop_clock(pacer->wall) + stall_ns, earlier_ns = pacer->pace.wall_zero_ns;

	clocks_set(pacer, until_ns > earlier_ns ? until_ns : earlier_ns, pacer->pace.pace);
}

void sl_pacer_latency(struct sl_pacer *pacer, bool on)
{
	if (on && pacer->instant) {
		pacer->synced = true;
		pacer->synced_ns = sl_loop_now(pacer->wall);
	}
	pacer->instant = !on;
	wake_arm(pacer);
}

void sl_pacer_happen(struct sl_pacer *pacer, void (*event)(void *arg, int64_t model_ns), void *arg)
{
	int64_t model_ns = to_model(pacer, sl_loop_clock(pacer->wall));

	if (pacer->model) {
		model_advance(pacer, model_ns);
		(void)sl_loop_run_until(pacer->model, model_ns, NULL);
	}
	event(arg, model_ns);
	wake_arm(pacer);
}

int sl_pacer_swap(struct sl_pacer *pacer, struct sl_loop *model, struct sl_store *store,
		  void (*retired)(void *arg), void *arg)
{
	if (pacer->swap.store) {
		return -EBUSY;
	}
	pacer->swap = (struct swap){.model = model, .store = store, .retired = retired, .arg = arg};
	pacer->swap.held_end = &pacer->swap.held_first;
	wake_arm(pacer);
	return 0;
}

const struct sl_hist *sl_pacer_modelled(const struct sl_pacer *pacer)
{
	return &pacer->modelled;
}

int64_t sl_pacer_credit_used(const struct sl_pacer *pacer)
{
	return pacer->credit_used_ns;
}
