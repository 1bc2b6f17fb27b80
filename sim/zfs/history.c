#include "sim/zfs/history.h"

#include "sim/base/loop.h"

#define ORPHANS_MIN 64u /* so many are not worth a look */

void sl_history_init(struct sl_history *history, struct sl_ledger *ledger)
{
	*history = (struct sl_history){.ledger = ledger, .orphans_limit = ORPHANS_MIN};
	sl_slab_init(&history->marks, sizeof(struct sl_mark));
	sl_ring_init(&history->writes, sizeof(struct sl_history_write), 0);
	sl_ring_init(&history->blocks, sizeof(struct sl_history_block), 0);
	sl_ring_init(&history->txgs, sizeof(struct sl_history_txg), 0);
}

void sl_history_fini(struct sl_history *history)
{
	sl_ring_fini(&history->writes);
	sl_ring_fini(&history->blocks);
	sl_ring_fini(&history->txgs);
	sl_slab_fini(&history->marks);
}

uint32_t sl_history_arrived(struct sl_history *history, uint32_t id, uint64_t txg)
{
	struct sl_history_write *write;

	if (!history || id == 0) {
		return 0;
	}
	write = sl_ring_push(&history->writes);
	*write = (struct sl_history_write){id, SL_HISTORY_UNLOGGED, txg};
	return (uint32_t)history->writes.end;
}

/* The block, with those before it; NULL when it was forgotten. */
static struct sl_history_block *block_at(struct sl_history *history, uint64_t block)
{
	while (history->blocks.end <= block) {
		*(struct sl_history_block *)sl_ring_push(&history->blocks) =
		    (struct sl_history_block){.records = history->records};
	}
	return sl_ring_at(&history->blocks, block);
}

static struct sl_history_txg *txg_at(struct sl_history *history, uint64_t txg)
{
	while (history->txgs.end <= txg) {
		*(struct sl_history_txg *)sl_ring_push(&history->txgs) =
		    (struct sl_history_txg){.synced_ns = SL_NEVER};
	}
	return sl_ring_at(&history->txgs, txg);
}

/* A record of `txg` in `block` is the first of this txg, or a later one: earlier txgs need the log from here
 * on. */
static void set_heads(struct sl_history *history, uint64_t block, uint64_t txg)
{
	for (; history->headed < txg; history->headed++) {
		const struct sl_history_block *first = sl_ring_at(&history->blocks, block);
		struct sl_history_txg *at = txg_at(history, history->headed);

		if (at && first) {
			at->head = block;
			at->head_records = first->records;
		}
	}
}

void sl_history_packed(struct sl_history *history, uint64_t block, uint32_t write, uint64_t txg)
{
	struct sl_history_write *at;

	if (!history) {
		return;
	}
	(void)block_at(history, block);
	set_heads(history, block, txg);
	history->records++;
	at = write > 0 ? sl_ring_at(&history->writes, write - 1) : NULL;
	if (at) {
		at->block = (uint32_t)block;
	}
}

static struct sl_mark *part_of(struct sl_history *history, struct sl_mark **mark)
{
	if (!*mark) {
		*mark = sl_mark_new(&history->marks);
	}
	return sl_mark_part(*mark);
}

struct sl_mark *sl_history_block_mark(struct sl_history *history, uint64_t block)
{
	struct sl_history_block *at = history ? block_at(history, block) : NULL;

	return at ? part_of(history, &at->mark) : NULL;
}

struct sl_mark *sl_history_txg_mark(struct sl_history *history, uint64_t txg)
{
	struct sl_history_txg *at = history ? txg_at(history, txg) : NULL;

	return at ? part_of(history, &at->mark) : NULL;
}

void sl_history_synced(struct sl_history *history, uint64_t txg, int64_t now_ns)
{
	struct sl_history_txg *at;

	if (!history) {
		return;
	}
	if (history->on_syncing) {
		history->on_syncing(history->arg, now_ns);
	}
	at = txg_at(history, txg);
	if (at) {
		at->synced_ns = now_ns;
	}
	if (history->ledger->on_event) {
		history->ledger->on_event(history->ledger->arg, now_ns);
	}
}

uint64_t sl_history_head(const struct sl_history *history, uint64_t txg, uint64_t *ret_records)
{
	const struct sl_history_txg *at = sl_ring_at(&history->txgs, txg);

	if (at && txg < history->headed) {
		*ret_records = at->head_records;
		return at->head;
	}
	*ret_records = history->records;
	return history->blocks.end;
}

static void tell_times(const struct sl_ledger *ledger, const struct sl_mark *mark)
{
	for (const struct sl_mark *part = mark->parts; part; part = part->next) {
		tell_times(ledger, part);
	}
	if (!mark->parts && mark->done_ns > 0 && mark->done_ns != SL_NEVER) {
		ledger->on_event(ledger->arg, mark->done_ns);
	}
	if (!mark->parts && mark->safe_ns != SL_NEVER && mark->safe_ns != mark->done_ns) {
		ledger->on_event(ledger->arg, mark->safe_ns);
	}
}

static void orphan(struct sl_history *history, struct sl_mark *mark)
{
	if (mark) {
		sl_mark_abandon(mark);
		mark->next = history->orphans;
		history->orphans = mark;
		history->n_orphans++;
	}
}

/* Frees the orphans in which no disk will note any more; looked at when they have doubled. */
static void free_orphans(struct sl_history *history)
{
	struct sl_mark **at = &history->orphans;

	if (history->n_orphans < history->orphans_limit) {
		return;
	}
	while (*at) {
		struct sl_mark *mark = *at;

		if (!sl_mark_is_settled(mark)) {
			at = &mark->next;
			continue;
		}
		*at = mark->next;
		history->n_orphans--;
		if (history->ledger->on_event) {
			tell_times(history->ledger, mark);
		}
		sl_mark_free(mark);
	}
	history->orphans_limit = 2 * history->n_orphans + ORPHANS_MIN;
}

void sl_history_forget(struct sl_history *history, uint64_t block, uint64_t txg)
{
	for (uint64_t i = history->blocks.first; i < block && i < history->blocks.end; i++) {
		const struct sl_history_block *at = sl_ring_at(&history->blocks, i);

		orphan(history, at->mark);
	}
	sl_ring_drop(&history->blocks, block);
	for (uint64_t i = history->txgs.first; i < history->txgs.end && i <= txg; i++) {
		struct sl_history_txg *at = sl_ring_at(&history->txgs, i);

		orphan(history, at->mark);
		at->mark = NULL;
	}
	sl_ring_drop(&history->txgs, txg); /* its own head is still needed */
	free_orphans(history);
}

void sl_history_end(struct sl_history *history)
{
	if (!history->ledger->on_event) {
		return;
	}
	sl_history_forget(history, UINT64_MAX, UINT64_MAX);
	for (const struct sl_mark *mark = history->orphans; mark; mark = mark->next) {
		tell_times(history->ledger, mark);
	}
}
