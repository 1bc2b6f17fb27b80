/* Cuts of the power during a run: each is audited as soon as the run has passed its time. */
#ifndef SL_STACK_CUTS_H
#define SL_STACK_CUTS_H

#include "sim/stack/audit.h"

struct sl_cuts {
	struct sl_record record;
	struct sl_audit audit;
	/* Set by the caller, between init and run. */
	int64_t (*next)(
	    void *arg); /* time of the next cut, asked after each; in rising order, SL_NEVER: none */
	void (*cut)(void *arg, const struct sl_outcome *outcome);
	bool before_sync; /* cut just before each txg counts as synced as well: the worst that sync=disabled
			     has */
	void (*event)(void *arg, int64_t at_ns); /* something changed hands, in no order; NULL: nobody asks */
	void *arg;
	/* Private. */
	int64_t next_ns, last_ns;
};

/* For the same box, workload and options as the run. Up to `limit` writes that a cut could take are followed
 * one by one. Release with sl_cuts_fini. */
void sl_cuts_init(struct sl_cuts *cuts, uint32_t limit);
void sl_cuts_fini(struct sl_cuts *cuts);

/* The run, with its cuts. Errors: those of sl_stack_run; the cuts made so far count. Afterwards the record's
 * counters and end are there to read. */
int sl_cuts_run(struct sl_cuts *cuts, const struct sl_box *box, const struct sl_workload *workload,
		const struct sl_stack_setup *setup, const struct sl_audit_options *options,
		struct sl_measure *ret, struct sl_err *err);

/* Was the run too short to show the worst that open and syncing txgs can take? */
bool sl_cuts_too_short(const struct sl_box *box, int64_t end_ns);

#endif
