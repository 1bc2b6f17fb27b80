/*
 * sysbench fileio in the guest. Buffered writes, reads that hit the page cache and syncs that find nothing
 * cost CPU only; that time is gathered and spent before the next request that waits for storage, or when it
 * has become so much that the rest of the box would notice.
 */
#include <stdlib.h>

#include "sim/guest/client.h"
#include "sim/guest/ext4.h"
#include "sim/workload/fileio.h"

#define CPU_BLOCK 16384.0 /* request size that file_cpu is stated for */
#define GATHER_NS 1000000 /* of CPU, and ... */
#define GATHER_MAX 64     /* ... requests, before the loop has its turn */
#define FREE_MAX 1000000  /* requests that changed nothing and took no time: the load has no end */

struct fileio_client;

struct fileio_thread {
	struct fileio_client *client;
	struct sl_fileio_request request;
	struct sl_cpu_job job;
	struct sl_ext4_fsync fsync;
	struct sl_page_read read;
	struct sl_page_cache_direct direct;
	struct sl_page_cache_waiter room; /* in the page cache, for more dirty data */
	int64_t cpu_ns;                   /* gathered, not yet spent */
	int64_t start_ns;
	uint64_t tag;
	bool waits; /* the request needs more than CPU */
};

struct fileio_client {
	struct sl_client client;
	struct sl_fileio source;
	struct sl_ext4 fs;
	struct sl_rng cache;
	double hit_share; /* of random reads; sequential ones find all or nothing of earlier times */
	bool zero;        /* what is written, and was */
	int64_t request_cpu_ns, sync_cpu_ns;
	uint64_t requests; /* for tags */
	int running;
	int64_t free_at_ns; /* time of the loop at which ... */
	uint32_t free;      /* ... so many requests were free of charge */
	struct fileio_thread threads[];
};

static void run(struct fileio_thread *thread, int64_t now_ns);

static bool is_direct(const struct fileio_thread *thread)
{
	return thread->client->client.env.workload->direct && thread->request.op <= SL_FILEIO_WRITE;
}

static void waited(struct fileio_thread *thread, int64_t now_ns)
{
	static const char *const names[] = {
	    [SL_FILEIO_READ] = "read", [SL_FILEIO_WRITE] = "write", [SL_FILEIO_FSYNC] = "fsync"};
	struct sl_client *client = &thread->client->client;

	sl_hist_add(&client->report.latency, now_ns - thread->start_ns);
	if (client->env.trace) {
		sl_trace_thread(client->env.trace, "guest", names[thread->request.op], thread->tag,
				thread->start_ns, now_ns);
	}
	run(thread, now_ns);
}

static void fsync_done(struct sl_timer *timer, int64_t now_ns)
{
	waited(sl_container_of(timer, struct fileio_thread, fsync.done), now_ns);
}

static void read_done(struct sl_timer *timer, int64_t now_ns)
{
	waited(sl_container_of(timer, struct fileio_thread, read.done), now_ns);
}

static void start_read(struct fileio_thread *thread, int64_t now_ns)
{
	struct fileio_client *io = thread->client;
	int64_t start = (int64_t)thread->request.offset_bytes;

	thread->read = (struct sl_page_read){
	    .done.fire = read_done,
	    .file = thread->request.file,
	    .zero = io->zero,
	    .start = start,
	    .end = start + (int64_t)io->client.env.workload->block_bytes,
	    .tag = thread->tag,
	};
	if (sl_page_read_start(&io->fs.reads, now_ns, &thread->read)) {
		run(thread, now_ns);
	}
}

static void direct_done(struct sl_timer *timer, int64_t now_ns)
{
	waited(sl_container_of(timer, struct fileio_thread, direct.done), now_ns);
}

static void start_direct(struct fileio_thread *thread, int64_t now_ns)
{
	struct fileio_client *io = thread->client;

	thread->direct = (struct sl_page_cache_direct){
	    .done.fire = direct_done,
	    .file = thread->request.file,
	    .write = thread->request.op == SL_FILEIO_WRITE,
	    .zero = io->zero,
	    .offset = (int64_t)thread->request.offset_bytes,
	    .bytes = (int64_t)io->client.env.workload->block_bytes,
	    .tag = thread->tag,
	};
	sl_ext4_direct(&io->fs, now_ns, &thread->direct);
}

static void room_made(struct sl_timer *timer, int64_t now_ns)
{
	waited(sl_container_of(timer, struct fileio_thread, room.done), now_ns);
}

/* The writer has filled memory with dirty data, and waits until write-back has made room. */
static void wait_for_room(struct fileio_thread *thread, int64_t now_ns)
{
	struct sl_page_cache *cache = &thread->client->fs.cache;

	if (!sl_page_cache_is_full(cache)) {
		run(thread, now_ns);
		return;
	}
	thread->room.done.fire = room_made;
	sl_page_cache_throttle(cache, &thread->room);
}

/* The gathered CPU time is spent: now the request that waits for storage, or the end. */
static void cpu_spent(struct sl_timer *timer, int64_t now_ns)
{
	struct fileio_thread *thread = sl_container_of(timer, struct fileio_thread, job.done);
	struct fileio_client *io = thread->client;

	if (!thread->waits) {
		run(thread, now_ns);
		return;
	}
	thread->start_ns = now_ns;
	if (is_direct(thread)) {
		start_direct(thread, now_ns);
		return;
	}
	switch (thread->request.op) {
	case SL_FILEIO_READ:
		start_read(thread, now_ns);
		break;
	case SL_FILEIO_WRITE:
		wait_for_room(thread, now_ns);
		break;
	case SL_FILEIO_FSYNC:
		thread->fsync.file = thread->request.file;
		thread->fsync.tag = thread->tag;
		thread->fsync.done.fire = fsync_done;
		sl_ext4_fsync(&io->fs, now_ns, &thread->fsync);
		break;
	case SL_FILEIO_END:
		io->running--;
		if (io->running == 0) {
			sl_client_stop(&io->client, now_ns);
		}
		break;
	}
}

static void buffered_write(struct fileio_thread *thread, int64_t now_ns)
{
	struct fileio_client *io = thread->client;

	if (sl_ext4_write(&io->fs, now_ns + thread->cpu_ns, thread->request.file,
			  (int64_t)thread->request.offset_bytes,
			  (int64_t)io->client.env.workload->block_bytes, io->zero) > 0) {
		io->free = 0;
	}
}

/* Is all of it in memory? A stream that is larger than memory finds nothing that an earlier one left there.
 */
static bool read_hits(struct fileio_thread *thread)
{
	struct fileio_client *io = thread->client;
	const struct sl_workload *workload = io->client.env.workload;
	int64_t start = (int64_t)thread->request.offset_bytes;

	if (workload->mode == SL_MODE_SEQRD ? io->hit_share >= 1
					    : sl_rng_uniform(&io->cache) < io->hit_share) {
		return true;
	}
	return sl_page_read_hits(&io->fs.reads, thread->request.file, start,
				 start + (int64_t)workload->block_bytes);
}

/* true when the request cost only CPU, which has been gathered. */
static bool try_without_waiting(struct fileio_thread *thread, int64_t now_ns)
{
	struct fileio_client *io = thread->client;

	if (is_direct(thread)) { /* a bare system call: nothing is copied */
		thread->cpu_ns += io->sync_cpu_ns;
		sl_client_note(&io->client, now_ns);
		return false;
	}
	switch (thread->request.op) {
	case SL_FILEIO_WRITE:
		thread->cpu_ns += io->request_cpu_ns;
		buffered_write(thread, now_ns);
		sl_client_note(&io->client, now_ns);
		return !sl_page_cache_is_full(&io->fs.cache);
	case SL_FILEIO_READ:
		thread->cpu_ns += io->request_cpu_ns;
		sl_client_note(&io->client, now_ns);
		return read_hits(thread);
	case SL_FILEIO_FSYNC:
		thread->cpu_ns += io->sync_cpu_ns;
		return sl_ext4_is_clean(&io->fs, thread->request.file);
	case SL_FILEIO_END:
		break;
	}
	return false;
}

/* The stop rule of time is looked at between requests, as sysbench does. */
static bool time_is_up(const struct fileio_thread *thread, int64_t now_ns)
{
	double max_ns = thread->client->client.env.workload->max_time_ns;

	return max_ns > 0 && (double)(now_ns + thread->cpu_ns) >= max_ns;
}

/* Where file_cpu is 0 and memory serves every request, the clock stands still: no time limit is ever reached.
 */
static bool takes_no_time(struct fileio_client *io, int64_t now_ns, int64_t cpu_ns)
{
	if (now_ns > io->free_at_ns || cpu_ns > 0) {
		io->free_at_ns = now_ns;
		io->free = 0;
	}
	return ++io->free > FREE_MAX;
}

static void run(struct fileio_thread *thread, int64_t now_ns)
{
	struct fileio_client *io = thread->client;

	thread->waits = false;
	for (int i = 0; i < GATHER_MAX && thread->cpu_ns < GATHER_NS && !thread->waits; i++) {
		if (time_is_up(thread, now_ns) || takes_no_time(io, now_ns, thread->cpu_ns)) {
			sl_fileio_end(&io->source);
		}
		sl_fileio_next(&io->source, &thread->request);
		thread->waits = !try_without_waiting(thread, now_ns);
	}
	thread->tag = thread->waits ? ++io->requests : thread->tag;
	sl_cpu_run(io->client.env.cpu, now_ns, &thread->job, thread->cpu_ns);
	thread->cpu_ns = 0;
}

static void fileio_start(struct sl_client *client)
{
	struct fileio_client *io = sl_container_of(client, struct fileio_client, client);

	io->running = (int)client->env.workload->threads;
	for (int i = 0; i < client->env.workload->threads; i++) {
		run(&io->threads[i], 0);
	}
}

static void fileio_free(struct sl_client *client)
{
	struct fileio_client *io = sl_container_of(client, struct fileio_client, client);

	sl_ext4_fini(&io->fs);
	free(io);
}

static const struct sl_client_ops fileio_ops = {.start = fileio_start, .free = fileio_free};

static int init_files(struct fileio_client *io)
{
	const struct sl_client_env *env = &io->client.env;
	const struct sl_workload *workload = env->workload;
	const struct sl_box *box = env->box;
	struct sl_ext4_config fs = sl_client_fs(env);
	struct sl_fileio_config source = {
	    .mode = (enum sl_fileio_mode)workload->mode,
	    .files = (uint32_t)workload->files,
	    .file_bytes = (uint64_t)(workload->file_total_bytes / (double)workload->files),
	    .block_bytes = (uint32_t)workload->block_bytes,
	    .fsync_every = (uint32_t)workload->fsync_every,
	    .max_requests = (uint64_t)workload->max_requests,
	    .fsync_end = (enum sl_fileio_end)workload->fsync_end,
	};
	double cache = box->guest_memory_bytes * box->guest_cache_share;

	io->zero = sl_workload_writes_zeros(workload);
	io->hit_share = cache / workload->file_total_bytes;
	io->request_cpu_ns = (int64_t)(box->guest_file_cpu_ns * workload->block_bytes / CPU_BLOCK);
	io->sync_cpu_ns = (int64_t)box->guest_fsync_cpu_ns;
	sl_rng_init(&io->cache, env->seed, "page-cache");
	sl_fileio_init(&io->source, &source, env->seed);
	return sl_ext4_init(&io->fs, &fs, source.files, (int64_t)source.file_bytes);
}

struct sl_client *sl_fileio_client_new(const struct sl_client_env *env)
{
	size_t threads = (size_t)env->workload->threads;
	struct fileio_client *io = calloc(1, sizeof(*io) + threads * sizeof(io->threads[0]));

	if (!io) {
		return NULL;
	}
	if (sl_client_init(&io->client, &fileio_ops, env) < 0 || init_files(io) < 0) {
		sl_client_free(&io->client);
		return NULL;
	}
	for (size_t i = 0; i < threads; i++) {
		io->threads[i].client = io;
		io->threads[i].job.done.fire = cpu_spent;
	}
	return &io->client;
}
