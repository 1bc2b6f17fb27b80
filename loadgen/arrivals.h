/* When the requests of an open loop are due: Poisson arrivals or evenly spaced ones. Pure. Internal to
 * loadgen. */
#ifndef SL_LOADGEN_ARRIVALS_H
#define SL_LOADGEN_ARRIVALS_H

#include <stdbool.h>

#include "sim/base/rng.h"

struct sl_arrivals {
	struct sl_rng rng;
	double interval_ns; /* mean */
	bool constant;
	int64_t begin_ns, next_ns;
	uint64_t count;
};

/* `rate` per second, above 0; the first request is due at begin_ns. */
void sl_arrivals_init(struct sl_arrivals *arrivals, double rate, bool constant, uint64_t seed,
		      int64_t begin_ns);
/* Takes the next arrival: when it is due. */
int64_t sl_arrivals_next(struct sl_arrivals *arrivals);
/* Takes all arrivals due until now_ns and says how many they were. */
uint64_t sl_arrivals_skip(struct sl_arrivals *arrivals, int64_t now_ns);

#endif
