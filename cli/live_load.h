/* The load generator as a child process, on one datastore. */
#ifndef SL_CLI_LIVE_LOAD_H
#define SL_CLI_LIVE_LOAD_H

#include "cli/live_server.h"
#include "sim/base/err.h"
#include "sim/scenario/box.h"
#include "sim/stack/result.h"

struct sl_live_load {
	const char *bin; /* folder of sloglab-load */
	const struct sl_live_server *server;
	const struct sl_workload *workload;
	uint64_t time_s, seed;
};

/*
 * Runs it and takes rate and latencies, and the median round trip of a NULL call before the load: what
 * sockets and both processes cost without a disk. Errors: -EINTR (Ctrl-C), -EPIPE (the server died), -ETIME
 * (it hangs), -ENOENT (no program), -EIO (it failed: its own message). Nothing is left running.
 */
int sl_live_load_run(const struct sl_live_load *what, struct sl_measure *ret, int64_t *ret_null_ns,
		     struct sl_err *err);

#endif
