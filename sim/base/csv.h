/* Comma-separated values (RFC 4180 quoting, newline ends a row). Errors stick: check once, at the end. */
#ifndef SL_BASE_CSV_H
#define SL_BASE_CSV_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/base/err.h"

struct sl_csv {
	FILE *out; /* not owned */
	bool in_row;
	int error; /* negative errno of the first failed write; later calls do nothing */
};

void sl_csv_init(struct sl_csv *csv, FILE *out);

/* One cell each. NULL text and values that are not finite make an empty cell; figures have 6 digits. */
void sl_csv_text(struct sl_csv *csv, const char *text);
void sl_csv_int(struct sl_csv *csv, int64_t value);
void sl_csv_figure(struct sl_csv *csv, double value);

void sl_csv_end_row(struct sl_csv *csv);

/* Flushes; 0 or the first error. */
int sl_csv_finish(struct sl_csv *csv, struct sl_err *err);

#endif
