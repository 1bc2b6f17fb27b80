/* Ctrl-C and SIGTERM: remembered, not acted upon; loops ask. */
#ifndef SL_CLI_SIGNALS_H
#define SL_CLI_SIGNALS_H

#include <stdbool.h>

/* Catches SIGINT, SIGTERM and SIGHUP (no SA_RESTART: blocking calls return EINTR) and ignores SIGPIPE. */
void sl_signals_install(void);
bool sl_signals_stopped(void);
/* Back to the defaults: in a child before exec. */
void sl_signals_reset(void);

#endif
