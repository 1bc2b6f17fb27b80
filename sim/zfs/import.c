#include "sim/zfs/import.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/base/loop.h"

#define STRIDE 64u

static void time_blocks(struct sl_import *import)
{
	const struct sl_history *history = import->history;
	uint64_t until = 0;

	for (uint32_t i = 0; i < history->n_blocks; i++) {
		const struct sl_history_block *block = &history->blocks[i];

		until = block->max_txg > until ? block->max_txg : until;
		import->until_txg[i] = until;
		import->blocks_ns[i] = block->mark ? sl_mark_kept_ns(block->mark, &import->cut) : SL_NEVER;
		import->records[i + 1] = import->records[i] + block->records;
		if (import->blocks_ns[i] > import->strides_ns[i / STRIDE]) {
			import->strides_ns[i / STRIDE] = import->blocks_ns[i];
		}
	}
}

static void time_txgs(struct sl_import *import)
{
	const struct sl_history *history = import->history;
	int64_t before_ns = 0;

	for (uint32_t i = 1; i < history->n_txgs; i++) {
		const struct sl_history_txg *txg = &history->txgs[i];
		int64_t kept_ns = txg->mark ? sl_mark_kept_ns(txg->mark, &import->cut) : 0;

		kept_ns = kept_ns > txg->synced_ns ? kept_ns : txg->synced_ns;
		before_ns = kept_ns > before_ns ? kept_ns : before_ns;
		import->txgs_ns[i] = before_ns;
	}
}

int sl_import_init(struct sl_import *import, const struct sl_history *history, const struct sl_cut *cut)
{
	*import = (struct sl_import){.history = history, .cut = *cut};
	import->blocks_ns = calloc(history->n_blocks + 1, sizeof(*import->blocks_ns));
	import->strides_ns = calloc(history->n_blocks / STRIDE + 1, sizeof(*import->strides_ns));
	import->records = calloc(history->n_blocks + 1, sizeof(*import->records));
	import->until_txg = calloc(history->n_blocks + 1, sizeof(*import->until_txg));
	import->txgs_ns = calloc(history->n_txgs + 1, sizeof(*import->txgs_ns));
	if (!import->blocks_ns || !import->strides_ns || !import->records || !import->until_txg ||
	    !import->txgs_ns) {
		return -ENOMEM;
	}
	time_blocks(import);
	time_txgs(import);
	return 0;
}

void sl_import_fini(struct sl_import *import)
{
	free(import->blocks_ns);
	free(import->strides_ns);
	free(import->records);
	free(import->until_txg);
	free(import->txgs_ns);
	*import = (struct sl_import){0};
}

/* First block that holds something txg does not: where the header of the log points to in that txg. */
static uint32_t chain_head(const struct sl_import *import, uint64_t txg)
{
	uint32_t low = 0, high = import->history->n_blocks;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (import->until_txg[middle] <= txg) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* The first block from `block` on that is not there at `at_ns`. */
static uint32_t chain_end(const struct sl_import *import, uint32_t block, int64_t at_ns)
{
	uint32_t n = import->history->n_blocks;

	while (block < n) {
		if (block % STRIDE == 0 && block + STRIDE <= n &&
		    import->strides_ns[block / STRIDE] <= at_ns) {
			block += STRIDE;
		} else if (import->blocks_ns[block] <= at_ns) {
			block++;
		} else {
			break;
		}
	}
	return block;
}

void sl_import_play(const struct sl_import *import, int64_t at_ns, struct sl_imported *ret)
{
	const struct sl_history *history = import->history;

	*ret = (struct sl_imported){0};
	for (uint32_t i = 1; i < history->n_txgs; i++) {
		ret->txg = import->txgs_ns[i] <= at_ns ? i : ret->txg;
		ret->believed = history->txgs[i].synced_ns <= at_ns ? i : ret->believed;
	}
	ret->first = chain_head(import, ret->txg);
	ret->stop = chain_end(import, ret->first, at_ns);
	ret->records = import->records[ret->stop] - import->records[ret->first];
}

const struct sl_mark *sl_import_culprit(const struct sl_import *import, const struct sl_imported *imported,
					int64_t at_ns)
{
	const struct sl_history *history = import->history;

	if (imported->stop >= history->n_blocks || !history->blocks[imported->stop].mark) {
		return NULL;
	}
	return sl_mark_culprit(history->blocks[imported->stop].mark, &import->cut, at_ns);
}

const struct sl_mark *sl_import_txg_culprit(const struct sl_import *import,
					    const struct sl_imported *imported, int64_t at_ns)
{
	const struct sl_history *history = import->history;
	uint64_t txg = imported->txg + 1;

	if (txg > imported->believed || !history->txgs[txg].mark) {
		return NULL;
	}
	return sl_mark_culprit(history->txgs[txg].mark, &import->cut, at_ns);
}
