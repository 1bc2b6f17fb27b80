/*
 * What a pool did with the writes it was given, as far as a cut of the power needs to know: which txg a write
 * belongs to, which block of the log holds it, from when on blocks and txgs are on their disks. The log is a
 * chain: a block is found through the one before it. Filled while the model runs; every call accepts a NULL
 * history, which stands for "nobody asks". import.h plays the restart; its caller forgets what no later cut
 * needs, so that the history does not grow with the run.
 */
#ifndef SL_ZFS_HISTORY_H
#define SL_ZFS_HISTORY_H

#include <stdint.h>

#include "sim/base/slab.h"
#include "sim/device/mark.h"
#include "sim/store/ledger.h"

#define SL_HISTORY_UNLOGGED UINT32_MAX

/* A write of the ledger, in the order of arrival. */
struct sl_history_write {
	uint32_t id;    /* in the ledger */
	uint32_t block; /* of the log: the last one that holds a part; or SL_HISTORY_UNLOGGED */
	uint64_t txg;
};

/* A block of the log, in the order of the chain. */
struct sl_history_block {
	struct sl_mark *mark; /* its write, and those in place that its records point to; NULL: none yet */
	uint64_t records;     /* in all blocks before it */
};

struct sl_history_txg {
	struct sl_mark *mark; /* all its writes; NULL: none */
	int64_t synced_ns;    /* as ZFS sees it; SL_NEVER = not within the run */
	/* Private: see sl_history_head. */
	uint64_t head, head_records;
};

struct sl_history {
	struct sl_slab marks;
	struct sl_ring writes;   /* of struct sl_history_write */
	struct sl_ring blocks;   /* of struct sl_history_block */
	struct sl_ring txgs;     /* of struct sl_history_txg */
	uint64_t records;        /* in all blocks */
	uint64_t headed;         /* private: txgs before this one have their head */
	struct sl_mark *orphans; /* private: forgotten, but disks still note in them */
	uint32_t n_orphans, orphans_limit;
	struct sl_ledger *ledger;                      /* borrowed */
	void (*on_syncing)(void *arg, int64_t now_ns); /* before a txg counts as synced; NULL: nobody asks */
	void *arg;
};

void sl_history_init(struct sl_history *history, struct sl_ledger *ledger);
void sl_history_fini(struct sl_history *history);

/* Write `id` of the ledger has arrived and belongs to `txg`. Returns its number + 1; 0 for id 0. */
uint32_t sl_history_arrived(struct sl_history *history, uint32_t id, uint64_t txg);

/* A record of `txg` is put into block `block`; `write`: from sl_history_arrived. */
void sl_history_packed(struct sl_history *history, uint64_t block, uint32_t write, uint64_t txg);

/* Marks for a disk write that block `block`, or txg `txg`, needs; NULL when nobody asks. */
struct sl_mark *sl_history_block_mark(struct sl_history *history, uint64_t block);
struct sl_mark *sl_history_txg_mark(struct sl_history *history, uint64_t txg);

/* ZFS takes the txg for synced. */
void sl_history_synced(struct sl_history *history, uint64_t txg, int64_t now_ns);

/* Where the header of the log points to in `txg`: the first block that holds something which `txg` does not;
 * *ret_records: in all blocks before it. When there is none yet, behind the last block. */
uint64_t sl_history_head(const struct sl_history *history, uint64_t txg, uint64_t *ret_records);

/* No later cut needs the blocks before `block`, nor the txgs up to `txg`. */
void sl_history_forget(struct sl_history *history, uint64_t block, uint64_t txg);

/* The end: what is left of the marks' times goes to the ledger's on_event. */
void sl_history_end(struct sl_history *history);

#endif
