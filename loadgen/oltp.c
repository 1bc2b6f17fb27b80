#include "loadgen/oltp.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "loadgen/meter.h"
#include "loadgen/oltp_session.h"
#include "loadgen/oltp_table.h"
#include "loadgen/pace.h"

#define THREADS_MAX 1024u
#define NAP_NS 100000000        /* a thread that waits for its arrival looks for the end so often */
#define LAST_WAIT_NS 2000000000 /* for the transactions in flight at the end; then they are cut off */

struct worker {
	struct run *run;
	pthread_t thread;
	struct sl_oltp_session *session;
	struct sl_oltp source;
};

/* Shared by the threads. `lock` guards all from `meter` on. */
struct run {
	const struct sl_oltp_load *load;
	struct worker *workers;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct sl_meter meter;
	struct sl_pace pace;
	struct sl_load_sample sample; /* closed, but not reported yet */
	bool sample_ready;
	bool ending;
	uint32_t alive;
	int failed;
	struct sl_err err;
};

static void sleep_until(int64_t until_ns)
{
	struct timespec ts = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};

	(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

/* When the thread's next transaction was due to start. It waits for that; false when the load ends. */
static bool worker_wait(struct run *run, int64_t *ret_start_ns)
{
	bool open = run->load->rate > 0;
	int64_t now_ns = sl_meter_now();
	bool ending;

	(void)pthread_mutex_lock(&run->lock);
	ending = run->ending;
	*ret_start_ns = open && !ending ? sl_pace_next(&run->pace) : now_ns;
	(void)pthread_mutex_unlock(&run->lock);
	while (!ending && now_ns < *ret_start_ns) {
		sleep_until(*ret_start_ns - now_ns < NAP_NS ? *ret_start_ns : now_ns + NAP_NS);
		now_ns = sl_meter_now();
		(void)pthread_mutex_lock(&run->lock);
		ending = run->ending;
		(void)pthread_mutex_unlock(&run->lock);
	}
	return !ending;
}

static void ops_count(const struct sl_oltp_txn *txn, uint32_t ops[SL_LOAD_OPS])
{
	memset(ops, 0, SL_LOAD_OPS * sizeof(*ops));
	for (int i = 0; i < txn->count; i++) {
		enum sl_oltp_kind kind = txn->statements[i].kind;

		if (kind == SL_OLTP_BEGIN || kind == SL_OLTP_COMMIT) {
			ops[SL_LOAD_OTHER]++;
		} else {
			ops[kind < SL_OLTP_UPDATE_INDEX ? SL_LOAD_READ : SL_LOAD_WRITE]++;
		}
	}
}

static void worker_count(struct worker *worker, const struct sl_oltp_txn *txn, int64_t start_ns,
			 int64_t begun_ns, uint32_t errors)
{
	struct run *run = worker->run;
	uint64_t max = run->load->limits.max_requests;
	uint32_t ops[SL_LOAD_OPS];
	int64_t now_ns;

	ops_count(txn, ops);
	(void)pthread_mutex_lock(&run->lock);
	now_ns = sl_meter_now(); /* under the lock: the meter's time does not go back */
	if (max == 0 || run->meter.result->requests < max) {
		sl_meter_add_transaction(&run->meter, start_ns, now_ns, ops, errors);
		if (run->load->rate > 0 && start_ns >= run->meter.begin_ns) {
			sl_hist_add(&run->meter.result->queue, begun_ns - start_ns);
		}
	}
	if (max > 0 && run->meter.result->requests >= max) {
		run->ending = true;
		(void)pthread_cond_signal(&run->changed);
	}
	(void)pthread_mutex_unlock(&run->lock);
}

static int worker_loop(struct worker *worker, struct sl_err *err)
{
	struct run *run = worker->run;
	int64_t start_ns;

	while (worker_wait(run, &start_ns)) {
		int64_t begun_ns = sl_meter_now();
		struct sl_oltp_txn txn;
		uint32_t errors = 0;
		int rc;

		sl_oltp_next(&worker->source, &txn);
		while ((rc = sl_oltp_session_run(worker->session, &txn, err)) == -EAGAIN) {
			sl_oltp_next(&worker->source, &txn);
			errors++;
		}
		if (rc < 0) {
			return rc;
		}
		worker_count(worker, &txn, start_ns, begun_ns, errors);
	}
	return 0;
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	struct run *run = worker->run;
	struct sl_err err = {0};
	int rc;

	(void)mysql_thread_init();
	rc = worker_loop(worker, &err);
	mysql_thread_end();
	(void)pthread_mutex_lock(&run->lock);
	/* What fails after the end was cut off by us. */
	if (rc < 0 && !run->ending) {
		run->failed = rc;
		run->err = err;
		run->ending = true;
	}
	run->alive--;
	(void)pthread_cond_signal(&run->changed);
	(void)pthread_mutex_unlock(&run->lock);
	return NULL;
}

/* Waits on `changed`, at most so long. The lock is held. */
static void run_nap(struct run *run, int64_t ns)
{
	int64_t until_ns = sl_meter_now() + ns;
	struct timespec ts = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};

	(void)pthread_cond_timedwait(&run->changed, &run->lock, &ts);
}

static void sample_note(void *arg, const struct sl_load_sample *sample)
{
	struct run *run = arg;

	run->sample = *sample;
	run->sample_ready = true;
}

/* A terminal may be slow: reports are made without the lock. */
static void sample_report(struct run *run)
{
	const struct sl_load_limits *limits = &run->load->limits;

	if (run->sample_ready && limits->report) {
		(void)pthread_mutex_unlock(&run->lock);
		limits->report(limits->report_arg, &run->sample);
		(void)pthread_mutex_lock(&run->lock);
	}
	run->sample_ready = false;
}

/* Until a limit is reached, the user stops it or a thread fails. */
static int run_watch(struct run *run, struct sl_err *err)
{
	int64_t last_ns;
	int rc = 0;

	(void)pthread_mutex_lock(&run->lock);
	while (!run->ending && rc == 0) {
		run_nap(run, sl_meter_nap(&run->meter, sl_meter_now()));
		rc = sl_meter_turn(&run->meter, sl_meter_now(), err);
		sample_report(run);
	}
	run->ending = true;
	last_ns = sl_meter_now();
	sl_meter_stop(&run->meter, last_ns);
	if (run->load->rate > 0) {
		run->meter.result->queued = sl_pace_skip(&run->pace, last_ns);
	}
	while (run->alive > 0 && sl_meter_now() < last_ns + LAST_WAIT_NS) {
		run_nap(run, NAP_NS);
	}
	for (uint32_t i = 0; i < run->load->threads && run->alive > 0; i++) {
		sl_oltp_session_abort(run->workers[i].session);
	}
	while (run->alive > 0) {
		run_nap(run, NAP_NS);
	}
	if (run->failed) {
		*err = run->err;
		rc = run->failed;
	}
	(void)pthread_mutex_unlock(&run->lock);
	return rc < 0 ? rc : 0;
}

/* The threads leave signals to the caller's. */
static int workers_start(struct run *run, uint32_t *ret_started, struct sl_err *err)
{
	sigset_t all, before;
	int rc = 0;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	for (uint32_t i = 0; i < run->load->threads && rc == 0; i++) {
		(void)pthread_mutex_lock(&run->lock);
		run->alive++;
		(void)pthread_mutex_unlock(&run->lock);
		rc = -pthread_create(&run->workers[i].thread, NULL, worker_main, &run->workers[i]);
		if (rc < 0) {
			(void)pthread_mutex_lock(&run->lock);
			run->alive--;
			run->ending = true;
			(void)pthread_mutex_unlock(&run->lock);
			(void)sl_err_set(err, rc, "cannot start thread %u: %s", i + 1, strerror(-rc));
		}
		*ret_started += rc == 0;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

static int sessions_open(struct run *run, struct sl_err *err)
{
	const struct sl_oltp_load *load = run->load;
	int rc = 0;

	for (uint32_t i = 0; i < load->threads && rc == 0; i++) {
		struct worker *worker = &run->workers[i];

		worker->run = run;
		sl_oltp_init(&worker->source, &load->source, load->seed, (int)i);
		rc =
		    sl_oltp_session_open(&load->db, &load->source, load->seed, (int)i, &worker->session, err);
	}
	return rc;
}

static int run_measure(struct run *run, struct sl_load_result *ret, struct sl_err *err)
{
	const struct sl_oltp_load *load = run->load;
	struct sl_load_limits limits = load->limits;
	int64_t now_ns = sl_meter_now();
	uint32_t started = 0;
	int rc, watched;

	limits.report = sample_note;
	limits.report_arg = run;
	rc = sl_meter_start(&run->meter, &limits, ret, now_ns, err);
	if (rc < 0) {
		return rc;
	}
	if (load->rate > 0) {
		sl_pace_init(&run->pace, load->rate, load->constant, load->seed, now_ns);
	}
	rc = workers_start(run, &started, err);
	watched = run_watch(run, rc < 0 ? &(struct sl_err){0} : err);
	for (uint32_t i = 0; i < started; i++) {
		(void)pthread_join(run->workers[i].thread, NULL);
	}
	return rc < 0 ? rc : watched;
}

static int stage_run(const struct sl_oltp_load *load, struct sl_load_result *ret, struct sl_err *err)
{
	struct run run = {.load = load, .lock = PTHREAD_MUTEX_INITIALIZER};
	pthread_condattr_t attr;
	int rc = sl_oltp_table_check(load, err);

	if (rc < 0) {
		return rc;
	}
	run.workers = calloc(load->threads, sizeof(*run.workers));
	if (!run.workers) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&run.changed, &attr);
	(void)pthread_condattr_destroy(&attr);
	rc = sessions_open(&run, err);
	rc = rc ? rc : run_measure(&run, ret, err);
	for (uint32_t i = 0; i < load->threads; i++) {
		sl_oltp_session_close(run.workers[i].session);
	}
	(void)pthread_cond_destroy(&run.changed);
	sl_meter_fini(&run.meter);
	free(run.workers);
	return rc;
}

static int config_check(const struct sl_oltp_load *load, struct sl_err *err)
{
	if (load->threads == 0 || load->threads > THREADS_MAX) {
		return sl_err_set(err, -EINVAL, "number of threads must be 1 to %u", THREADS_MAX);
	}
	if (load->source.rows == 0 || load->source.rows > INT32_MAX) {
		return sl_err_set(err, -EINVAL, "number of rows must be 1 to %d", INT32_MAX);
	}
	return 0;
}

static int stages_run(const struct sl_oltp_load *load, struct sl_load_result *ret, struct sl_err *err)
{
	bool ours = false;
	int rc = 0;

	if (load->stages & SL_LOAD_PREPARE) {
		rc = sl_oltp_table_make(load, err);
		ours = rc == 0;
		if (rc == -EINTR) {
			ret->interrupted = true;
			return 0;
		}
	}
	if (rc == 0 && (load->stages & SL_LOAD_RUN)) {
		rc = stage_run(load, ret, err);
	}
	if ((load->stages & SL_LOAD_CLEANUP) && (ours || load->stages == SL_LOAD_CLEANUP)) {
		struct sl_err late = {0};
		int gone = sl_oltp_table_drop(load, &late);

		if (rc == 0 && gone < 0) {
			*err = late;
			rc = gone;
		}
	}
	return rc;
}

int sl_oltp_load_run(const struct sl_oltp_load *load, struct sl_load_result *ret, struct sl_err *err)
{
	int rc = config_check(load, err);

	if (rc < 0) {
		return rc;
	}
	if (mysql_library_init(0, NULL, NULL) != 0) {
		return sl_err_set(err, -ENOMEM, "libmariadb cannot start");
	}
	rc = stages_run(load, ret, err);
	mysql_library_end();
	return rc;
}
