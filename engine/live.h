/*
 * Engine `live`: a real NFSv3 server with a modelled pool behind it, and real clients in front, on the wall
 * clock: libnfs, or QEMU's block layer with ext4 and MariaDB on it. Beside it the model runs with what is
 * real here put in the place of what was modelled.
 */
#ifndef SL_ENGINE_LIVE_H
#define SL_ENGINE_LIVE_H

#include "sim/scenario/paths.h"
#include "sim/stack/result.h"
#include "sim/stack/timing.h"

struct sl_live_options {
	const struct sl_run_options *run; /* variants, workloads, seed, repeat, progress */
	const struct sl_paths *paths;
	struct sl_scenario *lab; /* the scenario once more, with this host's figures, for model(lab) */
	bool calibrated;         /* it has them; else they are measured when they are needed */
	uint64_t time_s;         /* of each measurement; 0 = 10 s, with a guest what the workload says */
	bool quick;              /* small table and files, few requests */
	double dilate;           /* >= 1; 0 = from what this host needs for a transaction or a call */
};

struct sl_live {
	struct sl_result result; /* cells of SL_ENGINE_LIVE and SL_ENGINE_MODEL_LAB */
	int n_timings;
	struct sl_timing *timings; /* owned */
	int n_evidence;
	struct sl_evidence *evidence; /* owned; engine vm */
	int n_skipped;                /* workloads that cannot run */
	char missing[256];            /* what the guest would need here, in one line; "" = nothing */
	bool trustworthy;             /* every timing is */
};

/* Runs what can run of what was asked for; each repeat goes through all variants before the next. On Ctrl-C
 * and on an error *ret holds what was measured so far. Nothing is left running, mounted or on disk in any
 * case. Release with sl_live_fini. */
int sl_live_run(const struct sl_scenario *sc, const struct sl_live_options *options, struct sl_live *ret,
		struct sl_err *err);
void sl_live_fini(struct sl_live *live);

/* The variants and workloads of --quick: the first without and the first with a log device, the first oltp
 * and the first rndwr (else the first fileio). The arrays have room for two. */
void sl_live_quick(const struct sl_scenario *sc, struct sl_run_options *options, int variants[2],
		   int workloads[2]);

#endif
