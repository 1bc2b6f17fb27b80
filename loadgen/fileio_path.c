#include "loadgen/fileio_path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "loadgen/crew.h"
#include "loadgen/data.h"
#include "loadgen/fileio_verify.h"

#define ALIGNMENT 4096 /* of buffers; enough for O_DIRECT on every disk */
#define FILL_BYTES (1u << 20)

struct run {
	const struct sl_fileio_load *load;
	int *fds;
	pthread_mutex_t lock; /* of source and verify */
	struct sl_fileio source;
	struct sl_fileio_verify verify;
	struct sl_load_data data;
	uint64_t written; /* blocks */
};

struct worker {
	struct run *run;
	uint8_t *buf;
};

static int file_failed(const struct sl_fileio_load *load, uint32_t file, const char *what, int rc,
		       struct sl_err *err)
{
	return sl_err_set(err, rc, "%.200s/test_file.%u: %s: %s", load->path, file, what, strerror(-rc));
}

static int file_open(const struct sl_fileio_load *load, uint32_t file, int flags, int *ret,
		     struct sl_err *err)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/test_file.%u", load->path, file);
	*ret = open(path, flags | O_CLOEXEC, 0666);
	return *ret < 0 ? file_failed(load, file, "open", -errno, err) : 0;
}

/* Written in full, as sysbench does: holes would cost no disk. */
static int file_fill(const struct sl_fileio_load *load, uint32_t file, const struct sl_load_data *data,
		     uint8_t *buf, struct sl_err *err)
{
	uint64_t at = 0, size = load->source.file_bytes;
	int fd, rc = file_open(load, file, O_WRONLY | O_CREAT, &fd, err);

	while (rc == 0 && at < size && !(load->limits.stopped && load->limits.stopped())) {
		ssize_t n;

		/* Numbers that no block of the run has. */
		sl_load_data_fill(data, UINT64_MAX - (file * (size / FILL_BYTES + 1) + at / FILL_BYTES), buf);
		n = pwrite(fd, buf, size - at < FILL_BYTES ? size - at : FILL_BYTES, (off_t)at);
		if (n <= 0) {
			rc = file_failed(load, file, "write", n < 0 ? -errno : -ENOSPC, err);
		}
		at += n > 0 ? (uint64_t)n : 0;
	}
	if (rc == 0 && fsync(fd) < 0) {
		rc = file_failed(load, file, "fsync", -errno, err);
	}
	if (fd >= 0) {
		(void)close(fd);
	}
	return rc;
}

static int stage_prepare(const struct sl_fileio_load *load, struct sl_err *err)
{
	uint8_t *buf = calloc(1, FILL_BYTES);
	struct sl_load_data data = {0};
	int rc = 0;

	if (!buf || sl_load_data_init(&data, load->data, FILL_BYTES, load->seed)) {
		rc = sl_err_set(err, -ENOMEM, "out of memory");
	}
	for (uint32_t i = 0; i < load->source.files && rc == 0; i++) {
		rc = file_fill(load, i, &data, buf, err);
	}
	sl_load_data_fini(&data);
	free(buf);
	return rc;
}

static int stage_cleanup(const struct sl_fileio_load *load, struct sl_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < load->source.files; i++) {
		char path[PATH_MAX];

		(void)snprintf(path, sizeof(path), "%s/test_file.%u", load->path, i);
		if (unlink(path) < 0 && errno != ENOENT && rc == 0) {
			rc = file_failed(load, i, "remove", -errno, err);
		}
	}
	return rc;
}

/* The system call of a request. */
static int request_do(struct worker *worker, const struct sl_fileio_request *request, uint64_t number,
		      struct sl_err *err)
{
	const struct sl_fileio_load *load = worker->run->load;
	uint32_t bytes = load->source.block_bytes;
	int fd = worker->run->fds[request->file];
	ssize_t n;

	switch (request->op) {
	case SL_FILEIO_READ:
		n = pread(fd, worker->buf, bytes, (off_t)request->offset_bytes);
		break;
	case SL_FILEIO_WRITE:
		sl_load_data_fill(&worker->run->data, number, worker->buf);
		sl_fileio_verify_fill(&worker->run->verify, request, worker->buf);
		n = pwrite(fd, worker->buf, bytes, (off_t)request->offset_bytes);
		break;
	case SL_FILEIO_FSYNC:
	case SL_FILEIO_END:
	default:
		/* Nothing is unstable with O_DSYNC. */
		return load->unstable && fsync(fd) < 0
			   ? file_failed(load, request->file, "fsync", -errno, err)
			   : 0;
	}
	if (n < 0 || (size_t)n < bytes) {
		return file_failed(load, request->file, request->op == SL_FILEIO_READ ? "read" : "write",
				   n < 0 ? -errno : -EIO, err);
	}
	return 0;
}

static int worker_work(void *arg, struct sl_crew_turn *ret, struct sl_err *err)
{
	static const enum sl_load_op ops[] = {[SL_FILEIO_READ] = SL_LOAD_READ,
					      [SL_FILEIO_WRITE] = SL_LOAD_WRITE,
					      [SL_FILEIO_FSYNC] = SL_LOAD_OTHER};
	struct worker *worker = arg;
	struct run *run = worker->run;
	struct sl_fileio_request request;
	uint64_t number;
	bool expects;
	int rc;

	(void)pthread_mutex_lock(&run->lock);
	sl_fileio_next(&run->source, &request);
	expects = sl_fileio_verify_expects(&run->verify, &request);
	number = run->written++;
	(void)pthread_mutex_unlock(&run->lock);
	if (request.op == SL_FILEIO_END) {
		ret->end = true;
		return 0;
	}
	rc = request_do(worker, &request, number, err);
	if (rc == 0 && expects) {
		rc = sl_fileio_verify_check(&run->verify, &request, worker->buf, err);
	}
	if (rc == 0 && request.op == SL_FILEIO_WRITE) {
		(void)pthread_mutex_lock(&run->lock);
		sl_fileio_verify_wrote(&run->verify, &request);
		(void)pthread_mutex_unlock(&run->lock);
	}
	ret->done.request = request.op != SL_FILEIO_FSYNC;
	ret->done.ops[ops[request.op]] = 1;
	ret->done.bytes[ops[request.op]] = ret->done.request ? run->load->source.block_bytes : 0;
	return rc;
}

static int files_open(struct run *run, struct sl_err *err)
{
	const struct sl_fileio_load *load = run->load;
	int flags = O_RDWR | (load->unstable ? 0 : O_DSYNC) | (load->direct ? O_DIRECT : 0);
	struct stat st;
	int rc = 0;

	for (uint32_t i = 0; i < load->source.files && rc == 0; i++) {
		rc = file_open(load, i, flags, &run->fds[i], err);
		rc = rc ? sl_err_wrap(err, "run \"prepare\" first") : 0;
		if (rc == 0 &&
		    (fstat(run->fds[i], &st) < 0 || (uint64_t)st.st_size < load->source.file_bytes)) {
			rc = sl_err_set(
			    err, -EINVAL,
			    "test_file.%u: smaller than %llu bytes; run \"prepare\" with these sizes", i,
			    (unsigned long long)load->source.file_bytes);
		}
	}
	return rc;
}

/* Syncs all files at the end, as sysbench does. */
static int sync_all(struct run *run, struct sl_load_result *ret, struct sl_err *err)
{
	const struct sl_fileio_load *load = run->load;
	int rc = 0;

	for (uint32_t i = 0;
	     load->fsync_end && load->unstable && run->source.dirty && i < load->source.files && rc == 0;
	     i++) {
		rc = fsync(run->fds[i]) < 0 ? file_failed(load, i, "fsync", -errno, err) : 0;
		ret->ops[SL_LOAD_OTHER] += rc == 0;
	}
	return rc;
}

static int workers_run(struct run *run, struct worker *workers, void **args, uint32_t count,
		       struct sl_load_result *ret, struct sl_err *err)
{
	const struct sl_fileio_load *load = run->load;
	struct sl_crew_config crew = {
	    .threads = count, .workers = args, .work = worker_work, .limits = load->limits};
	size_t room = ((size_t)load->source.block_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	int rc = 0;

	/* The source counts requests itself; the meter wants some limit. */
	crew.limits.max_requests = load->limits.time_ns > 0 ? 0 : UINT64_MAX;
	for (uint32_t i = 0; i < count && rc == 0; i++) {
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
	rc = rc ? rc : sync_all(run, ret, err);
	for (uint32_t i = 0; i < count; i++) {
		free(workers[i].buf);
	}
	return rc;
}

static int stage_run(const struct sl_fileio_load *load, struct sl_load_result *ret, struct sl_err *err)
{
	struct run run = {.load = load, .lock = PTHREAD_MUTEX_INITIALIZER};
	uint32_t count = load->threads * load->depth;
	struct worker *workers = calloc(count, sizeof(*workers));
	void **args = calloc(count, sizeof(*args));
	int rc = 0;

	run.fds = malloc(load->source.files * sizeof(*run.fds));
	if (!workers || !args || !run.fds) {
		rc = sl_err_set(err, -ENOMEM, "out of memory");
	} else {
		memset(run.fds, 0xff, load->source.files * sizeof(*run.fds)); /* -1 = closed */
		sl_fileio_init(&run.source, &load->source, load->seed);
		rc = load->verify ? sl_fileio_verify_init(&run.verify, &load->source, load->seed, err) : 0;
		if (rc == 0 && sl_load_data_init(&run.data, load->verify ? 0 : load->data,
						 load->source.block_bytes, load->seed)) {
			rc = sl_err_set(err, -ENOMEM, "out of memory");
		}
		rc = rc ? rc : files_open(&run, err);
		rc = rc ? rc : workers_run(&run, workers, args, count, ret, err);
		for (uint32_t i = 0; i < load->source.files; i++) {
			if (run.fds[i] >= 0) {
				(void)close(run.fds[i]);
			}
		}
		sl_load_data_fini(&run.data);
		sl_fileio_verify_fini(&run.verify);
	}
	free(workers);
	free(args);
	free(run.fds);
	return rc;
}

int sl_fileio_path_run(const struct sl_fileio_load *load, struct sl_load_result *ret, struct sl_err *err)
{
	int rc = 0;

	if (load->stages & SL_LOAD_PREPARE) {
		rc = stage_prepare(load, err);
	}
	if (rc == 0 && (load->stages & SL_LOAD_RUN)) {
		rc = stage_run(load, ret, err);
	}
	if (load->stages & SL_LOAD_CLEANUP) {
		struct sl_err late = {0};
		int gone = stage_cleanup(load, &late);

		if (rc == 0 && gone < 0) {
			*err = late;
			rc = gone;
		}
	}
	return rc;
}
