#include "sim/device/block.h"

#include <stdlib.h>

#include "sim/base/slab.h"
#include "sim/device/kinds.h"

struct list {
	struct sl_dev_req *first, **end;
};

/* A write with FUA whose disk does not know it, on its way to the cache. */
struct fua {
	void *pool_link;
	struct sl_block *block;
	struct sl_dev_req *outer;
	struct sl_dev_req write;
};

struct sl_block {
	struct sl_dev *dev; /* borrowed */
	bool cache, fua;    /* what the disk says of itself */
	bool alone;         /* its flush is no queued command */
	bool in_flight;
	int fua_writes; /* in flight: the flush after them is worth waiting for */
	struct sl_dev_req flush;
	struct list running, waiting;
	struct list held; /* commands that came while a flush was in flight alone */
	struct sl_slab fuas;
};

static void list_clear(struct list *list)
{
	list->first = NULL;
	list->end = &list->first;
}

static void list_add(struct list *list, struct sl_dev_req *req)
{
	req->next = NULL;
	*list->end = req;
	list->end = &req->next;
}

bool sl_block_has_cache(const struct sl_dev_spec *spec)
{
	if (spec->kind == SL_DEV_HDD) {
		return spec->write_cache != 0 && !spec->cache_off;
	}
	return spec->kind == SL_DEV_SSD && !spec->cache_off &&
	       !(spec->interface == SL_IF_NVME && spec->plp != 0);
}

/* Starts the next flush, for all that wait (blk_kick_flush): not while one is in flight, and not while writes
 * with FUA are, which will want one too. */
static void kick(struct sl_block *block, int64_t now_ns)
{
	if (block->in_flight || block->fua_writes > 0 || !block->waiting.first) {
		return;
	}
	block->running = block->waiting;
	list_clear(&block->waiting);
	block->in_flight = true;
	block->flush.tag = block->running.first->tag;
	block->flush.error = 0;
	block->dev->ops->submit(block->dev, now_ns, &block->flush);
}

/* libata takes no other command while one that is not queued is there: it is sent again later. */
static void pass(struct sl_block *block, int64_t now_ns, struct sl_dev_req *req)
{
	if (block->alone && block->in_flight) {
		list_add(&block->held, req);
	} else {
		block->dev->ops->submit(block->dev, now_ns, req);
	}
}

static void release(struct sl_block *block, int64_t now_ns)
{
	struct sl_dev_req *req = block->held.first;

	list_clear(&block->held);
	while (req) {
		struct sl_dev_req *next = req->next;

		block->dev->ops->submit(block->dev, now_ns, req);
		req = next;
	}
}

/*
 * The next flush goes before all commands that were held: flush_end_io kicks it, and a flush is put at the
 * front of what is to be dispatched (blk_mq_insert_request, since 5.6; before blk-mq to the queue that the
 * elevator's come after). What it is for was written before the last one began, so it finds little to do.
 */
static void flush_done(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_block *block = sl_container_of(timer, struct sl_block, flush.done);
	struct sl_dev_req *req = block->running.first;
	int error = block->flush.error;

	while (req) {
		struct sl_dev_req *next = req->next;

		req->error = error;
		sl_timer_fire(&req->done, now_ns);
		req = next;
	}
	block->in_flight = false;
	kick(block, now_ns);
	if (!block->in_flight) {
		release(block, now_ns);
	}
}

static void fua_done(struct sl_timer *timer, int64_t now_ns)
{
	struct fua *fua = sl_container_of(timer, struct fua, write.done);
	struct sl_block *block = fua->block;

	list_add(&block->waiting, fua->outer);
	block->fua_writes--;
	sl_slab_put(&block->fuas, fua);
	kick(block, now_ns);
}

static void write_then_flush(struct sl_block *block, int64_t now_ns, struct sl_dev_req *req)
{
	struct fua *fua = sl_slab_get(&block->fuas);

	fua->block = block;
	fua->outer = req;
	fua->write = *req;
	fua->write.fua = false;
	fua->write.done = (struct sl_timer){.fire = fua_done};
	block->fua_writes++;
	pass(block, now_ns, &fua->write);
}

void sl_block_submit(struct sl_block *block, int64_t now_ns, struct sl_dev_req *req)
{
	if (req->op == SL_DEV_FLUSH && !block->cache) {
		sl_loop_arm(block->dev->loop, &req->done, now_ns);
	} else if (req->op == SL_DEV_FLUSH) {
		list_add(&block->waiting, req);
		kick(block, now_ns);
	} else if (req->fua && block->cache && !block->fua) {
		write_then_flush(block, now_ns, req);
	} else {
		pass(block, now_ns, req);
	}
}

struct sl_block *sl_block_new(struct sl_dev *dev, const struct sl_dev_spec *spec)
{
	struct sl_block *block = calloc(1, sizeof(*block));

	if (!block) {
		return NULL;
	}
	block->dev = dev;
	block->cache = sl_block_has_cache(spec);
	/* libata keeps FUA of SATA disks off: parameter libata.fua. */
	block->fua = spec->interface != SL_IF_SATA;
	block->alone = dev->gated = block->cache && spec->interface == SL_IF_SATA;
	block->flush = (struct sl_dev_req){.done.fire = flush_done, .op = SL_DEV_FLUSH};
	list_clear(&block->running);
	list_clear(&block->waiting);
	list_clear(&block->held);
	sl_slab_init(&block->fuas, sizeof(struct fua));
	return block;
}

void sl_block_free(struct sl_block *block)
{
	if (block) {
		sl_slab_fini(&block->fuas);
		free(block);
	}
}
