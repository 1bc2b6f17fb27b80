#include "loadgen/pace.h"

#include <assert.h>

void sl_pace_init(struct sl_pace *pace, double rate, bool constant, uint64_t seed, int64_t begin_ns)
{
	assert(rate > 0);
	*pace = (struct sl_pace){
	    .interval_ns = 1e9 / rate, .constant = constant, .begin_ns = begin_ns, .next_ns = begin_ns};
	sl_rng_init(&pace->rng, seed, "arrivals");
}

int64_t sl_pace_next(struct sl_pace *pace)
{
	int64_t due_ns = pace->next_ns;

	pace->count++;
	if (pace->constant) {
		/* From the beginning: rounding must not add up. */
		pace->next_ns = pace->begin_ns + (int64_t)((double)pace->count * pace->interval_ns);
	} else {
		pace->next_ns += sl_rng_exp_ns(&pace->rng, (int64_t)(pace->interval_ns + 0.5));
	}
	return due_ns;
}

uint64_t sl_pace_skip(struct sl_pace *pace, int64_t now_ns)
{
	uint64_t skipped = 0;

	while (pace->next_ns <= now_ns) {
		(void)sl_pace_next(pace);
		skipped++;
	}
	return skipped;
}
