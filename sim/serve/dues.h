/* The replies of a connection that wait to be offered to its socket, and how late they leave. Internal to
 * sim/serve. */
#ifndef SL_SERVE_DUES_H
#define SL_SERVE_DUES_H

#include <stdint.h>

#include "sim/base/hist.h"
#include "sim/base/loop.h"

#define SL_DUES_MAX 256

/* Zero-initialise. */
struct sl_dues {
	uint32_t count;
	int64_t sum_ns;             /* of their modelled completions */
	int64_t ready[SL_DUES_MAX]; /* when each could have left */
	int64_t credit_ns;          /* how late the last ones left, on average */
};

/* Where their lateness goes; borrowed. */
struct sl_dues_sink {
	struct sl_loop *loop;
	struct sl_hist *lateness;
	int64_t credit_cap_ns;
};

/* A reply is due at due_ns and could leave at ready_ns (pacer.h). More than SL_DUES_MAX count as leaving. */
void sl_dues_add(struct sl_dues *dues, const struct sl_dues_sink *sink, int64_t due_ns, int64_t ready_ns);

/* All of them leave now. */
void sl_dues_leave(struct sl_dues *dues, const struct sl_dues_sink *sink);

#endif
