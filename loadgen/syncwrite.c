#include "loadgen/syncwrite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "loadgen/data.h"
#include "loadgen/meter.h"
#include "loadgen/syncwrite_path.h"
#include "loadgen/target.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"

#define BLOCK_MAX (1u << 20)
#define DEPTH_MAX 1024u
#define STEP_TIMEOUT_NS 30000000000
#define NULL_CALLS 200u

/* One request in flight. */
struct slot {
	struct sl_target_op op;
	struct load *load;
	int64_t start_ns;
	uint8_t *block; /* that it writes; a shared one of zeroes */
	bool committing;
};

struct load {
	const struct sl_syncwrite_config *config;
	struct sl_target *target;
	struct nfsfh *fh;
	struct sl_meter meter;
	struct sl_rng rng;
	struct slot *slots;
	struct sl_load_data data;
	uint8_t *buffers;
	uint64_t blocks, next_block;
	uint64_t started;
	uint32_t in_flight;
	bool ending;
	int failed; /* status of the first request that failed */
	const char *failed_what;
};

static void slot_fail(struct load *load, const char *what, int status)
{
	if (load->failed == 0) {
		load->failed = status < 0 ? status : -EIO;
		load->failed_what = what;
	}
	load->ending = true;
	load->in_flight--;
}

static void slot_start(struct slot *slot, int64_t now_ns)
{
	struct load *load = slot->load;
	const struct sl_syncwrite_config *config = load->config;
	uint64_t block = config->random ? sl_rng_below(&load->rng, load->blocks) : load->next_block;

	load->next_block = block + 1 < load->blocks ? block + 1 : 0;
	slot->start_ns = now_ns;
	slot->committing = false;
	load->in_flight++;
	sl_load_data_fill(&load->data, load->started++, slot->block);
	if (sl_target_write(load->target, load->fh, block * config->block_bytes, slot->block,
			    config->block_bytes, &slot->op) < 0) {
		slot_fail(load, "write", -ENOMEM);
	}
}

static void slot_done(struct sl_target_op *op, int status, const void *data)
{
	struct slot *slot = (struct slot *)(void *)op;
	struct load *load = slot->load;
	const struct sl_syncwrite_config *config = load->config;
	int64_t now_ns;

	(void)data;
	if (status < 0 || (!slot->committing && status != (int)config->block_bytes)) {
		slot_fail(load, slot->committing ? "commit" : "write", status);
		return;
	}
	if (config->unstable && !slot->committing) {
		slot->committing = true;
		if (sl_target_commit(load->target, load->fh, &slot->op) < 0) {
			slot_fail(load, "commit", -ENOMEM);
		}
		return;
	}
	now_ns = sl_clock_ns();
	sl_meter_add(&load->meter, SL_LOAD_WRITE, slot->start_ns, now_ns, config->block_bytes);
	load->in_flight--;
	if (!load->ending) {
		uint64_t max = config->limits.max_requests;

		/* The measured ones plus those in flight must not exceed the limit. */
		if (max == 0 || load->meter.result->requests + load->in_flight < max) {
			slot_start(slot, now_ns);
		}
	}
}

/* Runs until a limit is reached, then lets what is in flight finish. */
static int load_loop(struct load *load, struct sl_err *err)
{
	int64_t now_ns = sl_clock_ns(), end_ns;
	int rc;

	for (uint32_t i = 0; i < load->config->depth; i++) {
		slot_start(&load->slots[i], now_ns);
	}
	do {
		rc = sl_target_poll(load->target, sl_meter_nap(&load->meter, now_ns), err);
		now_ns = sl_clock_ns();
		rc = rc ? rc : sl_meter_turn(&load->meter, now_ns, err);
	} while (rc == 0 && !load->ending);
	load->ending = true;
	sl_meter_stop(&load->meter, now_ns);
	end_ns = now_ns + STEP_TIMEOUT_NS;
	while (rc >= 0 && load->in_flight > 0 && now_ns < end_ns && !load->meter.result->interrupted) {
		rc = sl_target_poll(load->target, end_ns - now_ns, err);
		now_ns = sl_clock_ns();
	}
	if (load->failed) {
		return sl_target_failed(load->target, load->failed_what, load->failed, err);
	}
	return rc < 0 ? rc : 0;
}

static int config_check(const struct sl_syncwrite_config *config, struct sl_err *err)
{
	if (config->block_bytes == 0 || config->block_bytes > BLOCK_MAX) {
		return sl_err_set(err, -EINVAL, "block size must be 1 B to 1 MiB");
	}
	if (config->file_bytes < config->block_bytes || config->file_bytes > INT64_MAX) {
		return sl_err_set(err, -EINVAL, "file size must be at least one block");
	}
	if (config->depth == 0 || config->depth > DEPTH_MAX) {
		return sl_err_set(err, -EINVAL, "depth must be 1 to %u", DEPTH_MAX);
	}
	return 0;
}

static int load_open(struct load *load, struct sl_err *err)
{
	const struct sl_syncwrite_config *config = load->config;
	int flags = O_RDWR | O_CREAT | (config->unstable ? 0 : O_SYNC);
	uint64_t size = 0;
	int rc = sl_target_open(config->url, false, STEP_TIMEOUT_NS, &load->target, err);

	if (rc) {
		return rc;
	}
	rc = sl_target_null_ns(load->target, config->null_calls ? config->null_calls : NULL_CALLS,
			       &load->meter.result->null_ns, err);
	rc = rc ? rc : sl_target_open_file(load->target, sl_target_file(load->target), flags, &load->fh, err);
	rc = rc ? rc : sl_target_size(load->target, load->fh, &size, err);
	/* A hypervisor's disk has its size from the start: no write extends the file. */
	if (rc == 0 && size < config->file_bytes) {
		rc = sl_target_truncate(load->target, load->fh, config->file_bytes, err);
	}
	return rc;
}

static int load_alloc(struct load *load, struct sl_err *err)
{
	const struct sl_syncwrite_config *config = load->config;

	load->slots = calloc(config->depth, sizeof(*load->slots));
	load->buffers = calloc(config->data > 0 ? config->depth : 1, config->block_bytes);
	if (!load->slots || !load->buffers ||
	    sl_load_data_init(&load->data, config->data, config->block_bytes, config->seed)) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	load->blocks = config->file_bytes / config->block_bytes;
	sl_rng_init(&load->rng, config->seed, "syncwrite");
	for (uint32_t i = 0; i < config->depth; i++) {
		load->slots[i].op.done = slot_done;
		load->slots[i].load = load;
		load->slots[i].block =
		    load->buffers + (config->data > 0 ? (size_t)i * config->block_bytes : 0);
	}
	return 0;
}

int sl_syncwrite_run(const struct sl_syncwrite_config *config, struct sl_load_result *ret, struct sl_err *err)
{
	struct load load = {.config = config, .meter = {.result = ret}};
	int rc = config_check(config, err);

	if (rc) {
		return rc;
	}
	if (config->path) {
		return sl_syncwrite_path_run(config, ret, err);
	}
	rc = load_alloc(&load, err);
	rc = rc ? rc : load_open(&load, err);
	rc = rc ? rc : sl_meter_start(&load.meter, &config->limits, ret, sl_clock_ns(), err);
	rc = rc ? rc : load_loop(&load, err);
	if (rc == 0 && load.in_flight == 0) {
		rc = sl_target_close_file(load.target, load.fh, err);
	}
	sl_target_close(load.target);
	sl_meter_fini(&load.meter);
	free(load.slots);
	free(load.buffers);
	sl_load_data_fini(&load.data);
	return rc;
}
