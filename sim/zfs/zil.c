#include "sim/zfs/zil.h"

#include <stdlib.h>

#include "sim/base/oom.h"
#include "sim/zfs/zil_inner.h"

#define DEFER_TXGS 2 /* TXG_DEFER_SIZE */

static struct sl_zil_itx *list_add(struct sl_zil_list *list)
{
	if (list->count == list->room) {
		uint32_t room = list->room ? 2 * list->room : 64;
		struct sl_zil_itx *items = realloc(list->items, room * sizeof(*items));

		if (!items) {
			sl_oom();
		}
		list->items = items;
		list->room = room;
	}
	return &list->items[list->count++];
}

static void list_drop_synced(struct sl_zil_list *list, uint64_t txg)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		if (list->items[i].waiter || list->items[i].txg > txg) {
			list->items[kept++] = list->items[i];
		}
	}
	list->count = kept;
}

bool sl_zil_place(struct sl_zil *zil, const struct sl_zil_itx *itx)
{
	return itx->indirect && !itx->hole &&
	       (!zil->config.placed || sl_placed_add(zil->config.placed, itx->txg, itx->file, itx->record));
}

bool sl_zil_is_late(const struct sl_zil *zil, const struct sl_zil_itx *itx)
{
	return zil->config.throttle && itx->indirect && !itx->hole && itx->txg < zil->config.placed->txg;
}

static int64_t class_bytes(const struct sl_vdev *vdev)
{
	return sl_vdev_top_bytes(vdev) * sl_vdev_tops(vdev);
}

struct sl_vdev *sl_zil_target(const struct sl_zil *zil, int64_t bytes)
{
	const struct sl_zil_config *config = &zil->config;

	if (config->has_slog && sl_vdev_works(config->log) &&
	    zil->log_space.used + bytes <= class_bytes(config->log)) {
		return config->log;
	}
	return config->special && sl_vdev_works(config->special) ? config->special : config->data;
}

bool sl_zil_allocate(struct sl_zil *zil, struct sl_vdev *target, uint64_t txg, int64_t bytes)
{
	int64_t embedded = sl_vdev_embedded_bytes(target) * sl_vdev_tops(target);

	sl_zil_space_take(&zil->all_space, txg, bytes);
	if (zil->config.has_slog && target == zil->config.log) {
		sl_zil_space_take(&zil->log_space, txg, bytes);
		return false;
	}
	if (zil->embedded_space.used + bytes > embedded) {
		return false;
	}
	sl_zil_space_take(&zil->embedded_space, txg, bytes);
	return true;
}

uint32_t sl_zil_written_bytes(const struct sl_vdev *target, uint32_t block_bytes, uint32_t used_bytes)
{
	if (target->config.layout >= SL_VDEV_RAIDZ1) {
		return block_bytes;
	}
	return (used_bytes + SL_ZIL_SLIM_ROUND - 1) / SL_ZIL_SLIM_ROUND * SL_ZIL_SLIM_ROUND;
}

static void one_flushed(struct sl_zil_flush *flush, int64_t now_ns)
{
	flush->left--;
	if (flush->left == 0) {
		sl_timer_fire(&flush->done, now_ns);
	}
}

static void log_flushed(struct sl_timer *timer, int64_t now_ns)
{
	one_flushed(sl_container_of(timer, struct sl_zil_flush, log.done), now_ns);
}

static void data_flushed(struct sl_timer *timer, int64_t now_ns)
{
	one_flushed(sl_container_of(timer, struct sl_zil_flush, data.done), now_ns);
}

static void other_flushed(struct sl_timer *timer, int64_t now_ns)
{
	one_flushed(sl_container_of(timer, struct sl_zil_flush, other.done), now_ns);
}

static void flush_vdev(struct sl_vdev *vdev, int64_t now_ns, struct sl_vdev_io *io,
		       void (*flushed)(struct sl_timer *timer, int64_t now_ns), uint64_t tag)
{
	*io = (struct sl_vdev_io){.done.fire = flushed, .op = SL_DEV_FLUSH, .tag = tag};
	sl_vdev_submit(vdev, now_ns, io);
}

void sl_zil_flush(const struct sl_zil *zil, int64_t now_ns, struct sl_zil_flush *flush,
		  struct sl_vdev *target, struct sl_vdev *other, bool in_place, uint64_t tag)
{
	bool records = in_place && target != zil->config.records && other != zil->config.records;
	bool others = other && other != target;

	if (zil->config.broken == SL_ZIL_NO_FLUSH) {
		sl_timer_fire(&flush->done, now_ns);
		return;
	}
	flush->left = 1 + records + others;
	if (others) {
		flush_vdev(other, now_ns, &flush->other, other_flushed, tag);
	}
	if (records) {
		flush_vdev(zil->config.records, now_ns, &flush->data, data_flushed, tag);
	}
	flush_vdev(target, now_ns, &flush->log, log_flushed, tag);
}

int64_t sl_zil_record_bytes(const struct sl_zil *zil)
{
	return (int64_t)(zil->config.recordsize_bytes / zil->config.compress_ratio + 0.5);
}

void sl_zil_hand_off(struct sl_zil *zil, int64_t now_ns, struct sl_timer *hand_off, uint64_t tag)
{
	int64_t due_ns = now_ns + sl_jitter_ns(&zil->jitter, (double)zil->config.commit_delay_ns);

	if (zil->trace && due_ns > now_ns) {
		sl_trace_span(zil->trace, "ZIL threads", "hand-off", tag, now_ns, due_ns);
	}
	sl_loop_arm(zil->loop, hand_off, due_ns);
}

void sl_zil_wake(struct sl_zil *zil, int64_t now_ns, struct sl_zil_waiter *waiter, bool failed)
{
	while (waiter) {
		struct sl_zil_waiter *next = waiter->next;

		waiter->failed = failed;
		zil->failures += failed;
		sl_timer_fire(&waiter->done, now_ns);
		waiter = next;
	}
}

void sl_zil_init(struct sl_zil *zil, const struct sl_zil_config *config, struct sl_loop *loop,
		 struct sl_cpu *cpu, struct sl_trace *trace)
{
	*zil = (struct sl_zil){.config = *config, .loop = loop, .cpu = cpu, .trace = trace};
	sl_jitter_init(&zil->jitter, config->delay_p99, config->delay_p999, config->seed, "ZIL hand-offs");
	sl_zil_2014_init(zil);
	sl_zil_lwb_init(zil);
}

void sl_zil_fini(struct sl_zil *zil)
{
	free(zil->sync.items);
	free(zil->async.items);
	free(zil->walk.list.items);
	free(zil->block_writes);
	sl_slab_fini(&zil->ios);
	sl_slab_fini(&zil->lwbs);
	sl_slab_fini(&zil->wakes);
}

void sl_zil_add_commit(struct sl_zil *zil, struct sl_zil_waiter *waiter)
{
	*list_add(&zil->sync) = (struct sl_zil_itx){.waiter = waiter};
}

struct sl_zil_itx *sl_zil_add(struct sl_zil *zil, bool sync)
{
	return list_add(sync ? &zil->sync : &zil->async);
}

/* fsync moves the file's asynchronous records to the synchronous list, in order. */
static void move_async(struct sl_zil *zil, uint64_t file)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < zil->async.count; i++) {
		if (zil->async.items[i].file == file) {
			*list_add(&zil->sync) = zil->async.items[i];
		} else {
			zil->async.items[kept++] = zil->async.items[i];
		}
	}
	zil->async.count = kept;
}

void sl_zil_commit(struct sl_zil *zil, int64_t now_ns, uint64_t file, struct sl_zil_waiter *waiter)
{
	move_async(zil, file);
	zil->commits++;
	waiter->next = NULL;
	if (zil->config.generation == SL_ZIL_2014) {
		sl_zil_2014_commit(zil, now_ns, waiter);
	} else {
		sl_zil_lwb_commit(zil, now_ns, waiter);
	}
}

void sl_zil_synced(struct sl_zil *zil, uint64_t txg)
{
	zil->synced_txg = txg;
	list_drop_synced(&zil->sync, txg);
	list_drop_synced(&zil->async, txg);
	sl_zil_space_free(&zil->wrlog, txg);
	if (txg > DEFER_TXGS) {
		sl_zil_space_free(&zil->log_space, txg - DEFER_TXGS);
		sl_zil_space_free(&zil->all_space, txg - DEFER_TXGS);
		sl_zil_space_free(&zil->embedded_space, txg - DEFER_TXGS);
	}
}
