/* The parameters of a scenario that were fitted and whose value no physics explains: every report names them.
 */
#ifndef SL_REPORT_FUDGES_H
#define SL_REPORT_FUDGES_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/scenario/scenario.h"

/* Fills *ret with the first fudge from position *at on, which moves behind it; false = there is none left. A
 * parameter is a fudge when it is one in any variant. Start with *at = 0. */
bool sl_fudge_next(const struct sl_scenario *sc, int *at, struct sl_param *ret);

/* One paragraph each, prefixed "fudge: "; nothing when there is none. */
void sl_fudges_text(const struct sl_scenario *sc, FILE *out);

#endif
