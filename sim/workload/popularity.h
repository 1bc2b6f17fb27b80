/*
 * How the accesses of a key distribution spread over its table: strips of the key range, in order of the
 * keys, each with its share of the accesses. Within a strip all rows count as equally popular; strips are
 * narrow where popularity changes (geometric at the hot end of zipf and pareto). Constant size for any table.
 * Pure.
 */
#ifndef SL_WORKLOAD_POPULARITY_H
#define SL_WORKLOAD_POPULARITY_H

#include "sim/workload/oltp.h"

#define SL_POPULARITY_STRIPS 65

struct sl_popularity {
	int n;
	double end[SL_POPULARITY_STRIPS];   /* of a strip, as a share of the table; the last is 1 */
	double share[SL_POPULARITY_STRIPS]; /* of the accesses; the sum is 1 */
};

/* rows >= 1. */
void sl_popularity_init(struct sl_popularity *popularity, enum sl_oltp_distribution distribution,
			uint32_t rows);

/* Width of a strip, as a share of the table. */
double sl_popularity_width(const struct sl_popularity *popularity, int strip);

/* The strip that holds `position`, 0 <= position < 1. */
int sl_popularity_find(const struct sl_popularity *popularity, double position);

#endif
