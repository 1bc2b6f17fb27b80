/* Workloads of kind disk: random writes on a bare disk over time. */
#ifndef SL_STACK_DISK_RUN_H
#define SL_STACK_DISK_RUN_H

#include "sim/stack/result.h"

/* Runs `workload` on the first data disk of `box`: an SSD whose flash is known by its saturation at a scale,
 * any other disk as it is. Errors: those of sl_dev_new and sl_ssd_saturate. */
int sl_disk_run(const struct sl_box *box, const struct sl_workload *workload,
		const struct sl_stack_setup *setup, struct sl_measure *ret, struct sl_err *err);

/* What the workload reports of the rate over time, in its metric's base unit (minutes are minutes); 0 when
 * the run was too short to tell. */
double sl_disk_value(const struct sl_measure *measure, const struct sl_workload *workload);

#endif
