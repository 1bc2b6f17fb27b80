/*
 * Saturation: random writes in a closed loop, without an event per command. A command is sent when the one
 * `depth` before it is done; it takes the link, the controller, room in the buffer, and the write latency.
 * Pages are drawn one batch ahead, so that the map entries they will touch are on their way from memory
 * meanwhile.
 *
 * Scaled, 1/scale of the drive is simulated and each of its seconds stands for `scale` seconds: the drive
 * fills, collects and settles at the same times, with the same IOPS and latencies.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/base/rng.h"
#include "sim/device/ssd_front.h"

#define DEPTH_MAX 1024
#define ASK_EVERY 1024 /* batches: some ten milliseconds */
#define BLOCK_MAX (INT64_C(256) * 1024)

struct run {
	const struct sl_dev_spec *spec;
	struct sl_ssd_load load; /* defaults filled in */
	struct sl_ssd_curve *curve;
	struct sl_ftl *ftl;
	struct sl_ssd_front front;
	struct sl_rng rng;
	int block_pages, batch; /* batch: commands at once */
	int64_t span_blocks, transfer_ns, latency_ns;
	int64_t sample_end_ns; /* in simulated time, as the rest */
	uint64_t in_sample, before, moved_before, pages_before, fill_writes;
	double latency_sum_ns;
	int slot;
	int64_t done_ns[DEPTH_MAX];
	uint32_t pages[2][SL_FTL_BATCH_MAX]; /* the batch at hand and the next */
	int64_t ready_ns[SL_FTL_BATCH_MAX];
};

static int fill_in(struct run *run, const struct sl_ssd_load *load, struct sl_err *err)
{
	const struct sl_dev_spec *spec = run->spec;
	int depth_max = spec->ssd_queue_depth >= 1 && spec->ssd_queue_depth < DEPTH_MAX
			    ? (int)spec->ssd_queue_depth
			    : DEPTH_MAX;

	run->load = *load;
	run->load.block_bytes = load->block_bytes ? load->block_bytes : SL_FTL_PAGE_BYTES;
	run->load.depth = load->depth ? load->depth : 32;
	run->load.span_bytes = load->span_bytes ? load->span_bytes : (int64_t)spec->capacity_bytes;
	run->load.sample_ns = load->sample_ns ? load->sample_ns : load->duration_ns / 300;
	run->load.scale = load->scale ? load->scale : sl_ssd_default_scale(spec);
	if (run->load.block_bytes < SL_FTL_PAGE_BYTES || run->load.block_bytes > BLOCK_MAX ||
	    run->load.block_bytes % SL_FTL_PAGE_BYTES != 0) {
		return sl_err_set(err, -EINVAL, "block size: write a multiple of 4 KiB up to 256 KiB");
	}
	if (run->load.depth < 1 || run->load.depth > DEPTH_MAX) {
		return sl_err_set(err, -EINVAL, "queue depth: write 1 to %d", DEPTH_MAX);
	}
	if (run->load.sample_ns / run->load.scale < 1 || run->load.sample_ns > run->load.duration_ns ||
	    run->load.duration_ns / run->load.sample_ns > SL_SERIES_MAX) {
		return sl_err_set(err, -EINVAL, "duration: it must hold 1 to %d samples", SL_SERIES_MAX);
	}
	if (run->load.span_bytes > (int64_t)spec->capacity_bytes ||
	    run->load.span_bytes / run->load.scale < 64 * run->load.block_bytes) {
		return sl_err_set(err, -EINVAL, "span: from 64 blocks times the scale to the drive's size");
	}
	run->load.depth = run->load.depth > depth_max ? depth_max : run->load.depth;
	return 0;
}

static int set_up(struct run *run, struct sl_err *err)
{
	struct sl_ftl_config config;
	int rc = sl_ssd_ftl_config(run->spec, run->load.scale, &config, err);

	if (rc == 0) {
		config.huge_pages = true;
		rc = sl_ftl_new(&config, &run->ftl, err);
	}
	if (rc) {
		return rc;
	}
	run->block_pages = (int)(run->load.block_bytes / SL_FTL_PAGE_BYTES);
	run->span_blocks = run->load.span_bytes / run->load.scale / run->load.block_bytes;
	run->fill_writes = (uint64_t)run->span_blocks;
	run->batch = config.map_ns > 0 ? 1 : sl_ftl_batch_max(run->ftl) / run->block_pages;
	run->transfer_ns = sl_transfer_ns(run->load.block_bytes, run->spec->link_bps);
	run->latency_ns = (int64_t)run->spec->write_ns;
	if (run->batch < 1) {
		return sl_err_set(err, -EINVAL, "block size: larger than the write buffer");
	}
	sl_ssd_front_init(&run->front, run->spec);
	run->front.behind_ns /= run->load.scale;
	sl_rng_init(&run->rng, run->load.seed, "saturation");
	rc = sl_ssd_bring_to(run->ftl, &run->load, run->span_blocks * run->block_pages, err);
	run->curve->samples =
	    calloc((size_t)(run->load.duration_ns / run->load.sample_ns), sizeof(*run->curve->samples));
	if (rc == 0 && !run->curve->samples) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	return rc;
}

static void draw(struct run *run, uint32_t *pages)
{
	for (int i = 0; i < run->batch; i++) {
		uint32_t first = (uint32_t)sl_rng_below(&run->rng, (uint64_t)run->span_blocks) *
				 (uint32_t)run->block_pages;

		for (int k = 0; k < run->block_pages; k++) {
			pages[i * run->block_pages + k] = first + (uint32_t)k;
		}
	}
	sl_ftl_prefetch(run->ftl, pages, run->batch * run->block_pages);
}

/* The time at hand has passed the end of a sample (or of several, when nothing was done for long). */
static bool end_sample(struct run *run)
{
	struct sl_ssd_curve *curve = run->curve;
	struct sl_ftl_counters n = sl_ftl_counters(run->ftl);
	struct sl_ssd_sample *sample = &curve->samples[curve->iops.n];
	double pages = (double)(n.host_pages - run->pages_before);

	curve->iops.rate[curve->iops.n++] =
	    (double)run->in_sample * run->load.scale * 1e9 / (double)run->load.sample_ns;
	sample->end_ns = (int64_t)curve->iops.n * run->load.sample_ns;
	sample->latency_ns = run->in_sample > 0 ? run->latency_sum_ns / (double)run->in_sample : 0;
	sample->write_amplification = pages > 0 ? 1 + (double)(n.moved_pages - run->moved_before) / pages : 1;
	run->pages_before = n.host_pages;
	run->moved_before = n.moved_pages;
	run->before += run->in_sample;
	run->in_sample = 0;
	run->latency_sum_ns = 0;
	run->sample_end_ns =
	    (int64_t)((double)(curve->iops.n + 1) * (double)run->load.sample_ns / run->load.scale);
	return !run->load.progress || run->load.progress(run->load.ctx, sample->end_ns);
}

/* Counts a command; false when the run is over. */
static bool count(struct run *run, int64_t sent_ns, int64_t done_ns)
{
	while (done_ns >= run->sample_end_ns) {
		if (!end_sample(run)) {
			run->curve->stopped = true;
			return false;
		}
		if (run->curve->iops.n == run->load.duration_ns / run->load.sample_ns) {
			return false;
		}
	}
	run->in_sample++;
	run->latency_sum_ns += (double)(done_ns - sent_ns);
	if (run->before + run->in_sample == run->fill_writes) {
		run->curve->fill_ns = done_ns * run->load.scale;
	}
	return true;
}

/* One batch of commands; false when the run is over. */
static bool send_batch(struct run *run, const uint32_t *pages)
{
	int n = run->batch, width = run->block_pages;
	bool going = true;

	for (int i = 0; i < n && going; i++) {
		int64_t sent_ns = run->done_ns[run->slot];
		int64_t ready_ns = sl_ssd_front_take(&run->front, sent_ns, run->transfer_ns);

		ready_ns = sl_later(ready_ns, sl_ftl_room_ns(run->ftl, (i + 1) * width - 1));
		run->front.link_free_ns = ready_ns;
		for (int k = 0; k < width; k++) {
			run->ready_ns[i * width + k] = ready_ns;
		}
		run->done_ns[run->slot] = ready_ns + run->latency_ns;
		run->slot = run->slot + 1 == run->load.depth ? 0 : run->slot + 1;
		going = count(run, sent_ns, ready_ns + run->latency_ns);
	}
	if (going) {
		/* The batch is one command when the map is a tree. */
		sl_ftl_map_command(run->ftl, run->ready_ns[0], pages[0], width);
		sl_ftl_write(run->ftl, pages, run->ready_ns, n * width);
	}
	return going;
}

/* Until the run is over; -EINTR when the caller wants no more of it. */
static int send_all(struct run *run, struct sl_err *err)
{
	int at = 0, unasked = 0;

	run->sample_end_ns = run->load.sample_ns / run->load.scale;
	draw(run, run->pages[0]);
	do {
		if (run->load.stopped && ++unasked == ASK_EVERY) {
			unasked = 0;
			if (run->load.stopped()) {
				return sl_err_set(err, -EINTR, "interrupted");
			}
		}
		draw(run, run->pages[1 - at]);
		at = 1 - at;
	} while (send_batch(run, run->pages[1 - at]));
	return 0;
}

static void finish(struct run *run)
{
	struct sl_ssd_curve *curve = run->curve;

	curve->scale = run->load.scale;
	curve->iops.step_ns = run->load.sample_ns;
	curve->block_bytes = run->load.block_bytes;
	curve->writes = run->before + run->in_sample;
	curve->memory_bytes = sl_ftl_memory_bytes(run->ftl);
	curve->report.bytes_written = (int64_t)curve->writes * run->load.block_bytes * run->load.scale;
	curve->report.write_amplification = 1;
	sl_ssd_report_ftl(run->ftl, run->load.scale, &curve->report);
	curve->report.endurance_used = run->spec->endurance_bytes > 0
					   ? (double)curve->report.bytes_written / run->spec->endurance_bytes
					   : 0;
}

int sl_ssd_saturate(const struct sl_dev_spec *spec, const struct sl_ssd_load *load, struct sl_ssd_curve *ret,
		    struct sl_err *err)
{
	struct run *run = calloc(1, sizeof(*run));
	int rc;

	*ret = (struct sl_ssd_curve){0};
	if (!run) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	run->spec = spec;
	run->curve = ret;
	rc = fill_in(run, load, err);
	rc = rc ? rc : set_up(run, err);
	if (rc == 0) {
		rc = send_all(run, err);
	}
	if (rc == 0) {
		finish(run);
	} else {
		sl_ssd_curve_free(ret);
	}
	sl_ftl_free(run->ftl);
	free(run);
	return rc;
}

void sl_ssd_curve_free(struct sl_ssd_curve *curve)
{
	free(curve->samples);
	curve->samples = NULL;
	curve->iops.n = 0;
}
