/*
 * A track of the viewers cannot show spans that overlap, unless one lies within the other. Threads and disks
 * do one thing at a time and get tracks ("lanes"); everything else is written as pairs of asynchronous
 * events, which the viewers pack by themselves.
 */
#include "sim/base/trace.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SPANS_INITIAL 1024u

enum kind {
	KIND_FLOW,   /* may overlap its like */
	KIND_THREAD, /* any free lane of the layer */
	KIND_UNIT    /* sl_trace_unit */
};

struct record {
	struct sl_span span;
	const char *where;
	int unit;
	enum kind kind;
};

struct sl_trace {
	struct record *records;
	uint32_t count, capacity, limit;
	uint64_t dropped;
	const char *layer; /* the only one kept, NULL: all */
	const struct sl_trace_window *windows;
	int n_windows;    /* 0: any time */
	int64_t until_ns; /* 0: all times */
	bool cut;         /* something began later */
};

struct lane {
	const char *layer, *where;
	int unit;
	uint32_t number; /* 1, 2, ... within its layer */
	int64_t busy_until_ns;
};

struct lanes {
	struct lane *lane; /* owned */
	uint32_t count, capacity;
};

/* What is written: a span or a part of it. */
struct piece {
	const struct record *record;
	int64_t start_ns, end_ns;
	bool lane;   /* on a track, else asynchronous */
	bool queued; /* the part in which a disk did not work for it */
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
		free(trace->records);
		free(trace);
	}
}

static bool trace_grow(struct sl_trace *trace)
{
	uint32_t capacity = trace->capacity == 0 ? SPANS_INITIAL : trace->capacity;
	struct record *records;

	if (trace->capacity > 0) {
		capacity = capacity > trace->limit / 2 ? trace->limit : capacity * 2;
	}
	if (capacity > trace->limit) {
		capacity = trace->limit;
	}
	if (capacity == trace->capacity) {
		return false;
	}
	records = realloc(trace->records, (size_t)capacity * sizeof(*records));
	if (records == NULL) {
		return false;
	}
	trace->records = records;
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

void sl_trace_first(struct sl_trace *trace, int64_t until_ns)
{
	assert(until_ns > 0);
	trace->until_ns = until_ns;
}

int64_t sl_trace_until(const struct sl_trace *trace)
{
	return trace->cut ? trace->until_ns : INT64_MAX;
}

/* Halves the time that is kept until there is room; false: there is none even so. */
static bool trace_shorten(struct sl_trace *trace)
{
	while (trace->count == trace->limit && trace->until_ns > 1) {
		uint32_t kept = 0;

		trace->until_ns /= 2;
		trace->cut = true;
		for (uint32_t i = 0; i < trace->count; i++) {
			if (trace->records[i].span.start_ns < trace->until_ns) {
				trace->records[kept++] = trace->records[i];
			}
		}
		trace->count = kept;
	}
	return trace->count < trace->limit;
}

static void keep(struct sl_trace *trace, const struct record *record)
{
	const struct sl_span *span = &record->span;

	if (!is_selected(trace, span)) {
		return;
	}
	assert(span->end_ns >= span->start_ns && span->start_ns >= 0);
	assert(span->busy_ns >= 0 && span->busy_ns <= span->end_ns - span->start_ns);
	if (trace->until_ns > 0 && span->start_ns >= trace->until_ns) {
		trace->cut = true;
		return;
	}
	if (trace->until_ns > 0 && trace->count == trace->limit) {
		if (!trace_shorten(trace)) {
			trace->dropped++;
			return;
		}
		if (span->start_ns >= trace->until_ns) {
			return;
		}
	}
	if (trace->count == trace->capacity && !trace_grow(trace)) {
		trace->dropped++;
		return;
	}
	trace->records[trace->count++] = *record;
}

void sl_trace_keep(struct sl_trace *trace, const struct sl_span *span)
{
	keep(trace, &(struct record){.span = *span, .kind = KIND_FLOW});
}

void sl_trace_keep_thread(struct sl_trace *trace, const struct sl_span *span)
{
	keep(trace, &(struct record){.span = *span, .kind = KIND_THREAD});
}

void sl_trace_keep_unit(struct sl_trace *trace, const char *where, int unit, const struct sl_span *span)
{
	keep(trace, &(struct record){.span = *span, .where = where, .unit = unit, .kind = KIND_UNIT});
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
	return &trace->records[index].span;
}

/* By start; what took no time is over before the next begins; then as recorded. */
static int piece_order(const void *a, const void *b)
{
	const struct piece *pa = a, *pb = b;

	if (pa->start_ns != pb->start_ns) {
		return pa->start_ns < pb->start_ns ? -1 : 1;
	}
	if (pa->end_ns != pb->end_ns) {
		return pa->end_ns < pb->end_ns ? -1 : 1;
	}
	return (pa->record > pb->record) - (pa->record < pb->record);
}

/* At most two pieces of one span. */
static uint32_t pieces_of(const struct record *r, struct piece *pieces)
{
	int64_t busy_from_ns = r->span.end_ns - r->span.busy_ns;
	bool whole = busy_from_ns == r->span.start_ns;
	uint32_t n = 0;

	if (r->kind == KIND_UNIT && r->unit > 0) {
		if (!whole) {
			pieces[n++] = (struct piece){r, r->span.start_ns, busy_from_ns, false, true};
		}
		pieces[n++] = (struct piece){r, busy_from_ns, r->span.end_ns, true, false};
		return n;
	}
	/* A job that shared its CPU was not on one CPU in one piece. */
	pieces[n++] = (struct piece){r, r->span.start_ns, r->span.end_ns,
				     r->kind == KIND_THREAD || (r->kind == KIND_UNIT && whole), false};
	return n;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* The lane of the record's layer and unit that is free at `now_ns`, else lanes->count; *ret_number is 1 more
 * than those before it. */
static uint32_t lane_find(const struct lanes *lanes, const struct record *r, int64_t now_ns,
			  uint32_t *ret_number)
{
	*ret_number = 1;
	for (uint32_t i = 0; i < lanes->count; i++) {
		const struct lane *lane = &lanes->lane[i];

		if (strcmp(lane->layer, r->span.layer) != 0 || !same_text(lane->where, r->where) ||
		    lane->unit != r->unit) {
			continue;
		}
		if (lane->busy_until_ns <= now_ns) {
			return i;
		}
		(*ret_number)++;
	}
	return lanes->count;
}

/* Index of the lane for a piece, which is busy from then on; -ENOMEM. */
static int64_t lanes_take(struct lanes *lanes, const struct piece *piece)
{
	const struct record *r = piece->record;
	uint32_t number, i = lane_find(lanes, r, piece->start_ns, &number);

	if (i == lanes->capacity) {
		uint32_t capacity = 2 * lanes->capacity + 16;
		struct lane *grown = realloc(lanes->lane, capacity * sizeof(*grown));

		if (!grown) {
			return -ENOMEM;
		}
		lanes->lane = grown;
		lanes->capacity = capacity;
	}
	if (i == lanes->count) {
		lanes->lane[lanes->count++] = (struct lane){r->span.layer, r->where, r->unit, number, 0};
	}
	lanes->lane[i].busy_until_ns = piece->end_ns;
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

/* What an event of either form begins with. */
static void put_head(FILE *out, const char *phase, int64_t tid, const struct piece *piece, int64_t at_ns)
{
	(void)fprintf(out, ",\n{\"ph\":\"%s\",\"pid\":1,\"tid\":%" PRId64 ",\"cat\":", phase, tid);
	put_string(out, piece->record->span.layer);
	(void)fputs(",\"name\":", out);
	put_string(out, piece->queued ? "queued" : piece->record->span.name);
	put_us(out, "ts", at_ns);
}

static void put_args(FILE *out, const struct piece *piece)
{
	const struct sl_span *span = &piece->record->span;

	(void)fprintf(out, ",\"args\":{\"op\":%" PRIu64, span->op);
	if (!piece->queued && span->busy_ns < piece->end_ns - piece->start_ns) {
		put_us(out, "busy_us", span->busy_ns);
	}
	(void)fputs("}}", out);
}

static int put_pieces(FILE *out, const struct piece *pieces, uint32_t count, struct lanes *lanes)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct piece *piece = &pieces[i];

		if (piece->lane) {
			int64_t lane = lanes_take(lanes, piece);

			if (lane < 0) {
				return (int)lane;
			}
			put_head(out, "X", lane + 1, piece, piece->start_ns);
			put_us(out, "dur", piece->end_ns - piece->start_ns);
			put_args(out, piece);
		} else {
			put_head(out, "b", 0, piece, piece->start_ns);
			(void)fprintf(out, ",\"id\":\"%" PRIu32 "\"", i + 1);
			put_args(out, piece);
			put_head(out, "e", 0, piece, piece->end_ns);
			(void)fprintf(out, ",\"id\":\"%" PRIu32 "\"}", i + 1);
		}
	}
	return 0;
}

static void put_lane_names(FILE *out, const struct lanes *lanes)
{
	for (uint32_t i = 0; i < lanes->count; i++) {
		const struct lane *lane = &lanes->lane[i];
		char name[128];

		if (lane->unit > 0) {
			(void)snprintf(name, sizeof(name), "%s: %s %d", lane->layer, lane->where, lane->unit);
		} else {
			(void)snprintf(name, sizeof(name), "%s %" PRIu32, lane->layer, lane->number);
		}
		(void)fprintf(out,
			      ",\n{\"ph\":\"M\",\"pid\":1,\"tid\":%" PRIu32
			      ",\"name\":\"thread_name\",\"args\":{\"name\":",
			      i + 1);
		put_string(out, name);
		(void)fputs("}}", out);
	}
}

/* Where the trace ends, for programs and on the page of the viewer. */
static void put_frame(FILE *out, const struct sl_trace *trace, const char *label)
{
	(void)fprintf(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"dropped\":%" PRIu64, trace->dropped);
	if (trace->cut) {
		put_us(out, "complete_until_us", trace->until_ns);
	}
	(void)fputs("},\"traceEvents\":[\n"
		    "{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":",
		    out);
	put_string(out, label);
	(void)fputs("}}", out);
	if (trace->cut) {
		(void)fputs(",\n{\"ph\":\"i\",\"s\":\"g\",\"pid\":1,\"tid\":0,\"name\":"
			    "\"the trace ends here: what begins later is left out\"",
			    out);
		put_us(out, "ts", trace->until_ns);
		(void)fputs("}", out);
	}
}

int sl_trace_write(const struct sl_trace *trace, const char *label, FILE *out, struct sl_err *err)
{
	struct piece *pieces = calloc(2 * (size_t)trace->count + 1, sizeof(*pieces));
	struct lanes lanes = {.count = 0};
	uint32_t n = 0;
	int code;

	if (pieces == NULL) {
		return sl_err_set(err, -ENOMEM, "out of memory for the trace");
	}
	for (uint32_t i = 0; i < trace->count; i++) {
		n += pieces_of(&trace->records[i], pieces + n);
	}
	qsort(pieces, n, sizeof(*pieces), piece_order);
	errno = 0;
	put_frame(out, trace, label);
	code = put_pieces(out, pieces, n, &lanes);
	put_lane_names(out, &lanes);
	(void)fputs("\n]}\n", out);
	free(pieces);
	free(lanes.lane);
	if (code < 0) {
		return sl_err_set(err, code, "out of memory for the trace");
	}
	if (fflush(out) != 0 || ferror(out)) {
		code = errno != 0 ? -errno : -EIO;
		(void)sl_err_set(err, code, "cannot write the trace: %s", strerror(-code));
	}
	return code;
}
