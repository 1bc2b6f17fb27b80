/* Throughput of SSDs over time, which `disk test --saturate` found: as a table, CSV, JSON and a drawing. */
#ifndef SL_REPORT_DISK_CURVE_H
#define SL_REPORT_DISK_CURVE_H

#include <stdint.h>
#include <stdio.h>

#include "sim/base/err.h"
#include "sim/device/ssd.h"

#define SL_DISK_CURVES_MAX 8

struct sl_disk_curve {
	const char *name;
	struct sl_ssd_curve data;
	int64_t steady_ns; /* -1 = not seen */
};

struct sl_disk_curves {
	uint64_t minutes; /* that were asked for */
	int n;
	struct sl_disk_curve curves[SL_DISK_CURVES_MAX];
};

void sl_disk_curve_text(const struct sl_disk_curve *curve, FILE *out);

/* arg is a struct sl_disk_curves *: for sl_out_write. */
int sl_disk_curves_csv(void *arg, FILE *out, struct sl_err *err);
int sl_disk_curves_json(void *arg, FILE *out, struct sl_err *err);
int sl_disk_curves_svg(void *arg, FILE *out, struct sl_err *err);

#endif
