/*
 * An SSD: a latency per command that overlaps between commands, a host link and a controller that do not, a
 * write buffer in front of the flash, and a flush. With power-loss protection the buffer is safe and a flush
 * or FUA costs a command; without, both also wait until what is buffered is programmed, and cost little when
 * nothing is. Some drives' flushes have two times (a mixture of two points).
 *
 * Behind the buffer is a flash translation layer (ftl.c) when the catalogue gives the NAND (raw_size);
 * otherwise the buffer drains at the sequential write rate for ever: the drive never ages. A part of a page
 * is written as a whole page. With the write cache off every write is done when it is stable (ssd_serve.c).
 * Reads wait for the die that another read has, and for the controller. Not modelled: reads that wait for
 * programs, reads served from the buffer.
 */
#include "sim/device/ssd.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/device/ssd_inner.h"

/* When the drive takes a command: there is a slot for it; the FLUSH of SATA is not queued, it comes when all
 * before it are done, and none comes before its end. */
static int64_t start_of(const struct sl_ssd *ssd, int64_t now_ns, const struct sl_dev_req *req)
{
	int64_t start_ns = sl_later(now_ns, ssd->done_ns[ssd->slot]);

	if (ssd->spec.interface != SL_IF_SATA) {
		return start_ns;
	}
	return sl_later(start_ns, req->op == SL_DEV_FLUSH ? ssd->idle_from_ns : ssd->alone_until_ns);
}

static void ssd_submit(struct sl_dev *dev, int64_t now_ns, struct sl_dev_req *req)
{
	struct sl_ssd *ssd = sl_container_of(dev, struct sl_ssd, dev);
	int64_t start_ns = start_of(ssd, now_ns, req), done_ns;

	if (ssd->ftl && start_ns > ssd->idle_from_ns) {
		sl_ftl_idle(ssd->ftl, ssd->idle_from_ns, start_ns);
	}
	done_ns = sl_ssd_serve(ssd, start_ns, req);
	sl_dev_count(dev, req);
	sl_ssd_note(ssd, start_ns, req, done_ns);
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
	struct sl_ssd *ssd = sl_container_of(dev, struct sl_ssd, dev);

	sl_ftl_free(ssd->ftl);
	free(ssd->held);
	free(ssd);
}

static const struct sl_dev_ops ssd_ops = {.submit = ssd_submit, .free = ssd_free};

static void init_reads(struct sl_ssd *ssd)
{
	const struct sl_dev_spec *spec = &ssd->spec;
	double bytes = spec->raw_bytes > 0 ? spec->raw_bytes : spec->capacity_bytes;
	double dies = spec->die_bytes > 0 ? bytes / spec->die_bytes : 0;

	ssd->n_dies = dies < 1 ? 1 : dies > SL_SSD_DIES_MAX ? SL_SSD_DIES_MAX : (int)dies;
	ssd->sense_ns = dies > 0 ? sl_sooner((int64_t)spec->read_ns, (int64_t)spec->page_read_ns) : 0;
	ssd->read_command_ns = spec->read_iops > 0 ? (int64_t)(1e9 / spec->read_iops) : 0;
	ssd->read_end_bytes = -1;
}

int sl_ssd_new(const struct sl_dev_spec *spec, uint64_t seed, const char *name, struct sl_dev **ret,
	       struct sl_err *err)
{
	struct sl_ssd *ssd = calloc(1, sizeof(*ssd));
	struct sl_ftl_config config = {0};
	int rc = 0;

	if (!ssd) {
		return sl_err_set(err, -ENOMEM, "disk %s: out of memory", name);
	}
	ssd->dev.ops = &ssd_ops;
	ssd->spec = *spec;
	ssd->buffer_time_ns = sl_transfer_ns((int64_t)spec->buffer_bytes, spec->ssd_write_bps);
	ssd->depth = spec->ssd_queue_depth >= 1 && spec->ssd_queue_depth < SL_SSD_QUEUE_MAX
			 ? (int)spec->ssd_queue_depth
			 : SL_SSD_QUEUE_MAX;
	init_reads(ssd);
	ssd->commit_start_ns = -1;
	sl_ssd_front_init(&ssd->front, spec);
	sl_rng_init(&ssd->rng, seed, name);
	sl_jitter_init(&ssd->jitter, spec->latency_p99, spec->latency_p999, seed, name);
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

static struct sl_ssd *ssd_of(struct sl_dev *dev)
{
	return dev->ops == &ssd_ops ? sl_container_of(dev, struct sl_ssd, dev) : NULL;
}

bool sl_ssd_report(const struct sl_dev *dev, struct sl_ssd_report *ret)
{
	/* The seam is the first member. */
	const struct sl_ssd *ssd = dev->ops == &ssd_ops ? (const struct sl_ssd *)(const void *)dev : NULL;

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
	struct sl_ssd *ssd = ssd_of(dev);

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
	struct sl_ssd *ssd = ssd_of(dev);
	int64_t first = (offset_bytes + SL_FTL_PAGE_BYTES - 1) / SL_FTL_PAGE_BYTES;
	int64_t end = (offset_bytes + bytes) / SL_FTL_PAGE_BYTES;

	if (ssd && ssd->ftl && first < end && end <= ssd->ftl_pages) {
		sl_ftl_trim(ssd->ftl, (uint32_t)first, end - first);
	}
}
