/* Sync writes at queue depth 1, one after the other: what a log device does all day. */
#include <errno.h>

#include "sim/base/rng.h"
#include "sim/device/kinds.h"
#include "sim/device/ssd.h"

struct probe {
	struct sl_dev *dev;
	struct sl_dev_req req;
	struct sl_rng rng;
	int64_t blocks, bytes, end_ns, last_ns;
	int64_t done; /* writes that are stable */
};

static void submit_write(struct probe *probe, int64_t now_ns)
{
	probe->req.op = SL_DEV_WRITE;
	probe->req.offset_bytes = (int64_t)sl_rng_below(&probe->rng, (uint64_t)probe->blocks) * probe->bytes;
	probe->req.bytes = probe->bytes;
	sl_dev_submit(probe->dev, now_ns, &probe->req);
}

static void on_done(struct sl_timer *timer, int64_t now_ns)
{
	struct probe *probe = sl_container_of(timer, struct probe, req.done);

	if (probe->req.op == SL_DEV_WRITE) {
		probe->req.op = SL_DEV_FLUSH;
		sl_dev_submit(probe->dev, now_ns, &probe->req);
		return;
	}
	probe->done++;
	probe->last_ns = now_ns;
	if (now_ns < probe->end_ns) {
		submit_write(probe, now_ns);
	}
}

int sl_dev_sync_write_ns(const struct sl_dev_spec *spec, int64_t bytes, int64_t duration_ns, uint64_t seed,
			 double *ret_ns, struct sl_err *err)
{
	struct probe probe = {.req.done.fire = on_done, .bytes = bytes, .end_ns = duration_ns};
	struct sl_loop *loop;
	int rc;

	if (bytes < 512 || (spec->kind != SL_DEV_NULL && (double)bytes > spec->capacity_bytes) ||
	    duration_ns < 1) {
		return sl_err_set(err, -EINVAL, "size of a write: from 512 bytes to the disk's size");
	}
	loop = sl_loop_new_virtual();
	if (!loop) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	probe.blocks = spec->kind == SL_DEV_NULL ? 1 : (int64_t)spec->capacity_bytes / bytes;
	sl_rng_init(&probe.rng, seed, "sync writes");
	rc = sl_dev_new(spec, loop, seed, spec->name, &probe.dev, err);
	if (rc == 0) {
		submit_write(&probe, 0);
		rc = sl_loop_run(loop, err);
		sl_dev_free(probe.dev);
	}
	sl_loop_free(loop);
	*ret_ns = probe.done > 0 ? (double)probe.last_ns / (double)probe.done : 0;
	return rc;
}
