#include "sim/store/ledger.h"

#include <stdlib.h>

#define GROUPS_KEPT 4096u /* the latest: writes may still be added to them */
#define WEIGHT_MAX (1u << 20)

struct group {
	uint32_t newest; /* of its writes; 0 = none is followed */
	uint32_t n;      /* of all its writes */
	bool promised;
};

struct unstable {
	uint64_t file;
	int64_t replied_ns;
	uint32_t write;
};

void sl_ledger_init(struct sl_ledger *ledger, uint32_t limit)
{
	*ledger =
	    (struct sl_ledger){.limit = limit, .max_weight = 1, .due_ns = SL_NEVER, .due_sent = UINT64_MAX};
	sl_ring_init(&ledger->writes, sizeof(struct sl_ledger_write), 1);
	sl_ring_init(&ledger->groups, sizeof(struct group), 1);
	sl_ring_init(&ledger->unstable, sizeof(struct unstable), 0);
}

void sl_ledger_fini(struct sl_ledger *ledger)
{
	sl_ring_fini(&ledger->writes);
	sl_ring_fini(&ledger->groups);
	sl_ring_fini(&ledger->unstable);
}

static struct sl_ledger_write *write_at(const struct sl_ledger *ledger, uint32_t write)
{
	struct sl_ledger_write *at = sl_ring_at(&ledger->writes, write);

	return at && !at->forgotten ? at : NULL;
}

const struct sl_ledger_write *sl_ledger_at(const struct sl_ledger *ledger, uint32_t write)
{
	return write_at(ledger, write);
}

static void event(struct sl_ledger *ledger, int64_t at_ns)
{
	if (ledger->on_event) {
		ledger->on_event(ledger->arg, at_ns);
	}
}

void sl_ledger_pass(struct sl_ledger *ledger, int64_t now_ns)
{
	if (ledger->on_due && (now_ns > ledger->due_ns || ledger->n_sent >= ledger->due_sent)) {
		ledger->on_due(ledger->arg, now_ns);
	}
}

/* A group that lost its writes, or never had one, will not be promised any more: unless it is young. */
static bool is_over(const struct sl_ledger *ledger, uint64_t number)
{
	const struct group *group = sl_ring_at(&ledger->groups, number);

	return group->promised ||
	       (!write_at(ledger, group->newest) && number + GROUPS_KEPT < ledger->groups.end);
}

uint32_t sl_ledger_group(struct sl_ledger *ledger)
{
	if (!ledger) {
		return 0;
	}
	while (ledger->groups.first < ledger->groups.end && is_over(ledger, ledger->groups.first)) {
		sl_ring_drop(&ledger->groups, ledger->groups.first + 1);
	}
	*(struct group *)sl_ring_push(&ledger->groups) = (struct group){0};
	return (uint32_t)(ledger->groups.end - 1);
}

/* Of how many writes the next is to be the only one that is followed: the less room, the more. */
static uint32_t weight(const struct sl_ledger *ledger)
{
	uint64_t left = ledger->limit - (ledger->writes.end - ledger->writes.first),
		 share = ledger->limit / 2;
	uint32_t weight = 1;

	while (left <= share && weight < WEIGHT_MAX) {
		share /= 2;
		weight *= 2;
	}
	return weight;
}

uint32_t sl_ledger_sent(struct sl_ledger *ledger, int64_t now_ns, const struct sl_store_req *req,
			uint32_t group)
{
	struct sl_ledger_write *write;
	struct group *of;
	uint32_t number;

	if (!ledger) {
		return 0;
	}
	sl_ledger_pass(ledger, now_ns);
	ledger->n_sent++;
	event(ledger, now_ns);
	of = sl_ring_at(&ledger->groups, group);
	if (of) {
		of->n++;
	}
	number = (uint32_t)ledger->writes.end;
	ledger->skipped++;
	if (ledger->skipped < weight(ledger) || ledger->writes.end > UINT32_MAX ||
	    ledger->writes.end - ledger->writes.first >= ledger->limit) {
		return 0;
	}
	write = sl_ring_push(&ledger->writes);
	*write = (struct sl_ledger_write){.sent_ns = now_ns,
					  .replied_ns = SL_NEVER,
					  .committed_ns = SL_NEVER,
					  .promised_ns = SL_NEVER,
					  .file = req->file,
					  .bytes = req->bytes,
					  .weight = ledger->skipped};
	ledger->max_weight = ledger->skipped > ledger->max_weight ? ledger->skipped : ledger->max_weight;
	ledger->skipped = 0;
	if (of) {
		write->next = of->newest;
		of->newest = number;
	}
	return number;
}

/* Before the list grows: those that were forgotten, in their order. */
static void drop_unstable(struct sl_ledger *ledger)
{
	struct sl_ring *list = &ledger->unstable;
	uint64_t kept = list->first;

	if (list->end - list->first < list->room || list->room == 0) {
		return;
	}
	for (uint64_t i = list->first; i < list->end; i++) {
		const struct unstable *at = sl_ring_at(list, i);

		if (write_at(ledger, at->write)) {
			*(struct unstable *)sl_ring_at(list, kept++) = *at;
		}
	}
	list->end = kept;
}

void sl_ledger_replied(struct sl_ledger *ledger, int64_t now_ns, uint32_t number, enum sl_stable stable)
{
	struct sl_ledger_write *write;

	if (!ledger) {
		return;
	}
	sl_ledger_pass(ledger, now_ns);
	ledger->n_replied++;
	event(ledger, now_ns);
	write = write_at(ledger, number);
	if (!write) {
		return;
	}
	write->replied_ns = now_ns;
	if (now_ns - write->sent_ns > ledger->longest_answer_ns) {
		ledger->longest_answer_ns = now_ns - write->sent_ns;
	}
	if (stable != SL_UNSTABLE) {
		write->committed_ns = now_ns;
		ledger->n_committed += write->weight;
		return;
	}
	drop_unstable(ledger);
	*(struct unstable *)sl_ring_push(&ledger->unstable) = (struct unstable){write->file, now_ns, number};
}

void sl_ledger_committed(struct sl_ledger *ledger, int64_t now_ns, uint64_t file, int64_t sent_ns)
{
	uint64_t kept;

	if (!ledger) {
		return;
	}
	sl_ledger_pass(ledger, now_ns);
	event(ledger, now_ns);
	kept = ledger->unstable.first;
	for (uint64_t i = ledger->unstable.first; i < ledger->unstable.end; i++) {
		const struct unstable *at = sl_ring_at(&ledger->unstable, i);
		struct sl_ledger_write *write = write_at(ledger, at->write);

		if (at->file != file || at->replied_ns > sent_ns) {
			*(struct unstable *)sl_ring_at(&ledger->unstable, kept++) = *at;
		} else if (write) {
			write->committed_ns = now_ns;
			ledger->n_committed += write->weight;
		}
	}
	ledger->unstable.end = kept;
}

static void promise(struct sl_ledger *ledger, int64_t now_ns, uint32_t number)
{
	struct sl_ledger_write *write = write_at(ledger, number);

	if (write && write->promised_ns == SL_NEVER) {
		write->promised_ns = now_ns;
	}
}

void sl_ledger_promise(struct sl_ledger *ledger, int64_t now_ns, uint32_t number)
{
	struct group *group;

	if (!ledger) {
		return;
	}
	sl_ledger_pass(ledger, now_ns);
	group = sl_ring_at(&ledger->groups, number);
	if (!group || group->promised) {
		return;
	}
	group->promised = true;
	ledger->n_promised += group->n;
	event(ledger, now_ns);
	for (uint32_t write = group->newest; write > 0;) {
		const struct sl_ledger_write *at = sl_ring_at(&ledger->writes, write);

		promise(ledger, now_ns, write);
		write = at ? at->next : 0;
	}
}

void sl_ledger_forget(struct sl_ledger *ledger, uint32_t number)
{
	struct sl_ledger_write *write = write_at(ledger, number);

	if (!write) {
		return;
	}
	write->forgotten = true;
	while ((write = sl_ring_at(&ledger->writes, ledger->writes.first)) != NULL && write->forgotten) {
		sl_ring_drop(&ledger->writes, ledger->writes.first + 1);
	}
}

int64_t sl_ledger_longest_answer_ns(const struct sl_ledger *ledger, int64_t now_ns)
{
	int64_t longest_ns = ledger->longest_answer_ns;

	for (uint64_t i = ledger->writes.first; i < ledger->writes.end; i++) {
		const struct sl_ledger_write *write = sl_ring_at(&ledger->writes, i);

		if (write->replied_ns == SL_NEVER && now_ns - write->sent_ns > longest_ns) {
			longest_ns = now_ns - write->sent_ns;
		}
	}
	return longest_ns;
}
