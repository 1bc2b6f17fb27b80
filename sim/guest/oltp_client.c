/* sysbench OLTP and its database in one guest: the CPU of a transaction, then its commit. */
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
	int64_t start_ns, execute_ns;
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
	if (client->env.trace) {
		sl_trace_span(client->env.trace, "guest", "transaction", thread->waiter.tag, thread->start_ns,
			      now_ns);
	}
	if (sl_client_count(client, now_ns)) {
		begin(thread, now_ns);
	}
}

static void executed(struct sl_timer *timer, int64_t now_ns)
{
	struct oltp_thread *thread = sl_container_of(timer, struct oltp_thread, job.done);

	sl_trace_span(thread->client->client.env.trace, "guest work", "statements", thread->waiter.tag,
		      thread->execute_ns, now_ns);
	thread->waiter.done.fire = committed;
	sl_innodb_commit(&thread->client->db, now_ns, &thread->txn, &thread->waiter);
}

/* The statements need CPU only: nothing else happens between them, so they are one piece of work. */
static void execute(struct oltp_thread *thread, int64_t now_ns)
{
	struct oltp_client *oltp = thread->client;
	const struct sl_client_env *env = &oltp->client.env;
	double factor = 1 + oltp->cpu_spread * (2 * sl_rng_uniform(&thread->noise) - 1);

	factor *= (double)thread->txn.count / SL_OLTP_STATEMENTS;
	thread->execute_ns = now_ns;
	sl_cpu_run(env->cpu, now_ns, &thread->job, (int64_t)(env->box->guest_oltp_cpu_ns * factor));
}

static void stall_over(struct sl_timer *timer, int64_t now_ns)
{
	execute(sl_container_of(timer, struct oltp_thread, waiter.done), now_ns);
}

static void begin(struct oltp_thread *thread, int64_t now_ns)
{
	struct oltp_client *oltp = thread->client;

	sl_oltp_next(&thread->source, &thread->txn);
	thread->start_ns = now_ns;
	thread->waiter.tag = ++oltp->started;
	thread->waiter.done.fire = stall_over;
	if (sl_innodb_begin(&oltp->db, &thread->waiter)) {
		execute(thread, now_ns);
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

static int init_database(struct oltp_client *oltp)
{
	const struct sl_client_env *env = &oltp->client.env;
	const struct sl_box *box = env->box;
	struct sl_ext4_config fs = {
	    .loop = env->loop,
	    .cpu = env->cpu,
	    .disk = env->hyp,
	    .trace = env->trace,
	    .block_cpu_ns = (int64_t)box->guest_block_cpu_ns,
	    .tick_ns = (int64_t)box->guest_tick_ns,
	};
	struct sl_innodb_config db = {
	    .loop = env->loop,
	    .trace = env->trace,
	    .fs = &oltp->fs,
	    .rows = (uint32_t)env->workload->rows,
	    .row_bytes = (int64_t)box->row_bytes,
	    .redo_bytes = (int64_t)(box->redo_bytes * lists[env->workload->oltp_list].redo_share),
	    .log_bytes = (int64_t)box->log_size_bytes,
	    .io_capacity = box->io_capacity,
	    .datasync = box->database != SL_DB_MARIADB_55,
	};
	int rc = sl_ext4_init(&oltp->fs, &fs, SL_INNODB_FILES, sl_innodb_file_bytes(&db));

	return rc < 0 ? rc : sl_innodb_init(&oltp->db, &db);
}

struct sl_client *sl_oltp_client_new(const struct sl_client_env *env)
{
	size_t threads = (size_t)env->workload->threads;
	struct oltp_client *oltp = calloc(1, sizeof(*oltp) + threads * sizeof(oltp->threads[0]));
	struct sl_oltp_config source = {
	    .list = lists[env->workload->oltp_list].list,
	    .distribution = (enum sl_oltp_distribution)env->workload->distribution,
	    .rows = (uint32_t)env->workload->rows,
	};

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
