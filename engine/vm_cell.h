/* One measurement on a lab that is up: log devices into the pool, database or files, load, counters. */
#ifndef SL_ENGINE_VM_CELL_H
#define SL_ENGINE_VM_CELL_H

#include "engine/lab_control.h"
#include "engine/live_load.h"
#include "sim/stack/timing.h"

struct sl_vm_cell {
	struct sl_lab_at lab;
	const char *variant; /* one of those it was brought up with */
	const struct sl_box *box;
	const struct sl_workload *load; /* with the limits of this run */
	double dilate;
	uint64_t seed;
	bool free; /* the disks take no time */
};

struct sl_vm_sample {
	struct sl_live_load_result load;
	struct sl_evidence evidence;         /* owned; variant and workload are the caller's */
	double guest_cpu_ns, storage_cpu_ns; /* CPU time of the VMs during the load */
	int64_t late_p50_wall_ns, late_p99_wall_ns,
	    modelled_p50_wall_ns; /* of the disk server, on the wall */
	/* What disk server and machines waited for a CPU of this machine, and the time in which they did; 0 =
	 * unknown. What waits inside of a machine for its vCPU is the guest's, and modelled. */
	int64_t server_wait_wall_ns, machines_wait_wall_ns, waits_wall_ns;
};

/* Leaves the lab with the latency of its disks off. On success *ret is the caller's, see
 * sl_vm_sample_fini. Errors: -EINTR (lab.stopped()), what a machine said, -ETIME. */
int sl_vm_cell_run(const struct sl_vm_cell *cell, struct sl_vm_sample *ret, struct sl_err *err);
void sl_vm_sample_fini(struct sl_vm_sample *sample);

/* The pool as `variant` has it: log devices, properties, timers of ZFS, and whether it flushes its disks at
 * all.
 */
int sl_vm_pool_ready(const struct sl_lab_at *lab, const char *variant, const struct sl_box *box,
		     double dilate, struct sl_err *err);

/* Parts, for tests: the first line "cpu ..." of /proc/stat, in ns. False when it is none. */
bool sl_vm_cpu_parse(const char *stat, double *ret_busy_ns, double *ret_all_ns);
/* Sums over the disks of a disk server's status whose names begin with "log", or over the others. */
struct sl_vm_requests {
	uint64_t log_writes, data_writes, data_flushes;
};
void sl_vm_requests_parse(const char *status, struct sl_vm_requests *ret);

#endif
