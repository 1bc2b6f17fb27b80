#include "sim/store/ledger.h"

#include <stdlib.h>

static void *grown(void *items, uint32_t n, uint32_t *room, size_t size)
{
	if (n < *room) {
		return items;
	}
	*room = *room ? 2 * *room : 1024;
	items = realloc(items, *room * size);
	if (!items) {
		abort();
	}
	return items;
}

void sl_ledger_init(struct sl_ledger *ledger, uint32_t limit)
{
	*ledger = (struct sl_ledger){.limit = limit, .full_ns = SL_NEVER};
}

void sl_ledger_fini(struct sl_ledger *ledger)
{
	free(ledger->writes);
	free(ledger->groups);
	free(ledger->unstable);
	*ledger = (struct sl_ledger){0};
}

uint32_t sl_ledger_group(struct sl_ledger *ledger)
{
	if (!ledger || ledger->full_ns != SL_NEVER) {
		return 0;
	}
	ledger->groups =
	    grown(ledger->groups, ledger->n_groups, &ledger->groups_room, sizeof(*ledger->groups));
	ledger->groups[ledger->n_groups++] = 0;
	return ledger->n_groups;
}

uint32_t sl_ledger_sent(struct sl_ledger *ledger, int64_t now_ns, const struct sl_store_req *req,
			uint32_t group)
{
	struct sl_ledger_write write = {.sent_ns = now_ns,
					.replied_ns = SL_NEVER,
					.committed_ns = SL_NEVER,
					.promised_ns = SL_NEVER,
					.file = req->file,
					.bytes = req->bytes};

	if (!ledger || ledger->full_ns != SL_NEVER) {
		return 0;
	}
	if (ledger->n_writes == ledger->limit) {
		ledger->full_ns = now_ns;
		return 0;
	}
	ledger->writes = grown(ledger->writes, ledger->n_writes, &ledger->room, sizeof(*ledger->writes));
	ledger->n_writes++;
	if (group > 0) {
		write.next = ledger->groups[group - 1];
		ledger->groups[group - 1] = ledger->n_writes;
	}
	ledger->writes[ledger->n_writes - 1] = write;
	return ledger->n_writes;
}

void sl_ledger_replied(struct sl_ledger *ledger, int64_t now_ns, uint32_t write, enum sl_stable stable)
{
	if (!ledger || write == 0) {
		return;
	}
	ledger->writes[write - 1].replied_ns = now_ns;
	if (stable != SL_UNSTABLE) {
		ledger->writes[write - 1].committed_ns = now_ns;
		return;
	}
	ledger->unstable =
	    grown(ledger->unstable, ledger->n_unstable, &ledger->unstable_room, sizeof(*ledger->unstable));
	ledger->unstable[ledger->n_unstable++] = write;
}

void sl_ledger_committed(struct sl_ledger *ledger, int64_t now_ns, uint64_t file, int64_t sent_ns)
{
	uint32_t kept = 0;

	if (!ledger) {
		return;
	}
	for (uint32_t i = 0; i < ledger->n_unstable; i++) {
		struct sl_ledger_write *write = &ledger->writes[ledger->unstable[i] - 1];

		if (write->file == file && write->replied_ns <= sent_ns) {
			write->committed_ns = now_ns;
		} else {
			ledger->unstable[kept++] = ledger->unstable[i];
		}
	}
	ledger->n_unstable = kept;
}

void sl_ledger_promise_write(struct sl_ledger *ledger, int64_t now_ns, uint32_t write)
{
	if (ledger && write > 0 && ledger->writes[write - 1].promised_ns == SL_NEVER) {
		ledger->writes[write - 1].promised_ns = now_ns;
	}
}

void sl_ledger_promise(struct sl_ledger *ledger, int64_t now_ns, uint32_t group)
{
	if (!ledger || group == 0) {
		return;
	}
	for (uint32_t write = ledger->groups[group - 1]; write > 0; write = ledger->writes[write - 1].next) {
		sl_ledger_promise_write(ledger, now_ns, write);
	}
}
