#include "sim/zfs/import.h"

#include "sim/base/loop.h"

void sl_import_init(struct sl_import *import, const struct sl_history *history, const struct sl_cut *cut)
{
	*import = (struct sl_import){.history = history, .cut = *cut};
}

static bool is_there(const struct sl_import *import, const struct sl_mark *mark, int64_t at_ns)
{
	return sl_mark_kept_ns(mark, &import->cut) <= at_ns;
}

static void play_txgs(struct sl_import *import, int64_t at_ns)
{
	const struct sl_ring *txgs = &import->history->txgs;
	const struct sl_history_txg *next;

	while ((next = sl_ring_at(txgs, import->believed + 1)) != NULL && next->synced_ns <= at_ns) {
		import->believed++;
	}
	while (import->txg < import->believed) {
		next = sl_ring_at(txgs, import->txg + 1);
		if (next->mark && !is_there(import, next->mark, at_ns)) {
			return;
		}
		import->txg++;
	}
}

/* The newest block is not passed because the txg covers it: more may be packed into it. */
static void play_chain(struct sl_import *import, int64_t at_ns, uint64_t head)
{
	const struct sl_ring *blocks = &import->history->blocks;
	uint64_t newest = blocks->end > 0 ? blocks->end - 1 : 0, covered = head < newest ? head : newest;
	const struct sl_history_block *block;

	import->stop = covered > import->stop ? covered : import->stop;
	while ((block = sl_ring_at(blocks, import->stop)) != NULL && block->mark &&
	       is_there(import, block->mark, at_ns)) {
		import->stop++;
	}
}

/* What a txg or the log has brought back stays: cuts are many, and each looks at the writes at risk only. */
static void pass_writes(struct sl_import *import, const struct sl_imported *imported)
{
	const struct sl_ring *writes = &import->history->writes;
	const struct sl_history_write *write;

	if (import->present < writes->first) {
		import->present = writes->first;
	}
	while ((write = sl_ring_at(writes, import->present)) != NULL && sl_imported_has(imported, write)) {
		import->present++;
	}
}

void sl_import_play(struct sl_import *import, int64_t at_ns, struct sl_imported *ret)
{
	const struct sl_history *history = import->history;
	const struct sl_history_block *end;
	uint64_t head_records;

	play_txgs(import, at_ns);
	ret->txg = import->txg;
	ret->believed = import->believed;
	ret->first = sl_history_head(history, import->txg, &head_records);
	play_chain(import, at_ns, ret->first);
	ret->stop = import->stop > ret->first ? import->stop : ret->first;
	end = sl_ring_at(&history->blocks, ret->stop);
	ret->records = (end ? end->records : history->records) - head_records;
	pass_writes(import, ret);
}

const struct sl_mark *sl_import_culprit(const struct sl_import *import, const struct sl_imported *imported,
					int64_t at_ns)
{
	const struct sl_history_block *block = sl_ring_at(&import->history->blocks, imported->stop);

	return block && block->mark ? sl_mark_culprit(block->mark, &import->cut, at_ns) : NULL;
}

const struct sl_mark *sl_import_txg_culprit(const struct sl_import *import,
					    const struct sl_imported *imported, int64_t at_ns)
{
	const struct sl_history_txg *txg = sl_ring_at(&import->history->txgs, imported->txg + 1);

	if (!txg || !txg->mark || imported->txg == imported->believed) {
		return NULL;
	}
	return sl_mark_culprit(txg->mark, &import->cut, at_ns);
}
