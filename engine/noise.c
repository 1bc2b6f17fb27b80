#include "engine/noise.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static void sorted(const struct sl_noisy *noisy, double ret[SL_NOISE_MOST])
{
	memcpy(ret, noisy->seen, sizeof(noisy->seen));
	qsort(ret, (size_t)noisy->n, sizeof(*ret), by_value);
}

void sl_noisy_add(struct sl_noisy *noisy, double value)
{
	assert(noisy->n < SL_NOISE_MOST);
	noisy->seen[noisy->n++] = value;
}

bool sl_noisy_told(const struct sl_noisy *noisy, double *ret)
{
	double values[SL_NOISE_MOST], low, high, middle;
	int n = noisy->n, cut = n / 4;

	if (n < SL_NOISE_LEAST) {
		return false;
	}
	sorted(noisy, values);
	low = values[cut];
	high = values[n - 1 - cut];
	middle = (values[n / 2] + values[(n - 1) / 2]) / 2;
	*ret = middle;
	return low > 0 && high - low < middle;
}

int sl_noisy_refuse(const struct sl_noisy *noisy, const char *name, double unit_ns, const char *unit,
		    struct sl_err *err)
{
	double values[SL_NOISE_MOST] = {0};

	sorted(noisy, values);
	return sl_err_set(err, -EAGAIN,
			  "calibrate: %s: %d measurements gave %.4g to %.4g %s, which is noise: other work "
			  "disturbed them; nothing was written; run it again on a quieter machine",
			  name, noisy->n, values[0] / unit_ns,
			  values[noisy->n > 0 ? noisy->n - 1 : 0] / unit_ns, unit);
}
