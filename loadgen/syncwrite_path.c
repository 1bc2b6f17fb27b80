/* dd oflag=dsync, with as many threads as requests in flight. */
#include "loadgen/syncwrite_path.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loadgen/crew.h"
#include "loadgen/data.h"
#include "sim/base/rng.h"

#define ALIGNMENT 4096

struct run {
	const struct sl_syncwrite_config *config;
	int fd;
	struct sl_load_data data;
	pthread_mutex_t lock; /* of what follows */
	struct sl_rng rng;
	uint64_t blocks, next_block;
	uint64_t written;
};

struct worker {
	struct run *run;
	uint8_t *buf;
};

static int run_work(void *arg, struct sl_crew_turn *ret, struct sl_err *err)
{
	struct worker *worker = arg;
	struct run *run = worker->run;
	const struct sl_syncwrite_config *config = run->config;
	uint64_t block, number;
	ssize_t n;
	int rc = 0;

	(void)pthread_mutex_lock(&run->lock);
	block = config->random ? sl_rng_below(&run->rng, run->blocks) : run->next_block;
	run->next_block = block + 1 < run->blocks ? block + 1 : 0;
	number = run->written++;
	(void)pthread_mutex_unlock(&run->lock);
	sl_load_data_fill(&run->data, number, worker->buf);
	n = pwrite(run->fd, worker->buf, config->block_bytes, (off_t)(block * config->block_bytes));
	if (n < 0 || (size_t)n < config->block_bytes || (config->unstable && fdatasync(run->fd) < 0)) {
		rc = n < 0 || (size_t)n == config->block_bytes ? -errno : -ENOSPC;
		return sl_err_set(err, rc, "%.200s: write: %s", config->path, strerror(-rc));
	}
	ret->done.request = true;
	ret->done.ops[SL_LOAD_WRITE] = 1;
	ret->done.bytes[SL_LOAD_WRITE] = config->block_bytes;
	return 0;
}

/* A disk has its size from the start: no write extends the file. */
static int file_open(struct run *run, struct sl_err *err)
{
	const struct sl_syncwrite_config *config = run->config;
	int flags =
	    O_RDWR | O_CREAT | O_CLOEXEC | (config->unstable ? 0 : O_DSYNC) | (config->direct ? O_DIRECT : 0);
	off_t size;

	run->fd = open(config->path, flags, 0666);
	size = run->fd < 0 ? -1 : lseek(run->fd, 0, SEEK_END);
	if (size < 0 ||
	    ((uint64_t)size < config->file_bytes && ftruncate(run->fd, (off_t)config->file_bytes) < 0)) {
		return sl_err_set(err, -errno, "%.200s: %s", config->path, strerror(errno));
	}
	return 0;
}

static int run_crew(struct run *run, struct worker *workers, void **args, struct sl_load_result *ret,
		    struct sl_err *err)
{
	const struct sl_syncwrite_config *config = run->config;
	const struct sl_crew_config crew = {
	    .threads = config->depth, .workers = args, .work = run_work, .limits = config->limits};
	size_t room = ((size_t)config->block_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	int rc = 0;

	for (uint32_t i = 0; i < config->depth && rc == 0; i++) {
		workers[i].run = run;
		args[i] = &workers[i];
		workers[i].buf = aligned_alloc(ALIGNMENT, room);
		if (!workers[i].buf) {
			rc = sl_err_set(err, -ENOMEM, "out of memory");
			break;
		}
		memset(workers[i].buf, 0, room);
	}
	rc = rc ? rc : sl_crew_run(&crew, ret, err);
	for (uint32_t i = 0; i < config->depth; i++) {
		free(workers[i].buf);
	}
	return rc;
}

int sl_syncwrite_path_run(const struct sl_syncwrite_config *config, struct sl_load_result *ret,
			  struct sl_err *err)
{
	struct run run = {.config = config, .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER};
	struct worker *workers = calloc(config->depth, sizeof(*workers));
	void **args = calloc(config->depth, sizeof(*args));
	int rc;

	assert(config->block_bytes > 0); /* the caller checked */
	if (!args || !workers ||
	    sl_load_data_init(&run.data, config->data, config->block_bytes, config->seed)) {
		free(args);
		free(workers);
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	run.blocks = config->file_bytes / config->block_bytes;
	sl_rng_init(&run.rng, config->seed, "syncwrite");
	rc = file_open(&run, err);
	rc = rc ? rc : run_crew(&run, workers, args, ret, err);
	if (run.fd >= 0) {
		(void)close(run.fd);
	}
	sl_load_data_fini(&run.data);
	free(args);
	free(workers);
	return rc;
}
