#include "sim/stack/paired.h"

#include <errno.h>
#include <stdio.h>

#include "sim/base/rng.h"

static enum sl_paired_sign sign_of(const struct sl_paired *p)
{
	if (p->n < 2) {
		return p->n == 1 ? SL_PAIRED_SINGLE : SL_PAIRED_UNKNOWN;
	}
	if (p->ratio_low > 1) {
		return SL_PAIRED_MORE;
	}
	return p->ratio_high < 1 ? SL_PAIRED_LESS : SL_PAIRED_SAME;
}

void sl_paired_compare(const double *base, const double *other, int n, struct sl_paired *ret)
{
	double kept[SL_SAMPLES_MAX], differences[SL_SAMPLES_MAX], logs[SL_SAMPLES_MAX];
	double log_mean, log_ci, ignored;

	*ret = (struct sl_paired){.ratio = 1, .ratio_low = 1, .ratio_high = 1};
	for (int i = 0; i < n && ret->n < SL_SAMPLES_MAX; i++) {
		if (base[i] > 0 && other[i] > 0) {
			kept[ret->n] = base[i];
			differences[ret->n] = other[i] - base[i];
			logs[ret->n] = sl_log(other[i] / base[i]);
			ret->n++;
		}
	}
	if (ret->n == 0) {
		return;
	}
	sl_stats_mean_ci(kept, ret->n, &ret->base, &ignored);
	sl_stats_mean_ci(differences, ret->n, &ret->difference, &ret->difference_ci95);
	sl_stats_mean_ci(logs, ret->n, &log_mean, &log_ci);
	ret->other = ret->base + ret->difference;
	ret->ratio = sl_exp(log_mean);
	ret->ratio_low = sl_exp(log_mean - log_ci);
	ret->ratio_high = sl_exp(log_mean + log_ci);
	ret->sign = sign_of(ret);
}

int sl_paired_cells(const struct sl_result *result, int base_variant, int variant, int workload,
		    enum sl_engine engine, struct sl_paired *ret)
{
	const struct sl_cell *base = sl_result_find(result, base_variant, workload, engine);
	const struct sl_cell *other = sl_result_find(result, variant, workload, engine);

	if (!base || !other) {
		return -ENOENT;
	}
	sl_paired_compare(base->samples, other->samples,
			  base->n_samples < other->n_samples ? base->n_samples : other->n_samples, ret);
	return 0;
}

void sl_paired_interval(const struct sl_paired *paired, char *buf, size_t size)
{
	double width = paired->ratio_high - paired->ratio_low;

	if (size > 0) {
		buf[0] = '\0';
	}
	if (paired->n >= 2) {
		int digits = width >= 0.01 ? 2 : 3;

		(void)snprintf(buf, size, "%.*f..%.*f", digits, paired->ratio_low, digits,
			       paired->ratio_high);
	}
}

void sl_paired_verdict(const struct sl_paired *paired, const char *name, char *buf, size_t size)
{
	char interval[64];

	sl_paired_interval(paired, interval, sizeof(interval));
	switch (paired->sign) {
	case SL_PAIRED_UNKNOWN:
		(void)snprintf(buf, size, "%s: nothing to compare", name);
		break;
	case SL_PAIRED_SINGLE:
		(void)snprintf(buf, size, "%s: %.2fx, one run each and so no interval", name, paired->ratio);
		break;
	case SL_PAIRED_SAME:
		(void)snprintf(buf, size, "%s: no difference that %d runs show (%.2fx, 95 %% interval %s)",
			       name, paired->n, paired->ratio, interval);
		break;
	case SL_PAIRED_MORE:
	case SL_PAIRED_LESS:
		(void)snprintf(buf, size, "%s: %.2fx, 95 %% interval %s", name, paired->ratio, interval);
		break;
	}
}
