/* Spans of operations through the layers, written as Chrome trace JSON (chrome://tracing, Perfetto). */
#ifndef SL_BASE_TRACE_H
#define SL_BASE_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/err.h"

/* One span: `op` worked or waited in `layer` from start_ns to end_ns. Strings are static (not copied). */
struct sl_span {
	const char *layer, *name;
	uint64_t op;
	int64_t start_ns, end_ns;
	int64_t busy_ns; /* of that time, how long it was served itself; the rest waited for others */
};

struct sl_trace_window {
	int64_t from_ns, until_ns;
};

struct sl_trace;

/* Keeps at most `limit` spans; later ones are counted, not kept, unless sl_trace_first says otherwise. NULL
 * when out of memory. */
struct sl_trace *sl_trace_new(uint32_t limit);
void sl_trace_free(struct sl_trace *trace);
/* Private: keeps a copy of the span. Cold, like its likes below: compilers take a pointer for set, and would
 * lay out what builds a span in the way of every run that nobody traces. */
__attribute__((cold)) void sl_trace_keep(struct sl_trace *trace, const struct sl_span *span);

/* Adds any span (copied): one that waited for others for a part of its time, too. A no-op when trace is NULL:
 * layers call it unconditionally, and where nobody asks the span is not even built. */
static inline void sl_trace_add(struct sl_trace *trace, const struct sl_span *span)
{
	if (trace != NULL) {
		sl_trace_keep(trace, span);
	}
}

/* The same for one that was served itself all the time. */
static inline void sl_trace_span(struct sl_trace *trace, const char *layer, const char *name, uint64_t op,
				 int64_t start_ns, int64_t end_ns)
{
	if (trace != NULL) {
		sl_trace_keep(trace, &(struct sl_span){layer, name, op, start_ns, end_ns, end_ns - start_ns});
	}
}

/* Private: the same for threads and units. */
__attribute__((cold)) void sl_trace_keep_thread(struct sl_trace *trace, const struct sl_span *span);
__attribute__((cold)) void sl_trace_keep_unit(struct sl_trace *trace, const char *where, int unit,
					      const struct sl_span *span);

/* The same of a thread, which does one thing at a time: the viewers show each on a track of its own. */
static inline void sl_trace_thread(struct sl_trace *trace, const char *layer, const char *name, uint64_t op,
				   int64_t start_ns, int64_t end_ns)
{
	if (trace != NULL) {
		sl_trace_keep_thread(trace,
				     &(struct sl_span){layer, name, op, start_ns, end_ns, end_ns - start_ns});
	}
}

/* The same of what works for a part of the span: disk `unit` (1, 2, ...) of `where`, in its last busy_ns; or,
 * with 0 and NULL, any of the CPUs of the layer, which share out their time. */
static inline void sl_trace_unit(struct sl_trace *trace, const char *where, int unit,
				 const struct sl_span *span)
{
	if (trace != NULL) {
		sl_trace_keep_unit(trace, where, unit, span);
	}
}

/* Keeps, complete, the spans that begin before `until_ns` (above 0). Where these are more than the limit, the
 * time is halved, as often as it takes: a trace that is full is shorter, and has no holes. */
void sl_trace_first(struct sl_trace *trace, int64_t until_ns);
/* The time up to which every span is there; INT64_MAX: no span was left out for its time. */
int64_t sl_trace_until(const struct sl_trace *trace);

/* From now on keeps only spans of `layer` (NULL: of all) that overlap or touch one of `windows` (borrowed;
 * n = 0: at any time). What is left out does not count as dropped. */
void sl_trace_select(struct sl_trace *trace, const char *layer, const struct sl_trace_window *windows, int n);
uint32_t sl_trace_count(const struct sl_trace *trace);
uint64_t sl_trace_dropped(const struct sl_trace *trace);
const struct sl_span *sl_trace_get(const struct sl_trace *trace, uint32_t index);
/*
 * Writes one JSON document, one process named `label`. Threads and disks have tracks, one for each, on which
 * nothing overlaps; whatever waits or overlaps - calls in flight, queues, jobs that share CPUs - becomes
 * asynchronous events, each with an id of its own. Says where the trace ends.
 */
int sl_trace_write(const struct sl_trace *trace, const char *label, FILE *out, struct sl_err *err);

#endif
