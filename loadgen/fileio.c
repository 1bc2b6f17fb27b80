#include "loadgen/fileio.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loadgen/data.h"
#include "loadgen/fileio_path.h"
#include "loadgen/fileio_verify.h"
#include "loadgen/meter.h"
#include "loadgen/target.h"
#include "sim/base/clock.h"

#define BLOCK_MAX (1u << 20)
#define FILES_MAX 4096u
#define THREADS_MAX 1024u
#define STEP_TIMEOUT_NS 30000000000
#define NULL_CALLS 200u
#define NAME_BYTES 32

struct thread {
	struct sl_target_op op;
	struct run *run;
	struct sl_fileio_request request;
	int64_t start_ns;
	uint8_t *block; /* that it writes; a shared one of zeroes */
	bool expects;   /* its read must find what was written */
};

struct run {
	const struct sl_fileio_load *load;
	struct sl_target *target;
	struct nfsfh **files;
	struct sl_fileio source;
	struct sl_meter meter;
	struct thread *threads;
	struct sl_fileio_verify verify;
	struct sl_load_data data;
	uint64_t written; /* blocks */
	uint8_t *blocks;
	uint32_t slots; /* threads x depth */
	uint32_t in_flight;
	uint32_t next_sync; /* of the syncs at the end */
	bool ending;        /* no new requests */
	bool end_reached;   /* by the number of requests, not by time */
	int failed;
	enum sl_fileio_op failed_op;
	struct sl_err wrong; /* of a block that was verified */
};

static const enum sl_load_op load_ops[] = {
    [SL_FILEIO_READ] = SL_LOAD_READ, [SL_FILEIO_WRITE] = SL_LOAD_WRITE, [SL_FILEIO_FSYNC] = SL_LOAD_OTHER};

static void run_fail(struct run *run, enum sl_fileio_op op, int status)
{
	if (run->failed == 0) {
		run->failed = status < 0 ? status : -EIO;
		run->failed_op = op;
	}
	run->ending = true;
}

/* Starts the thread's request. false when it needs no call and is done already. */
static bool thread_issue(struct thread *thread)
{
	struct run *run = thread->run;
	const struct sl_fileio_request *request = &thread->request;
	struct nfsfh *fh = run->files[request->file];
	uint32_t bytes = run->load->source.block_bytes;
	int rc = 0;

	switch (request->op) {
	case SL_FILEIO_READ:
		thread->expects = sl_fileio_verify_expects(&run->verify, request);
		rc = sl_target_read(run->target, fh, request->offset_bytes, bytes, &thread->op);
		break;
	case SL_FILEIO_WRITE:
		sl_load_data_fill(&run->data, run->written++, thread->block);
		sl_fileio_verify_fill(&run->verify, request, thread->block);
		rc = sl_target_write(run->target, fh, request->offset_bytes, thread->block, bytes,
				     &thread->op);
		break;
	case SL_FILEIO_FSYNC:
		if (!run->load->unstable) {
			return false;
		}
		rc = sl_target_commit(run->target, fh, &thread->op);
		break;
	case SL_FILEIO_END:
		return false;
	}
	if (rc < 0) {
		run_fail(run, request->op, rc);
		return true;
	}
	run->in_flight++;
	return true;
}

/* Gives the thread its next request; it stops when there is none. */
static void thread_next(struct thread *thread, int64_t now_ns)
{
	struct run *run = thread->run;

	while (!run->ending) {
		sl_fileio_next(&run->source, &thread->request);
		thread->start_ns = now_ns;
		if (thread->request.op == SL_FILEIO_END) {
			run->ending = true;
			run->end_reached = true;
			return;
		}
		if (thread_issue(thread)) {
			return;
		}
		sl_meter_add(&run->meter, load_ops[thread->request.op], now_ns, now_ns, 0);
	}
}

static void thread_done(struct sl_target_op *op, int status, const void *data)
{
	struct thread *thread = (struct thread *)(void *)op;
	struct run *run = thread->run;
	bool sync = thread->request.op == SL_FILEIO_FSYNC;
	uint32_t bytes = sync ? 0 : run->load->source.block_bytes;
	int64_t now_ns = sl_clock_ns();

	run->in_flight--;
	if (status < 0 || (!sync && status != (int)bytes)) {
		run_fail(run, thread->request.op, status);
		return;
	}
	if (thread->request.op == SL_FILEIO_WRITE) {
		sl_fileio_verify_wrote(&run->verify, &thread->request);
	} else if (thread->request.op == SL_FILEIO_READ && thread->expects &&
		   sl_fileio_verify_check(&run->verify, &thread->request, data, &run->wrong) < 0) {
		run_fail(run, SL_FILEIO_READ, -EILSEQ);
		return;
	}
	sl_meter_add(&run->meter, load_ops[thread->request.op], thread->start_ns, now_ns, bytes);
	thread_next(thread, now_ns);
}

/* Serves until nothing is in flight, for a bounded time. */
static int run_drain(struct run *run, struct sl_err *err)
{
	int64_t now_ns = sl_clock_ns(), end_ns = now_ns + STEP_TIMEOUT_NS;
	int rc = 0;

	while (rc == 0 && run->in_flight > 0) {
		if (now_ns >= end_ns) {
			return sl_err_set(err, -ETIMEDOUT, "the last requests were not answered");
		}
		rc = sl_target_poll(run->target, end_ns - now_ns, err);
		now_ns = sl_clock_ns();
	}
	return rc;
}

/* One thread syncs file after file, as sysbench does. */
static void sync_done(struct sl_target_op *op, int status, const void *data)
{
	struct thread *thread = (struct thread *)(void *)op;
	struct run *run = thread->run;

	(void)data;
	run->in_flight--;
	if (status < 0) {
		run_fail(run, SL_FILEIO_FSYNC, status);
		return;
	}
	sl_meter_add(&run->meter, SL_LOAD_OTHER, thread->start_ns, sl_clock_ns(), 0);
	if (run->next_sync < run->load->source.files) {
		thread->request = (struct sl_fileio_request){.op = SL_FILEIO_FSYNC, .file = run->next_sync++};
		thread->start_ns = sl_clock_ns();
		(void)thread_issue(thread);
	}
}

static int sync_all(struct run *run, struct sl_err *err)
{
	int rc = 0;

	if (!run->load->fsync_end || !run->load->unstable || !run->source.dirty || run->failed) {
		return 0;
	}
	run->next_sync = 0;
	run->threads[0].op.done = sync_done;
	run->in_flight++;
	sync_done(&run->threads[0].op, 0, NULL);
	while (rc == 0 && run->in_flight > 0) {
		rc = run_drain(run, err);
	}
	return rc;
}

static int run_failed(const struct run *run, struct sl_err *err)
{
	static const char *const names[] = {
	    [SL_FILEIO_READ] = "read", [SL_FILEIO_WRITE] = "write", [SL_FILEIO_FSYNC] = "commit"};

	if (run->wrong.code) {
		*err = run->wrong;
		return err->code;
	}
	return sl_target_failed(run->target, names[run->failed_op], run->failed, err);
}

static int run_loop(struct run *run, struct sl_err *err)
{
	int64_t now_ns = sl_clock_ns();
	int rc = 0;

	for (uint32_t i = 0; i < run->slots; i++) {
		thread_next(&run->threads[i], now_ns);
	}
	while (rc == 0 && !run->ending) {
		rc = sl_target_poll(run->target, sl_meter_nap(&run->meter, now_ns), err);
		now_ns = sl_clock_ns();
		rc = rc ? rc : sl_meter_turn(&run->meter, now_ns, err);
	}
	run->ending = true;
	if (rc == 1 && !run->meter.result->interrupted) {
		sl_meter_stop(&run->meter, now_ns);
	}
	if (rc >= 0) {
		rc = run_drain(run, err);
		rc = rc ? rc : sync_all(run, err);
	}
	if (run->end_reached || run->meter.result->interrupted) {
		sl_meter_stop(&run->meter, sl_clock_ns());
	}
	return run->failed ? run_failed(run, err) : rc;
}

static void file_name(uint32_t file, char name[NAME_BYTES])
{
	(void)snprintf(name, NAME_BYTES, "/test_file.%u", file);
}

static int files_prepare(struct run *run, struct sl_err *err)
{
	char name[NAME_BYTES];
	int rc = 0;

	for (uint32_t i = 0; i < run->load->source.files && rc == 0; i++) {
		struct nfsfh *fh;

		file_name(i, name);
		rc = sl_target_open_file(run->target, name, O_RDWR | O_CREAT, &fh, err);
		if (rc == 0) {
			rc = sl_target_truncate(run->target, fh, run->load->source.file_bytes, err);
			rc = rc ? rc : sl_target_close_file(run->target, fh, err);
		}
	}
	return rc;
}

static int files_close(struct run *run, struct sl_err *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < run->load->source.files && rc == 0 && run->files[i]; i++) {
		rc = sl_target_close_file(run->target, run->files[i], err);
		run->files[i] = NULL;
	}
	return rc;
}

static int files_open(struct run *run, struct sl_err *err)
{
	struct sl_err ignored = {0};
	uint64_t bytes = 0;
	int rc = 0;

	for (uint32_t i = 0; i < run->load->source.files && rc == 0; i++) {
		char name[NAME_BYTES];

		file_name(i, name);
		rc = sl_target_open_file(run->target, name, O_RDWR | (run->load->unstable ? 0 : O_SYNC),
					 &run->files[i], err);
		rc = rc ? sl_err_wrap(err, "run \"prepare\" first") : 0;
		rc = rc ? rc : sl_target_size(run->target, run->files[i], &bytes, err);
		if (rc == 0 && bytes < run->load->source.file_bytes) {
			rc = sl_err_set(err, -EINVAL,
					"%s: smaller than %llu bytes; run \"prepare\" with these sizes",
					name + 1, (unsigned long long)run->load->source.file_bytes);
			(void)files_close(run, &ignored); /* the server answers: closing does not hang */
		}
	}
	return rc;
}

/* On a connection of its own: the one of the run may be stuck or broken. */
static int files_remove(const struct sl_fileio_load *load, struct sl_err *err)
{
	struct sl_target *target;
	int rc = sl_target_open(load->url, true, STEP_TIMEOUT_NS, &target, err);

	if (rc) {
		return rc;
	}
	for (uint32_t i = 0; i < load->source.files; i++) {
		struct sl_err one = {0};
		char name[NAME_BYTES];
		int gone;

		file_name(i, name);
		gone = sl_target_remove(target, name, &one);
		if (gone < 0 && gone != -ENOENT && rc == 0) {
			*err = one;
			rc = gone;
		}
	}
	sl_target_close(target);
	return rc;
}

static int config_check(const struct sl_fileio_load *load, struct sl_err *err)
{
	const struct sl_fileio_config *source = &load->source;

	if (source->block_bytes == 0 || source->block_bytes > BLOCK_MAX) {
		return sl_err_set(err, -EINVAL, "block size must be 1 B to 1 MiB");
	}
	if (source->files == 0 || source->files > FILES_MAX) {
		return sl_err_set(err, -EINVAL, "number of files must be 1 to %u", FILES_MAX);
	}
	if (source->file_bytes < source->block_bytes ||
	    source->file_bytes > (uint64_t)INT64_MAX / FILES_MAX) {
		return sl_err_set(err, -EINVAL, "total size must be at least one block per file");
	}
	if (load->threads == 0 || load->depth == 0 || (uint64_t)load->threads * load->depth > THREADS_MAX) {
		return sl_err_set(err, -EINVAL, "threads x depth must be 1 to %u", THREADS_MAX);
	}
	if (load->limits.time_ns <= 0 && source->max_requests == 0) {
		return sl_err_set(err, -EINVAL,
				  "nothing limits the load; give a time or a number of requests");
	}
	return 0;
}

/* Does each request have a block of its own? */
static bool own_blocks(const struct sl_fileio_load *load)
{
	return load->verify || load->data > 0;
}

static int stage_run(struct run *run, const struct sl_load_limits *limits, struct sl_load_result *ret,
		     struct sl_err *err)
{
	const struct sl_fileio_load *load = run->load;
	int rc = files_open(run, err);

	rc = rc ? rc
		: sl_target_null_ns(run->target, load->null_calls ? load->null_calls : NULL_CALLS,
				    &ret->null_ns, err);
	if (rc) {
		return rc;
	}
	rc = load->verify ? sl_fileio_verify_init(&run->verify, &load->source, load->seed, err) : 0;
	if (rc) {
		return rc;
	}
	sl_fileio_init(&run->source, &load->source, load->seed);
	for (uint32_t i = 0; i < run->slots; i++) {
		run->threads[i].op.done = thread_done;
		run->threads[i].run = run;
		run->threads[i].block =
		    run->blocks + (own_blocks(load) ? (size_t)i * load->source.block_bytes : 0);
	}
	rc = sl_meter_start(&run->meter, limits, ret, sl_clock_ns(), err);
	rc = rc ? rc : run_loop(run, err);
	return rc ? rc : files_close(run, err);
}

int sl_fileio_load_run(const struct sl_fileio_load *load, struct sl_load_result *ret, struct sl_err *err)
{
	struct sl_load_limits limits = load->limits;
	struct run run = {.load = load};
	int rc = config_check(load, err);

	if (rc) {
		return rc;
	}
	if (load->path) {
		return sl_fileio_path_run(load, ret, err);
	}
	/* The source counts requests itself; the meter wants some limit. */
	limits.max_requests = limits.time_ns > 0 ? 0 : UINT64_MAX;
	run.files = calloc(load->source.files, sizeof(struct nfsfh *));
	run.slots = load->threads * load->depth;
	assert(run.slots > 0); /* config_check */
	run.threads = calloc(run.slots, sizeof(*run.threads));
	run.blocks = calloc(own_blocks(load) ? run.slots : 1, load->source.block_bytes);
	if (!run.files || !run.threads || !run.blocks ||
	    sl_load_data_init(&run.data, load->verify ? 0 : load->data, load->source.block_bytes,
			      load->seed)) {
		rc = sl_err_set(err, -ENOMEM, "out of memory");
	}
	if (rc == 0 && (load->stages & (SL_LOAD_PREPARE | SL_LOAD_RUN))) {
		rc = sl_target_open(load->url, true, STEP_TIMEOUT_NS, &run.target, err);
	}
	if (rc == 0 && (load->stages & SL_LOAD_PREPARE)) {
		rc = files_prepare(&run, err);
	}
	if (rc == 0 && (load->stages & SL_LOAD_RUN)) {
		rc = stage_run(&run, &limits, ret, err);
	}
	sl_target_close(run.target);
	if ((load->stages & SL_LOAD_CLEANUP) && rc != -ECONNREFUSED) {
		struct sl_err late = {0};
		int gone = files_remove(load, &late);

		if (rc == 0 && gone < 0) {
			*err = late;
			rc = gone;
		}
	}
	sl_meter_fini(&run.meter);
	free(run.files);
	free(run.threads);
	free(run.blocks);
	sl_load_data_fini(&run.data);
	sl_fileio_verify_fini(&run.verify);
	return rc;
}
