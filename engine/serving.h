/* What servers have in common: a loop on the wall clock that ends with a signal, ahead of other work. */
#ifndef SL_ENGINE_SERVING_H
#define SL_ENGINE_SERVING_H

#include "sim/base/err.h"
#include "sim/base/hist.h"
#include "sim/base/loop.h"
#include "sim/stack/trust.h"

/* A reply may make up for this much lateness (LAB: a crowded machine stalls for up to 20 ms). */
#define SL_SERVING_CREDIT_NS 20000000

struct sl_serving {
	struct sl_loop *loop; /* owned */
	struct sl_io stop;
	int signal;            /* that ended the loop; 0 = none */
	int64_t begin_ns;      /* of the wall clock */
	int64_t wait_begin_ns; /* what we had waited for a CPU by then; negative = unknown */
};

/* A fresh wall loop that SIGINT, SIGTERM and SIGHUP stop. Asks for real-time scheduling. Release with
 * sl_serving_fini, also after an error. */
int sl_serving_init(struct sl_serving *serving, struct sl_err *err);
void sl_serving_fini(struct sl_serving *serving);

/* How well the clock was kept so far, by the one rule (sim/stack/trust.h). The clients are somewhere else: of
 * waits for a CPU only our own count. */
void sl_serving_trust(const struct sl_serving *serving, const struct sl_hist *lateness_wall_ns,
		      int64_t modelled_p50_wall_ns, struct sl_trust *ret);

#endif
