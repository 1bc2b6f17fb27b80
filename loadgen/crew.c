#include "loadgen/crew.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "loadgen/arrivals.h"
#include "sim/base/clock.h"

#define NAP_NS 100000000        /* a thread that waits for its arrival looks for the end so often */
#define LAST_WAIT_NS 2000000000 /* for the requests in flight at the end; then they are cut off */

struct worker {
	struct crew *crew;
	pthread_t thread;
	void *arg;
};

/* Shared by the threads. `lock` guards all from `meter` on. */
struct crew {
	const struct sl_crew_config *config;
	struct worker *workers;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct sl_meter meter;
	struct sl_arrivals arrivals;
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
static bool worker_wait(struct crew *crew, int64_t *ret_start_ns)
{
	bool open = crew->config->rate > 0;
	int64_t now_ns = sl_clock_ns();
	bool ending;

	(void)pthread_mutex_lock(&crew->lock);
	ending = crew->ending;
	*ret_start_ns = open && !ending ? sl_arrivals_next(&crew->arrivals) : now_ns;
	(void)pthread_mutex_unlock(&crew->lock);
	while (!ending && now_ns < *ret_start_ns) {
		sleep_until(*ret_start_ns - now_ns < NAP_NS ? *ret_start_ns : now_ns + NAP_NS);
		now_ns = sl_clock_ns();
		(void)pthread_mutex_lock(&crew->lock);
		ending = crew->ending;
		(void)pthread_mutex_unlock(&crew->lock);
	}
	return !ending;
}

static void worker_count(struct worker *worker, const struct sl_meter_work *done, int64_t start_ns,
			 int64_t begun_ns)
{
	struct crew *crew = worker->crew;
	struct sl_load_result *result = crew->meter.result;
	uint64_t max = crew->config->limits.max_requests;
	int64_t now_ns;

	(void)pthread_mutex_lock(&crew->lock);
	now_ns = sl_clock_ns(); /* under the lock: the meter's time does not go back */
	if (max == 0 || result->requests < max) {
		sl_meter_add_work(&crew->meter, start_ns, now_ns, done);
		if (crew->config->rate > 0 && start_ns >= crew->meter.begin_ns) {
			sl_hist_add(&result->queue, begun_ns - start_ns);
		}
	}
	if (max > 0 && result->requests >= max) {
		crew->ending = true;
		(void)pthread_cond_signal(&crew->changed);
	}
	(void)pthread_mutex_unlock(&crew->lock);
}

static int worker_loop(struct worker *worker, struct sl_err *err)
{
	struct crew *crew = worker->crew;
	int64_t start_ns;

	while (worker_wait(crew, &start_ns)) {
		int64_t begun_ns = sl_clock_ns();
		struct sl_crew_turn turn = {0};
		int rc = crew->config->work(worker->arg, &turn, err);

		if (rc < 0 || turn.end) {
			return rc;
		}
		worker_count(worker, &turn.done, start_ns, begun_ns);
	}
	return 0;
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	struct crew *crew = worker->crew;
	struct sl_err err = {0};
	int rc;

	rc = worker_loop(worker, &err);
	(void)pthread_mutex_lock(&crew->lock);
	/* What fails after the end was cut off by us. */
	if (rc < 0 && !crew->ending) {
		crew->failed = rc;
		crew->err = err;
	}
	crew->ending = true; /* the first that has nothing left to do ends it for all */
	crew->alive--;
	(void)pthread_cond_signal(&crew->changed);
	(void)pthread_mutex_unlock(&crew->lock);
	return NULL;
}

/* Waits on `changed`, at most so long. The lock is held. */
static void crew_nap(struct crew *crew, int64_t ns)
{
	int64_t until_ns = sl_clock_ns() + ns;
	struct timespec ts = {.tv_sec = until_ns / 1000000000, .tv_nsec = until_ns % 1000000000};

	(void)pthread_cond_timedwait(&crew->changed, &crew->lock, &ts);
}

static void sample_note(void *arg, const struct sl_load_sample *sample)
{
	struct crew *crew = arg;

	crew->sample = *sample;
	crew->sample_ready = true;
}

/* A terminal may be slow: reports are made without the lock. */
static void sample_report(struct crew *crew)
{
	const struct sl_load_limits *limits = &crew->config->limits;

	if (crew->sample_ready && limits->report) {
		(void)pthread_mutex_unlock(&crew->lock);
		limits->report(limits->report_arg, &crew->sample);
		(void)pthread_mutex_lock(&crew->lock);
	}
	crew->sample_ready = false;
}

/* Until a limit is reached, the user stops it or a thread fails. */
static int crew_watch(struct crew *crew, struct sl_err *err)
{
	int64_t last_ns;
	int rc = 0;

	(void)pthread_mutex_lock(&crew->lock);
	while (!crew->ending && rc == 0) {
		crew_nap(crew, sl_meter_nap(&crew->meter, sl_clock_ns()));
		rc = sl_meter_turn(&crew->meter, sl_clock_ns(), err);
		sample_report(crew);
	}
	crew->ending = true;
	last_ns = sl_clock_ns();
	sl_meter_stop(&crew->meter, last_ns);
	if (crew->config->rate > 0) {
		crew->meter.result->queued = sl_arrivals_skip(&crew->arrivals, last_ns);
	}
	while (crew->alive > 0 && sl_clock_ns() < last_ns + LAST_WAIT_NS) {
		crew_nap(crew, NAP_NS);
	}
	for (uint32_t i = 0; crew->config->abort && i < crew->config->threads && crew->alive > 0; i++) {
		crew->config->abort(crew->workers[i].arg);
	}
	while (crew->alive > 0) {
		crew_nap(crew, NAP_NS);
	}
	if (crew->failed) {
		*err = crew->err;
		rc = crew->failed;
	}
	(void)pthread_mutex_unlock(&crew->lock);
	return rc < 0 ? rc : 0;
}

/* The threads leave signals to the caller's. */
static int workers_start(struct crew *crew, uint32_t *ret_started, struct sl_err *err)
{
	sigset_t all, before;
	int rc = 0;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	for (uint32_t i = 0; i < crew->config->threads && rc == 0; i++) {
		(void)pthread_mutex_lock(&crew->lock);
		crew->alive++;
		(void)pthread_mutex_unlock(&crew->lock);
		rc = -pthread_create(&crew->workers[i].thread, NULL, worker_main, &crew->workers[i]);
		if (rc < 0) {
			(void)pthread_mutex_lock(&crew->lock);
			crew->alive--;
			crew->ending = true;
			(void)pthread_mutex_unlock(&crew->lock);
			(void)sl_err_set(err, rc, "cannot start thread %u: %s", i + 1, strerror(-rc));
		}
		*ret_started += rc == 0;
	}
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

/* The threads that were started, and what they did. */
static int crew_measure(struct crew *crew, struct sl_load_result *ret, struct sl_err *err)
{
	const struct sl_crew_config *config = crew->config;
	struct sl_load_limits limits = config->limits;
	int64_t now_ns = sl_clock_ns();
	uint32_t started = 0;
	int rc, watched;

	limits.report = sample_note;
	limits.report_arg = crew;
	rc = sl_meter_start(&crew->meter, &limits, ret, now_ns, err);
	if (rc < 0) {
		return rc;
	}
	if (config->rate > 0) {
		sl_arrivals_init(&crew->arrivals, config->rate, config->constant, config->seed, now_ns);
	}
	rc = workers_start(crew, &started, err);
	watched = crew_watch(crew, rc < 0 ? &(struct sl_err){0} : err);
	for (uint32_t i = 0; i < started; i++) {
		(void)pthread_join(crew->workers[i].thread, NULL);
	}
	return rc < 0 ? rc : watched;
}

int sl_crew_run(const struct sl_crew_config *config, struct sl_load_result *ret, struct sl_err *err)
{
	struct crew crew = {.config = config, .lock = PTHREAD_MUTEX_INITIALIZER};
	pthread_condattr_t attr;
	int rc;

	crew.workers = calloc(config->threads, sizeof(*crew.workers));
	if (!crew.workers) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	for (uint32_t i = 0; i < config->threads; i++) {
		crew.workers[i] = (struct worker){.crew = &crew, .arg = config->workers[i]};
	}
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&crew.changed, &attr);
	(void)pthread_condattr_destroy(&attr);
	rc = crew_measure(&crew, ret, err);
	(void)pthread_cond_destroy(&crew.changed);
	sl_meter_fini(&crew.meter);
	free(crew.workers);
	return rc;
}
