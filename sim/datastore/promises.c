#include "sim/datastore/promises.h"

#include <stdlib.h>

#define WRITES_MAX (1u << 19) /* followed at a time; beyond them a share is */
#define FORGET_EVERY 1024u    /* writes */

struct sl_promises {
	struct sl_box box;
	struct sl_record record;
	struct sl_audit audit;
	void (*settled)(void *arg);
	void *arg;
	struct sl_ring gone; /* of uint32_t, in rising order after a cut */
};

static void forget(void *arg, int64_t now_ns)
{
	struct sl_promises *promises = arg;
	struct sl_ledger *ledger = &promises->record.ledger;

	ledger->due_sent = ledger->n_sent + FORGET_EVERY;
	sl_record_catch_up(&promises->record);
	sl_audit_forget(&promises->audit, now_ns);
	promises->settled(promises->arg);
}

static void note_gone(void *arg, uint32_t write)
{
	struct sl_promises *promises = arg;

	*(uint32_t *)sl_ring_push(&promises->gone) = write;
}

struct sl_promises *sl_promises_new(const struct sl_box *box, void (*settled)(void *arg), void *arg)
{
	struct sl_audit_options options = {.radius = SL_RADIUS_BOX, .served = true};
	struct sl_promises *promises = calloc(1, sizeof(*promises));
	struct sl_ledger *ledger;

	if (!promises) {
		return NULL;
	}
	promises->box = *box;
	promises->settled = settled;
	promises->arg = arg;
	sl_record_init(&promises->record, WRITES_MAX);
	sl_ring_init(&promises->gone, sizeof(uint32_t), 0);
	sl_audit_init(&promises->audit, &promises->box, &promises->record, &options);
	promises->audit.gone = note_gone;
	promises->audit.arg = promises;
	ledger = &promises->record.ledger;
	ledger->on_due = forget;
	ledger->arg = promises;
	ledger->due_sent = FORGET_EVERY;
	return promises;
}

void sl_promises_free(struct sl_promises *promises)
{
	if (promises) {
		sl_record_fini(&promises->record);
		sl_ring_fini(&promises->gone);
		free(promises);
	}
}

struct sl_record *sl_promises_record(struct sl_promises *promises)
{
	return &promises->record;
}

void sl_promises_sent(struct sl_promises *promises, int64_t model_ns, struct sl_store_req *req)
{
	if (req->op == SL_STORE_WRITE) {
		req->write = sl_ledger_sent(&promises->record.ledger, model_ns, req, 0);
	}
}

void sl_promises_done(struct sl_promises *promises, int64_t sent_ns, int64_t model_ns,
		      const struct sl_store_req *req)
{
	struct sl_ledger *ledger = &promises->record.ledger;

	if (req->op == SL_STORE_WRITE) {
		sl_ledger_replied(ledger, model_ns, req->write, req->stable);
	} else if (req->op == SL_STORE_COMMIT) {
		sl_ledger_committed(ledger, model_ns, req->file, sent_ns);
	}
}

bool sl_promises_at_risk(const struct sl_promises *promises, uint32_t write)
{
	return sl_ledger_at(&promises->record.ledger, write) != NULL;
}

void sl_promises_log_dead(struct sl_promises *promises, int64_t model_ns)
{
	if (model_ns < promises->audit.pulled_ns) {
		promises->audit.pulled_ns = model_ns;
	}
}

static int by_number(const void *a, const void *b)
{
	const uint32_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

void sl_promises_cut(struct sl_promises *promises, int64_t model_ns, struct sl_outcome *ret)
{
	struct sl_ring *gone = &promises->gone;

	sl_audit_cut(&promises->audit, model_ns, ret);
	/* Nothing was ever dropped from it: it is an array. */
	if (gone->end > 0) {
		qsort(gone->items, gone->end, sizeof(uint32_t), by_number);
	}
}

bool sl_promises_is_gone(const struct sl_promises *promises, uint32_t write)
{
	const struct sl_ring *gone = &promises->gone;

	return gone->end > 0 && bsearch(&write, gone->items, gone->end, sizeof(uint32_t), by_number) != NULL;
}
