#include "sim/base/rng.h"

#include <assert.h>
#include <string.h>

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static uint64_t fnv1a(const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (const char *c = text; *c != '\0'; c++) {
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
	}
	return hash;
}

void sl_rng_init(struct sl_rng *rng, uint64_t seed, const char *name)
{
	uint64_t state = seed;

	/* Mixed before the name is added: seeds 1 and 2 of one stream must not be neighbours of another's. */
	state = splitmix64(&state) ^ fnv1a(name);
	for (int i = 0; i < 4; i++) {
		rng->s[i] = splitmix64(&state);
	}
}

int64_t sl_rng_exp_ns(struct sl_rng *rng, int64_t mean_ns)
{
	double draw;

	assert(mean_ns >= 0);
	draw = -sl_log(1.0 - sl_rng_uniform(rng)) * (double)mean_ns;
	return (int64_t)(draw + 0.5);
}

#define LN2_HI 0x1.62e42fee00000p-1 /* 21 trailing zero bits: exact times any exponent */
#define LN2_LO 0x1.a39ef35793c76p-33
#define INV_LN2 0x1.71547652b82fep+0
#define SQRT2 0x1.6a09e667f3bcdp+0

/* Tables, because the divisions would cost more than all the rest. */
static const double atanh_terms[] = {1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
				     1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3};
static const double exp_terms[] = {1.0 / 13, 1.0 / 12, 1.0 / 11, 1.0 / 10, 1.0 / 9, 1.0 / 8, 1.0 / 7,
				   1.0 / 6,  1.0 / 5,  1.0 / 4,  1.0 / 3,  1.0 / 2, 1.0};

static uint64_t double_bits(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static double bits_double(uint64_t bits)
{
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* log(m 2^e) = e ln 2 + 2 atanh((m - 1) / (m + 1)) with m in [sqrt(1/2), sqrt(2)): the series in s^2 <=
 * 0.0295 is below 1e-17 after eleven terms. */
double sl_log(double x)
{
	double scale = 0.0, m, e, s, z, sum;
	uint64_t bits;

	assert(x > 0.0);
	if (x > 0x1.fffffffffffffp+1023) {
		return x;
	}
	if (x < 0x1.0p-1022) {
		x *= 0x1.0p+54;
		scale = -54.0;
	}
	bits = double_bits(x);
	e = (double)((int64_t)(bits >> 52) - 1023) + scale;
	m = bits_double((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
	if (m > SQRT2) {
		m *= 0.5;
		e += 1.0;
	}
	s = (m - 1.0) / (m + 1.0);
	z = s * s;
	sum = atanh_terms[0];
	for (size_t i = 1; i < sizeof(atanh_terms) / sizeof(atanh_terms[0]); i++) {
		sum = sum * z + atanh_terms[i];
	}
	sum = 2.0 * s + 2.0 * s * z * sum;
	return e * LN2_HI + (sum + e * LN2_LO);
}

/* exp(x) = 2^k exp(r) with |r| <= ln 2 / 2: Taylor's series is below 1e-17 after degree 13. */
double sl_exp(double x)
{
	double r, sum = 1.0;
	int64_t k;

	if (!(x <= 709.8)) {
		return x * 0x1.0p+1023; /* infinite, or not a number */
	}
	if (x < -745.2) {
		return 0.0;
	}
	k = (int64_t)(x * INV_LN2 + (x < 0.0 ? -0.5 : 0.5));
	r = (x - (double)k * LN2_HI) - (double)k * LN2_LO;
	for (size_t i = 0; i < sizeof(exp_terms) / sizeof(exp_terms[0]); i++) {
		sum = 1.0 + sum * (r * exp_terms[i]);
	}
	/* Two steps: 2^1024 and the subnormal range have no direct power. */
	sum *= bits_double((uint64_t)(k / 2 + 1023) << 52);
	return sum * bits_double((uint64_t)(k - k / 2 + 1023) << 52);
}
