/*
 * Engine `live`: a real NFSv3 server with a modelled pool behind it, a real libnfs client in front, on the
 * wall clock. Beside it the model runs with what is real here put in the place of what was modelled.
 */
#ifndef SL_CLI_LIVE_H
#define SL_CLI_LIVE_H

#include "cli/paths.h"
#include "cli/report.h"
#include "sim/stack/result.h"

struct sl_live_options {
	const struct sl_run_options *run; /* variants, workloads, seed, repeat, progress */
	const struct sl_paths *paths;
	uint64_t time_s; /* of each measurement */
};

struct sl_live {
	struct sl_result result; /* cells of SL_ENGINE_LIVE and SL_ENGINE_MODEL_LAB */
	int n_timings;
	struct sl_timing *timings; /* owned */
	int n_skipped;             /* workloads that need a database */
	bool trustworthy;          /* every timing is */
};

/* Runs every syncwrite and fileio workload on every variant asked for. On Ctrl-C it returns what was measured
 * so far. Nothing is left running or on disk in any case. Release with sl_live_fini. */
int sl_live_run(const struct sl_scenario *sc, const struct sl_live_options *options, struct sl_live *ret,
		struct sl_err *err);
void sl_live_fini(struct sl_live *live);

#endif
