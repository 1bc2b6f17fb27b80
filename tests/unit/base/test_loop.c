/* The loop in virtual time: order, re-arming, cancelling, running up to a point. */
#include <criterion/criterion.h>
#include <errno.h>

#include "sim/base/hist.h"
#include "sim/base/loop.h"
#include "sim/base/rng.h"

#define MANY 300

/* A timer that writes its name into a log when it fires, and perhaps arms itself again. */
struct note {
	struct sl_timer timer;
	struct sl_loop *loop;
	char name;
	char *log; /* 64 bytes, shared */
	int again; /* re-arm this many times ... */
	int64_t after_ns;
};

static void note_fire(struct sl_timer *timer, int64_t now_ns)
{
	struct note *note = sl_container_of(timer, struct note, timer);
	size_t used = strlen(note->log);

	cr_assert(used < 63);
	note->log[used] = note->name;
	note->log[used + 1] = '\0';
	cr_assert_eq(now_ns, sl_loop_now(note->loop));
	if (note->again > 0) {
		note->again--;
		sl_loop_arm(note->loop, timer, now_ns + note->after_ns);
	}
}

static struct note note_make(struct sl_loop *loop, char name, char *log)
{
	return (struct note){.timer = {.fire = note_fire}, .loop = loop, .name = name, .log = log};
}

Test(loop, timers_fire_by_due_time_then_by_arming_order)
{
	struct sl_loop *loop = sl_loop_new_virtual();
	char log[64] = "";
	struct note a = note_make(loop, 'a', log), b = note_make(loop, 'b', log),
		    c = note_make(loop, 'c', log), d = note_make(loop, 'd', log);

	sl_loop_arm(loop, &c.timer, 20);
	sl_loop_arm(loop, &b.timer, 10);
	sl_loop_arm(loop, &a.timer, 10);
	sl_loop_arm(loop, &d.timer, 5);
	cr_assert_eq(sl_loop_run(loop, NULL), 0);
	cr_assert_str_eq(log, "dbac");
	cr_assert_eq(sl_loop_now(loop), 20);
	cr_assert_eq(sl_loop_events(loop), 4);
	cr_assert(sl_loop_lateness(loop) == NULL);
	sl_loop_free(loop);
}

/* Fires each nanosecond without end. */
struct ticker {
	struct sl_timer timer;
	struct sl_loop *loop;
};

static void tick(struct sl_timer *timer, int64_t now_ns)
{
	sl_loop_arm(sl_container_of(timer, struct ticker, timer)->loop, timer, now_ns + 1);
}

static bool always(void)
{
	return true;
}

static bool never(void)
{
	return false;
}

Test(loop, one_that_is_stopped_ends_and_keeps_what_is_pending)
{
	struct sl_loop *loop = sl_loop_new_virtual();
	struct ticker ticker = {.timer = {.fire = tick}, .loop = loop};
	struct sl_err err = {0};

	sl_loop_arm(loop, &ticker.timer, 0);
	sl_loop_set_stopped(loop, never);
	cr_assert_eq(sl_loop_run_until(loop, 100000, &err), 0);
	sl_loop_set_stopped(loop, always);
	cr_assert_eq(sl_loop_run_until(loop, 1000000, &err), -EINTR);
	cr_assert_str_eq(err.msg, "interrupted");
	/* Asked at each 64th wake-up, of 1 ns each. */
	cr_assert(sl_loop_now(loop) <= 100000 + 64, "at %ld", (long)sl_loop_now(loop));
	cr_assert(ticker.timer.armed);
	sl_loop_free(loop);
}

Test(loop, moving_a_timer_counts_as_arming_it_anew)
{
	struct sl_loop *loop = sl_loop_new_virtual();
	char log[64] = "";
	struct note a = note_make(loop, 'a', log), b = note_make(loop, 'b', log);

	sl_loop_arm(loop, &a.timer, 10);
	sl_loop_arm(loop, &b.timer, 10);
	sl_loop_arm(loop, &a.timer, 10);
	cr_assert_eq(sl_loop_run(loop, NULL), 0);
	cr_assert_str_eq(log, "ba");
	cr_assert_eq(sl_loop_events(loop), 2);
	sl_loop_free(loop);
}

Test(loop, a_timer_that_re_arms_itself_now_does_not_starve_its_neighbours)
{
	struct sl_loop *loop = sl_loop_new_virtual();
	char log[64] = "";
	struct note a = note_make(loop, 'a', log), b = note_make(loop, 'b', log),
		    c = note_make(loop, 'c', log);

	a.again = 3;
	sl_loop_arm(loop, &a.timer, 7);
	sl_loop_arm(loop, &b.timer, 7);
	sl_loop_arm(loop, &c.timer, 8);
	cr_assert_eq(sl_loop_run(loop, NULL), 0);
	cr_assert_str_eq(log, "abaaac");
	sl_loop_free(loop);
}

Test(loop, past_times_count_as_now)
{
	struct sl_loop *loop = sl_loop_new_virtual();
	char log[64] = "";
	struct note a = note_make(loop, 'a', log), b = note_make(loop, 'b', log);

	cr_assert_eq(sl_loop_run_until(loop, 100, NULL), 0);
	sl_loop_arm(loop, &a.timer, 50);
	sl_loop_arm(loop, &b.timer, 10);
	cr_assert_eq(a.timer.due_ns, 100);
	cr_assert_eq(sl_loop_run(loop, NULL), 0);
	cr_assert_str_eq(log, "ab");
	cr_assert_eq(sl_loop_now(loop), 100);
	sl_loop_free(loop);
}

Test(loop, a_cancelled_timer_stays_silent_and_can_be_armed_again)
{
	struct sl_loop *loop = sl_loop_new_virtual();
	char log[64] = "";
	struct note a = note_make(loop, 'a', log), b = note_make(loop, 'b', log),
		    c = note_make(loop, 'c', log);

	sl_loop_arm(loop, &a.timer, 1);
	sl_loop_arm(loop, &b.timer, 2);
	sl_loop_arm(loop, &c.timer, 3);
	sl_loop_cancel(loop, &b.timer);
	sl_loop_cancel(loop, &b.timer);
	cr_assert(!b.timer.armed);
	sl_loop_cancel(loop, &a.timer);
	sl_loop_arm(loop, &a.timer, 4);
	cr_assert_eq(sl_loop_run(loop, NULL), 0);
	cr_assert_str_eq(log, "ca");
	sl_loop_free(loop);
}

Test(loop, run_until_includes_its_end_and_leaves_the_rest_pending)
{
	struct sl_loop *loop = sl_loop_new_virtual();
	char log[64] = "";
	struct note a = note_make(loop, 'a', log), b = note_make(loop, 'b', log);

	a.again = 10;
	a.after_ns = 10;
	sl_loop_arm(loop, &a.timer, 10);
	sl_loop_arm(loop, &b.timer, 31);
	cr_assert_eq(sl_loop_run_until(loop, 30, NULL), 0);
	cr_assert_str_eq(log, "aaa");
	cr_assert_eq(sl_loop_now(loop), 30);
	cr_assert(b.timer.armed);
	cr_assert_eq(sl_loop_run_until(loop, 30, NULL), 0);
	cr_assert_str_eq(log, "aaa");
	cr_assert_eq(sl_loop_run_until(loop, 35, NULL), 0);
	cr_assert_str_eq(log, "aaab");
	cr_assert_eq(sl_loop_now(loop), 35);
	sl_loop_free(loop);
}

static void stop_fire(struct sl_timer *timer, int64_t now_ns)
{
	struct note *note = sl_container_of(timer, struct note, timer);

	note_fire(timer, now_ns);
	sl_loop_stop(note->loop);
}

Test(loop, stop_returns_after_the_present_callback_and_a_later_run_goes_on)
{
	struct sl_loop *loop = sl_loop_new_virtual();
	char log[64] = "";
	struct note a = note_make(loop, 'a', log), b = note_make(loop, 'b', log);

	a.timer.fire = stop_fire;
	sl_loop_arm(loop, &a.timer, 5);
	sl_loop_arm(loop, &b.timer, 5);
	cr_assert_eq(sl_loop_run(loop, NULL), 0);
	cr_assert_str_eq(log, "a");
	cr_assert_eq(sl_loop_run(loop, NULL), 0);
	cr_assert_str_eq(log, "ab");
	sl_loop_free(loop);
}

Test(loop, a_timer_at_never_does_not_keep_the_loop_alive)
{
	struct sl_loop *loop = sl_loop_new_virtual();
	char log[64] = "";
	struct note a = note_make(loop, 'a', log);

	sl_loop_arm(loop, &a.timer, SL_NEVER);
	cr_assert_eq(sl_loop_run(loop, NULL), 0);
	cr_assert_str_eq(log, "");
	cr_assert(a.timer.armed);
	sl_loop_free(loop);
}

Test(loop, virtual_time_cannot_watch_descriptors)
{
	struct sl_loop *loop = sl_loop_new_virtual();
	struct sl_io io = {.fd = 0, .fire = (void (*)(struct sl_io *, uint32_t, int64_t))abort};
	struct sl_err err = {0};

	cr_assert_eq(sl_loop_io_add(loop, &io, &err), -ENOTSUP);
	cr_assert(strstr(err.msg, "virtual time") != NULL, "%s", err.msg);
	sl_loop_free(loop);
}

/* Many timers that arm, move and cancel each other at random, against a plain list searched for its minimum.
 */
struct storm {
	struct sl_loop *loop;
	struct sl_rng rng;
	struct storm_timer {
		struct sl_timer timer;
		struct storm *storm;
		uint64_t seq; /* of the last arming, as the reference counts */
	} timers[MANY];
	int n; /* of them */
	uint64_t next_seq, fired;
};

static struct storm_timer *storm_expected(struct storm *storm)
{
	struct storm_timer *least = NULL;

	for (int i = 0; i < storm->n; i++) {
		struct storm_timer *t = &storm->timers[i];

		if (t->timer.armed && (least == NULL || t->timer.due_ns < least->timer.due_ns ||
				       (t->timer.due_ns == least->timer.due_ns && t->seq < least->seq))) {
			least = t;
		}
	}
	return least;
}

static void storm_arm(struct storm *storm, int64_t now_ns)
{
	struct storm_timer *t = &storm->timers[sl_rng_below(&storm->rng, (uint64_t)storm->n)];

	t->seq = storm->next_seq++;
	sl_loop_arm(storm->loop, &t->timer, now_ns - 2 + (int64_t)sl_rng_below(&storm->rng, 50));
}

static void storm_fire(struct sl_timer *timer, int64_t now_ns)
{
	struct storm_timer *self = sl_container_of(timer, struct storm_timer, timer);
	struct storm *storm = self->storm;
	struct storm_timer *least;

	self->timer.armed = true; /* as it was a moment ago, for the reference */
	least = storm_expected(storm);
	self->timer.armed = false;
	cr_assert(least == self, "event %lu", (unsigned long)storm->fired);
	cr_assert_eq(now_ns, timer->due_ns);
	if (++storm->fired > 5000) {
		return;
	}
	if (sl_rng_below(&storm->rng, 4) == 0) {
		sl_loop_cancel(storm->loop,
			       &storm->timers[sl_rng_below(&storm->rng, (uint64_t)storm->n)].timer);
	}
	for (uint64_t n = sl_rng_below(&storm->rng, 3); n > 0; n--) {
		storm_arm(storm, now_ns);
	}
	if (storm_expected(storm) == NULL) {
		storm_arm(storm, now_ns);
	}
}

static void storm_run(int n)
{
	struct storm *storm = calloc(1, sizeof(*storm));

	cr_assert_not_null(storm);
	storm->n = n;
	storm->loop = sl_loop_new_virtual();
	sl_rng_init(&storm->rng, 1, "storm");
	for (int i = 0; i < n; i++) {
		storm->timers[i] = (struct storm_timer){.timer = {.fire = storm_fire}, .storm = storm};
		storm->timers[i].seq = storm->next_seq++;
		sl_loop_arm(storm->loop, &storm->timers[i].timer, (int64_t)sl_rng_below(&storm->rng, 50));
	}
	cr_assert_eq(sl_loop_run(storm->loop, NULL), 0);
	cr_assert(storm->fired > 5000, "%lu", (unsigned long)storm->fired);
	cr_assert_eq(sl_loop_events(storm->loop), storm->fired);
	sl_loop_free(storm->loop);
	free(storm);
}

/* A few timers are kept otherwise than many: alone, among a few, to and fro between the two, and many. */
Test(loop, any_mix_of_arm_move_and_cancel_keeps_the_order)
{
	static const int sizes[] = {1, 2, 10, 11, 31, 32, 33, 34, 64, 65, 100, MANY};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		storm_run(sizes[i]);
	}
}

struct seen {
	struct sl_timer timer;
	int *at; /* counts */
	int seen;
};

static void see(struct sl_timer *timer, int64_t now_ns)
{
	struct seen *self = sl_container_of(timer, struct seen, timer);

	(void)now_ns;
	self->seen = (*self->at)++;
}

/*
 * 200 timers in pairs: the k-th armed is due at 1000 - k / 2. So each is due before all that were armed
 * before it but its twin, behind which it goes: they fire from the last pair back to the first, within a pair
 * in arming order. Up to 32 of them are a list, then a heap, and a list again when they are few.
 */
Test(loop, a_crowd_that_comes_and_goes_keeps_due_and_arming_order)
{
	static struct seen seen[200];
	int at = 0;
	struct sl_loop *loop = sl_loop_new_virtual();

	for (int k = 0; k < 200; k++) {
		seen[k] = (struct seen){.timer.fire = see, .at = &at};
		sl_loop_arm(loop, &seen[k].timer, 1000 - k / 2);
	}
	cr_assert_eq(sl_loop_next_due(loop), 1000 - 99);
	cr_assert_eq(sl_loop_run(loop, NULL), 0);
	for (int k = 0; k < 200; k++) {
		cr_assert_eq(seen[k].seen, 198 - k / 2 * 2 + k % 2, "timer %d", k);
	}
	sl_loop_free(loop);
}
