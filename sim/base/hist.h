/* Log-linear histogram of non-negative 64-bit values (ns): value error < 1 %, no allocation per add. */
#ifndef SL_BASE_HIST_H
#define SL_BASE_HIST_H

#include <stddef.h>
#include <stdint.h>

#define SL_HIST_SUB_BITS 7 /* 128 linear steps per power of two: error < 0.8 % */
#define SL_HIST_BUCKETS ((64 - SL_HIST_SUB_BITS) * (1 << SL_HIST_SUB_BITS) + (1 << SL_HIST_SUB_BITS))

struct sl_hist {
	uint64_t count;
	int64_t min, max;
	double sum;
	uint32_t *buckets; /* SL_HIST_BUCKETS counters, owned */
};

/* 0 or -ENOMEM. Release with sl_hist_fini. */
int sl_hist_init(struct sl_hist *hist);
void sl_hist_fini(struct sl_hist *hist);
void sl_hist_reset(struct sl_hist *hist);
/* Negative values count as 0. */
void sl_hist_add(struct sl_hist *hist, int64_t value);
void sl_hist_merge(struct sl_hist *into, const struct sl_hist *from);
/* Makes *ret (initialised) hold what was added to `now` since `before` was a copy of it; its least and
 * largest value are those of their buckets' middles. */
void sl_hist_since(const struct sl_hist *now, const struct sl_hist *before, struct sl_hist *ret);
/* Value at quantile q in [0, 1] (middle of its bucket; the least and the largest value are exact); 0 when
 * empty. */
int64_t sl_hist_quantile(const struct sl_hist *hist, double q);
double sl_hist_mean(const struct sl_hist *hist);
/* The value that stands for all of buckets[bucket]: its middle. */
int64_t sl_hist_value(size_t bucket);

#endif
