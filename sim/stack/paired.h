/*
 * Repeats paired across variants: run i of both has the same seed, so what the seed does to both cancels out
 * and a small difference shows after few runs.
 */
#ifndef SL_STACK_PAIRED_H
#define SL_STACK_PAIRED_H

#include <stddef.h>

#include "sim/stack/result.h"

enum sl_paired_sign {
	SL_PAIRED_UNKNOWN, /* no pairs */
	SL_PAIRED_SINGLE,  /* one pair: a ratio without an interval */
	SL_PAIRED_SAME,    /* the interval holds 1 */
	SL_PAIRED_MORE,
	SL_PAIRED_LESS
};

/* `other` against `base`. Ratios are geometric means, their interval is Student's of the logarithms. */
struct sl_paired {
	int n;                               /* pairs */
	double base, other;                  /* means */
	double difference, difference_ci95;  /* mean of other - base, half width of its 95 % interval */
	double ratio, ratio_low, ratio_high; /* other / base; with one pair low = high = ratio */
	enum sl_paired_sign sign;
};

/* Compares n pairs of positive samples; pairs with a sample that is not positive are left out. */
void sl_paired_compare(const double *base, const double *other, int n, struct sl_paired *ret);

/* The same for two cells of a result, as many pairs as both have. -ENOENT when a cell is missing. */
int sl_paired_cells(const struct sl_result *result, int base_variant, int variant, int workload,
		    enum sl_engine engine, struct sl_paired *ret);

/* "SLOG: 1.27x, 95 % interval 1.26..1.28" and, where that is so, "no difference that 3 runs show". */
void sl_paired_verdict(const struct sl_paired *paired, const char *name, char *buf, size_t size);

/* "1.26..1.28", with a third digit where the ends are close; "" without an interval. */
void sl_paired_interval(const struct sl_paired *paired, char *buf, size_t size);

#endif
