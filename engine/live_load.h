/* The load generator as a child process. */
#ifndef SL_ENGINE_LIVE_LOAD_H
#define SL_ENGINE_LIVE_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "guests/process.h"
#include "sim/base/err.h"
#include "sim/box/box.h"
#include "sim/stack/result.h"

struct sl_live_load {
	const char *bin; /* folder of sloglab-load */
	const char *dir; /* takes its output */
	const struct sl_workload *workload;
	/* Where to; one of them: */
	const char *url;    /* files of an NFS export, through libnfs */
	const char *folder; /* files of a mounted file system */
	const char *socket; /* a database */
	const char *user;   /* of the database; NULL = root */
	bool prepare;       /* only make files or table; else only run on what was made */
	uint64_t seed;
	struct sl_patience patience; /* with it; the timeout is its own */
};

struct sl_live_load_result {
	struct sl_measure measure;
	int64_t null_ns;      /* through libnfs: median round trip of a NULL call before the load */
	int64_t cpu_ns;       /* of the generator itself during the measurement */
	int64_t wait_wall_ns; /* that its threads waited for a CPU meanwhile; negative = unknown */
	char warning[200];    /* what it says of itself and of this machine: saturated; "" = nothing */
};

/*
 * Runs it to the workload's own limits and takes rate and latencies; with `prepare` *ret is left alone.
 * Errors: -EINTR (Ctrl-C), what watch() said, -ETIME (it hangs), -EIO (it failed: its own message). Nothing
 * is left running.
 */
int sl_live_load_run(const struct sl_live_load *what, struct sl_live_load_result *ret, struct sl_err *err);

/* For a generator elsewhere: its command line for a shell (-E2BIG, -ENOMEM), how long to wait for it, and
 * what it wrote into `json`. No word of it needs quoting as long as the paths do not. */
int sl_live_load_shell(const struct sl_live_load *what, const char *json, char *ret, size_t size);
int sl_live_load_patience_ms(const struct sl_live_load *what);
int sl_live_load_parse(const char *json, struct sl_live_load_result *ret, struct sl_err *err);

/* The table of an OLTP workload's statements: each dialect has its own. */
const char *sl_live_load_table(const struct sl_workload *workload);

#endif
