/*
 * Does the rate last? A pool takes writes into memory until its first transaction groups are on the disks: a
 * run of less than three of them measures the memory. The last third of a run is compared with the middle
 * one, batch by batch, and with what the run as a whole reports.
 */
#ifndef SL_STACK_STEADY_H
#define SL_STACK_STEADY_H

#include "sim/stack/result.h"

struct sl_steady {
	bool known;     /* three transaction groups long, and not all noise */
	bool steady;    /* no difference beyond 5 % and beyond the noise */
	double drift;   /* last third against middle third, as a share */
	double rate;    /* operations per second of both when steady, else of the last third */
	double noise;   /* half width of the 95 % interval of drift */
	int64_t end_ns; /* of what was looked at */
};

void sl_steady_of(const struct sl_measure *measure, int64_t txg_ns, struct sl_steady *ret);

/* Runs `workload` past its stop rules until its rate lasts: 12 transaction groups, then twice as long up to
 * 96 or three million operations. ret->rate is that of the steady part, the rest of the whole run. Errors:
 * those of sl_stack_run. */
int sl_steady_run(const struct sl_box *box, const struct sl_workload *workload,
		  const struct sl_stack_setup *setup, struct sl_measure *ret, struct sl_steady *ret_steady,
		  struct sl_err *err);

/* What the run `measure` says of itself that its rate will not hold, "" = nothing. One that ended before
 * three transaction groups is run on for so long, or for as many operations again (20,000 at least). */
void sl_steady_warning(const struct sl_box *box, const struct sl_workload *workload,
		       const struct sl_stack_setup *setup, const struct sl_measure *measure, char *buf,
		       size_t size);

/* The same of a run of sl_steady_run. */
void sl_steady_unsteady(const struct sl_steady *steady, char *buf, size_t size);

#endif
