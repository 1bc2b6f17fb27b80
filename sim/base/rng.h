/* Seeded random streams. Every user has its own, so that one more draw here moves nothing there. */
#ifndef SL_BASE_RNG_H
#define SL_BASE_RNG_H

#include <stdint.h>

struct sl_rng {
	uint64_t s[4];
};

/* Starts the stream `name` of seed `seed` (xoshiro256**, state from splitmix64 over seed and FNV-1a). */
void sl_rng_init(struct sl_rng *rng, uint64_t seed, const char *name);

static inline uint64_t sl_rng_u64(struct sl_rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t x = s[1] * 5;
	uint64_t result = ((x << 7) | (x >> 57)) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = (s[3] << 45) | (s[3] >> 19);
	return result;
}

/* Uniform in [0, 1), 53 bits. */
static inline double sl_rng_uniform(struct sl_rng *rng)
{
	return (double)(sl_rng_u64(rng) >> 11) * 0x1.0p-53;
}

/* Uniform in [0, n); n > 0. Multiply-shift: bias below n / 2^64. */
static inline uint64_t sl_rng_below(struct sl_rng *rng, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)sl_rng_u64(rng) * n) >> 64);
}

/* Exponential with the given mean, in ns. Uses sl_log: same bits on every machine. */
int64_t sl_rng_exp_ns(struct sl_rng *rng, int64_t mean_ns);

/* Natural logarithm (x > 0) and exponential in plain arithmetic: relative error < 1e-13, the same bits with
 * every compiler and libm. */
double sl_log(double x);
double sl_exp(double x);

#endif
