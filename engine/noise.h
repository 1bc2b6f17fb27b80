/* Figures that are measured several times because other work on the machine disturbs them: pure arithmetic.
 */
#ifndef SL_ENGINE_NOISE_H
#define SL_ENGINE_NOISE_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/base/err.h"

#define SL_NOISE_LEAST 3 /* measurements that can tell anything */
#define SL_NOISE_MOST 9  /* beyond, the machine is too busy */

struct sl_noisy {
	double seen[SL_NOISE_MOST];
	int n;
};

/* Keeps one more measurement; at most SL_NOISE_MOST. */
void sl_noisy_add(struct sl_noisy *noisy, double value);

/* Whether it can be told from nothing and from noise: without the extremes (a quarter at each end) all are
 * above 0, and they differ by less than their median, which is then in *ret. */
bool sl_noisy_told(const struct sl_noisy *noisy, double *ret);

/* Says that `name` could not be told, what was seen (in units of `unit_ns`, called `unit`) and what to do:
 * -EAGAIN. */
int sl_noisy_refuse(const struct sl_noisy *noisy, const char *name, double unit_ns, const char *unit,
		    struct sl_err *err);

#endif
