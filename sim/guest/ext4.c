#include "sim/guest/ext4.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "sim/guest/extents.h"

#define PAGE 4096
#define INODES_PER_BLOCK 16 /* 256-byte inodes in 4 KiB blocks of the inode table */
#define JOURNAL_BYTES (INT64_C(128) << 20)
#define FILES_START (INT64_C(256) << 20)

struct sl_ext4_file {
	int64_t base;
	struct sl_extents dirty;
	int64_t hot_bytes; /* so much of its start is used all the time */
	bool zero;         /* all dirty data is zero bytes */
	uint64_t tid;
	int64_t mtime_tick;
	/* Writeback: what went to the disk and nobody has been told yet that it is durable. */
	struct batch *batches, **batches_end;
	uint64_t n_batches;                       /* so far: the number of the latest */
	struct sl_ext4_fsync *syncs, **syncs_end; /* wait for batches to be written */
};

/* Data of one file that went to the disk together. */
struct batch {
	void *pool_link;
	struct sl_ext4_file *file;
	struct batch *next;
	uint64_t number;
	uint32_t waiting; /* writes outstanding */
	uint32_t group;   /* of its writes, in the ledger */
};

struct ext4_io {
	void *pool_link;
	struct sl_ext4 *fs;
	struct batch *batch;
	struct sl_hyp_req req;
};

enum {
	JOURNAL_METADATA,
	JOURNAL_PREFLUSH,
	JOURNAL_RECORD,
	JOURNAL_POSTFLUSH
};

static void commit_running(struct sl_ext4 *fs, int64_t now_ns, uint64_t tag);
static void journal_next(struct sl_ext4 *fs, int64_t now_ns);

/* The file's data is durable up to this batch: also what another fsync, or nobody yet, had it written for. */
static void promise_batches(struct sl_ext4 *fs, int64_t now_ns, struct sl_ext4_file *file, uint64_t number)
{
	while (file->batches && file->batches->number <= number) {
		struct batch *batch = file->batches;

		assert(batch->waiting == 0);
		file->batches = batch->next;
		sl_ledger_promise(fs->config.disk->ledger, now_ns, batch->group);
		sl_slab_put(&fs->batches, batch);
	}
	if (!file->batches) {
		file->batches_end = &file->batches;
	}
}

static void fsync_finish(struct sl_ext4_fsync *req, int64_t now_ns)
{
	struct sl_ext4 *fs = req->fs;

	promise_batches(fs, now_ns, &fs->files[req->file], req->batch);
	if (fs->config.trace) {
		sl_trace_span(fs->config.trace, "ext4", "fsync", req->tag, req->start_ns, now_ns);
	}
	sl_timer_fire(&req->done, now_ns);
}

static void flush_done(struct sl_timer *timer, int64_t now_ns)
{
	fsync_finish(sl_container_of(timer, struct sl_ext4_fsync, flush.done), now_ns);
}

/* All that the fsync waited for is written. Does the disk's cache still need a flush of its own? */
static void all_written(struct sl_ext4_fsync *req, int64_t now_ns)
{
	if (req->barrier) {
		req->flush =
		    (struct sl_hyp_req){.done.fire = flush_done, .op = SL_HYP_FLUSH, .tag = req->tag};
		sl_hyp_submit(req->fs->config.disk, now_ns, &req->flush);
	} else {
		fsync_finish(req, now_ns);
	}
}

/* jbd2 */

/*
 * Will the commit of transaction `tid` still flush the disk, so that data written by now is covered
 * (jbd2_trans_will_send_data_barrier)? Of a commit in progress not once its flush has begun: what is in the
 * disk's cache later than that stays there when the commit returns.
 */
static bool sends_barrier(const struct sl_ext4 *fs, uint64_t tid)
{
	if (tid <= fs->committed) {
		return false;
	}
	return tid == fs->running || fs->journal_step < JOURNAL_PREFLUSH;
}

static void journal_finish(struct sl_ext4 *fs, int64_t now_ns)
{
	struct sl_ext4_fsync **at = &fs->waiters, *ready = NULL, **tail = &ready;

	fs->committing = false;
	fs->committed = fs->running - 1;
	fs->commits++;
	if (fs->config.trace) {
		sl_trace_span(fs->config.trace, "jbd2", "commit", fs->journal_tag, fs->journal_start_ns,
			      now_ns);
	}
	while (*at) {
		struct sl_ext4_fsync *req = *at;

		if (req->tid <= fs->committed) {
			*at = req->next;
			*tail = req;
			tail = &req->next;
		} else {
			at = &req->next;
		}
	}
	*tail = NULL;
	if (ready) {
		sl_ledger_promise(fs->config.disk->ledger, now_ns, fs->journal.group);
	}
	if (fs->commit_wanted) {
		commit_running(fs, now_ns, fs->waiters ? fs->waiters->tag : 0);
	}
	while (ready) {
		struct sl_ext4_fsync *req = ready;

		ready = req->next;
		all_written(req, now_ns);
	}
}

static void journal_io_done(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_ext4 *fs = sl_container_of(timer, struct sl_ext4, journal.done);
	bool flushes = sl_hyp_has_flush(fs->config.disk);

	if (fs->journal_step == JOURNAL_POSTFLUSH || (fs->journal_step == JOURNAL_RECORD && !flushes)) {
		journal_finish(fs, now_ns);
		return;
	}
	fs->journal_step++;
	if (fs->journal_step == JOURNAL_PREFLUSH && !flushes) {
		fs->journal_step++;
	}
	journal_next(fs, now_ns);
}

static void journal_submit(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_ext4 *fs = sl_container_of(timer, struct sl_ext4, journal_job.done);

	sl_hyp_submit(fs->config.disk, now_ns, &fs->journal);
}

/* Issues the request of the present step, after its share of CPU. */
static void journal_next(struct sl_ext4 *fs, int64_t now_ns)
{
	struct sl_hyp_req *req = &fs->journal;
	bool flush = fs->journal_step == JOURNAL_PREFLUSH || fs->journal_step == JOURNAL_POSTFLUSH;

	req->done.fire = journal_io_done;
	req->op = flush ? SL_HYP_FLUSH : SL_HYP_WRITE;
	req->zero = false;
	req->hot = true;
	req->tag = fs->journal_tag;
	if (!flush) {
		if (fs->journal_step == JOURNAL_RECORD) {
			req->bytes = PAGE;
		}
		if (fs->journal_at + req->bytes > JOURNAL_BYTES) {
			fs->journal_at = 0;
		}
		req->offset_bytes = fs->journal_at;
		fs->journal_at += req->bytes;
	}
	fs->journal_job.done.fire = journal_submit;
	sl_cpu_run(fs->config.cpu, now_ns, &fs->journal_job, fs->config.block_cpu_ns);
}

static void commit_running(struct sl_ext4 *fs, int64_t now_ns, uint64_t tag)
{
	uint32_t blocks = 1 + fs->running_blocks; /* descriptor and metadata */
	uint32_t max_bytes = fs->config.disk->max_io_bytes;

	fs->commit_wanted = false;
	fs->committing = true;
	fs->running++;
	fs->running_blocks = 0;
	fs->journal_step = JOURNAL_METADATA;
	fs->journal.bytes = blocks * PAGE < max_bytes ? blocks * PAGE : max_bytes;
	fs->journal.group = sl_ledger_group(fs->config.disk->ledger);
	fs->journal_tag = tag;
	fs->journal_start_ns = now_ns;
	journal_next(fs, now_ns);
}

static void wait_for_journal(struct sl_ext4_fsync *req, int64_t now_ns)
{
	struct sl_ext4 *fs = req->fs;
	struct sl_ext4_fsync **tail = &fs->waiters;

	while (*tail) {
		tail = &(*tail)->next;
	}
	req->next = NULL;
	*tail = req;
	if (req->tid < fs->running) {
		return; /* the commit in progress is ours */
	}
	if (fs->committing) {
		fs->commit_wanted = true;
	} else {
		commit_running(fs, now_ns, req->tag);
	}
}

/* fsync */

/* The data is written: now the journal, or only a flush (ext4_sync_file). */
static void data_written(struct sl_ext4_fsync *req, int64_t now_ns)
{
	struct sl_ext4 *fs = req->fs;

	req->tid = req->datasync ? 0 : fs->files[req->file].tid;
	req->barrier = sl_hyp_has_flush(fs->config.disk) && !sends_barrier(fs, req->tid);
	if (req->tid > fs->committed) {
		wait_for_journal(req, now_ns);
	} else {
		all_written(req, now_ns);
	}
}

/* Is the file's data on the disk up to this batch? */
static bool is_written(const struct sl_ext4_file *file, uint64_t number)
{
	for (const struct batch *batch = file->batches; batch && batch->number <= number;
	     batch = batch->next) {
		if (batch->waiting > 0) {
			return false;
		}
	}
	return true;
}

static void write_done(struct sl_timer *timer, int64_t now_ns)
{
	struct ext4_io *io = sl_container_of(timer, struct ext4_io, req.done);
	struct batch *batch = io->batch;
	struct sl_ext4_file *file = batch->file;

	sl_slab_put(&io->fs->ios, io);
	batch->waiting--;
	if (batch->waiting > 0) {
		return;
	}
	while (file->syncs && is_written(file, file->syncs->batch)) {
		struct sl_ext4_fsync *req = file->syncs;

		file->syncs = req->next;
		file->syncs_end = req->next ? file->syncs_end : &file->syncs;
		data_written(req, now_ns);
	}
}

static void submit_extent(struct sl_ext4 *fs, int64_t now_ns, struct batch *batch, struct sl_extent extent,
			  uint64_t tag)
{
	uint32_t max_bytes = fs->config.disk->max_io_bytes;

	while (extent.start < extent.end) {
		struct ext4_io *io = sl_slab_get(&fs->ios);
		int64_t left = extent.end - extent.start;
		uint32_t bytes = left < max_bytes ? (uint32_t)left : max_bytes;

		io->fs = fs;
		io->batch = batch;
		io->req = (struct sl_hyp_req){
		    .done.fire = write_done,
		    .op = SL_HYP_WRITE,
		    .zero = batch->file->zero,
		    .hot = extent.start < batch->file->hot_bytes,
		    .bytes = bytes,
		    .offset_bytes = batch->file->base + extent.start,
		    .tag = tag,
		    .group = batch->group,
		};
		batch->waiting++;
		sl_hyp_submit(fs->config.disk, now_ns, &io->req);
		extent.start += bytes;
	}
}

/* Sends all dirty data of the file to the disk, in its order. */
static void write_back(struct sl_ext4 *fs, int64_t now_ns, struct sl_ext4_file *file, uint64_t tag)
{
	struct batch *batch = sl_slab_get(&fs->batches);
	struct sl_extent extent;

	*batch = (struct batch){
	    .file = file, .number = ++file->n_batches, .group = sl_ledger_group(fs->config.disk->ledger)};
	*file->batches_end = batch;
	file->batches_end = &batch->next;
	while (sl_extents_find(&file->dirty, 0, &extent)) {
		sl_extents_remove(&file->dirty, extent.start, extent.end);
		submit_extent(fs, now_ns, batch, extent, tag);
	}
}

/* Writes what is dirty and waits for all that is on its way, whoever sent it (file_write_and_wait_range). */
static void write_dirty(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_ext4_fsync *req = sl_container_of(timer, struct sl_ext4_fsync, job.done);
	struct sl_ext4_file *file = &req->fs->files[req->file];

	if (file->dirty.count > 0) {
		write_back(req->fs, now_ns, file, req->tag);
	}
	req->batch = file->n_batches;
	if (is_written(file, req->batch)) {
		data_written(req, now_ns);
	} else {
		req->next = NULL;
		*file->syncs_end = req;
		file->syncs_end = &req->next;
	}
}

void sl_ext4_fsync(struct sl_ext4 *fs, int64_t now_ns, struct sl_ext4_fsync *req)
{
	struct sl_ext4_file *file = &fs->files[req->file];
	int64_t requests = file->dirty.count > 0 ? file->dirty.count : 1;

	req->fs = fs;
	req->start_ns = now_ns;
	req->job.done.fire = write_dirty;
	sl_cpu_run(fs->config.cpu, now_ns, &req->job, requests * fs->config.block_cpu_ns);
}

/* Files */

int64_t sl_ext4_write(struct sl_ext4 *fs, int64_t now_ns, uint32_t file_index, int64_t offset, uint32_t bytes,
		      bool zero)
{
	struct sl_ext4_file *file = &fs->files[file_index];
	int64_t start = offset / PAGE * PAGE, end = (offset + bytes + PAGE - 1) / PAGE * PAGE;
	int64_t tick = now_ns / fs->config.tick_ns, new_bytes;
	uint32_t table = file_index / INODES_PER_BLOCK;

	file->zero = zero && (file->dirty.count == 0 || file->zero);
	new_bytes = sl_extents_add(&file->dirty, start, end);
	if (tick == file->mtime_tick) {
		return new_bytes;
	}
	file->mtime_tick = tick;
	file->tid = fs->running;
	if (fs->table_tid[table] != fs->running) {
		fs->table_tid[table] = fs->running;
		fs->running_blocks++;
	}
	return new_bytes;
}

void sl_ext4_set_hot(struct sl_ext4 *fs, uint32_t file, int64_t bytes)
{
	fs->files[file].hot_bytes = bytes;
}

bool sl_ext4_is_clean(const struct sl_ext4 *fs, uint32_t file)
{
	const struct sl_ext4_file *f = &fs->files[file];

	return f->dirty.count == 0 && is_written(f, f->n_batches) && f->tid <= fs->committed &&
	       !sl_hyp_has_flush(fs->config.disk);
}

int64_t sl_ext4_position(const struct sl_ext4 *fs, uint32_t file, int64_t offset)
{
	return fs->files[file].base + offset;
}

int sl_ext4_init(struct sl_ext4 *fs, const struct sl_ext4_config *config, uint32_t n_files,
		 int64_t file_bytes)
{
	*fs = (struct sl_ext4){.config = *config, .n_files = n_files, .running = 1, .next_base = FILES_START};
	sl_slab_init(&fs->ios, sizeof(struct ext4_io));
	sl_slab_init(&fs->batches, sizeof(struct batch));
	fs->files = calloc(n_files, sizeof(*fs->files));
	fs->table_tid = calloc(n_files / INODES_PER_BLOCK + 1, sizeof(*fs->table_tid));
	if (!fs->files || !fs->table_tid) {
		sl_ext4_fini(fs);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n_files; i++) {
		fs->files[i].base = fs->next_base;
		fs->files[i].mtime_tick = -1;
		fs->files[i].batches_end = &fs->files[i].batches;
		fs->files[i].syncs_end = &fs->files[i].syncs;
		fs->next_base += (file_bytes + PAGE - 1) / PAGE * PAGE;
	}
	return 0;
}

void sl_ext4_fini(struct sl_ext4 *fs)
{
	for (uint32_t i = 0; fs->files && i < fs->n_files; i++) {
		sl_extents_fini(&fs->files[i].dirty);
	}
	free(fs->files);
	free(fs->table_tid);
	sl_slab_fini(&fs->ios);
	sl_slab_fini(&fs->batches);
	fs->files = NULL;
	fs->table_tid = NULL;
}
