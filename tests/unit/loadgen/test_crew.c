/* Threads under one meter: limits, ends, failures, samples, arrivals of an open loop. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "loadgen/crew.h"

#define MS 1000000
#define SAMPLES_MAX 1000

/* What the threads do: nothing, sleep, end or fail at a certain call. */
struct desk {
	atomic_int calls, aborts;
	int fail_at, end_at; /* 0 = never */
	int64_t takes_ns;
	atomic_bool stuck; /* waits until it is aborted */
	struct sl_load_sample seen[SAMPLES_MAX];
	int samples;
	struct sl_load_result result;
	struct sl_err err;
};

static void nap(int64_t ns)
{
	struct timespec ts = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

	while (nanosleep(&ts, &ts) < 0) {
	}
}

static int desk_work(void *arg, struct sl_crew_turn *ret, struct sl_err *err)
{
	struct desk *desk = arg;
	int call = atomic_fetch_add(&desk->calls, 1) + 1;

	while (atomic_load(&desk->stuck) && atomic_load(&desk->aborts) == 0) {
		nap(MS);
	}
	if (desk->takes_ns > 0) {
		nap(desk->takes_ns);
	}
	if (desk->fail_at > 0 && call >= desk->fail_at) {
		return sl_err_set(err, -EIO, "call %d failed", call);
	}
	ret->end = desk->end_at > 0 && call >= desk->end_at;
	ret->done.request = true;
	ret->done.ops[SL_LOAD_READ] = 2;
	ret->done.bytes[SL_LOAD_READ] = 100;
	return 0;
}

static void desk_abort(void *arg)
{
	struct desk *desk = arg;

	atomic_fetch_add(&desk->aborts, 1);
}

static void desk_report(void *arg, const struct sl_load_sample *sample)
{
	struct desk *desk = arg;

	cr_assert(desk->samples < SAMPLES_MAX);
	desk->seen[desk->samples++] = *sample;
}

/* Runs `threads` (at most 4) at the desk. */
static int desk_run(struct desk *desk, uint32_t threads, struct sl_crew_config config)
{
	void *const workers[4] = {desk, desk, desk, desk};

	cr_assert_eq(sl_load_result_init(&desk->result), 0);
	config.threads = threads;
	config.workers = workers;
	config.work = desk_work;
	config.abort = desk_abort;
	return sl_crew_run(&config, &desk->result, &desk->err);
}

Test(crew, counts_no_more_than_the_limit_whatever_the_threads_do_after_it)
{
	struct desk desk = {0};
	const struct sl_crew_config config = {.limits = {.max_requests = 100}};

	cr_assert_eq(desk_run(&desk, 4, config), 0, "%s", desk.err.msg);
	cr_assert_eq(desk.result.requests, 100u);
	cr_assert_eq(desk.result.ops[SL_LOAD_READ], 200u);
	cr_assert_eq(desk.result.bytes[SL_LOAD_READ], 10000u);
	cr_assert_eq(desk.result.latency.count, 100u);
	cr_assert_eq(desk.result.queue.count, 0u, "a closed loop has no queue");
	cr_assert(desk.calls >= 100 && desk.calls <= 104, "%d calls", desk.calls);
	cr_assert_eq(desk.aborts, 0);
	cr_assert(desk.result.elapsed_ns > 0 && !desk.result.interrupted);
	sl_load_result_fini(&desk.result);
}

Test(crew, the_first_thread_that_has_nothing_left_ends_it_for_all)
{
	struct desk desk = {.end_at = 31};
	const struct sl_crew_config config = {.limits = {.time_ns = 60000LL * MS}};

	cr_assert_eq(desk_run(&desk, 1, config), 0, "%s", desk.err.msg);
	cr_assert_eq(desk.result.requests, 30u, "the end itself is no request");
	sl_load_result_fini(&desk.result);
}

Test(crew, a_thread_s_failure_is_the_crew_s)
{
	struct desk desk = {.fail_at = 11};
	const struct sl_crew_config config = {.limits = {.time_ns = 60000LL * MS}};

	cr_assert_eq(desk_run(&desk, 1, config), -EIO);
	cr_assert_str_eq(desk.err.msg, "call 11 failed");
	cr_assert_eq(desk.result.requests, 10u, "what was measured until then is kept");
	sl_load_result_fini(&desk.result);
}

Test(crew, reports_the_samples_that_it_keeps_and_they_add_up)
{
	struct desk desk = {.takes_ns = MS / 2};
	const struct sl_crew_config config = {
	    .limits = {
		.time_ns = 100 * MS, .interval_ns = 20 * MS, .report = desk_report, .report_arg = &desk}};
	uint64_t requests = 0, reads = 0;

	cr_assert_eq(desk_run(&desk, 2, config), 0, "%s", desk.err.msg);
	cr_assert(desk.samples >= 1 && (uint32_t)desk.samples == desk.result.sample_count, "%d samples",
		  desk.samples);
	for (int i = 0; i < desk.samples; i++) {
		int64_t start_ns = i > 0 ? desk.seen[i - 1].end_ns : 0;

		cr_assert_eq(memcmp(&desk.seen[i], &desk.result.samples[i], sizeof(desk.seen[i])), 0);
		cr_assert_eq(desk.seen[i].end_ns - desk.seen[i].interval_ns, start_ns, "sample %d", i);
		cr_assert(desk.seen[i].end_ns >= 20 * MS);
		requests += desk.seen[i].requests;
		reads += desk.seen[i].ops[SL_LOAD_READ];
	}
	cr_assert(requests > 0 && requests <= desk.result.requests);
	cr_assert_eq(reads, 2 * requests);
	sl_load_result_fini(&desk.result);
}

/* 10 ms of work, and one is due every millisecond: in 100 ms about 10 of 100 are done. */
Test(crew, an_open_loop_counts_from_when_a_request_was_due)
{
	struct desk desk = {.takes_ns = 10 * MS};
	const struct sl_crew_config config = {
	    .rate = 1000, .constant = true, .limits = {.time_ns = 100 * MS}};

	cr_assert_eq(desk_run(&desk, 1, config), 0, "%s", desk.err.msg);
	/* However late this machine is: each that was done took the time in which ten more became due. */
	cr_assert(desk.result.requests >= 1);
	cr_assert(desk.result.queued + 2 >= 9 * (desk.result.requests - 1), "%d done, %d queued",
		  (int)desk.result.requests, (int)desk.result.queued);
	cr_assert(desk.result.queued >= 50, "%d are queued", (int)desk.result.queued);
	cr_assert_eq(desk.result.queue.count, desk.result.requests);
	/* The second was due at 1 ms and begun at 10 ms or later: its latency has that wait. */
	cr_assert(desk.result.requests == 1 || desk.result.queue.max >= 9 * MS);
	cr_assert(desk.result.requests == 1 || desk.result.latency.max >= 19 * MS);
	sl_load_result_fini(&desk.result);
}

/* One is due every 10 ms, and they take nothing: 20 requests end no earlier than the 20th is due, at 190 ms.
 */
Test(crew, an_open_loop_does_not_begin_before_a_request_is_due)
{
	struct desk desk = {0};
	const struct sl_crew_config config = {.rate = 100, .constant = true, .limits = {.max_requests = 20}};

	cr_assert_eq(desk_run(&desk, 2, config), 0, "%s", desk.err.msg);
	cr_assert_eq(desk.result.requests, 20u);
	cr_assert(desk.result.elapsed_ns >= 190 * MS, "%lld ns", (long long)desk.result.elapsed_ns);
	cr_assert(desk.result.latency.min >= 0);
	sl_load_result_fini(&desk.result);
}

/* What does not come back within 2 s of the end is cut off, and its failure is ours, not the load's. */
Test(crew, a_thread_that_is_stuck_at_the_end_is_aborted)
{
	struct desk desk = {.stuck = true, .fail_at = 1};
	const struct sl_crew_config config = {.limits = {.time_ns = 10 * MS}};

	cr_assert_eq(desk_run(&desk, 1, config), 0, "%s", desk.err.msg);
	cr_assert_eq(desk.aborts, 1);
	cr_assert_eq(desk.result.requests, 0u);
	sl_load_result_fini(&desk.result);
}

static bool always(void)
{
	return true;
}

Test(crew, ctrl_c_is_no_error_and_a_missing_limit_is_one)
{
	struct desk desk = {.takes_ns = MS};
	const struct sl_crew_config config = {.limits = {.time_ns = 60000LL * MS, .stopped = always}};
	const struct sl_crew_config endless = {0};

	cr_assert_eq(desk_run(&desk, 1, config), 0, "%s", desk.err.msg);
	cr_assert(desk.result.interrupted);
	sl_load_result_fini(&desk.result);
	cr_assert_eq(desk_run(&desk, 1, endless), -EINVAL);
	sl_load_result_fini(&desk.result);
}
