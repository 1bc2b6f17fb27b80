#include "sim/workload/popularity.h"

#include <assert.h>

#define SIDES 32 /* strips on each side of special's hot ids */

/* P(the mean of 12 uniforms <= x), Irwin and Hall: sum over k of (-1)^k C(12, k) (12 x - k)^12 / 12!. Taken
 * from the nearer end, where the terms do not cancel. */
static double bell_below(double x)
{
	double sum = 0, choose = 1, factorial = 479001600; /* 12! */

	if (x > 0.5) {
		return 1 - bell_below(1 - x);
	}
	for (int k = 0; k < SL_SPECIAL_ITERATIONS * x; k++) {
		double power = 1;

		for (int i = 0; i < SL_SPECIAL_ITERATIONS; i++) {
			power *= SL_SPECIAL_ITERATIONS * x - k;
		}
		sum += (k % 2 ? -choose : choose) * power;
		choose *= (double)(SL_SPECIAL_ITERATIONS - k) / (k + 1);
	}
	return sum / factorial;
}

/* Share of the accesses below a position. */
static double special_below(double x)
{
	double hot = (x - 0.5) / SL_SPECIAL_HOT_IDS + 0.5;

	hot = hot < 0 ? 0 : hot > 1 ? 1 : hot;
	return SL_SPECIAL_HOT_SHARE * hot + (1 - SL_SPECIAL_HOT_SHARE) * bell_below(x);
}

static double power(double x, double exponent)
{
	return x > 0 ? sl_exp(exponent * sl_log(x)) : 0;
}

/* Rank k stands for the interval from k - 1/2 to k + 1/2 of the density x^-exponent. */
static double zipf_below(double x, double rows)
{
	double rest = 1 - SL_ZIPF_EXPONENT, first = power(0.5, rest);

	return (power(x * rows + 0.5, rest) - first) / (power(rows + 0.5, rest) - first);
}

static double below(enum sl_oltp_distribution distribution, double x, double rows)
{
	switch (distribution) {
	case SL_OLTP_SPECIAL:
		return special_below(x);
	case SL_OLTP_ZIPF:
		return zipf_below(x, rows);
	case SL_OLTP_PARETO:
		return power(x, 1 / SL_PARETO_POWER);
	case SL_OLTP_UNIFORM:
		break;
	}
	return x;
}

/* Even strips, a narrow one for the hot ids in their middle. */
static int cut_special(double *end)
{
	double side = (1 - SL_SPECIAL_HOT_IDS) / 2;

	for (int i = 0; i < SIDES; i++) {
		end[i] = side * (i + 1) / SIDES;
		end[SIDES + 1 + i] = side + SL_SPECIAL_HOT_IDS + end[i];
	}
	end[SIDES] = side + SL_SPECIAL_HOT_IDS;
	return 2 * SIDES + 1;
}

/* From the first row on each strip ends the same factor further out. */
static int cut_geometric(double *end, double rows)
{
	int n = SL_POPULARITY_STRIPS;

	for (int i = 0; i < n; i++) {
		end[i] = sl_exp(-sl_log(rows) * (n - 1 - i) / (n - 1));
	}
	return n;
}

void sl_popularity_init(struct sl_popularity *popularity, enum sl_oltp_distribution distribution,
			uint32_t rows)
{
	double before = 0;

	assert(rows >= 1);
	popularity->n = 1;
	if (distribution == SL_OLTP_SPECIAL) {
		popularity->n = cut_special(popularity->end);
	} else if (distribution != SL_OLTP_UNIFORM && rows > 1) {
		popularity->n = cut_geometric(popularity->end, rows);
	}
	popularity->end[popularity->n - 1] = 1;
	for (int i = 0; i < popularity->n; i++) {
		double up_to = below(distribution, popularity->end[i], rows);

		popularity->share[i] = up_to - before;
		before = up_to;
	}
}

double sl_popularity_width(const struct sl_popularity *popularity, int strip)
{
	return popularity->end[strip] - (strip > 0 ? popularity->end[strip - 1] : 0);
}

int sl_popularity_find(const struct sl_popularity *popularity, double position)
{
	int low = 0, high = popularity->n - 1;

	while (low < high) {
		int middle = (low + high) / 2;

		if (position < popularity->end[middle]) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	return low;
}
