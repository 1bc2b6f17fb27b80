/*
 * What a table says without any physics: a cell is the same workload's cell in the row before it (of the
 * variants before it the one of which most was seen, the nearest of these), times how much the cells seen of
 * its own variant differ from that row's. A model that is not better than that has explained nothing.
 */
#ifndef SL_STACK_PLAIN_TABLE_H
#define SL_STACK_PLAIN_TABLE_H

#include "sim/scenario/scenario.h"

/* Is the cell one that the table may look at? Only cells with something published are asked about. */
typedef bool (*sl_seen_fn)(const void *arg, int variant, int workload);

/* The table's value of a published cell that it has not seen; 0 = it has none (nothing before it was seen).
 */
double sl_plain_table_value(const struct sl_scenario *sc, sl_seen_fn seen, const void *arg, int variant,
			    int workload);

/* Root mean square of its relative errors, in %, over the published cells of a role that it has not seen and
 * has a value for; *ret_n: how many those are. 0 when there is none. */
double sl_plain_table_rms(const struct sl_scenario *sc, sl_seen_fn seen, const void *arg, enum sl_role role,
			  int *ret_n);

#endif
