#include "sim/guest/page_cache.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#define TURN_BYTES (INT64_C(4) << 20) /* of one file before the next has its turn: MIN_WRITEBACK_PAGES */
#define WAKE_MAX 8                    /* requests that go out together: the wake-up batch of a tag set */

/* Data of one file that went to the disk together, or that the flusher sends between two syncs. */
struct batch {
	void *pool_link;
	struct batch *next;
	uint64_t number;
	int64_t waiting; /* writes outstanding */
	uint32_t group;  /* of its writes, in the ledger */
};

struct sl_cached_file {
	struct sl_extents dirty;
	int64_t hot_bytes; /* so much of its start is used all the time */
	bool zero;         /* all dirty data is zero bytes */
	/* What went to the disk and nobody has been told yet that it is durable. */
	struct batch *batches, **batches_end;
	uint64_t n_batches; /* so far: the number of the latest */
	struct batch *open; /* the latest, when more may join it: no sync waits for it */
	struct sl_page_cache_waiter *syncs, **syncs_end;
	/* The flusher's. */
	struct sl_cached_file *next, *before;
	struct sl_file_list *list; /* that the file is in: it is dirty */
	int64_t dirtied_ns; /* since when the file is dirty, or since the flusher last came to its end */
	int64_t cursor;     /* where the flusher goes on */
};

struct cache_io {
	void *pool_link;
	struct sl_page_cache *cache;
	struct sl_cached_file *file;
	struct batch *batch;                 /* of a write */
	struct sl_page_cache_direct *direct; /* past the cache */
	struct cache_io *next;
	bool of_flusher;
	struct sl_hyp_req req;
};

static void flush(struct sl_page_cache *cache, int64_t now_ns);

static int64_t max_io(const struct sl_page_cache *cache)
{
	return cache->config.disk->max_io_bytes;
}

int64_t sl_page_cache_position(const struct sl_page_cache *cache, uint32_t file, int64_t offset)
{
	return cache->config.start + (int64_t)file * cache->config.stride + offset;
}

/* Batches */

static struct batch *batch_new(struct sl_page_cache *cache, struct sl_cached_file *file)
{
	struct batch *batch = sl_slab_get(&cache->batches);

	*batch =
	    (struct batch){.number = ++file->n_batches, .group = sl_ledger_group(cache->config.disk->ledger)};
	*file->batches_end = batch;
	file->batches_end = &batch->next;
	return batch;
}

/* The batch for data that nobody waits for. */
static struct batch *batch_open(struct sl_page_cache *cache, struct sl_cached_file *file)
{
	file->open = file->open ? file->open : batch_new(cache, file);
	return file->open;
}

/* Is the file's data on the disk up to this batch? */
static bool is_written(const struct sl_cached_file *file, uint64_t number)
{
	for (const struct batch *batch = file->batches; batch && batch->number <= number;
	     batch = batch->next) {
		if (batch->waiting > 0) {
			return false;
		}
	}
	return true;
}

void sl_page_cache_promise(struct sl_page_cache *cache, int64_t now_ns, uint32_t file_index,
			   const struct sl_page_cache_waiter *waiter)
{
	struct sl_cached_file *file = &cache->files[file_index];

	while (file->batches && file->batches->number <= waiter->batch) {
		struct batch *batch = file->batches;

		assert(batch->waiting == 0 && batch != file->open);
		file->batches = batch->next;
		sl_ledger_promise(cache->config.disk->ledger, now_ns, batch->group);
		sl_slab_put(&cache->batches, batch);
	}
	if (!file->batches) {
		file->batches_end = &file->batches;
	}
}

/* Writers that may go on. */
static void release(struct sl_page_cache *cache, int64_t now_ns)
{
	while (cache->throttled && !sl_page_cache_is_full(cache)) {
		struct sl_page_cache_waiter *waiter = cache->throttled;

		cache->throttled = waiter->next;
		cache->throttled_end = waiter->next ? cache->throttled_end : &cache->throttled;
		sl_timer_fire(&waiter->done, now_ns);
	}
}

/* Syncs whose data is on the disk. */
static void release_syncs(struct sl_cached_file *file, int64_t now_ns)
{
	while (file->syncs && is_written(file, file->syncs->batch)) {
		struct sl_page_cache_waiter *waiter = file->syncs;

		file->syncs = waiter->next;
		file->syncs_end = waiter->next ? file->syncs_end : &file->syncs;
		sl_timer_fire(&waiter->done, now_ns);
	}
}

static void direct_part_done(struct sl_page_cache_direct *direct, int64_t now_ns)
{
	direct->parts--;
	if (direct->parts == 0) {
		sl_timer_fire(&direct->done, now_ns);
	}
}

static void io_done(struct sl_timer *timer, int64_t now_ns)
{
	struct cache_io *io = sl_container_of(timer, struct cache_io, req.done);
	struct sl_page_cache_direct *direct = io->direct;
	struct sl_page_cache *cache = io->cache;
	struct sl_cached_file *file = io->file;
	struct batch *batch = io->batch;

	cache->in_flight -= io->of_flusher;
	if (!direct) {
		cache->dirty_bytes -= io->req.bytes;
		cache->writing_bytes -= io->req.bytes;
	}
	sl_slab_put(&cache->ios, io);
	flush(cache, now_ns);
	if (batch && --batch->waiting == 0) {
		release_syncs(file, now_ns);
	}
	if (direct) {
		direct_part_done(direct, now_ns);
	} else {
		release(cache, now_ns);
	}
}

static struct cache_io *io_new(struct sl_page_cache *cache, struct sl_cached_file *file, struct batch *batch,
			       struct sl_extent range)
{
	struct cache_io *io = sl_slab_get(&cache->ios);

	*io = (struct cache_io){.pool_link = io->pool_link, .cache = cache, .file = file, .batch = batch};
	io->req = (struct sl_hyp_req){
	    .done.fire = io_done,
	    .op = batch ? SL_HYP_WRITE : SL_HYP_READ,
	    .zero = file->zero,
	    .hot = range.start < file->hot_bytes,
	    .bytes = (uint32_t)(range.end - range.start),
	    .offset_bytes = sl_page_cache_position(cache, (uint32_t)(file - cache->files), range.start),
	    .group = batch ? batch->group : 0,
	};
	if (batch) {
		batch->waiting++;
	}
	return io;
}

/* The first part of the range that is one request. */
static struct sl_extent first_part(const struct sl_page_cache *cache, struct sl_extent range)
{
	if (range.end - range.start > max_io(cache)) {
		range.end = range.start + max_io(cache);
	}
	return range;
}

static int64_t parts_of(const struct sl_page_cache *cache, int64_t bytes)
{
	return (bytes + max_io(cache) - 1) / max_io(cache);
}

/* The flusher */

static void list_add(struct sl_file_list *list, struct sl_cached_file *file)
{
	file->list = list;
	file->next = NULL;
	file->before = list->last;
	*(list->last ? &list->last->next : &list->first) = file;
	list->last = file;
}

static void list_remove(struct sl_cached_file *file)
{
	struct sl_file_list *list = file->list;

	*(file->before ? &file->before->next : &list->first) = file->next;
	*(file->next ? &file->next->before : &list->last) = file->before;
	file->list = NULL;
}

static void queue_dirtied(struct sl_page_cache *cache, struct sl_cached_file *file, int64_t now_ns)
{
	file->dirtied_ns = now_ns;
	list_add(&cache->dirtied, file);
}

/* Somebody else took what was dirty. */
static void unqueue_clean(struct sl_cached_file *file)
{
	if (file->list && file->dirty.count == 0) {
		list_remove(file);
	}
}

/* Files whose first change is as old as that are to be written. */
static void queue_written(struct sl_page_cache *cache, int64_t until_ns)
{
	struct sl_cached_file *file = cache->dirtied.first;

	while (file && file->dirtied_ns <= until_ns) {
		struct sl_cached_file *next = file->next;

		list_remove(file);
		list_add(&cache->written, file);
		file = next;
	}
}

/* The next request of the file whose turn it is; false: the flusher has come to the file's end. */
static bool take_request(struct sl_page_cache *cache, struct sl_cached_file *file)
{
	struct sl_extent range;
	struct cache_io *io;

	if (!sl_extents_find(&file->dirty, file->cursor, &range)) {
		return false;
	}
	range.start = range.start > file->cursor ? range.start : file->cursor;
	range = first_part(cache, range);
	sl_extents_remove(&file->dirty, range.start, range.end);
	file->cursor = range.end;
	cache->turn_bytes += range.end - range.start;
	io = io_new(cache, file, batch_open(cache, file), range);
	cache->writing_bytes += io->req.bytes;
	io->of_flusher = true;
	*cache->plugged_end = io;
	cache->plugged_end = &io->next;
	cache->in_flight++;
	return true;
}

/* What is being written does not count here (wb_over_bg_thresh). */
static bool is_above_background(const struct sl_page_cache *cache)
{
	return cache->dirty_bytes - cache->writing_bytes > cache->config.background_bytes;
}

/* One request more, or false: nothing has to be written now. */
static bool take_next(struct sl_page_cache *cache, int64_t now_ns)
{
	for (;;) {
		bool background = is_above_background(cache);
		struct sl_cached_file *file;
		bool taken;

		if (!cache->written.first && background) {
			queue_written(cache, now_ns);
		}
		file = cache->written.first;
		cache->periodic = cache->periodic && file;
		if (!file || (!background && !cache->periodic)) {
			return false;
		}
		taken = take_request(cache, file);
		if (taken && cache->turn_bytes < TURN_BYTES) {
			return true;
		}
		cache->turn_bytes = 0;
		list_remove(file);
		if (taken) {
			list_add(&cache->written, file);
			return true;
		}
		file->cursor = 0;
		if (file->dirty.count > 0) {
			queue_dirtied(cache, file, now_ns);
		}
	}
}

static void send_plugged(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_page_cache *cache = sl_container_of(timer, struct sl_page_cache, job.done);
	struct cache_io *io = cache->plugged;

	cache->plugged = NULL;
	cache->plugged_end = &cache->plugged;
	cache->busy = false;
	while (io) {
		struct cache_io *next = io->next;

		cache->flusher_writes++;
		sl_hyp_submit(cache->config.disk, now_ns, &io->req);
		io = next;
	}
	flush(cache, now_ns);
}

/* Lets the flusher go on, when there is room for some requests. */
static void flush(struct sl_page_cache *cache, int64_t now_ns)
{
	int64_t room = cache->config.requests - cache->in_flight, n = 0;
	int64_t wake =
	    cache->config.requests / WAKE_MAX < WAKE_MAX ? cache->config.requests / WAKE_MAX : WAKE_MAX;

	if (cache->busy || room < (wake > 0 ? wake : 1)) {
		return;
	}
	while (n < room && n < WAKE_MAX && take_next(cache, now_ns)) {
		n++;
	}
	if (n > 0) {
		cache->busy = true;
		sl_cpu_run(cache->config.cpu, now_ns, &cache->job, n * cache->config.block_cpu_ns);
	}
}

/* Every interval (dirty_writeback_centisecs) while something is dirty. */
static void tick(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_page_cache *cache = sl_container_of(timer, struct sl_page_cache, tick);

	if (!cache->written.first) {
		queue_written(cache, now_ns - cache->config.expire_ns);
	}
	cache->periodic = cache->written.first != NULL;
	if (cache->dirtied.first || cache->written.first) {
		sl_loop_arm(cache->config.loop, timer, now_ns + cache->config.interval_ns);
	}
	flush(cache, now_ns);
}

/* Writers */

int64_t sl_page_cache_write(struct sl_page_cache *cache, uint32_t file_index, int64_t start, int64_t end,
			    bool zero)
{
	struct sl_cached_file *file = &cache->files[file_index];
	int64_t now_ns = sl_loop_now(cache->config.loop), new_bytes;

	file->zero = zero && (file->dirty.count == 0 || file->zero);
	new_bytes = sl_extents_add(&file->dirty, start, end);
	cache->dirty_bytes += new_bytes;
	if (!file->list) {
		queue_dirtied(cache, file, now_ns);
	}
	if (cache->config.interval_ns > 0 && !cache->tick.armed) {
		sl_loop_arm(cache->config.loop, &cache->tick, now_ns + cache->config.interval_ns);
	}
	if (is_above_background(cache)) {
		flush(cache, now_ns);
	}
	return new_bytes;
}

bool sl_page_cache_is_full(const struct sl_page_cache *cache)
{
	return cache->dirty_bytes > cache->config.limit_bytes;
}

void sl_page_cache_throttle(struct sl_page_cache *cache, struct sl_page_cache_waiter *waiter)
{
	assert(sl_page_cache_is_full(cache));
	waiter->next = NULL;
	*cache->throttled_end = waiter;
	cache->throttled_end = &waiter->next;
}

void sl_page_cache_set_hot(struct sl_page_cache *cache, uint32_t file, int64_t bytes)
{
	cache->files[file].hot_bytes = bytes;
}

/* Syncs */

int64_t sl_page_cache_requests(const struct sl_page_cache *cache, uint32_t file)
{
	return cache->files[file].dirty.count;
}

bool sl_page_cache_is_clean(const struct sl_page_cache *cache, uint32_t file_index)
{
	const struct sl_cached_file *file = &cache->files[file_index];

	return file->dirty.count == 0 && is_written(file, file->n_batches);
}

/* Sends all dirty data of the file to the disk, in its order. */
static void write_back(struct sl_page_cache *cache, int64_t now_ns, struct sl_cached_file *file, uint64_t tag)
{
	struct batch *batch = batch_new(cache, file);
	struct sl_extent range;

	while (sl_extents_find(&file->dirty, 0, &range)) {
		sl_extents_remove(&file->dirty, range.start, range.end);
		while (range.start < range.end) {
			struct sl_extent part = first_part(cache, range);
			struct cache_io *io = io_new(cache, file, batch, part);

			cache->writing_bytes += io->req.bytes;
			io->req.tag = tag;
			sl_hyp_submit(cache->config.disk, now_ns, &io->req);
			range.start = part.end;
		}
	}
	unqueue_clean(file);
}

bool sl_page_cache_sync(struct sl_page_cache *cache, int64_t now_ns, uint32_t file_index, uint64_t tag,
			struct sl_page_cache_waiter *waiter)
{
	struct sl_cached_file *file = &cache->files[file_index];

	file->open = NULL;
	if (file->dirty.count > 0) {
		write_back(cache, now_ns, file, tag);
	}
	waiter->batch = file->n_batches;
	if (is_written(file, waiter->batch)) {
		return true;
	}
	waiter->next = NULL;
	*file->syncs_end = waiter;
	file->syncs_end = &waiter->next;
	return false;
}

/* Past the cache */

static void direct_send(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_page_cache_direct *req = sl_container_of(timer, struct sl_page_cache_direct, job.done);
	struct sl_page_cache *cache = req->cache;
	struct sl_cached_file *file = &cache->files[req->file];
	struct sl_extent range = {req->offset, req->offset + req->bytes};

	req->parts = (uint32_t)parts_of(cache, req->bytes);
	while (range.start < range.end) {
		struct sl_extent part = first_part(cache, range);
		struct cache_io *io = io_new(cache, file, req->write ? batch_open(cache, file) : NULL, part);

		io->direct = req;
		io->req.zero = req->zero;
		io->req.tag = req->tag;
		range.start = part.end;
		sl_hyp_submit(cache->config.disk, now_ns, &io->req);
	}
}

void sl_page_cache_direct(struct sl_page_cache *cache, int64_t now_ns, struct sl_page_cache_direct *req)
{
	struct sl_cached_file *file = &cache->files[req->file];

	assert(req->bytes > 0);
	if (req->write) { /* what the cache had of the range is out of date */
		cache->dirty_bytes -= sl_extents_remove(&file->dirty, req->offset, req->offset + req->bytes);
		unqueue_clean(file);
	}
	req->cache = cache;
	req->job.done.fire = direct_send;
	sl_cpu_run(cache->config.cpu, now_ns, &req->job,
		   parts_of(cache, req->bytes) * cache->config.block_cpu_ns);
}

int sl_page_cache_init(struct sl_page_cache *cache, const struct sl_page_cache_config *config,
		       uint32_t n_files)
{
	*cache = (struct sl_page_cache){
	    .config = *config, .n_files = n_files, .job.done.fire = send_plugged, .tick.fire = tick};
	sl_slab_init(&cache->ios, sizeof(struct cache_io));
	sl_slab_init(&cache->batches, sizeof(struct batch));
	cache->throttled_end = &cache->throttled;
	cache->plugged_end = &cache->plugged;
	cache->files = calloc(n_files, sizeof(*cache->files));
	if (!cache->files) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n_files; i++) {
		cache->files[i].batches_end = &cache->files[i].batches;
		cache->files[i].syncs_end = &cache->files[i].syncs;
	}
	return 0;
}

void sl_page_cache_fini(struct sl_page_cache *cache)
{
	for (uint32_t i = 0; cache->files && i < cache->n_files; i++) {
		sl_extents_fini(&cache->files[i].dirty);
	}
	free(cache->files);
	cache->files = NULL;
	sl_slab_fini(&cache->ios);
	sl_slab_fini(&cache->batches);
}
