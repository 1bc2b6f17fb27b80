/*
 * A first SSD: a latency per command that overlaps between commands, a host link that does not, a write
 * buffer that drains at the sequential write rate, and a flush. With power-loss protection the buffer is safe
 * and a flush costs a command; without, a flush also waits until the buffer is empty. Not modelled here: the
 * flash translation layer (garbage collection, wear).
 */
#include <stdlib.h>

#include "sim/device/kinds.h"

struct ssd {
	struct sl_dev dev;
	struct sl_dev_spec spec;
	int64_t link_free_ns;   /* when the host link is next free */
	int64_t drained_ns;     /* when the write buffer will be empty */
	int64_t idle_from_ns;   /* end of the latest request, for busy time */
	int64_t buffer_time_ns; /* time that a full buffer takes to drain */
};

/* Time at which a write of `bytes` that arrives now is in the buffer; waits for room. */
static int64_t buffer_write(struct ssd *ssd, int64_t now_ns, int64_t bytes)
{
	int64_t sent_ns = sl_later(now_ns, ssd->link_free_ns) + sl_transfer_ns(bytes, ssd->spec.link_bps);

	ssd->drained_ns = sl_later(ssd->drained_ns, now_ns) + sl_transfer_ns(bytes, ssd->spec.ssd_write_bps);
	sent_ns = sl_later(sent_ns, ssd->drained_ns - ssd->buffer_time_ns);
	ssd->link_free_ns = sent_ns;
	return sent_ns;
}

static int64_t ssd_finish(struct ssd *ssd, int64_t now_ns, const struct sl_dev_req *req)
{
	const struct sl_dev_spec *spec = &ssd->spec;
	int64_t ready_ns;

	switch (req->op) {
	case SL_DEV_READ:
		ready_ns = sl_later(now_ns, ssd->link_free_ns) +
			   sl_transfer_ns(req->bytes,
					  spec->read_bps < spec->link_bps ? spec->read_bps : spec->link_bps);
		ssd->link_free_ns = ready_ns;
		return ready_ns + (int64_t)spec->read_ns;
	case SL_DEV_WRITE:
		ready_ns = buffer_write(ssd, now_ns, req->bytes) + (int64_t)spec->write_ns;
		if (req->fua && spec->plp == 0) {
			ready_ns = sl_later(ready_ns, ssd->drained_ns) + (int64_t)spec->flush_ns;
		}
		return ready_ns;
	case SL_DEV_FLUSH:
		break;
	}
	ready_ns = spec->plp != 0 ? now_ns : sl_later(now_ns, ssd->drained_ns);
	return ready_ns + (int64_t)spec->flush_ns;
}

static void ssd_submit(struct sl_dev *dev, int64_t now_ns, struct sl_dev_req *req)
{
	struct ssd *ssd = sl_container_of(dev, struct ssd, dev);
	int64_t done_ns = ssd_finish(ssd, now_ns, req);

	sl_dev_count(dev, req);
	if (done_ns > ssd->idle_from_ns) {
		dev->stats.busy_ns += done_ns - sl_later(now_ns, ssd->idle_from_ns);
		ssd->idle_from_ns = done_ns;
	}
	sl_loop_arm(dev->loop, &req->done, done_ns);
}

static void ssd_free(struct sl_dev *dev)
{
	free(sl_container_of(dev, struct ssd, dev));
}

static const struct sl_dev_ops ssd_ops = {.submit = ssd_submit, .free = ssd_free};

struct sl_dev *sl_ssd_new(const struct sl_dev_spec *spec)
{
	struct ssd *ssd = calloc(1, sizeof(*ssd));

	if (!ssd) {
		return NULL;
	}
	ssd->dev.ops = &ssd_ops;
	ssd->spec = *spec;
	ssd->buffer_time_ns = sl_transfer_ns((int64_t)spec->buffer_bytes, spec->ssd_write_bps);
	return &ssd->dev;
}
