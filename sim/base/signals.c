#include "sim/base/signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t stopped;

static void on_stop(int number)
{
	(void)number;
	stopped = 1;
}

static void signals_set(void (*handler)(int), void (*pipe_handler)(int))
{
	struct sigaction action = {.sa_handler = handler};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	action.sa_handler = pipe_handler;
	sigaction(SIGPIPE, &action, NULL);
}

void sl_signals_install(void)
{
	signals_set(on_stop, SIG_IGN);
}

bool sl_signals_stopped(void)
{
	return stopped != 0;
}

/* Blocked from the look at the flag until the kernel waits: nothing falls in between. */
int sl_signals_poll(struct pollfd *fds, nfds_t n)
{
	sigset_t stops, before;
	int rc = -EINTR;

	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigaddset(&stops, SIGHUP);
	sigprocmask(SIG_BLOCK, &stops, &before);
	while (!stopped && rc == -EINTR) {
		rc = ppoll(fds, n, NULL, &before);
		rc = rc < 0 ? -errno : rc;
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return stopped ? -EINTR : rc;
}

void sl_signals_die_of_pipe(void)
{
	sigset_t pipe_only;

	(void)signal(SIGPIPE, SIG_DFL);
	sigemptyset(&pipe_only);
	sigaddset(&pipe_only, SIGPIPE);
	sigprocmask(SIG_UNBLOCK, &pipe_only, NULL);
	(void)raise(SIGPIPE);
}

void sl_signals_reset(void)
{
	signals_set(SIG_DFL, SIG_DFL);
}
