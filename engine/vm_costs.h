/* CPU time of a transaction in a lab, and in the model of the box that the lab stands for: how many times as
 * slow the lab's CPUs are, and which dilation makes up for it. */
#ifndef SL_ENGINE_VM_COSTS_H
#define SL_ENGINE_VM_COSTS_H

#include "engine/lab_control.h"
#include "sim/base/err.h"
#include "sim/box/box.h"

/* Of an OLTP transaction that commits, with one client: in the guest, and in the storage VM. 0 = not
 * measured. */
struct sl_vm_costs {
	double oltp_ns, sync_ns;
};

/* In the lab that is up, on the wall, with disks that take no time; what the storage VM does
 * without a load is taken off. Takes half a minute. Errors of sl_vm_cell_run. */
int sl_vm_costs_measure(const struct sl_lab_at *lab, const char *variant, const struct sl_box *box,
			struct sl_vm_costs *ret, struct sl_err *err);

/* The same load on the model of `box`, with the profile's CPU times. -EINTR when stopped() says true. */
int sl_vm_costs_model(const struct sl_box *box, bool (*stopped)(void), struct sl_vm_costs *ret,
		      struct sl_err *err);

#endif
