#include "sim/stack/identify.h"

#include <errno.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

#define PARTS_SHARE 0.5 /* of the largest weight: parameters that make up a direction */
#define NOTHING 1e-12   /* an eigenvalue below: rounding */

static void information(const double *jacobian, int n_cells, int n, double *ret)
{
	memset(ret, 0, sizeof(*ret) * (size_t)(n * n));
	for (int cell = 0; cell < n_cells; cell++) {
		const double *row = &jacobian[(size_t)cell * (size_t)n];

		for (int i = 0; i < n; i++) {
			for (int j = 0; j < n; j++) {
				ret[i * n + j] += row[i] * row[j];
			}
		}
	}
}

/* Eigenvalues come in rising order: the last is the best known direction. */
static void read_direction(const double *values, const double *vectors, int n, int at,
			   struct sl_direction *ret)
{
	int column = n - 1 - at;

	ret->sd = values[column] > NOTHING ? SL_CELL_NOISE / sqrt(values[column]) : (double)INFINITY;
	for (int i = 0; i < n; i++) {
		ret->weights[i] = vectors[i * n + column];
	}
}

/* Variance of one parameter: the sum over all directions of what each leaves open of it. */
static double param_sd(const struct sl_identified *identified, int param)
{
	double variance = 0;

	for (int k = 0; k < identified->n_params; k++) {
		const struct sl_direction *direction = &identified->directions[k];
		double weight = fabs(direction->weights[param]);

		if (weight > NOTHING) {
			variance += weight * weight * direction->sd * direction->sd;
		}
	}
	return sqrt(variance);
}

int sl_identify(const double *jacobian, int n_cells, int n_params, struct sl_identified *ret)
{
	double matrix[SL_IDENTIFY_PARAMS_MAX * SL_IDENTIFY_PARAMS_MAX], values[SL_IDENTIFY_PARAMS_MAX];
	int n = n_params;

	*ret = (struct sl_identified){.n_params = n_params};
	if (n_params < 1 || n_params > SL_IDENTIFY_PARAMS_MAX) {
		return -EINVAL;
	}
	information(jacobian, n_cells, n, matrix);
	if (LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'U', n, matrix, n, values) != 0) {
		return -EDOM;
	}
	for (int k = 0; k < n; k++) {
		read_direction(values, matrix, n, k, &ret->directions[k]);
		ret->n_identified += ret->directions[k].sd < SL_IDENTIFIED_SD;
	}
	for (int i = 0; i < n; i++) {
		ret->sd[i] = param_sd(ret, i);
	}
	return 0;
}

int sl_direction_parts(const struct sl_direction *direction, int n_params, int at[SL_IDENTIFY_PARAMS_MAX])
{
	double largest = 0;
	int n = 0;

	for (int i = 0; i < n_params; i++) {
		largest = fmax(largest, fabs(direction->weights[i]));
	}
	for (int i = 0; i < n_params; i++) {
		int place = n;

		if (fabs(direction->weights[i]) < PARTS_SHARE * largest) {
			continue;
		}
		while (place > 0 && fabs(direction->weights[at[place - 1]]) < fabs(direction->weights[i])) {
			at[place] = at[place - 1];
			place--;
		}
		at[place] = i;
		n++;
	}
	return n;
}
