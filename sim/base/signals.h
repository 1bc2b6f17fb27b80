/* Ctrl-C and SIGTERM: remembered, not acted upon; loops ask. */
#ifndef SL_BASE_SIGNALS_H
#define SL_BASE_SIGNALS_H

#include <poll.h>
#include <stdbool.h>

/* Catches SIGINT, SIGTERM and SIGHUP (no SA_RESTART: blocking calls return EINTR) and ignores SIGPIPE. */
void sl_signals_install(void);
bool sl_signals_stopped(void);
/* As poll(), without a limit of time; -EINTR as soon as sl_signals_stopped(), also when the signal came just
 * before the wait, where a plain poll() or read() would sleep on. Otherwise the number of ready ones, or
 * -errno. */
int sl_signals_poll(struct pollfd *fds, nfds_t n);
/* Back to the defaults: in a child before exec. */
void sl_signals_reset(void);

/* Who reads our standard output has seen enough (| head): ends the process as a filter ends, quietly, by
 * SIGPIPE. For the end of a command, when nothing else is left to be done. */
void sl_signals_die_of_pipe(void);

#endif
