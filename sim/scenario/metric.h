/* What a workload reports of its run, and in which unit. */
#ifndef SL_SCENARIO_METRIC_H
#define SL_SCENARIO_METRIC_H

#include <stdbool.h>

#include "sim/base/units.h"
#include "sim/box/box.h"

struct sl_metric {
	const char *name; /* in the result: "request_rate", "latency_p99" */
	/* SL_UNIT_IOPS: operations per second; SL_UNIT_RATE: bytes per second; SL_UNIT_TIME: a latency, of
	 * which less is better; SL_UNIT_NONE: only in the unit it is shown in */
	enum sl_unit kind;
	const char *unit; /* it is shown in: "TPS", "MB/s", "ms" */
	double unit_size; /* that unit in base units (1/s, bytes/s, ns) */
};

struct sl_metric sl_metric_of(const struct sl_workload *workload);
/* Does it report a time, of which less is better? */
bool sl_metric_is_latency(const struct sl_workload *workload);

/* Its position in the list of the workload's kind: workload->metric, or disk_metric. */
int sl_metric_at(const struct sl_workload *workload);
void sl_metric_set(struct sl_workload *workload, int at);

/* Of the kind's metrics, that of operations per second, of bytes per second, or the mean latency. */
int sl_metric_of_kind(const struct sl_workload *workload, enum sl_unit kind);

/* A transaction has no size, and only a program that writes synchronously has an iostat beside it. */
bool sl_metric_fits(const struct sl_workload *workload);

/* Bytes of one operation, 0 = it has no size. */
double sl_workload_bytes(const struct sl_workload *workload);

#endif
