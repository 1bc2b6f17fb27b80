#include "loadgen/arrivals.h"

#include <assert.h>

void sl_arrivals_init(struct sl_arrivals *arrivals, double rate, bool constant, uint64_t seed,
		      int64_t begin_ns)
{
	assert(rate > 0);
	*arrivals = (struct sl_arrivals){
	    .interval_ns = 1e9 / rate, .constant = constant, .begin_ns = begin_ns, .next_ns = begin_ns};
	sl_rng_init(&arrivals->rng, seed, "arrivals");
}

int64_t sl_arrivals_next(struct sl_arrivals *arrivals)
{
	int64_t due_ns = arrivals->next_ns;

	arrivals->count++;
	if (arrivals->constant) {
		/* From the beginning: rounding must not add up. */
		arrivals->next_ns =
		    arrivals->begin_ns + (int64_t)((double)arrivals->count * arrivals->interval_ns);
	} else {
		arrivals->next_ns += sl_rng_exp_ns(&arrivals->rng, (int64_t)(arrivals->interval_ns + 0.5));
	}
	return due_ns;
}

uint64_t sl_arrivals_skip(struct sl_arrivals *arrivals, int64_t now_ns)
{
	uint64_t skipped = 0;

	while (arrivals->next_ns <= now_ns) {
		(void)sl_arrivals_next(arrivals);
		skipped++;
	}
	return skipped;
}
