/* A set of bytes of a file: disjoint spans in rising order. */
#ifndef SL_DATASTORE_SPANS_H
#define SL_DATASTORE_SPANS_H

#include <stddef.h>
#include <stdint.h>

/* Zero-initialise; release with sl_spans_fini. */
struct sl_spans {
	struct sl_byte_span *at;
	size_t n, room;
};

struct sl_byte_span {
	uint64_t from, to; /* bytes from `from` to before `to` */
};

void sl_spans_fini(struct sl_spans *spans);
/* 0 or -ENOMEM. An empty span adds nothing. */
int sl_spans_add(struct sl_spans *spans, uint64_t from, uint64_t to);
/* The first part of [from, to) that is not in the set; an empty one at `to` when all is. */
struct sl_byte_span sl_spans_gap(const struct sl_spans *spans, uint64_t from, uint64_t to);

#endif
