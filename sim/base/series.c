#include "sim/base/series.h"

static int64_t end_of(const struct sl_series *series)
{
	return (int64_t)series->n * series->step_ns;
}

#define STEP_NS 1000000

static void widen(struct sl_series *series)
{
	for (int i = 0; i < SL_SERIES_MAX; i++) { /* an even number of them */
		series->rate[i] = i < SL_SERIES_MAX / 2 ? series->rate[2 * i] + series->rate[2 * i + 1] : 0;
	}
	series->step_ns *= 2;
}

void sl_series_count(struct sl_series *series, int64_t now_ns)
{
	int64_t at;

	series->step_ns = series->step_ns > 0 ? series->step_ns : STEP_NS;
	at = now_ns / series->step_ns;
	while (at >= SL_SERIES_MAX) {
		widen(series);
		at = now_ns / series->step_ns;
	}
	series->rate[at] += 1;
}

void sl_series_finish(struct sl_series *series, int64_t end_ns)
{
	int64_t n = series->step_ns > 0 ? end_ns / series->step_ns : 0;

	series->n = (int)(n < SL_SERIES_MAX ? n : SL_SERIES_MAX);
	for (int i = 0; i < series->n; i++) {
		series->rate[i] *= 1e9 / (double)series->step_ns;
	}
	if (series->n == 0 && end_ns > 0) {
		series->rate[series->n++] *= 1e9 / (double)end_ns;
	}
}

double sl_series_mean(const struct sl_series *series, int64_t from_ns, int64_t to_ns)
{
	double sum = 0, time = 0;

	for (int i = 0; i < series->n; i++) {
		int64_t start_ns = (int64_t)i * series->step_ns, end_ns = start_ns + series->step_ns;

		start_ns = start_ns > from_ns ? start_ns : from_ns;
		end_ns = end_ns < to_ns ? end_ns : to_ns;
		if (end_ns > start_ns) {
			double share = (double)(end_ns - start_ns) / (double)series->step_ns;

			sum += share * series->rate[i];
			time += share;
		}
	}
	return time > 0 ? sum / time : 0;
}

double sl_series_least(const struct sl_series *series, int64_t from_ns, int64_t to_ns)
{
	double least = -1;

	for (int i = 0; i < series->n; i++) {
		int64_t start_ns = (int64_t)i * series->step_ns;

		if (start_ns >= from_ns && start_ns + series->step_ns <= to_ns &&
		    (least < 0 || series->rate[i] < least)) {
			least = series->rate[i];
		}
	}
	return least < 0 ? 0 : least;
}

int64_t sl_series_reach_ns(const struct sl_series *series, double amount)
{
	double step_s = (double)series->step_ns / 1e9, sum = 0;

	for (int i = 0; i < series->n; i++) {
		double more = series->rate[i] * step_s;

		if (sum + more >= amount && more > 0) {
			return (int64_t)(((double)i + (amount - sum) / more) * (double)series->step_ns);
		}
		sum += more;
	}
	return -1;
}

int64_t sl_series_steady_ns(const struct sl_series *series, int64_t window_ns, double tolerance)
{
	int64_t end_ns = end_of(series), steady_ns = end_ns - window_ns;
	double last = sl_series_mean(series, steady_ns, end_ns);

	if (window_ns < series->step_ns || end_ns < 2 * window_ns) {
		return -1;
	}
	while (steady_ns >= series->step_ns) {
		int64_t from_ns = steady_ns - series->step_ns;
		double mean = sl_series_mean(series, from_ns, from_ns + window_ns);

		if (mean > last * (1 + tolerance) || mean < last * (1 - tolerance)) {
			break;
		}
		steady_ns = from_ns;
	}
	return steady_ns;
}
