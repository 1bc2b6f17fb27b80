/*
 * A run of the model with everything written down that a cut of the power needs to know. Who cuts rides along
 * (audit.h, cuts.h) and forgets what no later cut needs: the record does not grow with the run.
 */
#ifndef SL_STACK_RECORD_H
#define SL_STACK_RECORD_H

#include "sim/stack/result.h"
#include "sim/store/ledger.h"
#include "sim/zfs/history.h"

struct sl_pool;

struct sl_record {
	struct sl_ledger ledger;
	struct sl_history history;
	int64_t end_ns;       /* of the run; 0 = it was stopped before */
	struct sl_pool *pool; /* during the run; borrowed */
};

/* Up to `limit` writes are kept at a time. */
void sl_record_init(struct sl_record *record, uint32_t limit);
void sl_record_fini(struct sl_record *record);

/* During the run: disks note what they have done by now without anybody waiting for it. */
void sl_record_catch_up(struct sl_record *record);

/* sl_stack_run that fills `record` (NULL: it is sl_stack_run). Recording takes no part in the run: the
 * measure is the same. At the end on_due of the ledger is called once more. */
int sl_stack_record(const struct sl_box *box, const struct sl_workload *workload,
		    const struct sl_stack_setup *setup, struct sl_record *record, struct sl_measure *ret,
		    struct sl_err *err);

#endif
