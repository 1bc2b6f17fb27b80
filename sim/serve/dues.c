#include "sim/serve/dues.h"

void sl_dues_add(struct sl_dues *dues, const struct sl_dues_sink *sink, int64_t due_ns, int64_t ready_ns)
{
	if (dues->count == SL_DUES_MAX) {
		(void)sl_dues_leave(dues, sink);
	}
	dues->sum_ns += due_ns;
	dues->ready[dues->count++] = ready_ns;
}

/*
 * Lateness: behind the modelled completion, or behind the arrival when credit moved the completion before it,
 * so that one stall is not counted again in each of the replies that catch up. The credit of what the client
 * sends next is the mean distance to the modelled completion.
 */
int64_t sl_dues_leave(struct sl_dues *dues, const struct sl_dues_sink *sink)
{
	int64_t now_ns = sl_loop_clock(sink->loop), left_ns = now_ns + sink->send_ns;

	if (dues->count == 0) {
		return now_ns;
	}
	for (uint32_t i = 0; i < dues->count; i++) {
		sl_hist_add(sink->lateness, left_ns - dues->ready[i]);
	}
	dues->credit_ns = left_ns - dues->sum_ns / dues->count;
	if (dues->credit_ns > sink->credit_cap_ns) {
		dues->credit_ns = sink->credit_cap_ns;
	}
	dues->count = 0;
	dues->sum_ns = 0;
	return now_ns;
}

void sl_dues_sent(struct sl_dues_sink *sink, int64_t began_ns)
{
	int64_t took_ns = sl_loop_clock(sink->loop) - began_ns;
	int64_t grown_ns =
	    sink->send_ns + sink->send_ns / 64 + 1; /* so that a host that got slower is seen */

	sink->send_ns = took_ns < grown_ns ? took_ns : grown_ns;
}
