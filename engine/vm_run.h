/*
 * Engine `vm`: real OpenZFS, NFS server, QEMU, ext4 and MariaDB in the virtual machines of a lab, on modelled
 * disks, on the wall clock. Beside it the model runs with what differs in the lab.
 */
#ifndef SL_ENGINE_VM_RUN_H
#define SL_ENGINE_VM_RUN_H

#include "engine/live.h"
#include "sim/base/options.h"

struct sl_vm_options {
	const struct sl_run_options *run; /* variants, workloads, seed, repeat, progress */
	const char *scenario;             /* as the user named it: the lab's host loads it once more */
	const struct sl_words *sets;      /* overrides */
	uint64_t time_s;                  /* of each measurement at most; 0 = what the workload says */
	bool quick;                       /* small table and files, few requests */
	bool fresh;                       /* forget what an unfinished run has measured */
	double dilate;                    /* >= 1; 0 = from what the lab's CPUs need for a transaction */
	void (*said)(void *arg, const char *what); /* steps of the lab on its way up */
};

/*
 * Brings the scenario's lab up unless it is, measures each cell that an unfinished run has not measured, and
 * takes the lab down unless it was up before. *ret holds cells of SL_ENGINE_VM and SL_ENGINE_MODEL_LAB, after
 * Ctrl-C and errors what was measured so far; release with sl_live_fini.
 */
int sl_vm_run(const struct sl_scenario *sc, const struct sl_vm_options *options, struct sl_live *ret,
	      struct sl_err *err);

/* The variants and workloads of --quick: those of sl_live_quick, and one UPDATE a transaction, which is added
 * to a scenario without such a workload. */
int sl_vm_quick(struct sl_scenario *sc, struct sl_run_options *options, int variants[2], int workloads[3],
		struct sl_err *err);

#endif
