/* Values below 2^SUB_BITS have a bucket each; above, every power of two is cut into 2^SUB_BITS equal steps.
 */
#include "sim/base/hist.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SUB_COUNT (1u << SL_HIST_SUB_BITS)

static size_t bucket_of(uint64_t value)
{
	unsigned shift;

	if (value < SUB_COUNT) {
		return (size_t)value;
	}
	shift = 63u - (unsigned)__builtin_clzll(value) - SL_HIST_SUB_BITS;
	return (size_t)(shift + 1) * SUB_COUNT + (size_t)((value >> shift) - SUB_COUNT);
}

int64_t sl_hist_value(size_t bucket)
{
	unsigned shift;
	uint64_t low;

	if (bucket < SUB_COUNT) {
		return (int64_t)bucket;
	}
	shift = (unsigned)(bucket / SUB_COUNT) - 1;
	low = (uint64_t)(SUB_COUNT + bucket % SUB_COUNT) << shift;
	return (int64_t)(low + ((1ull << shift) >> 1));
}

int sl_hist_init(struct sl_hist *hist)
{
	*hist = (struct sl_hist){0};
	hist->buckets = calloc(SL_HIST_BUCKETS, sizeof(*hist->buckets));
	return hist->buckets == NULL ? -ENOMEM : 0;
}

void sl_hist_fini(struct sl_hist *hist)
{
	free(hist->buckets);
	*hist = (struct sl_hist){0};
}

void sl_hist_reset(struct sl_hist *hist)
{
	uint32_t *buckets = hist->buckets;

	memset(buckets, 0, SL_HIST_BUCKETS * sizeof(*buckets));
	*hist = (struct sl_hist){.buckets = buckets};
}

void sl_hist_add(struct sl_hist *hist, int64_t value)
{
	if (value < 0) {
		value = 0;
	}
	if (hist->count == 0 || value < hist->min) {
		hist->min = value;
	}
	if (hist->count == 0 || value > hist->max) {
		hist->max = value;
	}
	hist->count++;
	hist->sum += (double)value;
	hist->buckets[bucket_of((uint64_t)value)]++;
}

void sl_hist_merge(struct sl_hist *into, const struct sl_hist *from)
{
	if (from->count == 0) {
		return;
	}
	if (into->count == 0 || from->min < into->min) {
		into->min = from->min;
	}
	if (into->count == 0 || from->max > into->max) {
		into->max = from->max;
	}
	into->count += from->count;
	into->sum += from->sum;
	for (size_t i = 0; i < SL_HIST_BUCKETS; i++) {
		into->buckets[i] += from->buckets[i];
	}
}

void sl_hist_since(const struct sl_hist *now, const struct sl_hist *before, struct sl_hist *ret)
{
	sl_hist_reset(ret);
	ret->count = now->count - before->count;
	ret->sum = now->sum - before->sum;
	for (size_t i = 0; ret->count > 0 && i < SL_HIST_BUCKETS; i++) {
		ret->buckets[i] = now->buckets[i] - before->buckets[i];
		if (ret->buckets[i] > 0) {
			ret->min = ret->max == 0 ? sl_hist_value(i) : ret->min;
			ret->max = sl_hist_value(i);
		}
	}
}

int64_t sl_hist_quantile(const struct sl_hist *hist, double q)
{
	uint64_t rank, seen = 0;
	int64_t value;
	size_t i;

	assert(q >= 0.0 && q <= 1.0);
	if (hist->count == 0) {
		return 0;
	}
	rank = (uint64_t)(q * (double)hist->count);
	if (rank >= hist->count) {
		rank = hist->count - 1;
	}
	if (rank == 0 || rank == hist->count - 1) {
		return rank == 0 ? hist->min : hist->max; /* known exactly */
	}
	for (i = 0; i < SL_HIST_BUCKETS - 1; i++) {
		seen += hist->buckets[i];
		if (seen > rank) {
			break;
		}
	}
	value = sl_hist_value(i);
	if (value < hist->min) {
		return hist->min;
	}
	return value > hist->max ? hist->max : value;
}

double sl_hist_mean(const struct sl_hist *hist)
{
	return hist->count == 0 ? 0.0 : hist->sum / (double)hist->count;
}
