#include "sim/guest/ext4.h"

#include <errno.h>
#include <stdlib.h>

#define INODES_PER_BLOCK 16 /* 256-byte inodes in 4 KiB blocks of the inode table */
#define JOURNAL_BYTES (INT64_C(128) << 20)
#define FILES_START (INT64_C(256) << 20)

struct sl_ext4_file {
	uint64_t tid; /* transaction that has its inode */
	int64_t mtime_tick;
};

enum {
	JOURNAL_METADATA,
	JOURNAL_PREFLUSH,
	JOURNAL_RECORD,
	JOURNAL_POSTFLUSH
};

static void commit_running(struct sl_ext4 *fs, int64_t now_ns, uint64_t tag);
static void journal_next(struct sl_ext4 *fs, int64_t now_ns);

static void fsync_finish(struct sl_ext4_fsync *req, int64_t now_ns)
{
	struct sl_ext4 *fs = req->fs;

	sl_page_cache_promise(&fs->cache, now_ns, req->file, &req->data);
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
		sl_trace_thread(fs->config.trace, "jbd2", "commit", fs->journal_tag, fs->journal_start_ns,
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
			req->bytes = SL_PAGE;
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
	fs->journal.bytes = blocks * SL_PAGE < max_bytes ? blocks * SL_PAGE : max_bytes;
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
static void data_written(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_ext4_fsync *req = sl_container_of(timer, struct sl_ext4_fsync, data.done);
	struct sl_ext4 *fs = req->fs;

	req->tid = req->datasync ? 0 : fs->files[req->file].tid;
	req->barrier = sl_hyp_has_flush(fs->config.disk) && !sends_barrier(fs, req->tid);
	if (req->tid > fs->committed) {
		wait_for_journal(req, now_ns);
	} else {
		all_written(req, now_ns);
	}
}

static void write_dirty(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_ext4_fsync *req = sl_container_of(timer, struct sl_ext4_fsync, job.done);

	req->data.done.fire = data_written;
	if (sl_page_cache_sync(&req->fs->cache, now_ns, req->file, req->tag, &req->data)) {
		data_written(&req->data.done, now_ns);
	}
}

void sl_ext4_fsync(struct sl_ext4 *fs, int64_t now_ns, struct sl_ext4_fsync *req)
{
	int64_t requests = sl_page_cache_requests(&fs->cache, req->file);

	req->fs = fs;
	req->start_ns = now_ns;
	req->job.done.fire = write_dirty;
	sl_cpu_run(fs->config.cpu, now_ns, &req->job,
		   (requests > 0 ? requests : 1) * fs->config.block_cpu_ns);
}

/* Files */

/* jbd2 commits by itself what is older than its interval (kjournald2). */
static void commit_due(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_ext4 *fs = sl_container_of(timer, struct sl_ext4, commit_timer);
	int64_t due_ns = fs->running_since_ns + fs->config.commit_interval_ns;

	if (fs->running_blocks == 0) {
		return;
	}
	if (now_ns < due_ns) { /* another transaction than the one it was armed for */
		sl_loop_arm(fs->config.loop, timer, due_ns);
	} else if (fs->committing) {
		fs->commit_wanted = true;
	} else {
		commit_running(fs, now_ns, 0);
	}
}

static void join_transaction(struct sl_ext4 *fs)
{
	if (fs->running_blocks == 0) {
		fs->running_since_ns = sl_loop_now(fs->config.loop);
	}
	fs->running_blocks++;
	if (fs->config.commit_interval_ns > 0 && !fs->commit_timer.armed) {
		sl_loop_arm(fs->config.loop, &fs->commit_timer,
			    fs->running_since_ns + fs->config.commit_interval_ns);
	}
}

/* The file was written: its time stamp changes, once per tick. */
static void touch(struct sl_ext4 *fs, int64_t now_ns, uint32_t file_index)
{
	struct sl_ext4_file *file = &fs->files[file_index];
	int64_t tick = now_ns / fs->config.tick_ns;
	uint32_t table = file_index / INODES_PER_BLOCK;

	if (tick == file->mtime_tick) {
		return;
	}
	file->mtime_tick = tick;
	file->tid = fs->running;
	if (fs->table_tid[table] != fs->running) {
		fs->table_tid[table] = fs->running;
		join_transaction(fs);
	}
}

int64_t sl_ext4_write(struct sl_ext4 *fs, int64_t now_ns, uint32_t file, int64_t offset, int64_t bytes,
		      bool zero)
{
	touch(fs, now_ns, file);
	return sl_page_cache_write(&fs->cache, file, offset / SL_PAGE * SL_PAGE,
				   (offset + bytes + SL_PAGE - 1) / SL_PAGE * SL_PAGE, zero);
}

void sl_ext4_direct(struct sl_ext4 *fs, int64_t now_ns, struct sl_page_cache_direct *req)
{
	if (req->write) {
		touch(fs, now_ns, req->file);
	}
	sl_page_cache_direct(&fs->cache, now_ns, req);
}

void sl_ext4_set_hot(struct sl_ext4 *fs, uint32_t file, int64_t bytes)
{
	sl_page_cache_set_hot(&fs->cache, file, bytes);
}

bool sl_ext4_is_clean(const struct sl_ext4 *fs, uint32_t file)
{
	return sl_page_cache_is_clean(&fs->cache, file) && fs->files[file].tid <= fs->committed &&
	       !sl_hyp_has_flush(fs->config.disk);
}

int64_t sl_ext4_position(const struct sl_ext4 *fs, uint32_t file, int64_t offset)
{
	return sl_page_cache_position(&fs->cache, file, offset);
}

static int64_t share_of(int64_t bytes, int64_t percent)
{
	return percent > 0 ? bytes * percent / 100 : INT64_MAX;
}

static int init_reads(struct sl_ext4 *fs, uint32_t n_files)
{
	struct sl_page_reads_config reads = {
	    .disk = fs->config.disk,
	    .start = fs->cache.config.start,
	    .stride = fs->cache.config.stride,
	    .read_ahead_bytes = fs->config.read_ahead_bytes,
	};

	return sl_page_reads_init(&fs->reads, &reads, n_files);
}

static int init_cache(struct sl_ext4 *fs, uint32_t n_files, int64_t file_bytes)
{
	const struct sl_ext4_config *config = &fs->config;
	struct sl_page_cache_config cache = {
	    .loop = config->loop,
	    .cpu = config->cpu,
	    .disk = config->disk,
	    .start = FILES_START,
	    .stride = (file_bytes + SL_PAGE - 1) / SL_PAGE * SL_PAGE,
	    .block_cpu_ns = config->block_cpu_ns,
	    .background_bytes = share_of(config->cache_bytes, config->background_percent),
	    .limit_bytes = share_of(config->cache_bytes, config->limit_percent),
	    .interval_ns = config->writeback_interval_ns,
	    .expire_ns = config->expire_ns,
	    .requests = config->requests > 0 ? config->requests : INT64_MAX,
	};

	if (cache.background_bytes >= cache.limit_bytes) { /* domain_dirty_limits */
		cache.background_bytes = cache.limit_bytes / 2;
	}
	return sl_page_cache_init(&fs->cache, &cache, n_files);
}

int sl_ext4_init(struct sl_ext4 *fs, const struct sl_ext4_config *config, uint32_t n_files,
		 int64_t file_bytes)
{
	*fs = (struct sl_ext4){.config = *config, .running = 1, .commit_timer.fire = commit_due};
	fs->files = calloc(n_files, sizeof(*fs->files));
	fs->table_tid = calloc(n_files / INODES_PER_BLOCK + 1, sizeof(*fs->table_tid));
	if (init_cache(fs, n_files, file_bytes) < 0 || init_reads(fs, n_files) < 0 || !fs->files ||
	    !fs->table_tid) {
		sl_ext4_fini(fs);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n_files; i++) {
		fs->files[i].mtime_tick = -1;
	}
	return 0;
}

void sl_ext4_fini(struct sl_ext4 *fs)
{
	sl_page_cache_fini(&fs->cache);
	sl_page_reads_fini(&fs->reads);
	free(fs->files);
	free(fs->table_tid);
	fs->files = NULL;
	fs->table_tid = NULL;
}
