/*
 * Which parameters the cells of a fit can tell at all. Near the optimum the logarithm of every cell is linear
 * in the logarithms of the parameters: J = d ln(model) / d ln(parameter). Cells with independent relative
 * noise s hold the parameters with the covariance s^2 (J'J)^-1 (Bates and Watts, Nonlinear Regression
 * Analysis, 1988, 2.1), whose axes are the eigenvectors of J'J. A direction along which they leave the
 * parameters free is not identified, however good the fit.
 */
#ifndef SL_STACK_IDENTIFY_H
#define SL_STACK_IDENTIFY_H

#include <stdbool.h>

#define SL_IDENTIFY_PARAMS_MAX 8
#define SL_IDENTIFY_CELLS_MAX 256

/* Relative noise of a published cell: the two SSDs of b3n-2014 differ by -3.2 to +4.1 % with mixed signs. */
#define SL_CELL_NOISE 0.02
/* A direction is identified when the noise leaves less than this open along it (one standard deviation, as a
 * logarithm: 0.3 is about +35 or -26 %). */
#define SL_IDENTIFIED_SD 0.3

struct sl_direction {
	double sd;                              /* standard deviation along it, as a logarithm */
	double weights[SL_IDENTIFY_PARAMS_MAX]; /* unit vector over the parameters */
};

struct sl_identified {
	int n_params, n_identified;
	double sd[SL_IDENTIFY_PARAMS_MAX]; /* of each parameter by itself, the others free, as a logarithm */
	struct sl_direction directions[SL_IDENTIFY_PARAMS_MAX]; /* the best known first */
};

/* `jacobian`: one row of n_params per cell. Errors: -EINVAL (no parameters, or too many), -EDOM (the
 * eigenvalues cannot be found). A parameter that no cell feels has an sd of INFINITY. */
int sl_identify(const double *jacobian, int n_cells, int n_params, struct sl_identified *ret);

/* The parameter with the largest part in a direction, and those with at least half of it: fills `at` with
 * positions, largest first; returns how many. */
int sl_direction_parts(const struct sl_direction *direction, int n_params, int at[SL_IDENTIFY_PARAMS_MAX]);

#endif
