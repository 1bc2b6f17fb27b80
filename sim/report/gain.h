/* What a log device brings, in a sentence and in figures. */
#ifndef SL_REPORT_GAIN_H
#define SL_REPORT_GAIN_H

#include <jansson.h>
#include <stddef.h>

#include "sim/report/report.h"

/* "oltp2, 2 threads: 148 -> 188 TPS with s3500, 1.27x; guest vCPUs 64 % busy". False and "" where `engine`
 * has no pair of cells of `workload` with and without a log device. */
bool sl_gain_text(const struct sl_result *result, int workload, enum sl_engine engine, char *buf,
		  size_t size);

/* All of them by `engine`, appended to `array`. */
void sl_gains_json(const struct sl_report *report, enum sl_engine engine, json_t *array);

#endif
