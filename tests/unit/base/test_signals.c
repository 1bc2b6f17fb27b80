/* Waiting for input that Ctrl-C ends, whenever it comes. */
#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim/base/signals.h"

/* Ctrl-C comes when the kernel is about to be asked to wait: after any look at a flag. */
static bool comes_before_the_wait;

/* In the place of the C library's. What would wait for ever gets 10 s, and is told as no signal and no input.
 */
int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
	struct timespec patience = {.tv_sec = 10};
	int rc;

	cr_assert_null(timeout);
	if (comes_before_the_wait) {
		raise(SIGINT);
	}
	rc = (int)syscall(SYS_ppoll, fds, n, &patience, mask, _NSIG / 8);
	cr_assert_neq(rc, 0, "the signal is lost");
	return rc;
}

static struct pollfd input(int ends[2])
{
	cr_assert_eq(pipe(ends), 0);
	return (struct pollfd){.fd = ends[0], .events = POLLIN};
}

Test(signals, one_that_comes_just_before_the_wait_ends_it)
{
	int ends[2];
	struct pollfd silent = input(ends);

	sl_signals_install();
	comes_before_the_wait = true;
	cr_assert_eq(sl_signals_poll(&silent, 1), -EINTR);
	cr_assert(sl_signals_stopped());
}

Test(signals, input_is_told_and_an_earlier_stop_seen)
{
	int ends[2];
	struct pollfd said = input(ends);

	sl_signals_install();
	cr_assert_eq(write(ends[1], "x", 1), 1);
	cr_assert_eq(sl_signals_poll(&said, 1), 1);
	cr_assert(said.revents & POLLIN);
	raise(SIGINT);
	cr_assert_eq(sl_signals_poll(&said, 1), -EINTR);
}
