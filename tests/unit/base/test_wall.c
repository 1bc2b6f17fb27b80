/*
 * The loop on the wall clock. Nothing here asserts how fast the machine is: timers must not fire early, and
 * the order of things must hold however late they come.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "sim/base/hist.h"
#include "sim/base/loop.h"

#define MS 1000000LL

struct ticker {
	struct sl_timer timer;
	struct sl_loop *loop;
	int fired;
	int stop_after;
	int64_t period_ns;
};

static void ticker_fire(struct sl_timer *timer, int64_t now_ns)
{
	struct ticker *ticker = sl_container_of(timer, struct ticker, timer);

	cr_assert(now_ns >= timer->due_ns);
	if (++ticker->fired == ticker->stop_after) {
		sl_loop_stop(ticker->loop);
		return;
	}
	sl_loop_arm(ticker->loop, timer, now_ns + ticker->period_ns);
}

/* One end of a pipe; reads `left` bytes, one a time, then stops the loop. */
struct reader {
	struct sl_io io;
	struct sl_loop *loop;
	struct sl_io *victim; /* forgotten at the first byte, may be NULL */
	int left;
};

static void reader_fire(struct sl_io *io, uint32_t events, int64_t now_ns)
{
	struct reader *reader = sl_container_of(io, struct reader, io);
	char byte;

	cr_assert(events & EPOLLIN);
	cr_assert_eq(now_ns, sl_loop_now(reader->loop));
	cr_assert_eq(read(io->fd, &byte, 1), 1);
	if (reader->victim != NULL) {
		sl_loop_io_del(reader->loop, reader->victim);
		reader->victim = NULL;
	}
	if (--reader->left == 0) {
		sl_loop_stop(reader->loop);
	}
}

static void pipe_with(int fds[2], const char *bytes)
{
	cr_assert_eq(pipe(fds), 0);
	cr_assert_eq(write(fds[1], bytes, strlen(bytes)), (ssize_t)strlen(bytes));
}

static void pipe_close(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

Test(wall, timers_are_never_early_and_their_lateness_is_recorded)
{
	struct sl_err err = {0};
	struct sl_loop *loop = sl_loop_new_wall(&err);
	struct ticker ticker = {
	    .timer = {.fire = ticker_fire}, .loop = loop, .stop_after = 5, .period_ns = MS};

	cr_assert(loop != NULL, "%s", err.msg);
	sl_loop_arm(loop, &ticker.timer, MS);
	cr_assert_eq(sl_loop_run(loop, &err), 0);
	cr_assert(sl_loop_now(loop) >= 5 * MS);
	cr_assert_eq(sl_loop_lateness(loop)->count, 5);
	cr_assert(sl_loop_lateness(loop)->min >= 0);
	sl_loop_free(loop);
}

Test(wall, a_timer_that_is_always_due_does_not_starve_descriptors)
{
	struct sl_loop *loop = sl_loop_new_wall(NULL);
	struct ticker busy = {.timer = {.fire = ticker_fire}, .loop = loop, .stop_after = 1000000};
	struct reader reader = {.io = {.events = EPOLLIN, .fire = reader_fire}, .loop = loop, .left = 3};
	int fds[2];

	pipe_with(fds, "abc");
	reader.io.fd = fds[0];
	cr_assert_eq(sl_loop_io_add(loop, &reader.io, NULL), 0);
	sl_loop_arm(loop, &busy.timer, 0);
	cr_assert_eq(sl_loop_run(loop, NULL), 0);
	cr_assert_eq(reader.left, 0);
	cr_assert(busy.fired < 100, "%d", busy.fired);
	pipe_close(fds);
	sl_loop_free(loop);
}

Test(wall, a_descriptor_that_is_always_ready_does_not_starve_timers)
{
	struct sl_loop *loop = sl_loop_new_wall(NULL);
	struct ticker ticker = {.timer = {.fire = ticker_fire}, .loop = loop, .stop_after = 3};
	struct reader reader = {.io = {.events = EPOLLIN, .fire = reader_fire}, .loop = loop, .left = 1000};
	char bytes[1001];
	int fds[2];

	memset(bytes, 'x', 1000);
	bytes[1000] = '\0';
	pipe_with(fds, bytes);
	reader.io.fd = fds[0];
	cr_assert_eq(sl_loop_io_add(loop, &reader.io, NULL), 0);
	sl_loop_arm(loop, &ticker.timer, 0);
	cr_assert_eq(sl_loop_run(loop, NULL), 0);
	cr_assert_eq(ticker.fired, 3);
	cr_assert(reader.left > 900, "%d", reader.left);
	pipe_close(fds);
	sl_loop_free(loop);
}

/* Two descriptors are ready in one wake-up; whichever is served first forgets the other. */
Test(wall, a_forgotten_descriptor_does_not_fire_even_when_it_was_ready)
{
	struct sl_loop *loop = sl_loop_new_wall(NULL);
	struct reader a = {.io = {.events = EPOLLIN, .fire = reader_fire}, .loop = loop, .left = 2}, b = a;
	int fa[2], fb[2];

	pipe_with(fa, "12");
	pipe_with(fb, "12");
	a.io.fd = fa[0];
	b.io.fd = fb[0];
	a.victim = &b.io;
	b.victim = &a.io;
	cr_assert_eq(sl_loop_io_add(loop, &a.io, NULL), 0);
	cr_assert_eq(sl_loop_io_add(loop, &b.io, NULL), 0);
	cr_assert_eq(sl_loop_run(loop, NULL), 0);
	cr_assert_eq(a.left + b.left, 2, "%d + %d", a.left, b.left);
	pipe_close(fa);
	pipe_close(fb);
	sl_loop_free(loop);
}

/* Stopping in a descriptor's callback keeps the other events of that wake-up for the next run. */
Test(wall, stop_in_a_descriptor_callback_loses_no_event)
{
	struct sl_loop *loop = sl_loop_new_wall(NULL);
	struct reader a = {.io = {.events = EPOLLIN | EPOLLET, .fire = reader_fire}, .loop = loop, .left = 1},
		      b = a;
	int fa[2], fb[2];

	pipe_with(fa, "1");
	pipe_with(fb, "1");
	a.io.fd = fa[0];
	b.io.fd = fb[0];
	cr_assert_eq(sl_loop_io_add(loop, &a.io, NULL), 0);
	cr_assert_eq(sl_loop_io_add(loop, &b.io, NULL), 0);
	cr_assert_eq(sl_loop_run(loop, NULL), 0);
	cr_assert_eq(a.left + b.left, 1);
	cr_assert_eq(sl_loop_run(loop, NULL), 0);
	cr_assert_eq(a.left + b.left, 0);
	pipe_close(fa);
	pipe_close(fb);
	sl_loop_free(loop);
}

Test(wall, run_until_bounds_a_loop_in_which_nothing_happens)
{
	struct sl_loop *loop = sl_loop_new_wall(NULL);

	cr_assert_eq(sl_loop_run_until(loop, 2 * MS, NULL), 0);
	cr_assert(sl_loop_now(loop) >= 2 * MS);
	sl_loop_free(loop);
}

Test(wall, a_bad_descriptor_is_an_error_that_names_it)
{
	struct sl_loop *loop = sl_loop_new_wall(NULL);
	struct reader reader = {.io = {.fd = -1, .events = EPOLLIN, .fire = reader_fire}, .loop = loop};
	struct sl_err err = {0};

	cr_assert_eq(sl_loop_io_add(loop, &reader.io, &err), -EBADF);
	cr_assert(strstr(err.msg, "descriptor -1") != NULL, "%s", err.msg);
	sl_loop_free(loop);
}

Test(wall, changing_the_events_changes_what_fires)
{
	struct sl_loop *loop = sl_loop_new_wall(NULL);
	struct reader reader = {.io = {.events = EPOLLOUT, .fire = reader_fire}, .loop = loop, .left = 1};
	int fds[2];

	pipe_with(fds, "1");
	reader.io.fd = fds[0];
	cr_assert_eq(sl_loop_io_add(loop, &reader.io, NULL), 0);
	cr_assert_eq(sl_loop_run_until(loop, 1, NULL), 0);
	cr_assert_eq(reader.left, 1);
	cr_assert_eq(sl_loop_io_mod(loop, &reader.io, EPOLLIN, NULL), 0);
	cr_assert_eq(sl_loop_run(loop, NULL), 0);
	cr_assert_eq(reader.left, 0);
	pipe_close(fds);
	sl_loop_free(loop);
}
