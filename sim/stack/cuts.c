#include "sim/stack/cuts.h"

#define FORGET_EVERY 1024u /* writes */
#define TXGS_NEEDED 2      /* one open, one syncing */

void sl_cuts_init(struct sl_cuts *cuts, uint32_t limit)
{
	*cuts = (struct sl_cuts){.last_ns = -1};
	sl_record_init(&cuts->record, limit);
}

void sl_cuts_fini(struct sl_cuts *cuts)
{
	sl_record_fini(&cuts->record);
}

static void cut_at(struct sl_cuts *cuts, int64_t at_ns)
{
	struct sl_outcome outcome;

	sl_audit_cut(&cuts->audit, at_ns, &outcome);
	cuts->last_ns = at_ns;
	cuts->cut(cuts->arg, &outcome);
}

/* The cuts before now_ns. */
static void cut_until(struct sl_cuts *cuts, int64_t now_ns)
{
	while (cuts->next_ns < now_ns) {
		cut_at(cuts, cuts->next_ns);
		cuts->next_ns = cuts->next(cuts->arg);
	}
}

static void due(void *arg, int64_t now_ns)
{
	struct sl_cuts *cuts = arg;
	struct sl_ledger *ledger = &cuts->record.ledger;

	cut_until(cuts, now_ns);
	ledger->due_ns = cuts->next_ns;
	if (ledger->n_sent >= ledger->due_sent) {
		ledger->due_sent = ledger->n_sent + FORGET_EVERY;
		sl_record_catch_up(&cuts->record);
		sl_audit_forget(&cuts->audit, now_ns);
	}
}

static void syncing(void *arg, int64_t now_ns)
{
	struct sl_cuts *cuts = arg;

	cut_until(cuts, now_ns);
	if (now_ns - 1 > cuts->last_ns) {
		cut_at(cuts, now_ns - 1);
	}
}

static void event(void *arg, int64_t at_ns)
{
	struct sl_cuts *cuts = arg;

	cuts->event(cuts->arg, at_ns);
}

int sl_cuts_run(struct sl_cuts *cuts, const struct sl_box *box, const struct sl_workload *workload,
		const struct sl_stack_setup *setup, const struct sl_audit_options *options,
		struct sl_measure *ret, struct sl_err *err)
{
	struct sl_ledger *ledger = &cuts->record.ledger;
	int rc;

	sl_audit_init(&cuts->audit, box, &cuts->record, options);
	cuts->next_ns = cuts->next(cuts->arg);
	ledger->arg = cuts->record.history.arg = cuts;
	ledger->due_ns = cuts->next_ns;
	ledger->due_sent = FORGET_EVERY;
	ledger->on_due = due;
	ledger->on_event = cuts->event ? event : NULL;
	cuts->record.history.on_syncing = cuts->before_sync ? syncing : NULL;
	rc = sl_stack_record(box, workload, setup, &cuts->record, ret, err);
	if (rc == 0) {
		sl_history_end(&cuts->record.history);
	}
	return rc;
}

bool sl_cuts_too_short(const struct sl_box *box, int64_t end_ns)
{
	return (double)end_ns < TXGS_NEEDED * box->txg_timeout_ns;
}
