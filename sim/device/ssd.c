/*
 * An SSD: a latency per command that overlaps between commands, a host link and a controller that do not, a
 * write buffer in front of the flash, and a flush. With power-loss protection the buffer is safe and a flush
 * or FUA costs a command; without, both also wait until what is buffered is programmed. Some drives' flushes
 * have two times (a mixture of two points).
 *
 * Behind the buffer is a flash translation layer (ftl.c) when the catalogue gives the NAND (raw_size);
 * otherwise the buffer drains at the sequential write rate for ever: the drive never ages. A part of a page
 * is written as a whole page. Not modelled: reads that wait for programs, reads served from the buffer.
 */
#include "sim/device/ssd.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "sim/base/rng.h"
#include "sim/device/kinds.h"
#include "sim/device/ssd_front.h"

#define QUEUE_MAX 1024

/* A write in the buffer that somebody follows, by age. */
struct held {
	struct sl_mark *mark;
	int64_t until_bytes; /* bytes written to the drive when later ones have pushed it out */
};

struct ssd {
	struct sl_dev dev;
	struct sl_dev_spec spec;
	struct sl_ssd_front front;
	struct sl_ftl *ftl;     /* NULL: without a flash model */
	struct sl_rng rng;      /* flush times */
	int64_t ftl_pages;      /* of the host */
	int64_t drained_ns;     /* without a flash model: when the write buffer will be empty */
	int64_t idle_from_ns;   /* end of the latest request */
	int64_t alone_until_ns; /* end of the latest flush */
	int64_t buffer_time_ns; /* without a flash model: time that a full buffer takes to drain */
	struct held *held;
	uint32_t held_first, held_end, held_room; /* in use: first to end */
	int depth, slot;
	int64_t done_ns[QUEUE_MAX]; /* of the latest `depth` commands, in a ring */
};

/* Time at which a write of `bytes` that arrives now is in the buffer; waits for room. */
static int64_t plain_write(struct ssd *ssd, int64_t now_ns, int64_t bytes)
{
	int64_t sent_ns = sl_ssd_front_send(&ssd->front, now_ns, bytes);

	ssd->drained_ns = sl_later(ssd->drained_ns, now_ns) + sl_transfer_ns(bytes, ssd->spec.ssd_write_bps);
	sent_ns = sl_later(sent_ns, ssd->drained_ns - ssd->buffer_time_ns);
	ssd->front.link_free_ns = sent_ns;
	return sent_ns;
}

/* One batch of a write's pages, the first of them `page`; returns when they are in the buffer. */
static int64_t flash_batch(struct ssd *ssd, int64_t sent_ns, int64_t page, int n)
{
	int64_t ready_ns[SL_FTL_BATCH_MAX], logical = ssd->ftl_pages;
	uint32_t pages[SL_FTL_BATCH_MAX];

	assert(n > 0);
	sent_ns = sl_later(sent_ns, sl_ftl_room_ns(ssd->ftl, n - 1));
	for (int i = 0; i < n; i++) {
		pages[i] = (uint32_t)((page + i) % logical);
		ready_ns[i] = sent_ns;
	}
	sl_ftl_map_command(ssd->ftl, sent_ns, pages[0], n);
	sl_ftl_write(ssd->ftl, pages, ready_ns, n);
	return sent_ns;
}

static int64_t flash_write(struct ssd *ssd, int64_t now_ns, const struct sl_dev_req *req)
{
	int64_t page = req->offset_bytes / SL_FTL_PAGE_BYTES;
	int64_t end = (req->offset_bytes + req->bytes + SL_FTL_PAGE_BYTES - 1) / SL_FTL_PAGE_BYTES;
	int64_t at_ns = now_ns, left = req->bytes;

	while (page < end) {
		int n =
		    end - page < sl_ftl_batch_max(ssd->ftl) ? (int)(end - page) : sl_ftl_batch_max(ssd->ftl);
		int64_t bytes = n == end - page ? left : (int64_t)n * SL_FTL_PAGE_BYTES;

		if (page == req->offset_bytes / SL_FTL_PAGE_BYTES) {
			at_ns = sl_ssd_front_send(&ssd->front, now_ns, bytes);
		} else {
			at_ns = sl_ssd_front_more(&ssd->front, bytes);
		}
		at_ns = flash_batch(ssd, at_ns, page, n);
		ssd->front.link_free_ns = at_ns;
		left -= bytes;
		page += n;
	}
	return at_ns;
}

/* When all that is in the buffer is safe, without the cost of the flush itself. */
static int64_t safe_ns(struct ssd *ssd, int64_t now_ns)
{
	if (ssd->spec.plp != 0) {
		return now_ns;
	}
	now_ns = sl_later(now_ns, ssd->front.command_free_ns);
	return ssd->ftl ? sl_ftl_drain_ns(ssd->ftl, now_ns) : sl_later(now_ns, ssd->drained_ns);
}

static int64_t flush_cost_ns(struct ssd *ssd)
{
	bool slow = ssd->spec.flush_slow_share > 0 && sl_rng_uniform(&ssd->rng) < ssd->spec.flush_slow_share;

	return (int64_t)(slow ? ssd->spec.flush_slow_ns : ssd->spec.flush_ns);
}

static void hold(struct ssd *ssd, struct sl_mark *mark, int64_t done_ns)
{
	int64_t until_bytes = ssd->dev.stats.bytes_written + (int64_t)ssd->spec.buffer_bytes;

	if (ssd->held_end == ssd->held_room) {
		uint32_t n = ssd->held_end - ssd->held_first, room = n < 32 ? 64 : 2 * n;
		struct held *held = malloc(room * sizeof(*held));

		if (!held) {
			abort();
		}
		for (uint32_t i = 0; i < n; i++) {
			held[i] = ssd->held[ssd->held_first + i];
		}
		free(ssd->held);
		ssd->held = held;
		ssd->held_first = 0;
		ssd->held_end = n;
		ssd->held_room = room;
	}
	sl_mark_at_risk(mark, done_ns, SL_RISK_CACHE);
	ssd->held[ssd->held_end++] = (struct held){mark, until_bytes};
}

/* A flush that began at now_ns is done at done_ns: what was done before it is safe. */
static void release(struct ssd *ssd, int64_t now_ns, int64_t done_ns)
{
	uint32_t kept = ssd->held_first;

	for (uint32_t i = ssd->held_first; i < ssd->held_end; i++) {
		if (ssd->held[i].mark->done_ns <= now_ns) {
			ssd->held[i].mark->safe_ns = done_ns;
		} else {
			ssd->held[kept++] = ssd->held[i];
		}
	}
	ssd->held_end = kept;
}

/*
 * Notes what a cut takes. The model programs the flash as fast as it can, but nothing obliges a drive to:
 * without power-loss protection a write is safe once a flush has covered it, or when as much as the buffer
 * holds was written after it.
 */
static void note(struct ssd *ssd, int64_t now_ns, const struct sl_dev_req *req, int64_t done_ns)
{
	switch (req->op) {
	case SL_DEV_READ:
		return;
	case SL_DEV_FLUSH:
		release(ssd, now_ns, done_ns);
		return;
	case SL_DEV_WRITE:
		break;
	}
	while (ssd->held_first < ssd->held_end &&
	       ssd->held[ssd->held_first].until_bytes < ssd->dev.stats.bytes_written) {
		ssd->held[ssd->held_first++].mark->safe_ns = done_ns;
	}
	if (ssd->spec.plp != 0 || req->fua) {
		sl_mark_safe(req->mark, done_ns);
	} else if (req->mark) {
		hold(ssd, req->mark, done_ns);
	}
}

static int64_t ssd_finish(struct ssd *ssd, int64_t now_ns, const struct sl_dev_req *req)
{
	const struct sl_dev_spec *spec = &ssd->spec;
	int64_t ready_ns;

	switch (req->op) {
	case SL_DEV_READ:
		ready_ns = sl_later(now_ns, ssd->front.link_free_ns) +
			   sl_transfer_ns(req->bytes,
					  spec->read_bps < spec->link_bps ? spec->read_bps : spec->link_bps);
		ssd->front.link_free_ns = ready_ns;
		return ready_ns + (int64_t)spec->read_ns;
	case SL_DEV_WRITE:
		ready_ns = ssd->ftl ? flash_write(ssd, now_ns, req) : plain_write(ssd, now_ns, req->bytes);
		ready_ns += (int64_t)spec->write_ns;
		if (req->fua && spec->plp == 0) {
			ready_ns = safe_ns(ssd, ready_ns) + flush_cost_ns(ssd);
		}
		return ready_ns;
	case SL_DEV_FLUSH:
		break;
	}
	return safe_ns(ssd, now_ns) + flush_cost_ns(ssd);
}

/* When the drive takes a command: there is a slot for it; the FLUSH of SATA is not queued, it comes when all
 * before it are done, and none comes before its end. */
static int64_t start_of(const struct ssd *ssd, int64_t now_ns, const struct sl_dev_req *req)
{
	int64_t start_ns = sl_later(now_ns, ssd->done_ns[ssd->slot]);

	if (ssd->spec.interface != SL_IF_SATA) {
		return start_ns;
	}
	return sl_later(start_ns, req->op == SL_DEV_FLUSH ? ssd->idle_from_ns : ssd->alone_until_ns);
}

static void ssd_submit(struct sl_dev *dev, int64_t now_ns, struct sl_dev_req *req)
{
	struct ssd *ssd = sl_container_of(dev, struct ssd, dev);
	int64_t start_ns = start_of(ssd, now_ns, req), done_ns;

	if (ssd->ftl && start_ns > ssd->idle_from_ns) {
		sl_ftl_idle(ssd->ftl, ssd->idle_from_ns, start_ns);
	}
	done_ns = ssd_finish(ssd, start_ns, req);
	sl_dev_count(dev, req);
	note(ssd, start_ns, req, done_ns);
	if (req->op == SL_DEV_FLUSH) {
		ssd->alone_until_ns = done_ns;
	}
	ssd->done_ns[ssd->slot] = done_ns;
	ssd->slot = ssd->slot + 1 == ssd->depth ? 0 : ssd->slot + 1;
	if (done_ns > ssd->idle_from_ns) {
		dev->stats.busy_ns += done_ns - sl_later(now_ns, ssd->idle_from_ns);
		ssd->idle_from_ns = done_ns;
	}
	sl_loop_arm(dev->loop, &req->done, done_ns);
}

static void ssd_free(struct sl_dev *dev)
{
	struct ssd *ssd = sl_container_of(dev, struct ssd, dev);

	sl_ftl_free(ssd->ftl);
	free(ssd->held);
	free(ssd);
}

static const struct sl_dev_ops ssd_ops = {.submit = ssd_submit, .free = ssd_free};

int sl_ssd_new(const struct sl_dev_spec *spec, uint64_t seed, const char *name, struct sl_dev **ret,
	       struct sl_err *err)
{
	struct ssd *ssd = calloc(1, sizeof(*ssd));
	struct sl_ftl_config config = {0};
	int rc = 0;

	if (!ssd) {
		return sl_err_set(err, -ENOMEM, "disk %s: out of memory", name);
	}
	ssd->dev.ops = &ssd_ops;
	ssd->spec = *spec;
	ssd->buffer_time_ns = sl_transfer_ns((int64_t)spec->buffer_bytes, spec->ssd_write_bps);
	ssd->depth = spec->ssd_queue_depth >= 1 && spec->ssd_queue_depth < QUEUE_MAX
			 ? (int)spec->ssd_queue_depth
			 : QUEUE_MAX;
	sl_ssd_front_init(&ssd->front, spec);
	sl_rng_init(&ssd->rng, seed, name);
	if (sl_ssd_has_nand(spec)) {
		rc = sl_ssd_ftl_config(spec, 1, &config, err);
		rc = rc ? rc : sl_ftl_new(&config, &ssd->ftl, err);
	}
	if (rc) {
		free(ssd);
		return sl_err_wrap(err, "disk %s", name);
	}
	ssd->ftl_pages = config.logical_pages;
	*ret = &ssd->dev;
	return 0;
}

static struct ssd *ssd_of(struct sl_dev *dev)
{
	return dev->ops == &ssd_ops ? sl_container_of(dev, struct ssd, dev) : NULL;
}

bool sl_ssd_report(const struct sl_dev *dev, struct sl_ssd_report *ret)
{
	/* The seam is the first member. */
	const struct ssd *ssd = dev->ops == &ssd_ops ? (const struct ssd *)(const void *)dev : NULL;

	if (!ssd) {
		return false;
	}
	*ret = (struct sl_ssd_report){.bytes_written = dev->stats.bytes_written, .write_amplification = 1};
	if (ssd->ftl) {
		sl_ssd_report_ftl(ssd->ftl, 1, ret);
	}
	ret->endurance_used =
	    ssd->spec.endurance_bytes > 0 ? (double)ret->bytes_written / ssd->spec.endurance_bytes : 0;
	return true;
}

int sl_ssd_prepare(struct sl_dev *dev, enum sl_ssd_state state, uint64_t seed, const char *file,
		   struct sl_err *err)
{
	struct ssd *ssd = ssd_of(dev);

	if (!ssd) {
		return sl_err_set(err, -EINVAL, "only SSDs are fresh, full or steady");
	}
	return ssd->ftl
		   ? sl_ssd_bring_to(ssd->ftl,
				     &(struct sl_ssd_load){.state = state, .seed = seed, .state_file = file},
				     ssd->ftl_pages, err)
		   : 0;
}

void sl_ssd_trim(struct sl_dev *dev, int64_t offset_bytes, int64_t bytes)
{
	struct ssd *ssd = ssd_of(dev);
	int64_t first = (offset_bytes + SL_FTL_PAGE_BYTES - 1) / SL_FTL_PAGE_BYTES;
	int64_t end = (offset_bytes + bytes) / SL_FTL_PAGE_BYTES;

	if (ssd && ssd->ftl && first < end && end <= ssd->ftl_pages) {
		sl_ftl_trim(ssd->ftl, (uint32_t)first, end - first);
	}
}
