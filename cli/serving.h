/* What servers have in common: a loop on the wall clock that ends with a signal, ahead of other work. */
#ifndef SL_CLI_SERVING_H
#define SL_CLI_SERVING_H

#include "sim/base/err.h"
#include "sim/base/loop.h"

/* A reply may make up for this much lateness (LAB: a crowded machine stalls for up to 20 ms). */
#define SL_SERVING_CREDIT_NS 20000000
/* A run whose p99 lateness is a larger part of the modelled median says so (decision 0003). */
#define SL_SERVING_LATE_SHARE 0.2
#define SL_SERVING_DILATE_MAX 1e6

struct sl_serving {
	struct sl_loop *loop; /* owned */
	struct sl_io stop;
	int signal; /* that ended the loop; 0 = none */
};

/* A fresh wall loop that SIGINT, SIGTERM and SIGHUP stop. Asks for real-time scheduling. Release with
 * sl_serving_fini, also after an error. */
int sl_serving_init(struct sl_serving *serving, struct sl_err *err);
void sl_serving_fini(struct sl_serving *serving);

/* A dilation as a user writes it: 1e-6 .. 1e6, NULL = 1. Errors begin with "--dilate: ". */
int sl_serving_dilate(const char *text, double *ret, struct sl_err *err);

#endif
