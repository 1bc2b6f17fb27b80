#include "sim/workload/zipf.h"

#include <assert.h>

#define SMALL 1e-4 /* below it a series is more exact than a quotient of differences */

/* log(1 + x) / x */
static double log_ratio(double x)
{
	if (x > -SMALL && x < SMALL) {
		return 1 - x * (1.0 / 2 - x * (1.0 / 3 - x * (1.0 / 4)));
	}
	return sl_log(1 + x) / x;
}

/* (exp(x) - 1) / x */
static double exp_ratio(double x)
{
	if (x > -SMALL && x < SMALL) {
		return 1 + x * (1.0 / 2) * (1 + x * (1.0 / 3) * (1 + x * (1.0 / 4)));
	}
	return (sl_exp(x) - 1) / x;
}

/* x^-exponent, its integral from 1 to x, and the inverse of the integral. */
static double density(const struct sl_zipf *zipf, double x)
{
	return sl_exp(-zipf->exponent * sl_log(x));
}

static double area(const struct sl_zipf *zipf, double x)
{
	double log_x = sl_log(x);

	return exp_ratio((1 - zipf->exponent) * log_x) * log_x;
}

static double area_inverse(const struct sl_zipf *zipf, double value)
{
	double t = value * (1 - zipf->exponent);

	/* Rounding only: the integral of an exponent above 1 is bounded. */
	return sl_exp(log_ratio(t > -1 + 1e-15 ? t : -1 + 1e-15) * value);
}

void sl_zipf_init(struct sl_zipf *zipf, uint32_t n, double exponent)
{
	assert(n >= 1 && exponent > 0);
	*zipf = (struct sl_zipf){.n = n, .exponent = exponent};
	zipf->area_first = area(zipf, 1.5) - 1;
	zipf->area_all = area(zipf, n + 0.5);
	zipf->always = 2 - area_inverse(zipf, area(zipf, 2.5) - density(zipf, 2));
}

uint32_t sl_zipf_next(const struct sl_zipf *zipf, struct sl_rng *rng)
{
	for (;;) {
		double at = zipf->area_all + sl_rng_uniform(rng) * (zipf->area_first - zipf->area_all);
		double x = area_inverse(zipf, at);
		double rank = x < 1 ? 1 : x > zipf->n ? zipf->n : (double)(uint64_t)(x + 0.5);

		if (rank - x <= zipf->always || at >= area(zipf, rank + 0.5) - density(zipf, rank)) {
			return (uint32_t)rank;
		}
	}
}
