#include "sim/disks/disk_pacer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "sim/base/slab.h"
#include "sim/device/ssd.h"

/* Events of the model run to finish what a power cut leaves in service; a model that needs more is stuck. */
#define DROP_EVENTS_MAX 10000000u

/* A request on its way through the model. */
struct paced {
	struct sl_dev_req inner;
	struct sl_dev_req *outer;
	struct sl_disk_pacer *pacer;
	struct paced *next; /* of those that are ready */
	int64_t arrival_ns; /* wall time, with credit */
	int64_t due_ns;     /* wall time */
	bool timed;
};

struct sl_disk_pacer {
	struct sl_dev base;
	struct sl_disk_pacer_config config;
	struct sl_loop *model;
	struct sl_dev *dev;
	/* wall_zero_ns and model_zero_ns are the same instant; from there the clocks run at the pace. */
	int64_t wall_zero_ns, model_zero_ns;
	double pace;
	bool instant;
	uint32_t in_service;
	struct sl_slab slab;
	struct paced *ready_first, **ready_end;
	struct sl_timer wake;
	int64_t credit_used_ns;
};

static int64_t to_wall(const struct sl_disk_pacer *pacer, int64_t model_ns)
{
	return pacer->wall_zero_ns + (int64_t)((double)(model_ns - pacer->model_zero_ns) * pacer->pace);
}

static int64_t to_model(const struct sl_disk_pacer *pacer, int64_t wall_ns)
{
	return pacer->model_zero_ns + (int64_t)((double)(wall_ns - pacer->wall_zero_ns) / pacer->pace);
}

/* Rebases the clocks at the model's present, which is `wall_ns` on the wall. */
static void clocks_join(struct sl_disk_pacer *pacer, int64_t wall_ns)
{
	pacer->wall_zero_ns = wall_ns;
	pacer->model_zero_ns = sl_loop_now(pacer->model);
}

static void ready_append(struct paced *paced)
{
	struct sl_disk_pacer *pacer = paced->pacer;

	paced->next = NULL;
	*pacer->ready_end = paced;
	pacer->ready_end = &paced->next;
}

static struct paced *ready_take(struct sl_disk_pacer *pacer)
{
	struct paced *paced = pacer->ready_first;

	if (paced) {
		pacer->ready_first = paced->next;
		if (!pacer->ready_first) {
			pacer->ready_end = &pacer->ready_first;
		}
		pacer->in_service--;
	}
	return paced;
}

static void model_done(struct sl_timer *timer, int64_t now_ns)
{
	struct paced *paced = sl_container_of(timer, struct paced, inner.done);

	paced->due_ns = to_wall(paced->pacer, now_ns);
	ready_append(paced);
}

/* Runs the model's events that are due by wall_ns. Errors of a virtual loop are "out of memory" only; the
 * next event meets it again. */
static void model_advance(struct sl_disk_pacer *pacer, int64_t wall_ns)
{
	for (;;) {
		int64_t due_ns = sl_loop_next_due(pacer->model);

		if (due_ns == SL_NEVER || to_wall(pacer, due_ns) > wall_ns ||
		    sl_loop_run_until(pacer->model, due_ns, NULL) < 0) {
			return;
		}
	}
}

static void wake_arm(struct sl_disk_pacer *pacer)
{
	int64_t due_ns = sl_loop_next_due(pacer->model);

	if (pacer->ready_first) {
		due_ns = sl_loop_now(pacer->config.wall);
	} else if (due_ns != SL_NEVER) {
		/* Background work of an idle disk waits, so that a late request can still get its credit. */
		due_ns = to_wall(pacer, due_ns) + (pacer->in_service ? 0 : pacer->config.credit_cap_ns);
	}
	if (due_ns == SL_NEVER) {
		sl_loop_cancel(pacer->config.wall, &pacer->wake);
	} else if (!pacer->wake.armed || pacer->wake.due_ns != due_ns) {
		sl_loop_arm(pacer->config.wall, &pacer->wake, due_ns);
	}
}

static void ready_deliver(struct sl_disk_pacer *pacer)
{
	struct paced *paced;

	while ((paced = ready_take(pacer)) != NULL) {
		struct sl_dev_req *outer = paced->outer;
		int64_t due_ns = paced->due_ns;

		if (paced->timed && pacer->config.modelled) {
			sl_hist_add(pacer->config.modelled, due_ns - paced->arrival_ns);
		}
		outer->error = paced->inner.error;
		sl_slab_put(&pacer->slab, paced);
		sl_timer_fire(&outer->done, due_ns);
	}
}

static void wake_fire(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_disk_pacer *pacer = sl_container_of(timer, struct sl_disk_pacer, wake);

	model_advance(pacer, now_ns - (pacer->in_service ? 0 : pacer->config.credit_cap_ns));
	ready_deliver(pacer);
	wake_arm(pacer);
	pacer->config.settled(pacer->config.arg);
}

/* The instant, in model time, at which a request that came at wall time arrival_ns is submitted. */
static int64_t arrival_place(struct sl_disk_pacer *pacer, int64_t arrival_ns)
{
	int64_t now_ns = sl_loop_now(pacer->config.wall);
	int64_t at_ns;

	if (arrival_ns < now_ns - pacer->config.credit_cap_ns) {
		arrival_ns = now_ns - pacer->config.credit_cap_ns;
	}
	model_advance(pacer, arrival_ns);
	at_ns = to_model(pacer, arrival_ns);
	if (at_ns < sl_loop_now(pacer->model)) {
		at_ns = sl_loop_now(pacer->model);
	}
	/* No event is due before; this only moves the model's clock. */
	(void)sl_loop_run_until(pacer->model, at_ns, NULL);
	arrival_ns = to_wall(pacer, at_ns);
	pacer->credit_used_ns += now_ns > arrival_ns ? now_ns - arrival_ns : 0;
	return at_ns;
}

static void pacer_submit(struct sl_dev *base, int64_t now_ns, struct sl_dev_req *req)
{
	struct sl_disk_pacer *pacer = sl_container_of(base, struct sl_disk_pacer, base);
	struct paced *paced = sl_slab_get(&pacer->slab);

	*paced = (struct paced){.inner = *req, .outer = req, .pacer = pacer, .timed = !pacer->instant};
	paced->inner.done = (struct sl_timer){.fire = model_done};
	pacer->in_service++;
	if (pacer->instant) {
		paced->due_ns = sl_loop_now(pacer->config.wall);
		paced->inner.error = sl_dev_pass(pacer->dev, req);
		ready_append(paced);
	} else {
		int64_t at_ns = arrival_place(pacer, now_ns);

		paced->arrival_ns = to_wall(pacer, at_ns);
		sl_dev_submit(pacer->dev, at_ns, &paced->inner);
	}
	wake_arm(pacer);
}

static void pacer_free(struct sl_dev *base)
{
	sl_disk_pacer_free(sl_container_of(base, struct sl_disk_pacer, base));
}

static const struct sl_dev_ops pacer_ops = {.submit = pacer_submit, .free = pacer_free};

int sl_disk_pacer_new(const struct sl_disk_pacer_config *config, struct sl_disk_pacer **ret,
		      struct sl_err *err)
{
	struct sl_disk_pacer *pacer = calloc(1, sizeof(*pacer));
	int rc;

	assert(config->pace > 0);
	if (!pacer) {
		return sl_err_set(err, -ENOMEM, "disk %s: out of memory", config->name);
	}
	pacer->config = *config;
	pacer->config.credit_cap_ns = config->credit_cap_ns > 0 ? config->credit_cap_ns : 0;
	pacer->base.ops = &pacer_ops;
	pacer->base.loop = config->wall;
	pacer->pace = config->pace;
	pacer->ready_end = &pacer->ready_first;
	pacer->wake.fire = wake_fire;
	sl_slab_init(&pacer->slab, sizeof(struct paced));
	pacer->model = sl_loop_new_virtual();
	rc = pacer->model
		 ? sl_dev_new(config->spec, pacer->model, config->seed, config->name, &pacer->dev, err)
		 : sl_err_set(err, -ENOMEM, "disk %s: out of memory", config->name);
	if (rc < 0) {
		sl_disk_pacer_free(pacer);
		return rc;
	}
	clocks_join(pacer, sl_loop_clock(config->wall));
	wake_arm(pacer);
	*ret = pacer;
	return 0;
}

void sl_disk_pacer_free(struct sl_disk_pacer *pacer)
{
	if (!pacer) {
		return;
	}
	sl_loop_cancel(pacer->config.wall, &pacer->wake);
	sl_dev_free(pacer->dev);
	sl_loop_free(pacer->model);
	sl_slab_fini(&pacer->slab);
	free(pacer);
}

struct sl_dev *sl_disk_pacer_dev(struct sl_disk_pacer *pacer)
{
	return &pacer->base;
}

void sl_disk_pacer_run(struct sl_disk_pacer *pacer)
{
	model_advance(pacer, sl_loop_now(pacer->config.wall) -
				 (pacer->in_service ? 0 : pacer->config.credit_cap_ns));
	ready_deliver(pacer);
	wake_arm(pacer);
}

void sl_disk_pacer_latency(struct sl_disk_pacer *pacer, bool on)
{
	pacer->instant = !on;
}

void sl_disk_pacer_trim(struct sl_disk_pacer *pacer, int64_t offset_bytes, int64_t bytes)
{
	sl_ssd_trim(pacer->dev, offset_bytes, bytes);
}

/* Brings the model to the present. */
static void model_catch_up(struct sl_disk_pacer *pacer, int64_t now_ns)
{
	model_advance(pacer, now_ns);
	if (to_model(pacer, now_ns) > sl_loop_now(pacer->model)) {
		(void)sl_loop_run_until(pacer->model, to_model(pacer, now_ns), NULL);
	}
}

int64_t sl_disk_pacer_reached(struct sl_disk_pacer *pacer, bool exact)
{
	int64_t now_ns = sl_loop_now(pacer->config.wall);

	if (!exact && pacer->in_service) {
		model_advance(pacer, now_ns);
	}
	model_catch_up(pacer, exact ? now_ns : now_ns - pacer->config.credit_cap_ns);
	sl_dev_catch_up(pacer->dev, sl_loop_now(pacer->model));
	wake_arm(pacer);
	return sl_loop_now(pacer->model);
}

int sl_disk_pacer_pull(struct sl_disk_pacer *pacer, int side)
{
	int rc;

	model_catch_up(pacer, sl_loop_now(pacer->config.wall));
	rc = sl_dev_fail_side(pacer->dev, sl_loop_now(pacer->model), side);
	wake_arm(pacer);
	return rc;
}

int sl_disk_pacer_attach(struct sl_disk_pacer *pacer, int side)
{
	int rc;

	model_catch_up(pacer, sl_loop_now(pacer->config.wall));
	rc = sl_dev_attach_side(pacer->dev, sl_loop_now(pacer->model), side);
	wake_arm(pacer);
	return rc;
}

int64_t sl_disk_pacer_stale(const struct sl_disk_pacer *pacer)
{
	return sl_dev_stale_bytes(pacer->dev);
}

void sl_disk_pacer_set_pace(struct sl_disk_pacer *pacer, double pace)
{
	int64_t now_ns = sl_loop_now(pacer->config.wall);

	assert(pace > 0);
	model_catch_up(pacer, now_ns);
	clocks_join(pacer, now_ns);
	pacer->pace = pace;
	wake_arm(pacer);
}

void sl_disk_pacer_drop(struct sl_disk_pacer *pacer)
{
	struct paced *paced;

	for (uint32_t i = 0; i < DROP_EVENTS_MAX; i++) {
		int64_t due_ns;

		while ((paced = ready_take(pacer)) != NULL) {
			sl_slab_put(&pacer->slab, paced);
		}
		due_ns = sl_loop_next_due(pacer->model);
		if (pacer->in_service == 0 || due_ns == SL_NEVER ||
		    sl_loop_run_until(pacer->model, due_ns, NULL) < 0) {
			break;
		}
	}
	assert(pacer->in_service == 0);
	clocks_join(pacer, sl_loop_now(pacer->config.wall));
	wake_arm(pacer);
}

int64_t sl_disk_pacer_credit_used(const struct sl_disk_pacer *pacer)
{
	return pacer->credit_used_ns;
}
