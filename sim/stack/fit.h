/* Fits the free parameters of a scenario (kind fitted or fudge, with min and max) on its calibrate cells. */
#ifndef SL_STACK_FIT_H
#define SL_STACK_FIT_H

#include "sim/base/err.h"
#include "sim/scenario/scenario.h"
#include "sim/stack/identify.h"
#include "sim/stack/result.h"

#define SL_FIT_MAX SL_IDENTIFY_PARAMS_MAX /* more free parameters explain, fewer predict */

struct sl_fit_param {
	char key[64];
	enum sl_unit unit;
	enum sl_provenance kind; /* fitted or fudge */
	double start, value;
	double min, max;  /* bounds of the search */
	double low, high; /* range in which the RMS stays within 1.1x of the best, others fixed */
};

struct sl_fit {
	int n_params;
	struct sl_fit_param params[SL_FIT_MAX];
	int n_cells;                     /* cells the fit saw */
	int degrees_of_freedom;          /* n_cells - n_params */
	double rms_pct;                  /* over the cells it saw */
	int evaluations;                 /* all of them */
	int range_evaluations;           /* those that found low and high, and what the cells can tell */
	struct sl_identified identified; /* at the optimum */
	/* The predict cells by a table without physics that saw what the fit saw (plain_table.h); n = 0:
	 * none. */
	double plain_rms_pct;
	int plain_n;
	struct sl_result result; /* all cells with the fitted values, those it did not see included */
};

/* Cells that the fit does not see: those of a workload, or of a variant; index, -1 = none. */
struct sl_held {
	int workload, variant;
};

struct sl_fit_options {
	/* With a hold-out the search starts in the middle of the bounds: the values in the scenario know the
	 * cells that are to be held out. */
	struct sl_held held;
	int max_evaluations; /* of the search, to which the ranges add; 0 = 400 */
	uint64_t seed;
	bool (*progress)(void *arg, int done, int total);
	void *progress_arg;
	bool (*stopped)(void); /* as in struct sl_run_options; true: -EINTR */
};

/* Leaves the fitted values set in `sc`. Errors: -EINVAL (nothing free, more than SL_FIT_MAX, no calibrate
 * cell), -ECANCELED (progress), -EINTR (stopped). */
int sl_fit_run(struct sl_scenario *sc, const struct sl_fit_options *options, struct sl_fit *ret,
	       struct sl_err *err);
void sl_fit_fini(struct sl_fit *fit);

/* Is a cell of this variant and workload held out? */
bool sl_fit_holds(const struct sl_held *held, int variant, int workload);

/* The name of what is held out, borrowed of `sc`; NULL: nothing is. */
const char *sl_fit_held_name(const struct sl_held *held, const struct sl_scenario *sc);

#endif
