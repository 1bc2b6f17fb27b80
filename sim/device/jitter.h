/*
 * How long a command takes beside what it takes on average: commands of one kind differ, and some meet what a
 * drive does in the background. Made after the percentiles that are published: the 99th and the 99.9th over
 * the median.
 */
#ifndef SL_DEVICE_JITTER_H
#define SL_DEVICE_JITTER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/rng.h"

#define SL_JITTER_STEPS 128

struct sl_jitter {
	bool on;
	double body[SL_JITTER_STEPS + 1]; /* factors by even steps of probability up to the 99th percentile */
	double p99, tail;                 /* factor there, and the exponent beyond */
	struct sl_rng rng;
};

/* `p99`, `p999`: over the median; p99 up to 1 = every command takes the average. */
void sl_jitter_init(struct sl_jitter *jitter, double p99, double p999, uint64_t seed, const char *name);

/* The factor of the next command; 1 on average. */
double sl_jitter_draw(struct sl_jitter *jitter);

/* A command of `ns` on average. */
static inline int64_t sl_jitter_ns(struct sl_jitter *jitter, double ns)
{
	return (int64_t)(jitter->on ? ns * sl_jitter_draw(jitter) : ns);
}

#endif
