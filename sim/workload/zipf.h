/* Zipf-distributed ranks 1..n: P(k) ~ k^-exponent, by rejection-inversion (W. Hoermann, G. Derflinger,
 * "Rejection-inversion to generate variates from monotone discrete distributions", 1996): no table, about one
 * draw per rank. */
#ifndef SL_WORKLOAD_ZIPF_H
#define SL_WORKLOAD_ZIPF_H

#include <stdint.h>

#include "sim/base/rng.h"

struct sl_zipf {
	uint32_t n;
	double exponent;
	double area_first, area_all, always; /* constants of the method */
};

/* n >= 1; exponent > 0. */
void sl_zipf_init(struct sl_zipf *zipf, uint32_t n, double exponent);

/* Draws a rank; 1 is the likeliest. */
uint32_t sl_zipf_next(const struct sl_zipf *zipf, struct sl_rng *rng);

#endif
