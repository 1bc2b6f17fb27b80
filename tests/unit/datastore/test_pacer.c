/* The pacer, with a virtual loop in the place of the wall clock: credit, its bounds, background work, the
 * end. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "sim/datastore/pacer.h"

#define MS 1000000

/* Completes after a constant delay. */
struct delay_store {
	struct sl_store base;
	struct sl_loop *loop;
	int64_t delay_ns;
};

static void delay_submit(struct sl_store *store, int64_t now_ns, struct sl_store_req *req)
{
	struct delay_store *self = sl_container_of(store, struct delay_store, base);

	cr_assert(now_ns >= sl_loop_now(self->loop));
	sl_loop_arm(self->loop, &req->done, now_ns + self->delay_ns);
}

static void delay_free(struct sl_store *store)
{
	(void)store;
}

static const struct sl_store_ops delay_ops = {.submit = delay_submit, .free = delay_free};

/* A request and what became of it. */
struct probe {
	struct sl_store_req req;
	struct bench *bench;
	int64_t wall_ns, due_ns; /* when it completed, when the model says so */
	int done;
};

struct bench {
	struct sl_loop *wall, *model;
	struct delay_store store;
	struct sl_pacer *pacer;
	struct sl_pacer_client client;
	int64_t completed_ns, ready_ns; /* what client->completed was told last */
	int idle, timed, submitting;
};

static void client_completed(struct sl_pacer_client *client, int64_t due_ns, int64_t ready_ns, bool timed)
{
	struct bench *bench = sl_container_of(client, struct bench, client);

	bench->completed_ns = due_ns;
	bench->ready_ns = ready_ns;
	bench->timed += timed;
}

static void client_idle(struct sl_pacer_client *client)
{
	sl_container_of(client, struct bench, client)->idle++;
}

static void probe_done(struct sl_timer *timer, int64_t now_ns)
{
	struct probe *probe = sl_container_of(timer, struct probe, req.done);

	cr_assert_eq(probe->bench->submitting, 0, "completed from inside submit");
	cr_assert_eq(probe->bench->completed_ns, now_ns);
	probe->due_ns = now_ns;
	probe->wall_ns = sl_loop_now(probe->bench->wall);
	probe->done++;
}

static void bench_init(struct bench *bench, int64_t delay_ns, int64_t cap_ns)
{
	*bench = (struct bench){.wall = sl_loop_new_virtual(), .model = sl_loop_new_virtual()};
	bench->store =
	    (struct delay_store){.base = {.ops = &delay_ops}, .loop = bench->model, .delay_ns = delay_ns};
	bench->client = (struct sl_pacer_client){.completed = client_completed, .idle = client_idle};
	/* The two clocks need not agree: model time 0 is wall time 5 ms. */
	cr_assert_eq(sl_loop_run_until(bench->wall, 5 * MS, NULL), 0);
	bench->pacer = sl_pacer_new(bench->wall, bench->model, &bench->store.base, cap_ns);
	cr_assert(bench->pacer != NULL);
}

static void bench_fini(struct bench *bench)
{
	sl_pacer_free(bench->pacer);
	sl_loop_free(bench->model);
	sl_loop_free(bench->wall);
}

static void bench_at(struct bench *bench, int64_t wall_ns)
{
	cr_assert_eq(sl_loop_run_until(bench->wall, wall_ns, NULL), 0);
}

static void probe_submit_as(struct bench *bench, struct probe *probe, enum sl_store_op op,
			    enum sl_stable stable, int64_t credit_ns)
{
	*probe =
	    (struct probe){.bench = bench, .req = {.done = {.fire = probe_done}, .op = op, .stable = stable}};
	sl_pacer_enter(bench->pacer, &bench->client, credit_ns);
	bench->submitting++;
	sl_store_submit(sl_pacer_store(bench->pacer), sl_loop_now(bench->wall), &probe->req);
	bench->submitting--;
}

static void probe_submit(struct bench *bench, struct probe *probe, enum sl_store_op op, int64_t credit_ns)
{
	probe_submit_as(bench, probe, op, SL_FILE_SYNC, credit_ns);
}

/* An UNSTABLE write is no promise that anybody waits for. */
Test(pacer, what_has_to_be_stable_counts_as_modelled)
{
	struct bench bench;
	struct probe probe;

	bench_init(&bench, 2 * MS, 0);
	probe_submit_as(&bench, &probe, SL_STORE_WRITE, SL_UNSTABLE, 0);
	bench_at(&bench, 10 * MS);
	cr_assert_eq(sl_pacer_modelled(bench.pacer)->count, 0u);
	probe_submit(&bench, &probe, SL_STORE_COMMIT, 0);
	bench_at(&bench, 20 * MS);
	probe_submit(&bench, &probe, SL_STORE_WRITE, 0);
	bench_at(&bench, 30 * MS);
	cr_assert_eq(sl_pacer_modelled(bench.pacer)->count, 2u);
	bench_fini(&bench);
}

struct alarm {
	struct sl_timer timer;
	const struct sl_loop *wall;
	int64_t rang_ns; /* 0: not yet */
};

static void alarm_ring(struct sl_timer *timer, int64_t now_ns)
{
	struct alarm *alarm = sl_container_of(timer, struct alarm, timer);

	(void)now_ns;
	alarm->rang_ns = sl_loop_now(alarm->wall);
}

/* A model that works by itself (its next txg) does so before the first request too: 3 ms after 5 ms. */
Test(pacer, what_the_model_has_pending_at_the_start_happens_in_its_time)
{
	struct alarm alarm = {.timer.fire = alarm_ring};
	struct bench bench;

	bench_init(&bench, 2 * MS, 0);
	sl_pacer_free(bench.pacer);
	alarm.wall = bench.wall;
	sl_loop_arm(bench.model, &alarm.timer, 3 * MS);
	bench.pacer = sl_pacer_new(bench.wall, bench.model, &bench.store.base, 0);
	bench_at(&bench, 20 * MS);
	cr_assert_eq(alarm.rang_ns, 8 * MS);
	bench_fini(&bench);
}

Test(pacer, a_request_completes_when_the_model_says)
{
	struct bench bench;
	struct probe probe;

	bench_init(&bench, 2 * MS, 0);
	bench_at(&bench, 7 * MS);
	probe_submit(&bench, &probe, SL_STORE_WRITE, 0);
	bench_at(&bench, 9 * MS - 1);
	cr_assert_eq(probe.done, 0);
	cr_assert_eq(bench.client.in_service, 1u);
	bench_at(&bench, 9 * MS);
	cr_assert_eq(probe.done, 1);
	cr_assert_eq(probe.wall_ns, 9 * MS);
	cr_assert_eq(probe.due_ns, 9 * MS);
	cr_assert_eq(bench.idle, 1);
	cr_assert_eq(bench.timed, 1);
	cr_assert_eq(sl_pacer_modelled(bench.pacer)->count, 1u);
	cr_assert_eq(sl_pacer_modelled(bench.pacer)->max, 2 * MS);
	bench_fini(&bench);
}

Test(pacer, credit_moves_the_arrival_back_up_to_the_cap)
{
	/* Without credit it would be due at 22 ms. A due time in the past means: at once. */
	static const struct {
		int64_t cap, credit, due;
	} rows[] = {
	    {0, 1 * MS, 22 * MS},      {5 * MS, 0, 22 * MS},      {5 * MS, 1 * MS, 21 * MS},
	    {5 * MS, 9 * MS, 17 * MS}, {1 * MS, 9 * MS, 21 * MS}, {5 * MS, -3, 22 * MS},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bench bench;
		struct probe probe;
		int64_t want = rows[i].due;

		bench_init(&bench, 2 * MS, rows[i].cap);
		bench_at(&bench, 20 * MS);
		probe_submit(&bench, &probe, SL_STORE_COMMIT, rows[i].credit);
		bench_at(&bench, 30 * MS);
		cr_assert_eq(probe.done, 1);
		cr_assert_eq(probe.due_ns, want, "row %zu: %ld", i, (long)probe.due_ns);
		cr_assert_eq(probe.wall_ns, want > 20 * MS ? want : 20 * MS, "row %zu", i);
		cr_assert_eq(bench.ready_ns, probe.wall_ns, "row %zu", i);
		cr_assert_eq(sl_pacer_credit_used(bench.pacer), 22 * MS - want);
		bench_fini(&bench);
	}
}

Test(pacer, credit_ends_at_the_last_event_of_the_model)
{
	struct bench bench;
	struct probe first, second;

	bench_init(&bench, 4 * MS, 50 * MS);
	bench_at(&bench, 20 * MS);
	probe_submit(&bench, &first, SL_STORE_WRITE, 0);
	bench_at(&bench, 22 * MS);
	/* The first one arrived at 20 ms: nothing can have arrived before it any more. */
	probe_submit(&bench, &second, SL_STORE_WRITE, 10 * MS);
	bench_at(&bench, 40 * MS);
	cr_assert_eq(first.due_ns, 24 * MS);
	cr_assert_eq(second.due_ns, 24 * MS);
	cr_assert_eq(sl_pacer_credit_used(bench.pacer), 2 * MS);
	bench_fini(&bench);
}

/* A closed loop whose every reply leaves 1 ms late runs at the modelled rate all the same. */
Test(pacer, a_late_closed_loop_keeps_the_modelled_rate)
{
	struct bench bench;
	struct probe probe;
	int64_t credit = 0, at = 10 * MS;

	bench_init(&bench, 2 * MS, 20 * MS);
	bench_at(&bench, at);
	for (int i = 0; i < 100; i++) {
		probe_submit(&bench, &probe, SL_STORE_WRITE, credit);
		at += i == 0 ? 3 * MS : 2 * MS;
		bench_at(&bench, at);
		cr_assert_eq(probe.done, 1);
		credit = at - probe.due_ns;
		cr_assert_eq(credit, 1 * MS);
	}
	cr_assert_eq(probe.due_ns, 10 * MS + 100 * 2 * MS);
	bench_fini(&bench);
}

static void tick_fire(struct sl_timer *timer, int64_t now_ns)
{
	(void)timer;
	(void)now_ns;
}

Test(pacer, background_work_lags_by_the_cap_when_idle)
{
	struct bench bench;
	struct sl_timer tick = {.fire = tick_fire};
	struct probe probe;

	bench_init(&bench, 2 * MS, 3 * MS);
	sl_loop_arm(bench.model, &tick, 10 * MS); /* wall 15 ms */
	bench_at(&bench, 6 * MS);
	probe_submit(&bench, &probe, SL_STORE_GETATTR, 0);
	bench_at(&bench, 17 * MS);
	cr_assert_eq(probe.done, 1);
	cr_assert_eq(bench.timed, 0);
	cr_assert(tick.armed);
	bench_at(&bench, 18 * MS);
	cr_assert(!tick.armed);
	bench_fini(&bench);
}

struct synced {
	int count;
	int64_t as_of_ns;
};

static void synced_note(void *arg, int64_t as_of_ns)
{
	struct synced *synced = arg;

	synced->count++;
	synced->as_of_ns = as_of_ns;
}

struct txg {
	struct sl_timer timer;
	struct sl_store *store;
};

static void txg_fire(struct sl_timer *timer, int64_t now_ns)
{
	struct txg *txg = sl_container_of(timer, struct txg, timer);

	txg->store->on_synced(txg->store->on_synced_arg, now_ns - 1 * MS);
}

Test(pacer, syncs_are_passed_on_in_wall_time)
{
	struct bench bench;
	struct synced synced = {0};
	struct txg txg = {.timer = {.fire = txg_fire}};
	struct probe probe;

	bench_init(&bench, 2 * MS, 0);
	sl_pacer_store(bench.pacer)->on_synced = synced_note;
	sl_pacer_store(bench.pacer)->on_synced_arg = &synced;
	txg.store = &bench.store.base;
	sl_loop_arm(bench.model, &txg.timer, 3 * MS);
	bench_at(&bench, 6 * MS);
	probe_submit(&bench, &probe, SL_STORE_WRITE, 0);
	bench_at(&bench, 7 * MS);
	cr_assert_eq(synced.count, 0);
	bench_at(&bench, 8 * MS);
	cr_assert_eq(synced.count, 1);
	cr_assert_eq(synced.as_of_ns, 7 * MS);
	cr_assert_eq(probe.done, 1);
	bench_fini(&bench);
}

Test(pacer, what_is_in_service_completes_at_the_end)
{
	struct bench bench;
	struct probe probes[40];

	bench_init(&bench, 2 * MS, 0);
	bench_at(&bench, 6 * MS);
	for (int i = 0; i < 40; i++) {
		probe_submit(&bench, &probes[i], SL_STORE_WRITE, 0);
	}
	sl_pacer_free(bench.pacer);
	bench.pacer = NULL;
	for (int i = 0; i < 40; i++) {
		cr_assert_eq(probes[i].done, 1);
	}
	cr_assert_eq(bench.idle, 1);
	cr_assert_eq(bench.store.base.on_synced, NULL);
	bench_fini(&bench);
}

Test(pacer, a_store_on_the_wall_loop_is_passed_through)
{
	struct bench bench = {.wall = sl_loop_new_virtual()};
	struct sl_store *null = sl_store_new_null(bench.wall);
	struct probe probes[2];

	bench.client = (struct sl_pacer_client){.completed = client_completed, .idle = client_idle};
	bench.pacer = sl_pacer_new(bench.wall, NULL, null, 10 * MS);
	bench_at(&bench, 5 * MS);
	probe_submit(&bench, &probes[0], SL_STORE_WRITE, 1 * MS);
	cr_assert_eq(probes[0].done, 0);
	bench_at(&bench, 5 * MS + 1);
	cr_assert_eq(probes[0].done, 1);
	cr_assert_eq(probes[0].due_ns, 5 * MS);
	/* Armed on the wall loop when everything ends. */
	probe_submit(&bench, &probes[1], SL_STORE_WRITE, 0);
	bench_fini(&bench);
	cr_assert_eq(probes[1].done, 1);
	sl_store_free(null);
}

static void retired_note(void *arg)
{
	++*(int *)arg;
}

Test(pacer, a_pace_stretches_the_model)
{
	struct bench bench;
	struct probe probe;

	bench_init(&bench, 2 * MS, 0);
	sl_pacer_set_pace(bench.pacer, 4);
	bench_at(&bench, 10 * MS);
	probe_submit(&bench, &probe, SL_STORE_WRITE, 0);
	bench_at(&bench, 30 * MS);
	cr_assert_eq(probe.wall_ns, 18 * MS);
	/* Back to the model's own speed, from here. */
	sl_pacer_set_pace(bench.pacer, 1);
	probe_submit(&bench, &probe, SL_STORE_WRITE, 0);
	bench_at(&bench, 40 * MS);
	cr_assert_eq(probe.wall_ns, 32 * MS);
	cr_assert_eq(sl_pacer_modelled(bench.pacer)->max, 2 * MS);
	bench_fini(&bench);
}

Test(pacer, without_latency_requests_are_done_at_once_and_synced_when_it_returns)
{
	struct bench bench;
	struct synced synced = {0};
	struct probe populate, timed;

	bench_init(&bench, 2 * MS, 0);
	sl_pacer_store(bench.pacer)->on_synced = synced_note;
	sl_pacer_store(bench.pacer)->on_synced_arg = &synced;
	sl_pacer_latency(bench.pacer, false);
	probe_submit(&bench, &populate, SL_STORE_WRITE, 0);
	bench_at(&bench, 5 * MS + 1);
	cr_assert_eq(populate.done, 1);
	cr_assert_eq(populate.wall_ns, 5 * MS);
	cr_assert_eq(bench.timed, 0);
	cr_assert_eq(synced.count, 0);
	sl_pacer_latency(bench.pacer, true);
	probe_submit(&bench, &timed, SL_STORE_WRITE, 0);
	bench_at(&bench, 9 * MS);
	cr_assert_eq(synced.count, 1);
	cr_assert_eq(timed.done, 1);
	cr_assert_eq(sl_pacer_modelled(bench.pacer)->count, 1u);
	bench_fini(&bench);
}

Test(pacer, a_stall_holds_back_what_is_in_service)
{
	struct bench bench;
	struct probe before, during;

	bench_init(&bench, 2 * MS, 0);
	bench_at(&bench, 10 * MS);
	probe_submit(&bench, &before, SL_STORE_COMMIT, 0);
	bench_at(&bench, 11 * MS);
	sl_pacer_stall(bench.pacer, 100 * MS);
	bench_at(&bench, 50 * MS);
	probe_submit(&bench, &during, SL_STORE_COMMIT, 0);
	bench_at(&bench, 200 * MS);
	cr_assert_eq(before.wall_ns, 112 * MS);
	cr_assert_eq(during.wall_ns, 113 * MS, "it arrived while the model stood at its 11th ms");
	bench_fini(&bench);
}

Test(pacer, a_swap_waits_for_the_old_store_and_holds_what_arrives)
{
	struct bench bench;
	struct sl_loop *loop = sl_loop_new_virtual();
	struct delay_store other = {.base = {.ops = &delay_ops}, .loop = loop, .delay_ns = 1 * MS};
	struct probe before, after;
	struct synced synced = {0};
	int retired = 0;

	bench_init(&bench, 8 * MS, 0);
	sl_pacer_store(bench.pacer)->on_synced = synced_note;
	sl_pacer_store(bench.pacer)->on_synced_arg = &synced;
	bench_at(&bench, 10 * MS);
	probe_submit(&bench, &before, SL_STORE_WRITE, 0);
	cr_assert_eq(sl_pacer_swap(bench.pacer, loop, &other.base, retired_note, &retired), 0);
	cr_assert_eq(sl_pacer_swap(bench.pacer, loop, &other.base, retired_note, &retired), -EBUSY);
	bench_at(&bench, 12 * MS);
	probe_submit(&bench, &after, SL_STORE_WRITE, 0);
	cr_assert_eq(retired, 0);
	bench_at(&bench, 30 * MS);
	cr_assert_eq(before.wall_ns, 18 * MS);
	cr_assert_eq(after.wall_ns, 19 * MS);
	cr_assert_eq(retired, 1);
	cr_assert_eq(synced.count, 1);
	cr_assert_eq(bench.store.base.on_synced, NULL);
	bench_fini(&bench);
	sl_loop_free(loop);
}
