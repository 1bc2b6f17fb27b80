#include "sim/stack/steady.h"

#include <stdio.h>
#include <string.h>

#include "sim/scenario/metric.h"

#define TOLERANCE 0.05
#define GROUPS_LEAST 3 /* transaction groups */
#define GROUPS_ASKED 12
#define GROUPS_MOST 96
#define GROUPS_PROBE 6
#define BATCHES_LEAST 3 /* of a third */
#define BATCHES_MOST 10
#define STEPS_LEAST 30
#define OPERATIONS_MOST 3000000
#define OPERATIONS_PROBE 20000

static double size_of(double value)
{
	return value < 0 ? -value : value;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

static void batch_means(const struct sl_series *series, int64_t from_ns, int64_t batch_ns, int n, double *ret)
{
	for (int i = 0; i < n; i++) {
		ret[i] = sl_series_mean(series, from_ns + i * batch_ns, from_ns + (i + 1) * batch_ns);
	}
}

/* A batch is a transaction group, or less when there are not three of them in a third. */
static int batches_of(int64_t third_ns, int64_t txg_ns)
{
	int64_t n = third_ns / txg_ns;

	return n < BATCHES_LEAST ? BATCHES_LEAST : n > BATCHES_MOST ? BATCHES_MOST : (int)n;
}

void sl_steady_of(const struct sl_measure *measure, int64_t txg_ns, struct sl_steady *ret)
{
	const struct sl_series *series = &measure->series;
	int64_t end_ns = (int64_t)series->n * series->step_ns, third_ns = end_ns / 3;
	int n = batches_of(third_ns, txg_ns);
	double middle[2 * BATCHES_MOST], last[BATCHES_MOST], before, difference, ci95, mean;

	*ret = (struct sl_steady){.end_ns = end_ns};
	before = sl_series_mean(series, end_ns - 2 * third_ns, end_ns - third_ns);
	if (end_ns < GROUPS_LEAST * txg_ns || series->n < STEPS_LEAST || before <= 0) {
		return;
	}
	batch_means(series, end_ns - 2 * third_ns, third_ns / n, n, middle);
	batch_means(series, end_ns - third_ns, third_ns / n, n, last);
	sl_stats_difference(middle, last, n, &difference, &ci95);
	ret->known = true;
	ret->drift = difference / before;
	ret->steady = size_of(ret->drift) <= larger(TOLERANCE, ci95 / before);
	memcpy(middle + n, last, (size_t)n * sizeof(last[0]));
	sl_stats_mean_ci(middle, 2 * n, &mean, &ci95);
	ret->noise = mean > 0 ? ci95 / mean : 0;
	ret->rate = sl_series_mean(series, end_ns - (ret->steady ? 2 : 1) * third_ns, end_ns);
}

int sl_steady_run(const struct sl_box *box, const struct sl_workload *workload,
		  const struct sl_stack_setup *setup, struct sl_measure *ret, struct sl_steady *ret_steady,
		  struct sl_err *err)
{
	struct sl_workload longer = *workload;
	int groups = GROUPS_ASKED, rc;
	bool ended, found;

	longer.max_requests = OPERATIONS_MOST;
	do {
		longer.max_time_ns = groups * box->txg_timeout_ns;
		rc = sl_stack_run(box, &longer, setup, ret, err);
		if (rc < 0) {
			return rc;
		}
		sl_steady_of(ret, (int64_t)box->txg_timeout_ns, ret_steady);
		/* All files are written, or it was enough. */
		ended = (double)ret->elapsed_ns < longer.max_time_ns;
		found = ret_steady->steady && ret_steady->noise <= TOLERANCE;
		groups *= 2;
	} while (!found && !ended && groups <= GROUPS_MOST);
	if (ret_steady->rate > 0) {
		ret->rate = ret_steady->rate;
	}
	return 0;
}

void sl_steady_unsteady(const struct sl_steady *steady, char *buf, size_t size)
{
	double seconds = (double)steady->end_ns / 1e9;

	buf[0] = '\0';
	if (!steady->known) {
		(void)snprintf(buf, size,
			       "no rate that lasts was found: the run was over after %.3g s, within three "
			       "transaction groups",
			       seconds);
	} else if (!steady->steady) {
		(void)snprintf(buf, size,
			       "not steady after %.3g s: the last third is %+.0f %% from the middle one, and "
			       "its rate is what is reported",
			       seconds, steady->drift * 100);
	}
}

/* Several in flight that were done before the first transaction group have measured how the pool begins. */
static void burst(const struct sl_box *box, const struct sl_workload *workload,
		  const struct sl_measure *measure, char *buf, size_t size)
{
	if (workload->kind != SL_WL_SYNCWRITE || workload->depth * workload->threads <= 1 ||
	    workload->max_requests == 0 || measure->operations < (uint64_t)workload->max_requests ||
	    (double)measure->elapsed_ns >= box->txg_timeout_ns) {
		return;
	}
	(void)snprintf(buf, size,
		       "a burst: its %lld request%s done in %.3g s, before the first transaction group "
		       "(%g s); --steady gives the rate that lasts",
		       (long long)workload->max_requests, workload->max_requests == 1 ? " was" : "s were",
		       (double)measure->elapsed_ns / 1e9, box->txg_timeout_ns / 1e9);
}

/* The same run, longer. */
static int probe(const struct sl_box *box, const struct sl_workload *workload,
		 const struct sl_stack_setup *setup, const struct sl_measure *measure, struct sl_measure *ret)
{
	const struct sl_stack_setup again = {.seed = setup->seed, .stopped = setup->stopped};
	struct sl_workload longer = *workload;
	int64_t more = (int64_t)measure->operations;

	longer.max_requests = more + (more > OPERATIONS_PROBE ? more : OPERATIONS_PROBE);
	longer.max_time_ns = GROUPS_PROBE * box->txg_timeout_ns;
	return sl_stack_run(box, &longer, &again, ret, NULL);
}

void sl_steady_warning(const struct sl_box *box, const struct sl_workload *workload,
		       const struct sl_stack_setup *setup, const struct sl_measure *measure, char *buf,
		       size_t size)
{
	const char *unit = sl_metric_unit(workload->kind);
	double seconds = (double)measure->elapsed_ns / 1e9, off, need_s;
	struct sl_measure longer;
	struct sl_steady s;

	buf[0] = '\0';
	if (workload->kind == SL_WL_DISK || measure->rate <= 0) {
		return;
	}
	sl_steady_of(measure, (int64_t)box->txg_timeout_ns, &s);
	if (s.end_ns < GROUPS_LEAST * (int64_t)box->txg_timeout_ns) {
		if (probe(box, workload, setup, measure, &longer) < 0) {
			return;
		}
		sl_steady_of(&longer, (int64_t)box->txg_timeout_ns, &s);
	}
	if (!s.known || s.rate <= 0) {
		burst(box, workload, measure, buf, size);
		return;
	}
	off = measure->rate / s.rate;
	if (s.steady && size_of(off - 1) <= larger(TOLERANCE, s.noise)) {
		return;
	}
	need_s = larger(GROUPS_ASKED * box->txg_timeout_ns / 1e9, 4 * seconds);
	(void)snprintf(buf, size,
		       "not the rate that lasts: %.4g %s over its %.3g s, %.4g after %.3g s%s (%.2fx); "
		       "--steady reports that, or set max_time: %.0fs and max_requests: 0",
		       measure->rate, unit, seconds, s.rate, (double)s.end_ns / 1e9,
		       s.steady ? "" : " and still changing", off, need_s);
}
