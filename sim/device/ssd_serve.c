/*
 * What a command of an SSD takes. See ssd.c for the parts of the drive.
 */
#include <assert.h>

#include "sim/device/ssd_inner.h"

#define HASH UINT64_C(0x9e3779b97f4a7c15) /* spreads addresses over channels and dies */
#define DIE_UNIT 16384                    /* of neighbours on one die: a page of two planes */

/* Time at which a write of `bytes` that arrives now is in the buffer; waits for room. */
static int64_t plain_write(struct sl_ssd *ssd, int64_t now_ns, int64_t bytes)
{
	int64_t sent_ns = sl_ssd_front_send(&ssd->front, now_ns, bytes);

	ssd->drained_ns = sl_later(ssd->drained_ns, now_ns) + sl_transfer_ns(bytes, ssd->spec.ssd_write_bps);
	sent_ns = sl_later(sent_ns, ssd->drained_ns - ssd->buffer_time_ns);
	ssd->front.link_free_ns = sent_ns;
	return sent_ns;
}

/* One batch of a write's pages, the first of them `page`; returns when they are in the buffer. */
static int64_t flash_batch(struct sl_ssd *ssd, int64_t sent_ns, int64_t page, int n)
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

static int64_t flash_write(struct sl_ssd *ssd, int64_t now_ns, const struct sl_dev_req *req)
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

static int64_t flush_cost_ns(struct sl_ssd *ssd)
{
	bool slow = ssd->spec.flush_slow_share > 0 && sl_rng_uniform(&ssd->rng) < ssd->spec.flush_slow_share;

	return sl_jitter_ns(&ssd->jitter, slow ? ssd->spec.flush_slow_ns : ssd->spec.flush_ns);
}

/*
 * End of a flush that begins at now_ns. With power-loss protection the buffer is safe: a fixed cost. Without,
 * the cost is a program of what little is in the buffer and a fixed part, the drive's map and log: much in
 * the buffer takes until it is programmed, and nothing at all is a command like another. (A 950 PRO by
 * diskinfo -wS: 2.03 ms up to 64 KiB, from 1 MiB on what programming takes and 1.3 ms.)
 */
static int64_t flush_end_ns(struct sl_ssd *ssd, int64_t now_ns, bool dirty)
{
	int64_t cost_ns = flush_cost_ns(ssd), program_ns = (int64_t)ssd->spec.program_ns, drained_ns;

	if (ssd->spec.plp != 0) {
		return now_ns + cost_ns;
	}
	if (!dirty || ssd->spec.flush_ignored != 0) {
		return now_ns + sl_sooner((int64_t)ssd->spec.write_ns, cost_ns);
	}
	program_ns = sl_sooner(program_ns, cost_ns);
	drained_ns = sl_later(now_ns, ssd->front.command_free_ns);
	drained_ns = ssd->ftl ? sl_ftl_drain_ns(ssd->ftl, drained_ns)
			      : sl_later(drained_ns, sl_later(ssd->drained_ns, now_ns + program_ns));
	return drained_ns + cost_ns - program_ns;
}

/*
 * With the cache off a write that is in the buffer at ready_ns is done when it is stable. With capacitors the
 * controller makes one after the other so: its time for a command and the cost of the flush are one queue.
 * Without, what a flush of its own would cost, the programs and the drive's map and log, is paid by a commit:
 * one at a time, for all that was in the buffer when it began, so that what comes meanwhile shares the next.
 * N writers in a closed loop so share two commits, where one writer has one for itself: seven such drives of
 * S. Han's list, none of them in a scenario, do 2.5 and 4.5 times as much with 5 and 10 writers as with one
 * in the median (docs/decisions/0023).
 */
static int64_t write_through(struct sl_ssd *ssd, int64_t ready_ns)
{
	int64_t command_ns = ssd->front.command_ns;

	if (ssd->spec.plp != 0) {
		ssd->commit_end_ns = sl_later(ready_ns, ssd->commit_end_ns) + command_ns + flush_cost_ns(ssd);
		return ssd->commit_end_ns +
		       sl_later(sl_jitter_ns(&ssd->jitter, ssd->spec.write_ns) - command_ns, 0);
	}
	ready_ns += sl_jitter_ns(&ssd->jitter, ssd->spec.write_ns);
	if (ready_ns > ssd->commit_start_ns) {
		ssd->commit_start_ns = sl_later(ready_ns, ssd->commit_end_ns);
		ssd->commit_end_ns = ssd->commit_start_ns + flush_cost_ns(ssd);
	}
	return ssd->commit_end_ns;
}

/* How long the dies of a read that begins at now_ns keep it waiting: each holds units of DIE_UNIT by their
 * address and senses one at a time. */
static int64_t dies_wait_ns(struct sl_ssd *ssd, int64_t now_ns, const struct sl_dev_req *req)
{
	int64_t unit = req->offset_bytes / DIE_UNIT, end = (req->offset_bytes + req->bytes - 1) / DIE_UNIT;
	int64_t latest_ns = now_ns + ssd->sense_ns;

	for (; unit <= end; unit++) {
		int64_t *free_ns = &ssd->die_free_ns[((uint64_t)unit * HASH >> 32) % (uint64_t)ssd->n_dies];

		*free_ns = sl_later(now_ns, *free_ns) + ssd->sense_ns;
		latest_ns = sl_later(latest_ns, *free_ns);
	}
	return latest_ns - now_ns - ssd->sense_ns;
}

/* A read passes the controller, is sensed by its dies and passes the link; what follows the latest read was
 * read ahead. The latency at depth 1 holds all three but the transfer. */
static int64_t read_end_ns(struct sl_ssd *ssd, int64_t now_ns, const struct sl_dev_req *req)
{
	const struct sl_dev_spec *spec = &ssd->spec;
	double bps = spec->read_bps < spec->link_bps ? spec->read_bps : spec->link_bps;
	int64_t wait_ns = 0;

	now_ns = sl_later(now_ns, ssd->reads_free_ns);
	ssd->reads_free_ns = now_ns + ssd->read_command_ns;
	if (req->offset_bytes != ssd->read_end_bytes) {
		wait_ns = dies_wait_ns(ssd, now_ns, req);
	}
	ssd->read_end_bytes = req->offset_bytes + req->bytes;
	ssd->front.link_free_ns = sl_later(now_ns, ssd->front.link_free_ns) + sl_transfer_ns(req->bytes, bps);
	return ssd->front.link_free_ns + sl_jitter_ns(&ssd->jitter, spec->read_ns) + wait_ns;
}

int64_t sl_ssd_serve(struct sl_ssd *ssd, int64_t now_ns, const struct sl_dev_req *req)
{
	const struct sl_dev_spec *spec = &ssd->spec;
	int64_t ready_ns;

	switch (req->op) {
	case SL_DEV_READ:
		return read_end_ns(ssd, now_ns, req);
	case SL_DEV_WRITE:
		ready_ns = ssd->ftl ? flash_write(ssd, now_ns, req) : plain_write(ssd, now_ns, req->bytes);
		if (spec->cache_off) {
			return write_through(ssd, ready_ns);
		}
		ready_ns += sl_jitter_ns(&ssd->jitter, spec->write_ns);
		if (req->fua && spec->plp == 0) {
			return flush_end_ns(ssd, ready_ns, true);
		}
		ssd->dirty = true;
		return ready_ns;
	case SL_DEV_FLUSH:
		break;
	}
	ready_ns = flush_end_ns(ssd, now_ns, ssd->dirty);
	ssd->dirty = false;
	return ready_ns;
}
