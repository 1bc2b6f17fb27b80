#include "sim/zfs/txg.h"

#include <stdlib.h>
#include <string.h>

#define ASYNC_MAX 10.0       /* zfs_vdev_async_write_max_active */
#define ASYNC_DIRTY_LOW 0.3  /* share of dirty_max where the limit begins to grow */
#define ASYNC_DIRTY_HIGH 0.6 /* and where it ends */
#define META_WRITES 30u      /* small writes every txg costs: MOS, space maps, dnodes, with their copies */
#define META_BYTES 8192
#define DNODE_BLOCK_BYTES 16384        /* DNODE_BLOCK_SHIFT */
#define DNODES_PER_BLOCK 32u           /* of 512 bytes each */
#define DNODE_KEYS (UINT64_C(1) << 63) /* keeps them apart from records in the set of what is dirty */
#define POINTER_BYTES 128u             /* blkptr_t */
#define CPU_SLICE_RECORDS 2u           /* records a sync thread works on before others get their turn */
#define FINAL_FLUSHES 2                /* before and after the uberblock */
#define IN_FLIGHT_MAX 100u /* blocks in the queues of a top-level vdev: zfs_vdev_queue_depth_pct */
#define DEFER_TXGS 2       /* TXG_DEFER_SIZE */

struct txg_io {
	void *pool_link;
	struct sl_txg *txg;
	struct sl_vdev_io io;
};

static void sync_step(struct sl_txg *txg, int64_t now_ns);

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

static void start_sync(struct sl_txg *txg, int64_t now_ns)
{
	int64_t record_bytes = (int64_t)(txg->config.recordsize_bytes / txg->config.compress_ratio);
	uint32_t pointers = txg->config.indirect_bytes / POINTER_BYTES;
	uint32_t indirect = (txg->dirty_records + pointers - 1) / pointers;

	/* What the log has written in place costs its metadata only. */
	uint32_t placed = sl_placed_close(&txg->placed, txg->open + 1);

	txg->dirty_records -= placed < txg->dirty_records ? placed : txg->dirty_records;
	txg->syncing = true;
	txg->timer_missed = false;
	txg->sync_start_ns = txg->closed_ns = now_ns;
	txg->cpu_left = txg->dirty_records + txg->dirty_holes;
	txg->writes_left = txg->dirty_records;
	txg->write_bytes = record_bytes;
	txg->in_flight = 0;
	/* Indirect and dnode blocks are written twice (ditto), the fixed metadata comes with its copies. */
	txg->small_left = META_WRITES + 2 * txg->dirty_dnodes;
	txg->meta_left = txg->small_left + 2 * indirect;
	txg->writes_left += txg->meta_left;
	txg->parts = txg->cpu_left + txg->writes_left;
	txg->flushes_left = FINAL_FLUSHES;
	txg->open++;
	txg->crypt_left = txg->config.record_crypt_cpu_ns > 0 ? txg->dirty_records : 0;
	txg->dirty_records = txg->dirty_holes = txg->dirty_dnodes = 0;
	txg->sync_bytes = txg->dirty_bytes;
	txg->dirty_bytes = 0;
	txg->dirty.count = 0;
	if (txg->dirty.room > 0) {
		memset(txg->dirty.slots, 0, txg->dirty.room * sizeof(*txg->dirty.slots));
	}
	sync_step(txg, now_ns);
}

static void timeout(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_txg *txg = sl_container_of(timer, struct sl_txg, timer);

	if (txg->syncing) {
		txg->timer_missed = true;
		return;
	}
	start_sync(txg, now_ns);
}

/* Fires those whose txgs are on disk, in the order they came. */
static void wake_waiters(struct sl_txg *txg, int64_t now_ns)
{
	struct sl_txg_waiter **link = &txg->waiters, *ready = NULL, **ready_tail = &ready;

	while (*link) {
		struct sl_txg_waiter *waiter = *link;

		if (waiter->txg < txg->open) {
			*link = waiter->next;
			waiter->next = NULL;
			*ready_tail = waiter;
			ready_tail = &waiter->next;
		} else {
			link = &waiter->next;
		}
	}
	while (ready) {
		struct sl_txg_waiter *next = ready->next;

		sl_timer_fire(&ready->done, now_ns);
		ready = next;
	}
}

static void sync_finished(struct sl_txg *txg, int64_t now_ns)
{
	txg->syncing = false;
	txg->sync_bytes = 0;
	txg->synced++;
	sl_history_synced(txg->history, txg->open - 1, now_ns);
	if (txg->trace) {
		sl_trace_span(txg->trace, "txg sync", "sync", txg->synced, txg->sync_start_ns, now_ns);
	}
	if (txg->on_synced) {
		txg->on_synced(txg->arg, txg->open - 1, txg->closed_ns, now_ns);
	}
	wake_waiters(txg, now_ns);
	if ((txg->timer_missed || txg->wanted >= txg->open) && !txg->syncing) {
		start_sync(txg, now_ns);
	}
}

static void one_flushed(struct sl_txg *txg, int64_t now_ns)
{
	txg->flushing--;
	if (txg->flushing == 0) {
		sync_step(txg, now_ns);
	}
}

static void flush_done(struct sl_timer *timer, int64_t now_ns)
{
	one_flushed(sl_container_of(timer, struct sl_txg, flush.done), now_ns);
}

static void meta_flush_done(struct sl_timer *timer, int64_t now_ns)
{
	one_flushed(sl_container_of(timer, struct sl_txg, meta_flush.done), now_ns);
}

static void flush_all(struct sl_txg *txg, int64_t now_ns)
{
	bool both = txg->config.meta != txg->config.data;

	txg->flushing = both ? 2 : 1;
	if (both) {
		sl_vdev_submit(txg->config.meta, now_ns, &txg->meta_flush);
	}
	sl_vdev_submit(txg->config.data, now_ns, &txg->flush);
}

static void write_done(struct sl_timer *timer, int64_t now_ns)
{
	struct txg_io *io = sl_container_of(timer, struct txg_io, io.done);
	struct sl_txg *txg = io->txg;

	sl_slab_put(&txg->ios, io);
	txg->in_flight--;
	if (txg->on_progress) {
		txg->on_progress(txg->arg, now_ns);
	}
	sync_step(txg, now_ns);
}

static void issue_write(struct sl_txg *txg, int64_t now_ns, int64_t bytes)
{
	struct sl_vdev *vdev = txg->writes_left < txg->meta_left ? txg->config.meta : txg->config.data;
	struct txg_io *io = sl_slab_get(&txg->ios);

	io->txg = txg;
	io->io.done.fire = write_done;
	io->io.op = SL_DEV_WRITE;
	io->io.async = true;
	io->io.bytes = bytes;
	io->io.tag = txg->open - 1;
	io->io.mark = sl_history_txg_mark(txg->history, txg->open - 1);
	sl_vdev_alloc(vdev, &io->io);
	txg->in_flight++;
	sl_vdev_submit(vdev, now_ns, &io->io);
}

static void cpu_done(struct sl_timer *timer, int64_t now_ns)
{
	sync_step(sl_container_of(timer, struct sl_txg, job.done), now_ns);
}

int sl_txg_async_limit(const struct sl_txg *txg)
{
	double dirty = (double)(txg->dirty_bytes + txg->sync_bytes) / (double)txg->config.dirty_max_bytes;
	double share = (dirty - ASYNC_DIRTY_LOW) / (ASYNC_DIRTY_HIGH - ASYNC_DIRTY_LOW);

	share = share < 0 ? 0 : share > 1 ? 1 : share;
	return (int)(txg->config.async_write_min + share * (ASYNC_MAX - txg->config.async_write_min));
}

/* Records first, then what points to them, then the rest of the metadata. */
static int64_t next_write_bytes(const struct sl_txg *txg)
{
	if (txg->writes_left < txg->small_left) {
		return META_BYTES;
	}
	return txg->writes_left < txg->meta_left ? txg->config.indirect_bytes : txg->write_bytes;
}

/* CPU work goes first, a few records at a time, then the writes, then the flushes around the uberblock. */
static void sync_step(struct sl_txg *txg, int64_t now_ns)
{
	uint32_t limit = IN_FLIGHT_MAX * (uint32_t)sl_vdev_tops(txg->config.data);

	sl_vdev_limit_async_writes(txg->config.data, sl_txg_async_limit(txg));
	sl_vdev_limit_async_writes(txg->config.meta, sl_txg_async_limit(txg));
	if (txg->cpu_left > 0) {
		uint32_t records = txg->cpu_left < CPU_SLICE_RECORDS ? txg->cpu_left : CPU_SLICE_RECORDS;

		uint32_t crypt = records < txg->crypt_left ? records : txg->crypt_left;

		txg->cpu_left -= records;
		txg->crypt_left -= crypt;
		sl_cpu_run(txg->cpu, now_ns, &txg->job,
			   records * txg->config.record_sync_cpu_ns +
			       crypt * txg->config.record_crypt_cpu_ns);
		return;
	}
	while (txg->writes_left > 0 && txg->in_flight < limit) {
		txg->writes_left--;
		issue_write(txg, now_ns, next_write_bytes(txg));
	}
	if (txg->writes_left > 0 || txg->in_flight > 0) {
		return;
	}
	if (txg->flushes_left > 0) {
		txg->flushes_left--;
		flush_all(txg, now_ns);
		return;
	}
	sync_finished(txg, now_ns);
}

void sl_txg_init(struct sl_txg *txg, const struct sl_txg_config *config, struct sl_loop *loop,
		 struct sl_cpu *cpu, struct sl_trace *trace)
{
	*txg = (struct sl_txg){.config = *config, .loop = loop, .cpu = cpu, .trace = trace, .open = 1};
	txg->placed.txg = txg->open;
	txg->timer.fire = timeout;
	txg->job.done.fire = cpu_done;
	txg->flush.done.fire = flush_done;
	txg->meta_flush.done.fire = meta_flush_done;
	txg->flush.op = txg->meta_flush.op = SL_DEV_FLUSH;
	sl_slab_init(&txg->ios, sizeof(struct txg_io));
}

void sl_txg_fini(struct sl_txg *txg)
{
	free(txg->dirty.slots);
	sl_placed_fini(&txg->placed);
	sl_slab_fini(&txg->ios);
}

int64_t sl_txg_unsynced(const struct sl_txg *txg)
{
	uint32_t left = txg->cpu_left + txg->writes_left + txg->in_flight;

	if (!txg->syncing) {
		return txg->dirty_bytes;
	}
	return txg->dirty_bytes + (int64_t)((double)txg->sync_bytes * left / txg->parts);
}

void sl_txg_wait(struct sl_txg *txg, int64_t now_ns, struct sl_txg_waiter *waiter)
{
	struct sl_txg_waiter **tail = &txg->waiters;

	while (*tail) {
		tail = &(*tail)->next;
	}
	*tail = waiter;
	waiter->next = NULL;
	waiter->txg = txg->open + DEFER_TXGS;
	txg->wanted = waiter->txg;
	if (!txg->syncing) {
		sl_loop_cancel(txg->loop, &txg->timer);
		start_sync(txg, now_ns);
	}
}

uint32_t sl_txg_records(const struct sl_txg *txg, int64_t offset, uint32_t bytes)
{
	int64_t size = txg->config.recordsize_bytes;

	return bytes == 0 ? 0 : (uint32_t)((offset + bytes - 1) / size - offset / size + 1);
}

/* The clock of a txg starts with its first change; an early sync comes when much is dirty. */
static void arm_sync(struct sl_txg *txg, int64_t now_ns)
{
	if (txg->dirty_bytes >= txg->config.dirty_sync_bytes && !txg->syncing) {
		sl_loop_arm(txg->loop, &txg->timer, now_ns);
	} else if (!txg->timer.armed && !txg->timer_missed) {
		sl_loop_arm(txg->loop, &txg->timer, now_ns + txg->config.timeout_ns);
	}
}

void sl_txg_kick(struct sl_txg *txg, int64_t now_ns)
{
	if (!txg->syncing) {
		sl_loop_arm(txg->loop, &txg->timer, now_ns);
	}
}

/* Does a write of [offset, offset + bytes) leave a part of this record as it was? */
static bool covers_in_part(const struct sl_txg *txg, uint64_t record, int64_t offset, uint32_t bytes)
{
	int64_t size = txg->config.recordsize_bytes, from = (int64_t)record * size;

	return offset > from || offset + bytes < from + size;
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
	if (hole) {
		txg->dirty_holes += touch.fresh;
	} else {
		txg->dirty_records += touch.fresh;
	}
	/* Whole records, however little of them is written (dnode_willuse_space). */
	txg->dirty_bytes += (int64_t)touch.fresh * txg->config.recordsize_bytes;
	arm_sync(txg, now_ns);
	return touch;
}

void sl_txg_dirty_dnode(struct sl_txg *txg, int64_t now_ns, uint64_t file)
{
	if (set_add(&txg->dirty, DNODE_KEYS | file / DNODES_PER_BLOCK)) {
		txg->dirty_dnodes++;
		txg->dirty_bytes += DNODE_BLOCK_BYTES;
	}
	arm_sync(txg, now_ns);
}
