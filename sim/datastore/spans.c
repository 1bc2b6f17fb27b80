#include "sim/datastore/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void sl_spans_fini(struct sl_spans *spans)
{
	free(spans->at);
	*spans = (struct sl_spans){0};
}

/* The first span that ends at or behind `from`; n when there is none. */
static size_t find(const struct sl_spans *spans, uint64_t from)
{
	size_t low = 0, high = spans->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (spans->at[middle].to < from) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static int make_room(struct sl_spans *spans)
{
	size_t room = spans->room ? 2 * spans->room : 16;
	struct sl_byte_span *grown;

	if (spans->n < spans->room) {
		return 0;
	}
	grown = realloc(spans->at, room * sizeof(*grown));
	if (!grown) {
		return -ENOMEM;
	}
	spans->at = grown;
	spans->room = room;
	return 0;
}

int sl_spans_add(struct sl_spans *spans, uint64_t from, uint64_t to)
{
	size_t first = find(spans, from), last = first;

	if (from >= to) {
		return 0;
	}
	/* Those that it overlaps or touches become one with it. */
	for (; last < spans->n && spans->at[last].from <= to; last++) {
		from = spans->at[last].from < from ? spans->at[last].from : from;
		to = spans->at[last].to > to ? spans->at[last].to : to;
	}
	if (first == last) {
		if (make_room(spans) < 0) {
			return -ENOMEM;
		}
		memmove(&spans->at[first + 1], &spans->at[first], (spans->n - first) * sizeof(spans->at[0]));
		spans->n++;
	} else {
		memmove(&spans->at[first + 1], &spans->at[last], (spans->n - last) * sizeof(spans->at[0]));
		spans->n -= last - first - 1;
	}
	spans->at[first] = (struct sl_byte_span){from, to};
	return 0;
}

struct sl_byte_span sl_spans_gap(const struct sl_spans *spans, uint64_t from, uint64_t to)
{
	for (size_t i = find(spans, from); i < spans->n && from < to; i++) {
		if (spans->at[i].from > from) {
			return (struct sl_byte_span){from, spans->at[i].from < to ? spans->at[i].from : to};
		}
		from = spans->at[i].to > from ? spans->at[i].to : from;
	}
	return (struct sl_byte_span){from < to ? from : to, to};
}
