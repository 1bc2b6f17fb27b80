/*
 * Memory behind a block interface: battery-backed or flash-backed DRAM, 3D XPoint, plain RAM. A command takes
 * a latency, as many of them side by side as the device has units, and its data passes a path of a given rate
 * in turn. Nothing is buffered, so a flush has nothing to do and costs nothing; nothing is erased, collected
 * or worn. Whether the content outlives a power cut is the figure `plp`.
 */
#include <stdlib.h>

#include "sim/device/jitter.h"
#include "sim/device/kinds.h"

struct nvram {
	struct sl_dev dev;
	struct sl_dev_spec spec;
	struct sl_jitter jitter;
	int64_t path_free_ns[2]; /* reads, writes: the link is duplex */
	int units;
	int64_t unit_free_ns[];
};

/* The command runs on the unit that is free first, its data passes when the path is free; both overlap with
 * others, not with each other. */
static int64_t serve(struct nvram *nvram, int64_t now_ns, const struct sl_dev_req *req)
{
	const struct sl_dev_spec *spec = &nvram->spec;
	bool write = req->op == SL_DEV_WRITE;
	double rate = write ? spec->ssd_write_bps : spec->read_bps;
	int64_t *path = &nvram->path_free_ns[write ? 1 : 0];
	int64_t start_ns, pass_ns;
	int unit = 0;

	rate = rate < spec->link_bps ? rate : spec->link_bps;
	for (int i = 1; i < nvram->units; i++) {
		unit = nvram->unit_free_ns[i] < nvram->unit_free_ns[unit] ? i : unit;
	}
	start_ns = sl_later(now_ns, nvram->unit_free_ns[unit]);
	pass_ns = sl_transfer_ns(req->bytes, rate);
	*path = sl_later(start_ns, *path) + pass_ns;
	nvram->unit_free_ns[unit] = sl_later(*path, start_ns + pass_ns) +
				    sl_jitter_ns(&nvram->jitter, write ? spec->write_ns : spec->read_ns);
	return nvram->unit_free_ns[unit];
}

static void nvram_submit(struct sl_dev *dev, int64_t now_ns, struct sl_dev_req *req)
{
	struct nvram *nvram = sl_container_of(dev, struct nvram, dev);
	int64_t done_ns = req->op == SL_DEV_FLUSH ? now_ns : serve(nvram, now_ns, req);

	sl_dev_count(dev, req);
	if (req->op == SL_DEV_WRITE && nvram->spec.plp > 0) {
		sl_mark_safe(req->mark, done_ns);
	} else if (req->op == SL_DEV_WRITE) {
		sl_mark_at_risk(req->mark, done_ns, SL_RISK_MEMORY);
	}
	sl_dev_busy(dev, now_ns, done_ns);
	sl_loop_arm(dev->loop, &req->done, done_ns);
}

static void nvram_free(struct sl_dev *dev)
{
	free(sl_container_of(dev, struct nvram, dev));
}

static const struct sl_dev_ops nvram_ops = {.submit = nvram_submit, .free = nvram_free};

struct sl_dev *sl_nvram_new(const struct sl_dev_spec *spec, uint64_t seed, const char *name)
{
	int units = (int)spec->parallel;
	struct nvram *nvram = calloc(1, sizeof(*nvram) + (size_t)units * sizeof(nvram->unit_free_ns[0]));

	if (!nvram) {
		return NULL;
	}
	nvram->dev.ops = &nvram_ops;
	nvram->spec = *spec;
	sl_jitter_init(&nvram->jitter, spec->latency_p99, spec->latency_p999, seed, name);
	nvram->units = units;
	return &nvram->dev;
}
