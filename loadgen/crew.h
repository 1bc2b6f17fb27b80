/*
 * Threads that each do one request after the other, under one meter: for loads whose calls block. A closed
 * loop, or an open one whose requests are due at their arrival times. Internal to loadgen.
 */
#ifndef SL_LOADGEN_CREW_H
#define SL_LOADGEN_CREW_H

#include "loadgen/meter.h"

/* What one call of `work` did. */
struct sl_crew_turn {
	struct sl_meter_work done;
	bool end; /* nothing was done: the load is at its end */
};

struct sl_crew_config {
	uint32_t threads;
	void *const *workers; /* one for each thread */
	/* Does one request. A negative errno ends the load. */
	int (*work)(void *worker, struct sl_crew_turn *ret, struct sl_err *err);
	/* From another thread: a wait inside `work` ends soon, the worker is of no use any more. NULL = waits
	 * end by themselves. */
	void (*abort)(void *worker);
	double rate;   /* of the open loop, per second; 0 = closed loop */
	bool constant; /* evenly spaced arrivals, else Poisson */
	uint64_t seed; /* of the arrivals */
	/* With max_requests, what the other threads do when the last one ends is not counted. */
	struct sl_load_limits limits;
};

/* Runs until a limit, the end, Ctrl-C or a failure. Signals stay with the caller's thread. 0 or negative
 * errno. */
int sl_crew_run(const struct sl_crew_config *config, struct sl_load_result *ret, struct sl_err *err);

#endif
