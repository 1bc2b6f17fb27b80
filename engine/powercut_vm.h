/* A power cut of a real box: storage VM and all its disks at one instant, under audited load in the guest. */
#ifndef SL_ENGINE_POWERCUT_VM_H
#define SL_ENGINE_POWERCUT_VM_H

#include <stdint.h>

#include "sim/base/options.h"
#include "sim/stack/powercut.h"

struct sl_vm_cut_options {
	const char *scenario; /* as the user named it: the lab's host loads it once more */
	const struct sl_words *variants, *sets;
	int64_t load_ns;                           /* of load before the cut */
	void (*said)(void *arg, const char *what); /* steps of the lab */
	bool (*stopped)(void);                     /* after Ctrl-C */
};

/*
 * Brings a lab of the scenario up (-EBUSY when one of its name is: its pool is not for this), cuts once a
 * variant, and takes the lab down. *ret holds the verdicts, also after Ctrl-C (-EINTR) and errors those made
 * until then; release with sl_powercut_fini. The load is added to `sc` as a workload.
 */
int sl_vm_cut_run(struct sl_scenario *sc, const struct sl_vm_cut_options *options, struct sl_powercut *ret,
		  struct sl_err *err);

/* Parts, for tests. */

/* What `sloglab-load audit verify` found. */
struct sl_vm_audit {
	int64_t acknowledged, lost, first_lost; /* records; the number of the first, 0 when none is lost */
};

/* What its --json wrote, from inside a guest: hostile. -EPROTO when it makes no sense. */
int sl_vm_audit_parse(const char *json, struct sl_vm_audit *ret, struct sl_err *err);

/* The last txg that /proc/spl/kstat/zfs/POOL/txgs calls committed; 0 = none. */
uint64_t sl_vm_txg_committed(const char *txgs);
/* The txg of the uberblock that the last import took, from /proc/spl/kstat/zfs/dbgmsg; 0 = not said. */
uint64_t sl_vm_txg_imported(const char *messages);

/* One variant's cut, as the machines of the lab told it. Times on the wall. */
struct sl_vm_cut {
	double load_s;   /* before the cut */
	double silent_s; /* from the cut until the guest's next acknowledgement; < 0: the pool is gone */
	double end_s;    /* of the load, from its beginning */
	uint64_t committed_txg, imported_txg;
	struct sl_vm_audit before; /* of what was acknowledged when the power was cut */
	struct sl_vm_audit all;    /* of that, and of what was acknowledged after the return */
};

/*
 * Fills in all but variant and workload. Who answers follows from when a lost record was acknowledged: before
 * the cut, the pool had promised it, so that it is the disk of `box` that forgets, or sync=disabled; after
 * it, the new server had, for data that only the old one was given.
 */
void sl_vm_cut_judge(const struct sl_vm_cut *cut, const struct sl_box *box, struct sl_verdict *ret);

#endif
