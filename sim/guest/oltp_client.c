/*
 * sysbench OLTP and its database in one guest: a transaction's statements, then its commit. Statements cost
 * CPU and, where their pages are not in memory, wait for them; CPU between two such reads is one piece of
 * work.
 */
#include <stdlib.h>

#include "sim/guest/client.h"
#include "sim/guest/innodb.h"

struct oltp_client;

struct oltp_thread {
	struct oltp_client *client;
	struct sl_oltp source;
	struct sl_oltp_txn txn;
	struct sl_rng noise;
	struct sl_cpu_job job;
	struct sl_innodb_waiter waiter;
	struct sl_hyp_req read;
	int64_t cpu_ns;      /* of the whole transaction's statements */
	int spent;           /* statements whose CPU is spent */
	int64_t page_offset; /* in the data file: the page to be read next */
	int64_t start_ns, execute_ns;
	int64_t submit_ns, read_ns; /* of the page being read; all reads of the transaction */
};

struct oltp_client {
	struct sl_client client;
	struct sl_ext4 fs;
	struct sl_innodb db;
	uint64_t started; /* transactions, for their tags */
	double cpu_spread;
	struct oltp_thread threads[];
};

static void begin(struct oltp_thread *thread, int64_t now_ns);

static void committed(struct sl_timer *timer, int64_t now_ns)
{
	struct oltp_thread *thread = sl_container_of(timer, struct oltp_thread, waiter.done);
	struct sl_client *client = &thread->client->client;

	sl_hist_add(&client->report.latency, now_ns - thread->start_ns);
	client->report.read_ns += thread->read_ns;
	if (client->env.trace) {
		sl_trace_thread(client->env.trace, "guest", "transaction", thread->waiter.tag,
				thread->start_ns, now_ns);
	}
	if (sl_client_count(client, now_ns)) {
		begin(thread, now_ns);
	}
}

static void execute(struct oltp_thread *thread, int64_t now_ns);

static void page_read(struct sl_timer *timer, int64_t now_ns)
{
	struct oltp_thread *thread = sl_container_of(timer, struct oltp_thread, read.done);

	thread->read_ns += now_ns - thread->submit_ns;
	execute(thread, now_ns);
}

static void read_page(struct oltp_thread *thread, int64_t now_ns)
{
	struct oltp_client *oltp = thread->client;

	thread->read = (struct sl_hyp_req){
	    .done.fire = page_read,
	    .op = SL_HYP_READ,
	    .bytes = SL_PAGE_BYTES,
	    .offset_bytes = sl_ext4_position(&oltp->fs, SL_INNODB_DATA, thread->page_offset),
	    .tag = thread->waiter.tag,
	};
	thread->submit_ns = now_ns;
	sl_hyp_submit(oltp->client.env.hyp, now_ns, &thread->read);
}

static void room_made(struct sl_timer *timer, int64_t now_ns)
{
	read_page(sl_container_of(timer, struct oltp_thread, waiter.done), now_ns);
}

static void executed(struct sl_timer *timer, int64_t now_ns)
{
	struct oltp_thread *thread = sl_container_of(timer, struct oltp_thread, job.done);
	struct oltp_client *oltp = thread->client;

	sl_trace_span(oltp->client.env.trace, "guest work", "statements", thread->waiter.tag,
		      thread->execute_ns, now_ns);
	if (thread->page_offset == SL_INNODB_NO_READ) {
		thread->waiter.done.fire = committed;
		sl_innodb_commit(&oltp->db, now_ns, &thread->txn, &thread->waiter);
		return;
	}
	thread->waiter.done.fire = room_made;
	if (sl_innodb_make_room(&oltp->db, now_ns, &thread->waiter)) {
		read_page(thread, now_ns);
	}
}

/* Spends the CPU of the statements up to the next page that must be read, or of all. */
static void execute(struct oltp_thread *thread, int64_t now_ns)
{
	struct oltp_client *oltp = thread->client;
	const struct sl_box *box = oltp->client.env.box;
	int64_t cpu_ns;

	thread->page_offset = sl_innodb_next_read(&oltp->db, &thread->txn, &thread->waiter);
	cpu_ns = thread->cpu_ns * (thread->waiter.statement - thread->spent) / thread->txn.count;
	cpu_ns += (int64_t)(thread->waiter.cached_reads * box->guest_file_cpu_ns);
	if (thread->page_offset != SL_INNODB_NO_READ) {
		cpu_ns += (int64_t)(box->guest_file_cpu_ns + box->guest_block_cpu_ns);
	}
	thread->spent = thread->waiter.statement;
	thread->execute_ns = now_ns;
	sl_cpu_run(oltp->client.env.cpu, now_ns, &thread->job, cpu_ns);
}

static void begin_statements(struct oltp_thread *thread, int64_t now_ns)
{
	struct oltp_client *oltp = thread->client;
	double factor = 1 + oltp->cpu_spread * (2 * sl_rng_uniform(&thread->noise) - 1);

	factor *= (double)thread->txn.count / SL_OLTP_STATEMENTS;
	thread->cpu_ns = (int64_t)(oltp->client.env.box->guest_oltp_cpu_ns * factor);
	thread->spent = 0;
	execute(thread, now_ns);
}

static void stall_over(struct sl_timer *timer, int64_t now_ns)
{
	begin_statements(sl_container_of(timer, struct oltp_thread, waiter.done), now_ns);
}

static void begin(struct oltp_thread *thread, int64_t now_ns)
{
	struct oltp_client *oltp = thread->client;

	sl_oltp_next(&thread->source, &thread->txn);
	thread->start_ns = now_ns;
	thread->read_ns = 0;
	thread->waiter.tag = ++oltp->started;
	thread->waiter.done.fire = stall_over;
	if (sl_innodb_begin(&oltp->db, &thread->waiter)) {
		begin_statements(thread, now_ns);
	}
}

static void oltp_start(struct sl_client *client)
{
	struct oltp_client *oltp = sl_container_of(client, struct oltp_client, client);

	for (int i = 0; i < client->env.workload->threads; i++) {
		begin(&oltp->threads[i], 0);
	}
}

static void oltp_free(struct sl_client *client)
{
	struct oltp_client *oltp = sl_container_of(client, struct oltp_client, client);

	sl_innodb_fini(&oltp->db);
	sl_ext4_fini(&oltp->fs);
	free(oltp);
}

static const struct sl_client_ops oltp_ops = {.start = oltp_start, .free = oltp_free};

/* A uniform factor 1 - s .. 1 + s has coefficient of variation s / sqrt(3). */
#define SPREAD_PER_CV 1.7320508075688772

/* guest.oltp_cpu and innodb.redo_per_txn are those of the longest list; a shorter one takes its share of the
 * statements, and of the four that write. */
static const struct {
	enum sl_oltp_list list;
	double redo_share;
} lists[] = {[SL_LIST_COMPLEX] = {SL_OLTP_COMPLEX, 1},
	     [SL_LIST_READ_WRITE] = {SL_OLTP_READ_WRITE, 1},
	     [SL_LIST_WRITE_ONLY] = {SL_OLTP_WRITE_ONLY, 1},
	     [SL_LIST_UPDATE_INDEX] = {SL_OLTP_INDEX_ONLY, 0.25}};

static struct sl_oltp_config load_of(const struct sl_workload *workload)
{
	return (struct sl_oltp_config){
	    .list = lists[workload->oltp_list].list,
	    .distribution = (enum sl_oltp_distribution)workload->distribution,
	    .rows = (uint32_t)workload->rows,
	};
}

static bool is_old(const struct sl_box *box)
{
	return box->database == SL_DB_MARIADB_55;
}

/* innodb_flush_method: O_DIRECT is the default from 10.6 on. */
static bool is_direct(const struct sl_box *box)
{
	return box->flush_method == SL_FLUSH_METHOD_AUTO ? !is_old(box)
							 : box->flush_method == SL_FLUSH_METHOD_O_DIRECT;
}

/* The page cache has what the buffer pool leaves of the memory that programs and kernel do not take. */
static struct sl_buffer_pool_config pool_of(const struct sl_box *box, const struct sl_workload *workload)
{
	double cache = box->guest_memory_bytes * box->guest_cache_share - box->buffer_pool_bytes;

	return (struct sl_buffer_pool_config){
	    .load = load_of(workload),
	    .row_bytes = (int64_t)box->row_bytes,
	    .pool_bytes = box->buffer_pool_bytes,
	    .page_cache_bytes = is_direct(box) || cache < 0 ? 0 : cache,
	    /* innodb_change_buffering is "none" from 10.5.15 on. */
	    .change_buffer = is_old(box),
	};
}

static struct sl_innodb_config database_of(const struct sl_box *box, const struct sl_workload *workload)
{
	return (struct sl_innodb_config){
	    .pool = pool_of(box, workload),
	    .redo_bytes = (int64_t)(box->redo_bytes * lists[workload->oltp_list].redo_share),
	    .log_bytes = (int64_t)box->log_size_bytes,
	    .io_capacity = box->io_capacity,
	    .max_dirty_share = is_old(box) ? 0.75 : 0.9, /* innodb_max_dirty_pages_pct */
	    .datasync = !is_old(box),
	    .no_doublewrite = box->doublewrite == SL_DOUBLEWRITE_OFF,
	    .flush_at_commit = (enum sl_flush_log)box->flush_log_at_commit,
	};
}

double sl_oltp_arc_hit(const struct sl_box *box, const struct sl_workload *workload, double arc_bytes)
{
	const struct sl_innodb_config config = database_of(box, workload);
	struct sl_buffer_pool pool;

	sl_innodb_init_pool(&pool, &config);
	return sl_buffer_pool_arc_hit(&pool, arc_bytes, box->recordsize_bytes);
}

double sl_oltp_table_bytes(const struct sl_box *box, const struct sl_workload *workload)
{
	uint32_t rows = (uint32_t)workload->rows;

	return (double)SL_PAGE_BYTES *
	       ((double)sl_table_leaf_pages(rows, (int64_t)box->row_bytes) + sl_table_index_pages(rows));
}

static int init_database(struct oltp_client *oltp)
{
	const struct sl_client_env *env = &oltp->client.env;
	const struct sl_box *box = env->box;
	struct sl_ext4_config fs = sl_client_fs(env);
	struct sl_innodb_config db = database_of(box, env->workload);
	int rc = sl_ext4_init(&oltp->fs, &fs, SL_INNODB_FILES, sl_innodb_file_bytes(&db));

	if (rc < 0) {
		return rc;
	}
	sl_ext4_set_hot(&oltp->fs, SL_INNODB_LOG, db.log_bytes);
	sl_ext4_set_hot(&oltp->fs, SL_INNODB_DATA, SL_INNODB_DOUBLEWRITE_BYTES);
	db.loop = env->loop;
	db.trace = env->trace;
	db.fs = &oltp->fs;
	db.seed = env->seed;
	sl_innodb_init(&oltp->db, &db);
	return 0;
}

struct sl_client *sl_oltp_client_new(const struct sl_client_env *env)
{
	size_t threads = (size_t)env->workload->threads;
	struct oltp_client *oltp = calloc(1, sizeof(*oltp) + threads * sizeof(oltp->threads[0]));
	const struct sl_oltp_config source = load_of(env->workload);

	if (!oltp) {
		return NULL;
	}
	if (sl_client_init(&oltp->client, &oltp_ops, env) < 0 || init_database(oltp) < 0) {
		sl_client_free(&oltp->client);
		return NULL;
	}
	oltp->cpu_spread = env->box->guest_cpu_cv * SPREAD_PER_CV;
	oltp->cpu_spread = oltp->cpu_spread < 1 ? oltp->cpu_spread : 1;
	for (size_t i = 0; i < threads; i++) {
		struct oltp_thread *thread = &oltp->threads[i];

		thread->client = oltp;
		thread->job.done.fire = executed;
		sl_oltp_init(&thread->source, &source, env->seed, (int)i);
		thread->noise = thread->source.rng;
		sl_rng_u64(&thread->noise);
		thread->noise.s[0] ^= 0x9e3779b97f4a7c15ULL;
	}
	return &oltp->client;
}
