/* The runs behind a page that says all (sim/report/full.h). */
#ifndef SL_CLI_FULL_RUN_H
#define SL_CLI_FULL_RUN_H

#include "sim/report/full.h"

struct sl_full_options {
	const struct sl_chosen *variants, *workloads; /* those of the run */
	const char *name;                             /* of the scenario, as the user typed it */
	uint64_t seed;
};

/* Computes the three, one after the other. Stops at Ctrl-C with -EINTR. Release with sl_full_fini, also after
 * an error. */
int sl_full_run(const struct sl_session *session, const struct sl_full_options *options, struct sl_full *ret,
		struct sl_err *err);

#endif
