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
	int64_t send_ns; /* what handing a reply to its socket takes, without interruption */
};

/* A reply is due at due_ns and could leave at ready_ns (pacer.h). More than SL_DUES_MAX count as leaving. */
void sl_dues_add(struct sl_dues *dues, const struct sl_dues_sink *sink, int64_t due_ns, int64_t ready_ns);

/* All of them are handed to their socket now, and have left when that is done. Returns the present time. */
int64_t sl_dues_leave(struct sl_dues *dues, const struct sl_dues_sink *sink);

/* That took from `began_ns` (what sl_dues_leave returned) until now. The least of late counts: sending wakes
 * the client, which may run at once and in our place. */
void sl_dues_sent(struct sl_dues_sink *sink, int64_t began_ns);

#endif
