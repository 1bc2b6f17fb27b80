/* What is dirty in the open txg: records, the files they belong to, and blocks of dnodes. */
#include "sim/zfs/txg_inner.h"

#define DNODE_BLOCK_BYTES 16384 /* DNODE_BLOCK_SHIFT */
#define DNODES_PER_BLOCK 32u    /* of 512 bytes each */
/* Three kinds of keys in one set: records, blocks of dnodes, files. */
#define DNODE_KEYS (UINT64_C(1) << 63)
#define FILE_KEYS (UINT64_C(1) << 62)

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
		txg->dirty_now.files += sl_keyset_add(&txg->dirty, FILE_KEYS | file);
	}
}

/* An indirect block that points to holes only is a hole itself (dbuf_write_children_ready). */
static void touch_metadata(struct sl_txg *txg, uint64_t file, uint64_t record, bool hole)
{
	if (hole) {
		sl_touched_dnode(&txg->touched, file);
	} else {
		sl_touched_record(&txg->touched, file, record);
	}
}

struct sl_txg_touch sl_txg_dirty(struct sl_txg *txg, int64_t now_ns, uint64_t file, int64_t offset,
				 uint32_t bytes, bool zero)
{
	uint64_t size = (uint64_t)txg->config.recordsize_bytes, first = (uint64_t)offset / size;
	uint32_t n = bytes == 0 ? 0 : (uint32_t)(((uint64_t)offset + bytes - 1) / size - first + 1);
	bool hole = zero && txg->config.holes;
	struct sl_txg_touch touch = {0};

	for (uint32_t i = 0; i < n; i++) {
		if (sl_keyset_add(&txg->dirty, file << 40 ^ (first + i))) {
			touch.fresh++;
			touch_metadata(txg, file, first + i, hole);
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
	if (sl_keyset_add(&txg->dirty, DNODE_KEYS | file / DNODES_PER_BLOCK)) {
		txg->dirty_now.dnodes++;
		sl_touched_dnode(&txg->touched, file);
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
	sl_keyset_clear(&txg->dirty);
	sl_touched_take(&txg->touched, &txg->sync.touched);
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
	sl_keyset_fini(&txg->dirty);
	sl_touched_fini(&txg->touched);
	sl_placed_fini(&txg->placed);
}
