#include "cli/signals.h"

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

void sl_signals_reset(void)
{
	signals_set(SIG_DFL, SIG_DFL);
}
