#include "sim/zfs/history.h"

#include <stdlib.h>

#include "sim/base/loop.h"

static void *grown(void *items, uint32_t n, uint32_t *room, size_t size)
{
	if (n <= *room) {
		return items;
	}
	while (n > *room) {
		*room = *room ? 2 * *room : 256;
	}
	items = realloc(items, *room * size);
	if (!items) {
		abort();
	}
	return items;
}

void sl_history_init(struct sl_history *history, const struct sl_ledger *ledger)
{
	*history = (struct sl_history){.ledger = ledger};
	sl_slab_init(&history->marks, sizeof(struct sl_mark));
}

void sl_history_fini(struct sl_history *history)
{
	free(history->writes);
	free(history->blocks);
	free(history->txgs);
	sl_slab_fini(&history->marks);
}

static bool is_open(const struct sl_history *history)
{
	return history && history->ledger->full_ns == SL_NEVER;
}

uint32_t sl_history_arrived(struct sl_history *history, uint32_t id, uint64_t txg)
{
	if (!is_open(history) || id == 0) {
		return 0;
	}
	history->writes =
	    grown(history->writes, history->n_writes + 1, &history->writes_room, sizeof(*history->writes));
	history->writes[history->n_writes++] = (struct sl_history_write){id, SL_HISTORY_UNLOGGED, txg};
	return history->n_writes;
}

/* The block, with those before it. */
static struct sl_history_block *block_at(struct sl_history *history, uint64_t block)
{
	history->blocks =
	    grown(history->blocks, (uint32_t)block + 1, &history->blocks_room, sizeof(*history->blocks));
	while (history->n_blocks <= block) {
		history->blocks[history->n_blocks++] = (struct sl_history_block){0};
	}
	return &history->blocks[block];
}

static struct sl_history_txg *txg_at(struct sl_history *history, uint64_t txg)
{
	history->txgs = grown(history->txgs, (uint32_t)txg + 1, &history->txgs_room, sizeof(*history->txgs));
	while (history->n_txgs <= txg) {
		history->txgs[history->n_txgs++] = (struct sl_history_txg){.synced_ns = SL_NEVER};
	}
	return &history->txgs[txg];
}

void sl_history_packed(struct sl_history *history, uint64_t block, uint32_t write, uint64_t txg)
{
	struct sl_history_block *at;

	if (!is_open(history)) {
		return;
	}
	at = block_at(history, block);
	at->max_txg = txg > at->max_txg ? txg : at->max_txg;
	at->records++;
	if (write > 0) {
		history->writes[write - 1].block = (uint32_t)block;
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
	return is_open(history) ? part_of(history, &block_at(history, block)->mark) : NULL;
}

struct sl_mark *sl_history_txg_mark(struct sl_history *history, uint64_t txg)
{
	return is_open(history) ? part_of(history, &txg_at(history, txg)->mark) : NULL;
}

void sl_history_synced(struct sl_history *history, uint64_t txg, int64_t now_ns)
{
	if (is_open(history)) {
		txg_at(history, txg)->synced_ns = now_ns;
	}
}
