/* Latencies of a run; means and intervals of repeated runs. */
#include "sim/base/rng.h"
#include "sim/stack/result.h"

/* Two-sided 95 % quantiles of Student's t for 1..30 degrees of freedom; beyond, 1.96 is within 2 %. */
static const double t95[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
			     2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
			     2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};

static double square_root(double x)
{
	return x > 0 ? sl_exp(0.5 * sl_log(x)) : 0;
}

static double t_of(int freedom)
{
	return freedom <= (int)(sizeof(t95) / sizeof(t95[0])) ? t95[freedom - 1] : 1.96;
}

static double squares_about(const double *samples, int n, double mean)
{
	double squares = 0;

	for (int i = 0; i < n; i++) {
		squares += (samples[i] - mean) * (samples[i] - mean);
	}
	return squares;
}

void sl_stats_mean_ci(const double *samples, int n, double *ret_mean, double *ret_ci95)
{
	double sum = 0;

	*ret_mean = *ret_ci95 = 0;
	if (n == 0) {
		return;
	}
	for (int i = 0; i < n; i++) {
		sum += samples[i];
	}
	*ret_mean = sum / n;
	if (n < 2) {
		return;
	}
	*ret_ci95 = t_of(n - 1) * square_root(squares_about(samples, n, *ret_mean) / (n - 1) / n);
}

void sl_stats_difference(const double *before, const double *after, int n, double *ret_mean, double *ret_ci95)
{
	double means[2], squares, ignored;

	sl_stats_mean_ci(before, n, &means[0], &ignored);
	sl_stats_mean_ci(after, n, &means[1], &ignored);
	*ret_mean = means[1] - means[0];
	*ret_ci95 = 0;
	if (n >= 2) {
		squares = squares_about(before, n, means[0]) + squares_about(after, n, means[1]);
		*ret_ci95 = t_of(2 * n - 2) * square_root(squares / (n - 1) / n);
	}
}

static bool counts(const struct sl_cell *cell, enum sl_role role, enum sl_engine engine)
{
	return cell->has_published && cell->role == role && cell->engine == engine;
}

void sl_measure_latency(struct sl_measure *measure, const struct sl_hist *latency)
{
	measure->mean_ns = (int64_t)(sl_hist_mean(latency) + 0.5);
	measure->p50_ns = sl_hist_quantile(latency, 0.5);
	measure->p95_ns = sl_hist_quantile(latency, 0.95);
	measure->p99_ns = sl_hist_quantile(latency, 0.99);
	measure->p999_ns = sl_hist_quantile(latency, 0.999);
	measure->max_ns = latency->max;
}

double sl_result_rms(const struct sl_result *result, enum sl_role role, enum sl_engine engine, int *ret_count)
{
	double squares = 0;
	int n = 0;

	for (int i = 0; i < result->n_cells; i++) {
		const struct sl_cell *cell = &result->cells[i];

		if (counts(cell, role, engine)) {
			squares += cell->error_pct * cell->error_pct;
			n++;
		}
	}
	if (ret_count) {
		*ret_count = n;
	}
	return n > 0 ? square_root(squares / n) : 0;
}

static double size_of(double error_pct)
{
	return error_pct < 0 ? -error_pct : error_pct;
}

/* How many errors are smaller than `pct`, or as small. */
static int rank(const struct sl_result *result, enum sl_role role, enum sl_engine engine, double pct,
		bool or_equal)
{
	int n = 0;

	for (int i = 0; i < result->n_cells; i++) {
		double size = size_of(result->cells[i].error_pct);

		n += counts(&result->cells[i], role, engine) && (size < pct || (or_equal && size <= pct));
	}
	return n;
}

/* The error with `at` smaller ones. */
static double error_at(const struct sl_result *result, enum sl_role role, enum sl_engine engine, int at)
{
	for (int i = 0; i < result->n_cells; i++) {
		double size = size_of(result->cells[i].error_pct);

		if (counts(&result->cells[i], role, engine) &&
		    rank(result, role, engine, size, false) <= at &&
		    at < rank(result, role, engine, size, true)) {
			return size;
		}
	}
	return 0;
}

double sl_result_median_error(const struct sl_result *result, enum sl_role role, enum sl_engine engine)
{
	int n = 0;

	(void)sl_result_rms(result, role, engine, &n);
	return (error_at(result, role, engine, (n - 1) / 2) + error_at(result, role, engine, n / 2)) / 2;
}
