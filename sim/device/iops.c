#include "sim/device/iops.h"

#include <errno.h>
#include <stdlib.h>

#include "sim/base/rng.h"
#include "sim/device/kinds.h"

#define NO_TIME_REQUESTS 100000

struct closed_loop;

struct slot {
	struct closed_loop *run;
	struct sl_dev_req req;
	int64_t start_ns;
};

struct closed_loop {
	struct sl_dev *dev;
	const struct sl_iops_load *load;
	struct sl_rng rng;
	uint64_t blocks, done;
	int64_t last_ns;
	struct slot slots[];
};

static void send(struct slot *slot, int64_t now_ns)
{
	struct closed_loop *run = slot->run;

	slot->req.op = run->load->write ? SL_DEV_WRITE : SL_DEV_READ;
	slot->req.offset_bytes = (int64_t)sl_rng_below(&run->rng, run->blocks) * run->load->block_bytes;
	slot->req.bytes = run->load->block_bytes;
	slot->start_ns = now_ns;
	sl_dev_submit(run->dev, now_ns, &slot->req);
}

/* One more request in its step. */
static void note(struct sl_series *series, int64_t now_ns)
{
	if (series && now_ns / series->step_ns < SL_SERIES_MAX) {
		series->rate[now_ns / series->step_ns] += 1;
	}
}

static void on_done(struct sl_timer *timer, int64_t now_ns)
{
	struct slot *slot = sl_container_of(timer, struct slot, req.done);
	struct closed_loop *run = slot->run;

	if (run->load->flush && slot->req.op == SL_DEV_WRITE) {
		slot->req.op = SL_DEV_FLUSH;
		sl_dev_submit(run->dev, now_ns, &slot->req);
		return;
	}
	run->done++;
	run->last_ns = now_ns;
	note(run->load->series, now_ns);
	if (run->load->latency) {
		sl_hist_add(run->load->latency, now_ns - slot->start_ns);
	}
	/* A disk that takes no time would never get to the end. */
	if (run->done < run->load->requests && now_ns < run->load->duration_ns &&
	    (now_ns > 0 || run->done < NO_TIME_REQUESTS)) {
		send(slot, now_ns);
	} else {
		sl_loop_stop(run->dev->loop);
	}
}

static int run_loop(const struct sl_dev_spec *spec, struct closed_loop *run, struct sl_loop *loop,
		    struct sl_err *err)
{
	int rc = sl_dev_new(spec, loop, run->load->seed, spec->name, &run->dev, err);

	if (rc < 0) {
		return rc;
	}
	for (int i = 0; i < run->load->depth; i++) {
		run->slots[i].run = run;
		run->slots[i].req.done.fire = on_done;
		send(&run->slots[i], 0);
	}
	rc = sl_loop_run(loop, err);
	sl_dev_free(run->dev);
	return rc;
}

int sl_dev_iops(const struct sl_dev_spec *spec, const struct sl_iops_load *load, double *ret,
		struct sl_err *err)
{
	double size = spec->kind == SL_DEV_NULL ? 1e12 : spec->capacity_bytes;
	struct closed_loop *run;
	struct sl_loop *loop;
	int rc;

	if (load->depth < 1 || load->depth > SL_IOPS_DEPTH_MAX || load->block_bytes < 512 ||
	    (double)load->block_bytes > size || load->duration_ns < 1) {
		return sl_err_set(
		    err, -EINVAL,
		    "random requests: depth 1 to %d, blocks from 512 bytes to the disk's size, for "
		    "some time",
		    SL_IOPS_DEPTH_MAX);
	}
	run = calloc(1, sizeof(*run) + (size_t)load->depth * sizeof(run->slots[0]));
	loop = sl_loop_new_virtual();
	if (!run || !loop) {
		free(run);
		sl_loop_free(loop);
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	sl_loop_set_stopped(loop, load->stopped);
	run->load = load;
	if (load->series) {
		*load->series = (struct sl_series){.step_ns = load->series->step_ns};
	}
	if (load->span_bytes > 0 && (double)load->span_bytes < size) {
		size = (double)load->span_bytes;
	}
	run->blocks = (uint64_t)(size / (double)load->block_bytes);
	sl_rng_init(&run->rng, load->seed, "random requests");
	rc = run_loop(spec, run, loop, err);
	*ret = run->last_ns > 0 ? (double)run->done * 1e9 / (double)run->last_ns : 0;
	if (load->series) {
		sl_series_finish(load->series, run->last_ns);
	}
	sl_loop_free(loop);
	free(run);
	return rc;
}

int sl_dev_sync_write_ns(const struct sl_dev_spec *spec, int64_t bytes, int64_t duration_ns, uint64_t seed,
			 double *ret_ns, struct sl_err *err)
{
	struct sl_iops_load load = {.write = true,
				    .flush = true,
				    .block_bytes = bytes,
				    .depth = 1,
				    .duration_ns = duration_ns,
				    .requests = UINT64_MAX,
				    .seed = seed};
	double rate = 0;
	int rc = sl_dev_iops(spec, &load, &rate, err);

	*ret_ns = rate > 0 ? 1e9 / rate : 0;
	return rc;
}
