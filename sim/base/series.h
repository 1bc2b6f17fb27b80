/* A rate over time in equal steps from 0: what a run did in each. */
#ifndef SL_BASE_SERIES_H
#define SL_BASE_SERIES_H

#include <stdint.h>

#define SL_SERIES_MAX 1500

struct sl_series {
	int64_t step_ns;
	int n;
	double rate[SL_SERIES_MAX]; /* mean of the step */
};

/* One more event at now_ns. The steps start at step_ns (1 ms when it is 0) and double, two in one, when there
 * would be more than SL_SERIES_MAX. Rates are counts until sl_series_finish. */
void sl_series_count(struct sl_series *series, int64_t now_ns);
/* Makes the counts rates, of steps that were over at end_ns; the only one counts although it was not. */
void sl_series_finish(struct sl_series *series, int64_t end_ns);

/* Mean over from_ns to to_ns, steps that lie there in part counted in part; 0 when none does. */
double sl_series_mean(const struct sl_series *series, int64_t from_ns, int64_t to_ns);

/* The least of the steps that lie wholly within from_ns to to_ns; 0 when none does. */
double sl_series_least(const struct sl_series *series, int64_t from_ns, int64_t to_ns);

/* When the integral of the rate reaches `amount`, -1 when it never does. */
int64_t sl_series_reach_ns(const struct sl_series *series, double amount);

/* When it was steady: the earliest window whose mean, and that of all later ones, is within `tolerance` (a
 * share) of the last window's. Returns its start, or -1 when the series is shorter than two windows. */
int64_t sl_series_steady_ns(const struct sl_series *series, int64_t window_ns, double tolerance);

#endif
