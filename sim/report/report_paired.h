/* Variants against the first one, pair by pair: what --repeat adds to a report. */
#ifndef SL_REPORT_REPORT_PAIRED_H
#define SL_REPORT_REPORT_PAIRED_H

#include <jansson.h>

#include "sim/report/report.h"

/* A line per workload and variant: "oltp2, s3500 against none: 1.27x, 95 % interval 1.26..1.28". Nothing
 * where no cell of the predicting engine has two samples. */
void sl_report_paired_text(const struct sl_report *report, FILE *out);

/* The same as an array, empty where the text is. New reference; NULL when out of memory. */
json_t *sl_report_paired_json(const struct sl_report *report);

#endif
