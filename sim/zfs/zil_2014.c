/* The intent log of 2014: one batch in flight. */
#include "sim/base/oom.h"
#include "sim/zfs/zil_inner.h"

#include <assert.h>
#include <stdlib.h>

/* One write of the batch: a log block or a record written in place. */
struct zil_io {
	void *pool_link;
	struct sl_zil *zil;
	struct sl_vdev_io io;
};

static void start_batch(struct sl_zil *zil, int64_t now_ns);

static uint32_t bucket(uint64_t bytes)
{
	static const uint32_t sizes[] = {4096, 12288, 36864};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (bytes <= sizes[i]) {
			return sizes[i];
		}
	}
	return 131072;
}

/* The next block is as large as the largest of the latest choices. */
static void choose_size(struct sl_zil *zil)
{
	uint32_t size = bucket(zil->batch_bytes + SL_ZIL_CHAIN_HEADER),
		 oldest = zil->prev_blocks[zil->prev_at];

	zil->prev_blocks[zil->prev_at] = size;
	zil->prev_at = (zil->prev_at + 1) % SL_ZIL_PREV_BLOCKS;
	if (size < zil->block_bytes && oldest < zil->block_bytes) {
		return;
	}
	zil->block_bytes = size;
	for (int i = 0; size < oldest && i < SL_ZIL_PREV_BLOCKS; i++) {
		if (zil->prev_blocks[i] > zil->block_bytes) {
			zil->block_bytes = zil->prev_blocks[i];
		}
	}
}

/* Issues the open block and chooses the next one's size. */
static void issue_block(struct sl_zil *zil)
{
	uint32_t written = sl_zil_written_bytes(zil->target, zil->block_bytes, zil->block_used);

	if (zil->n_blocks == zil->block_room) {
		uint32_t room = zil->block_room ? 2 * zil->block_room : 16;
		uint32_t *sizes = realloc(zil->block_writes, room * sizeof(*sizes));

		if (!sizes) {
			sl_oom();
		}
		zil->block_writes = sizes;
		zil->block_room = room;
	}
	zil->block_writes[zil->n_blocks++] = written;
	(void)sl_zil_allocate(zil, zil->target, zil->batch_txg, zil->block_bytes);
	choose_size(zil);
	zil->block_used = SL_ZIL_CHAIN_HEADER;
}

/* Packs one record. Returns the bytes copied. */
static uint64_t pack_record(struct sl_zil *zil, const struct sl_zil_itx *itx)
{
	uint32_t record = SL_ZIL_WRITE_HEADER + itx->bytes;

	zil->n_indirect += sl_zil_place(zil, itx);
	zil->batch_bytes += record;
	zil->batch_txg = itx->txg > zil->batch_txg ? itx->txg : zil->batch_txg;
	if (zil->block_used + record > zil->block_bytes) {
		issue_block(zil);
	}
	zil->block_used += record;
	sl_history_packed(zil->config.history, zil->blocks + zil->n_blocks, itx->write, itx->txg);
	return itx->bytes;
}

/* Fills blocks with the batch's records; returns the CPU time. */
static int64_t pack_batch(struct sl_zil *zil)
{
	uint64_t copied = 0;

	zil->target = sl_zil_target(zil, SL_ZIL_MAX_BLOCK);
	zil->failed = false;
	zil->batch_bytes = 0;
	zil->n_blocks = 0;
	zil->n_indirect = 0;
	for (uint32_t i = 0; i < zil->sync.count; i++) {
		copied += pack_record(zil, &zil->sync.items[i]);
	}
	zil->sync.count = 0;
	if (zil->block_used > SL_ZIL_CHAIN_HEADER) {
		issue_block(zil);
	}
	return zil->config.commit_cpu_ns + zil->n_indirect * zil->config.indirect_cpu_ns +
	       (int64_t)((double)copied * 1e9 / zil->config.copy_bps);
}

static void finish_batch(struct sl_zil *zil, int64_t now_ns)
{
	struct sl_zil_waiter *waiter = zil->batch;
	bool failed = zil->failed;

	zil->busy = false;
	zil->busy_ns += now_ns - zil->batch_start_ns;
	if (zil->trace) {
		sl_trace_span(zil->trace, "ZIL", "commit batch", zil->tag, zil->batch_start_ns, now_ns);
	}
	if (zil->queued) {
		start_batch(zil, now_ns);
	}
	sl_zil_wake(zil, now_ns, waiter, failed);
}

static void flush_done(struct sl_timer *timer, int64_t now_ns)
{
	finish_batch(sl_container_of(timer, struct sl_zil, flush.done), now_ns);
}

static void submit_flush(struct sl_zil *zil, int64_t now_ns)
{
	zil->flush.done.fire = flush_done;
	sl_zil_flush(zil, now_ns, &zil->flush, zil->target, NULL, zil->n_indirect > 0, zil->tag);
}

static void write_done(struct sl_timer *timer, int64_t now_ns)
{
	struct zil_io *io = sl_container_of(timer, struct zil_io, io.done);
	struct sl_zil *zil = io->zil;

	zil->failed |= io->io.error != 0;
	sl_slab_put(&zil->ios, io);
	zil->outstanding--;
	if (zil->outstanding > 0) {
		return;
	}
	if (zil->failed) {
		finish_batch(zil, now_ns);
	} else {
		submit_flush(zil, now_ns);
	}
}

/* `block`: its number in the chain, also for a record in place, which the block points to. */
static void submit_write(struct sl_zil *zil, int64_t now_ns, struct sl_vdev *vdev, int64_t bytes, bool log,
			 uint64_t block)
{
	struct zil_io *io = sl_slab_get(&zil->ios);

	io->zil = zil;
	io->io.done.fire = write_done;
	io->io.op = SL_DEV_WRITE;
	io->io.bytes = bytes;
	io->io.log = log;
	sl_vdev_alloc(vdev, &io->io);
	io->io.tag = zil->tag;
	io->io.mark = sl_history_block_mark(zil->config.history, block);
	sl_vdev_submit(vdev, now_ns, &io->io);
}

/* The batch is packed and handed over: everything goes out side by side. */
static void handed_off(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_zil *zil = sl_container_of(timer, struct sl_zil, hand_off);
	int64_t record_bytes = zil->n_indirect > 0 ? sl_zil_record_bytes(zil) : 0;
	uint64_t first = zil->blocks;

	zil->outstanding = (int)(zil->n_blocks + zil->n_indirect);
	zil->blocks += zil->n_blocks;
	zil->indirect += zil->n_indirect;
	if (zil->outstanding == 0) {
		finish_batch(zil, now_ns);
		return;
	}
	for (uint32_t i = 0; i < zil->n_indirect; i++) {
		submit_write(zil, now_ns, zil->config.records, record_bytes, false, first);
	}
	for (uint32_t i = 0; i < zil->n_blocks; i++) {
		zil->log_bytes += zil->block_writes[i];
		submit_write(zil, now_ns, zil->target, zil->block_writes[i], true, first + i);
	}
	if (zil->config.broken == SL_ZIL_EARLY_ACK) {
		struct sl_zil_waiter *waiters = zil->batch;

		zil->batch = NULL;
		sl_zil_wake(zil, now_ns, waiters, false);
	}
}

static void packed(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_zil *zil = sl_container_of(timer, struct sl_zil, job.done);

	sl_zil_hand_off(zil, now_ns, &zil->hand_off, zil->tag);
}

static void start_batch(struct sl_zil *zil, int64_t now_ns)
{
	zil->batch = zil->queued;
	zil->queued = NULL;
	zil->queued_tail = &zil->queued;
	zil->busy = true;
	zil->batches++;
	zil->batch_start_ns = now_ns;
	zil->tag = zil->batch->tag;
	zil->job.done.fire = packed;
	zil->hand_off.fire = handed_off;
	sl_cpu_run(zil->cpu, now_ns, &zil->job, pack_batch(zil));
}

void sl_zil_2014_commit(struct sl_zil *zil, int64_t now_ns, struct sl_zil_waiter *waiter)
{
	*zil->queued_tail = waiter;
	zil->queued_tail = &waiter->next;
	if (!zil->busy) {
		start_batch(zil, now_ns);
	}
}

void sl_zil_2014_init(struct sl_zil *zil)
{
	zil->queued_tail = &zil->queued;
	zil->block_bytes = bucket(0);
	zil->block_used = SL_ZIL_CHAIN_HEADER;
	sl_slab_init(&zil->ios, sizeof(struct zil_io));
}
