/* A datastore in a child process: it dies with us, we notice when it dies. */
#ifndef SL_CLI_LIVE_SERVER_H
#define SL_CLI_LIVE_SERVER_H

#include <stdint.h>
#include <sys/types.h>

#include "cli/report.h"
#include "sim/base/err.h"
#include "sim/scenario/box.h"

struct sl_live_server {
	pid_t pid; /* 0 = none */
	int pipe;  /* what it says; end of file = it died */
	uint16_t nfs_port, mount_port;
};

/* Starts the datastore of `box` on free loopback ports, files below `dir`; returns when it listens. */
int sl_live_server_start(const struct sl_box *box, uint64_t seed, const char *dir, struct sl_live_server *ret,
			 struct sl_err *err);

/* Stops it and takes its timing (lateness, modelled, credit of *ret). -EPIPE when it had died. */
int sl_live_server_stop(struct sl_live_server *server, struct sl_timing *ret, struct sl_err *err);

/* Kills it if it still runs. A no-op on a zeroed struct and when stopped. */
void sl_live_server_kill(struct sl_live_server *server);

#endif
