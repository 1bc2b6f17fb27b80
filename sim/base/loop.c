#include "sim/base/loop.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "sim/base/hist.h"
#include "sim/base/pending.h"
#include "sim/base/waiter.h"

/* Rounds of timers that follow each other at one instant before descriptors are looked at again: enough for a
 * call that is answered at once (submit, completion, reply). */
#define ROUNDS_MAX 4
#define ASK_EVERY 64u /* wake-ups: of 100 ns mostly, of a millisecond where one gathers many requests */

struct sl_loop {
	struct sl_waiter *waiter;
	struct sl_pending pending;
	int64_t now_ns;
	uint64_t next_seq, fired;
	bool running, stop;
	bool (*stopped)(void);    /* NULL: nobody to ask */
	uint32_t unasked;         /* wake-ups since it was asked */
	int error;                /* sticky: an arm that found no memory */
	struct sl_hist *lateness; /* NULL in virtual time */
	struct sl_hist lateness_store;
};

static inline void loop_fire_top(struct sl_loop *loop)
{
	struct sl_timer *timer = sl_pending_take(&loop->pending);

	loop->fired++;
	timer->armed = false;
	timer->fire(timer, loop->now_ns);
	sl_pending_settle(&loop->pending);
}

/* Fires what is due now. Timers armed meanwhile wait for the next wake-up even when due: they sort behind the
 * older ones, and descriptors get their turn in between. */
static void loop_fire_due(struct sl_loop *loop)
{
	uint64_t first_new = loop->next_seq;

	while (loop->pending.count > 0 && sl_pending_due(&loop->pending) <= loop->now_ns &&
	       loop->pending.slot[sl_pending_top(&loop->pending)].seq < first_new && !loop->stop) {
		sl_hist_add(loop->lateness, loop->now_ns - sl_pending_due(&loop->pending));
		loop_fire_top(loop);
	}
}

/* What the descriptors' callbacks armed for the present instant, and what that armed in turn: to ask the
 * kernel between any two of them would cost more than the work itself. Bounded, so that a timer that arms
 * itself anew starves no descriptor. */
static void loop_fire_followers(struct sl_loop *loop)
{
	for (int round = 0; round < ROUNDS_MAX && !loop->stop; round++) {
		if (sl_pending_due(&loop->pending) > loop->now_ns) {
			return;
		}
		loop_fire_due(loop);
	}
}

/* Does the one who waits for the run still want it? */
static bool loop_is_stopped(struct sl_loop *loop)
{
	if (loop->stopped == NULL || ++loop->unasked < ASK_EVERY) {
		return false;
	}
	loop->unasked = 0;
	return loop->stopped();
}

/* In virtual time nothing happens between two timers: time jumps from one to the next. */
static int loop_run_virtual(struct sl_loop *loop, int64_t until_ns, struct sl_err *err)
{
	int64_t last_ns = until_ns < SL_NEVER ? until_ns : SL_NEVER - 1;

	while (!loop->stop && loop->error == 0) {
		int64_t due_ns = sl_pending_due(&loop->pending);

		if (due_ns > last_ns) {
			loop->now_ns =
			    until_ns < SL_NEVER && until_ns > loop->now_ns ? until_ns : loop->now_ns;
			return 0;
		}
		loop->now_ns = due_ns;
		if (loop_is_stopped(loop)) {
			return sl_err_set(err, -EINTR, "interrupted");
		}
		loop_fire_top(loop);
	}
	return 0;
}

static int loop_run_wall(struct sl_loop *loop, int64_t until_ns, struct sl_err *err)
{
	while (!loop->stop && loop->error == 0) {
		int64_t due_ns = sl_pending_due(&loop->pending);
		int rc;

		if (loop->now_ns >= until_ns && due_ns > until_ns) {
			return 0;
		}
		rc = loop->waiter->wait(loop->waiter, loop->now_ns, due_ns < until_ns ? due_ns : until_ns,
					&loop->now_ns, err);
		if (rc != 0) {
			return rc < 0 ? rc : 0;
		}
		if (loop_is_stopped(loop)) {
			return sl_err_set(err, -EINTR, "interrupted");
		}
		loop_fire_due(loop);
		loop->waiter->deliver(loop->waiter, loop->now_ns, &loop->stop);
		loop_fire_followers(loop);
	}
	return 0;
}

static int loop_run(struct sl_loop *loop, int64_t until_ns, struct sl_err *err)
{
	int rc = loop->waiter->wait == NULL ? loop_run_virtual(loop, until_ns, err)
					    : loop_run_wall(loop, until_ns, err);

	return rc == 0 && loop->error != 0 ? sl_err_set(err, loop->error, "out of memory for timers") : rc;
}

static struct sl_loop *loop_new(struct sl_waiter *waiter)
{
	struct sl_loop *loop;

	if (waiter == NULL) {
		return NULL;
	}
	loop = calloc(1, sizeof(*loop));
	if (loop == NULL) {
		waiter->close(waiter);
		return NULL;
	}
	loop->waiter = waiter;
	return loop;
}

struct sl_loop *sl_loop_new_virtual(void)
{
	return loop_new(sl_waiter_virtual());
}

struct sl_loop *sl_loop_new_wall(struct sl_err *err)
{
	struct sl_waiter *waiter = sl_waiter_epoll(err);
	struct sl_loop *loop = loop_new(waiter);

	if (loop != NULL && sl_hist_init(&loop->lateness_store) == 0) {
		loop->lateness = &loop->lateness_store;
		return loop;
	}
	if (waiter != NULL) {
		(void)sl_err_set(err, -ENOMEM, "out of memory");
	}
	sl_loop_free(loop);
	return NULL;
}

void sl_loop_free(struct sl_loop *loop)
{
	if (loop == NULL) {
		return;
	}
	assert(!loop->running);
	loop->waiter->close(loop->waiter);
	sl_hist_fini(&loop->lateness_store);
	sl_pending_fini(&loop->pending);
	free(loop);
}

int64_t sl_loop_now(const struct sl_loop *loop)
{
	return loop->now_ns;
}

void sl_loop_arm(struct sl_loop *loop, struct sl_timer *timer, int64_t due_ns)
{
	assert(timer->fire != NULL);
	due_ns = due_ns > loop->now_ns ? due_ns : loop->now_ns;
	if (timer->armed) {
		timer->armed = false;
		sl_pending_remove(&loop->pending, timer);
	}
	if (!sl_pending_add(&loop->pending, due_ns, (struct sl_pending_slot){loop->next_seq++, timer})) {
		loop->error = -ENOMEM;
		return;
	}
	timer->due_ns = due_ns;
	timer->armed = true;
}

void sl_loop_cancel(struct sl_loop *loop, struct sl_timer *timer)
{
	if (timer->armed) {
		timer->armed = false;
		sl_pending_remove(&loop->pending, timer);
	}
}

int sl_loop_io_add(struct sl_loop *loop, struct sl_io *io, struct sl_err *err)
{
	assert(io->fire != NULL);
	return loop->waiter->io_add(loop->waiter, io, err);
}

int sl_loop_io_mod(struct sl_loop *loop, struct sl_io *io, uint32_t events, struct sl_err *err)
{
	return loop->waiter->io_mod(loop->waiter, io, events, err);
}

void sl_loop_io_del(struct sl_loop *loop, struct sl_io *io)
{
	loop->waiter->io_del(loop->waiter, io);
}

int sl_loop_run_until(struct sl_loop *loop, int64_t until_ns, struct sl_err *err)
{
	int rc;

	assert(!loop->running);
	loop->running = true;
	loop->stop = false;
	rc = loop_run(loop, until_ns, err);
	loop->running = false;
	return rc;
}

int sl_loop_run(struct sl_loop *loop, struct sl_err *err)
{
	return sl_loop_run_until(loop, SL_NEVER, err);
}

void sl_loop_stop(struct sl_loop *loop)
{
	loop->stop = true;
}

void sl_loop_set_stopped(struct sl_loop *loop, bool (*stopped)(void))
{
	loop->stopped = stopped;
}

int64_t sl_loop_next_due(const struct sl_loop *loop)
{
	assert(!loop->pending.vacant);
	return sl_pending_due(&loop->pending);
}

int64_t sl_loop_clock(const struct sl_loop *loop)
{
	return loop->waiter->clock != NULL ? loop->waiter->clock(loop->waiter) : loop->now_ns;
}

uint64_t sl_loop_events(const struct sl_loop *loop)
{
	return loop->fired;
}

const struct sl_hist *sl_loop_lateness(const struct sl_loop *loop)
{
	return loop->lateness;
}
