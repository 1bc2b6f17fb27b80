/* What is dirty in the open txg: records, the files they belong to, and blocks of dnodes. */
#include <stdlib.h>
#include <string.h>

#include "sim/zfs/txg_inner.h"

#define DNODE_BLOCK_BYTES 16384 /* DNODE_BLOCK_SHIFT */
#define DNODES_PER_BLOCK 32u    /* of 512 bytes each */
/* Three kinds of keys in one set: records, blocks of dnodes, files. */
#define DNODE_KEYS (UINT64_C(1) << 63)
#define FILE_KEYS (UINT64_C(1) << 62)

static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	return x;
}

static void set_grow(struct sl_txg_set *set)
{
	uint32_t room = set->room ? 2 * set->room : 1024;
	uint64_t *slots = calloc(room, sizeof(*slots));

	if (!slots) {
		abort();
	}
	for (uint32_t i = 0; i < set->room; i++) {
		uint32_t at;

		if (set->slots[i] == 0) {
			continue;
		}
		at = (uint32_t)mix(set->slots[i]) & (room - 1);
		while (slots[at] != 0) {
			at = (at + 1) & (room - 1);
		}
		slots[at] = set->slots[i];
	}
	free(set->slots);
	set->slots = slots;
	set->room = room;
}

/* true when the key was not there. */
static bool set_add(struct sl_txg_set *set, uint64_t key)
{
	uint32_t at;

	if (2 * set->count >= set->room) {
		set_grow(set);
	}
	key++;
	at = (uint32_t)mix(key) & (set->room - 1);
	while (set->slots[at] != 0) {
		if (set->slots[at] == key) {
			return false;
		}
		at = (at + 1) & (set->room - 1);
	}
	set->slots[at] = key;
	set->count++;
	return true;
}

static void set_clear(struct sl_txg_set *set)
{
	set->count = 0;
	if (set->room > 0) {
		memset(set->slots, 0, set->room * sizeof(*set->slots));
	}
}

uint32_t sl_txg_records(const struct sl_txg *txg, int64_t offset, uint32_t bytes)
{
	int64_t size = txg->config.recordsize_bytes;

	return bytes == 0 ? 0 : (uint32_t)((offset + bytes - 1) / size - offset / size + 1);
}

/* Does a write of [offset, offset + bytes) leave a part of this record as it was? */
static bool covers_in_part(const struct sl_txg *txg, uint64_t record, int64_t offset, uint32_t bytes)
{
	int64_t size = txg->config.recordsize_bytes, from = (int64_t)record * size;

	return offset > from || offset + bytes < from + size;
}

/* Writers mostly stay with one file: it is looked up when it changes. */
static void note_file(struct sl_txg *txg, uint64_t file)
{
	if (txg->dirty_now.files == 0 || txg->last_file != file) {
		txg->last_file = file;
		txg->dirty_now.files += set_add(&txg->dirty, FILE_KEYS | file);
	}
}

struct sl_txg_touch sl_txg_dirty(struct sl_txg *txg, int64_t now_ns, uint64_t file, int64_t offset,
				 uint32_t bytes, bool zero)
{
	uint64_t first = (uint64_t)offset / txg->config.recordsize_bytes;
	uint32_t n = sl_txg_records(txg, offset, bytes);
	bool hole = zero && txg->config.holes;
	struct sl_txg_touch touch = {0};

	for (uint32_t i = 0; i < n; i++) {
		if (set_add(&txg->dirty, file << 40 ^ (first + i))) {
			touch.fresh++;
			touch.partial += covers_in_part(txg, first + i, offset, bytes);
		} else {
			(void)sl_placed_drop(&txg->placed, file, first + i);
		}
	}
	if (touch.fresh > 0) {
		note_file(txg, file);
	}
	*(hole ? &txg->dirty_now.holes : &txg->dirty_now.records) += touch.fresh;
	/* Whole records, however little of them is written (dnode_willuse_space). */
	txg->dirty_bytes += (int64_t)touch.fresh * txg->config.recordsize_bytes;
	sl_txg_note_dirty(txg, now_ns);
	return touch;
}

void sl_txg_dirty_dnode(struct sl_txg *txg, int64_t now_ns, uint64_t file)
{
	if (set_add(&txg->dirty, DNODE_KEYS | file / DNODES_PER_BLOCK)) {
		txg->dirty_now.dnodes++;
		txg->dirty_bytes += DNODE_BLOCK_BYTES;
	}
	sl_txg_note_dirty(txg, now_ns);
}

struct sl_txg_work sl_txg_take_dirty(struct sl_txg *txg)
{
	struct sl_txg_work work = txg->dirty_now;

	work.bytes = txg->dirty_bytes;
	work.placed = sl_placed_close(&txg->placed, txg->open + 1);
	work.placed = work.placed < work.records ? work.placed : work.records;
	txg->dirty_now = (struct sl_txg_work){0};
	txg->dirty_bytes = 0;
	set_clear(&txg->dirty);
	return work;
}

int64_t sl_txg_unsynced(const struct sl_txg *txg)
{
	const struct sl_txg_sync *sync = &txg->sync;

	if (!txg->syncing) {
		return txg->dirty_bytes;
	}
	/* Each record counts until it is written, dnodes until the end (dsl_pool_undirty_space). */
	return txg->dirty_bytes + (int64_t)sync->work.dnodes * DNODE_BLOCK_BYTES +
	       (int64_t)sync->records_left * txg->config.recordsize_bytes;
}

void sl_txg_dirty_fini(struct sl_txg *txg)
{
	free(txg->dirty.slots);
	sl_placed_fini(&txg->placed);
}
