/* What `sloglab disk test` asks the model of a disk. */
#ifndef SL_CLI_DISK_MEASURE_H
#define SL_CLI_DISK_MEASURE_H

#include "sim/report/disk_figures.h"
#include "sim/scenario/scenario.h"

/* The drive without its flash: as it is before garbage collection begins. */
struct sl_dev_spec sl_disk_fresh(const struct sl_dev_spec *spec);

/* Measures the model of `spec` in virtual time. Errors of the models; -EINTR after Ctrl-C. */
int sl_disk_measure(const struct sl_dev_spec *spec, uint64_t seed, struct sl_disk_figures *ret,
		    struct sl_err *err);

#endif
