/*
 * Spans of one layer may overlap (two operations wait in the same queue), which a track of the viewers cannot
 * show. The writer therefore gives each layer as many tracks ("lanes") as it has spans at a time.
 */
#include "sim/base/trace.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SPANS_INITIAL 1024u
#define LANES_MAX 512u

struct sl_trace {
	struct sl_span *spans;
	uint32_t count, capacity, limit;
	uint64_t dropped;
	const char *layer; /* the only one kept, NULL: all */
	const struct sl_trace_window *windows;
	int n_windows; /* 0: any time */
};

struct lane {
	const char *layer;
	uint32_t number; /* 1, 2, ... within its layer */
	int64_t busy_until_ns;
};

struct lanes {
	struct lane lane[LANES_MAX];
	uint32_t count;
};

struct sl_trace *sl_trace_new(uint32_t limit)
{
	struct sl_trace *trace = calloc(1, sizeof(*trace));

	if (trace != NULL) {
		trace->limit = limit;
	}
	return trace;
}

void sl_trace_free(struct sl_trace *trace)
{
	if (trace != NULL) {
		free(trace->spans);
		free(trace);
	}
}

static bool trace_grow(struct sl_trace *trace)
{
	uint32_t capacity = trace->capacity == 0 ? SPANS_INITIAL : trace->capacity;
	struct sl_span *spans;

	if (trace->capacity > 0) {
		capacity = capacity > trace->limit / 2 ? trace->limit : capacity * 2;
	}
	if (capacity > trace->limit) {
		capacity = trace->limit;
	}
	if (capacity == trace->capacity) {
		return false;
	}
	spans = realloc(trace->spans, (size_t)capacity * sizeof(*spans));
	if (spans == NULL) {
		return false;
	}
	trace->spans = spans;
	trace->capacity = capacity;
	return true;
}

static bool is_selected(const struct sl_trace *trace, const struct sl_span *span)
{
	bool in_time = trace->n_windows == 0;

	for (int i = 0; !in_time && i < trace->n_windows; i++) {
		in_time =
		    span->start_ns <= trace->windows[i].until_ns && span->end_ns >= trace->windows[i].from_ns;
	}
	return in_time && (trace->layer == NULL || strcmp(trace->layer, span->layer) == 0);
}

void sl_trace_select(struct sl_trace *trace, const char *layer, const struct sl_trace_window *windows, int n)
{
	trace->layer = layer;
	trace->windows = windows;
	trace->n_windows = n;
}

void sl_trace_keep(struct sl_trace *trace, const struct sl_span *span)
{
	if (!is_selected(trace, span)) {
		return;
	}
	assert(span->end_ns >= span->start_ns && span->start_ns >= 0);
	assert(span->busy_ns >= 0 && span->busy_ns <= span->end_ns - span->start_ns);
	if (trace->count == trace->capacity && !trace_grow(trace)) {
		trace->dropped++;
		return;
	}
	trace->spans[trace->count++] = *span;
}

uint32_t sl_trace_count(const struct sl_trace *trace)
{
	return trace->count;
}

uint64_t sl_trace_dropped(const struct sl_trace *trace)
{
	return trace->dropped;
}

const struct sl_span *sl_trace_get(const struct sl_trace *trace, uint32_t index)
{
	assert(index < trace->count);
	return &trace->spans[index];
}

/* By start; the longer first, so that a whole operation is above its parts; then as recorded. */
static int span_order(const void *a, const void *b)
{
	const struct sl_span *sa = *(const struct sl_span *const *)a;
	const struct sl_span *sb = *(const struct sl_span *const *)b;

	if (sa->start_ns != sb->start_ns) {
		return sa->start_ns < sb->start_ns ? -1 : 1;
	}
	if (sa->end_ns != sb->end_ns) {
		return sa->end_ns > sb->end_ns ? -1 : 1;
	}
	return (sa > sb) - (sa < sb);
}

/* Index of the lane for `span`, which is busy from then on. When there are too many lanes, the last one is
 * shared. */
static uint32_t lanes_take(struct lanes *lanes, const struct sl_span *span)
{
	uint32_t i, number = 1;

	for (i = 0; i < lanes->count; i++) {
		if (strcmp(lanes->lane[i].layer, span->layer) != 0) {
			continue;
		}
		if (lanes->lane[i].busy_until_ns <= span->start_ns) {
			break;
		}
		number++;
	}
	if (i == lanes->count && lanes->count < LANES_MAX) {
		lanes->lane[lanes->count++] = (struct lane){.layer = span->layer, .number = number};
	}
	if (i == LANES_MAX) {
		i = LANES_MAX - 1;
	}
	lanes->lane[i].busy_until_ns = span->end_ns;
	return i;
}

static void put_string(FILE *out, const char *text)
{
	(void)fputc('"', out);
	for (const char *c = text; *c != '\0'; c++) {
		if ((unsigned char)*c < 0x20) {
			(void)fprintf(out, "\\u%04x", (unsigned)(unsigned char)*c);
			continue;
		}
		if (*c == '"' || *c == '\\') {
			(void)fputc('\\', out);
		}
		(void)fputc(*c, out);
	}
	(void)fputc('"', out);
}

/* Microseconds, the unit of the format, without losing the ns. */
static void put_us(FILE *out, const char *key, int64_t ns)
{
	(void)fprintf(out, ",\"%s\":%" PRId64 ".%03d", key, ns / 1000, (int)(ns % 1000));
}

static void put_spans(FILE *out, const struct sl_span **order, uint32_t count, struct lanes *lanes)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct sl_span *span = order[i];

		(void)fprintf(out, ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":%" PRIu32 ",\"cat\":",
			      lanes_take(lanes, span) + 1);
		put_string(out, span->layer);
		(void)fputs(",\"name\":", out);
		put_string(out, span->name);
		put_us(out, "ts", span->start_ns);
		put_us(out, "dur", span->end_ns - span->start_ns);
		(void)fprintf(out, ",\"args\":{\"op\":%" PRIu64, span->op);
		if (span->busy_ns < span->end_ns - span->start_ns) {
			put_us(out, "busy_us", span->busy_ns);
		}
		(void)fputs("}}", out);
	}
}

static void put_lane_names(FILE *out, const struct lanes *lanes)
{
	for (uint32_t i = 0; i < lanes->count; i++) {
		(void)fprintf(out,
			      ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%" PRIu32
			      ",\"name\":\"thread_name\",\"args\":{\"name\":",
			      i + 1);
		put_string(out, lanes->lane[i].layer);
		(void)fputs("}}", out);
	}
}

int sl_trace_write(const struct sl_trace *trace, const char *label, FILE *out, struct sl_err *err)
{
	const struct sl_span **order = calloc((size_t)trace->count + 1, sizeof(*order));
	struct lanes *lanes = calloc(1, sizeof(*lanes));
	int code = 0;

	if (order == NULL || lanes == NULL) {
		free(order);
		free(lanes);
		return sl_err_set(err, -ENOMEM, "out of memory for the trace");
	}
	for (uint32_t i = 0; i < trace->count; i++) {
		order[i] = &trace->spans[i];
	}
	qsort(order, trace->count, sizeof(*order), span_order);
	errno = 0;
	(void)fprintf(
	    out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"dropped\":%" PRIu64 "},\"traceEvents\":[\n",
	    trace->dropped);
	(void)fputs("{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":", out);
	put_string(out, label);
	(void)fputs("}}", out);
	put_spans(out, order, trace->count, lanes);
	put_lane_names(out, lanes);
	(void)fputs("\n]}\n", out);
	if (fflush(out) != 0 || ferror(out)) {
		code = errno != 0 ? -errno : -EIO;
		(void)sl_err_set(err, code, "cannot write the trace: %s", strerror(-code));
	}
	free(order);
	free(lanes);
	return code;
}
