/* CPU time of a transaction in a lab, and in the model of the box that the lab stands for: how many times as
 * slow the lab's CPUs are, and which dilation makes up for it. */
#ifndef SL_ENGINE_VM_COSTS_H
#define SL_ENGINE_VM_COSTS_H

#include "sim/base/err.h"
#include "sim/scenario/box.h"

/* Of an OLTP transaction that commits, with one client: in the guest, and in the storage VM. 0 = not
 * measured. */
struct sl_vm_costs {
	double oltp_ns, sync_ns;
};

/* In the lab that is up in folder `dir`, on the wall, with disks that take no time; what the storage VM does
 * without a load is taken off. Takes half a minute. Errors of sl_vm_cell_run. */
int sl_vm_costs_measure(const char *dir, const char *variant, const struct sl_box *box,
			struct sl_vm_costs *ret, struct sl_err *err);

/* The same load on the model of `box`, with the profile's CPU times. */
int sl_vm_costs_model(const struct sl_box *box, struct sl_vm_costs *ret, struct sl_err *err);

#endif
