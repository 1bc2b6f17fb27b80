/* The meter on made-up times: warm-up, limits, samples, stalls, Ctrl-C. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "loadgen/meter.h"

#define MS 1000000

struct bench {
	struct sl_load_limits limits;
	struct sl_load_result result;
	struct sl_meter meter;
	struct sl_err err;
	int reported;
};

static void bench_start(struct bench *bench, int64_t now_ns)
{
	cr_assert_eq(sl_load_result_init(&bench->result), 0);
	cr_assert_eq(sl_meter_start(&bench->meter, &bench->limits, &bench->result, now_ns, &bench->err), 0);
}

static void bench_fini(struct bench *bench)
{
	sl_meter_fini(&bench->meter);
	sl_load_result_fini(&bench->result);
}

Test(meter, the_warm_up_is_not_measured)
{
	struct bench bench = {.limits = {.time_ns = 10 * MS, .warmup_ns = 5 * MS}};

	bench_start(&bench, 100 * MS);
	sl_meter_add(&bench.meter, SL_LOAD_WRITE, 100 * MS, 101 * MS, 4096);
	sl_meter_add(&bench.meter, SL_LOAD_WRITE, 104 * MS, 106 * MS, 4096); /* began in it */
	cr_assert_eq(bench.result.requests, 0u);
	sl_meter_add(&bench.meter, SL_LOAD_WRITE, 106 * MS, 109 * MS, 4096);
	sl_meter_add(&bench.meter, SL_LOAD_READ, 109 * MS, 110 * MS, 100);
	sl_meter_add(&bench.meter, SL_LOAD_OTHER, 110 * MS, 114 * MS, 0);
	cr_assert_eq(sl_meter_turn(&bench.meter, 115 * MS - 1, &bench.err), 0);
	cr_assert_eq(sl_meter_turn(&bench.meter, 115 * MS, &bench.err), 1);
	sl_meter_stop(&bench.meter, 115 * MS);
	cr_assert_eq(bench.result.requests, 2u);
	cr_assert_eq(bench.result.ops[SL_LOAD_OTHER], 1u);
	cr_assert_eq(bench.result.bytes[SL_LOAD_WRITE], 4096u);
	cr_assert_eq(bench.result.bytes[SL_LOAD_READ], 100u);
	cr_assert_eq(bench.result.elapsed_ns, 10 * MS);
	cr_assert_eq(bench.result.latency.count, 2u);
	cr_assert_eq(bench.result.latency.max, 3 * MS);
	cr_assert_float_eq(sl_load_result_rate(&bench.result), 200, 1e-9);
	bench_fini(&bench);
}

Test(meter, a_limit_of_requests_ends_the_time_with_the_last_one)
{
	struct bench bench = {.limits = {.max_requests = 2}};

	bench_start(&bench, 0);
	sl_meter_add(&bench.meter, SL_LOAD_WRITE, 0, 3 * MS, 1);
	cr_assert_eq(sl_meter_turn(&bench.meter, 3 * MS, &bench.err), 0);
	sl_meter_add(&bench.meter, SL_LOAD_WRITE, 3 * MS, 8 * MS, 1);
	cr_assert_eq(sl_meter_turn(&bench.meter, 50 * MS, &bench.err), 1);
	sl_meter_stop(&bench.meter, 50 * MS);
	cr_assert_eq(bench.result.elapsed_ns, 8 * MS);
	bench_fini(&bench);
}

static void report(void *arg, const struct sl_load_sample *sample)
{
	(void)sample;
	(*(int *)arg)++;
}

Test(meter, samples_close_at_their_interval)
{
	struct bench bench = {.limits = {.time_ns = 100 * MS, .interval_ns = 10 * MS, .report = report}};

	bench.limits.report_arg = &bench.reported;
	bench_start(&bench, 0);
	sl_meter_add(&bench.meter, SL_LOAD_WRITE, 0, 4 * MS, 1);
	cr_assert_eq(sl_meter_nap(&bench.meter, 4 * MS), 6 * MS);
	cr_assert_eq(sl_meter_turn(&bench.meter, 9 * MS, &bench.err), 0);
	cr_assert_eq(bench.reported, 0);
	cr_assert_eq(sl_meter_turn(&bench.meter, 10 * MS, &bench.err), 0);
	/* Nothing for 25 ms: one longer sample, not three. */
	cr_assert_eq(sl_meter_turn(&bench.meter, 35 * MS, &bench.err), 0);
	sl_meter_add(&bench.meter, SL_LOAD_WRITE, 35 * MS, 36 * MS, 1);
	cr_assert_eq(sl_meter_turn(&bench.meter, 40 * MS, &bench.err), 0);
	cr_assert_eq(bench.reported, 3);
	cr_assert_eq(bench.result.sample_count, 3u);
	cr_assert_eq(bench.result.samples[0].requests, 1u);
	cr_assert(bench.result.samples[0].p95_ns > 39 * MS / 10 &&
		  bench.result.samples[0].p95_ns < 41 * MS / 10);
	cr_assert_eq(bench.result.samples[1].requests, 0u);
	cr_assert_eq(bench.result.samples[1].interval_ns, 25 * MS);
	cr_assert_eq(bench.result.samples[2].end_ns, 40 * MS);
	cr_assert_eq(bench.result.samples[2].interval_ns, 5 * MS);
	bench_fini(&bench);
}

static bool always(void)
{
	return true;
}

Test(meter, stalls_stops_and_missing_limits)
{
	struct bench bench = {.limits = {.max_requests = 10, .stall_ns = 20 * MS}};
	struct bench endless = {0};

	bench_start(&bench, 0);
	sl_meter_add(&bench.meter, SL_LOAD_WRITE, 0, 5 * MS, 1);
	cr_assert_eq(sl_meter_turn(&bench.meter, 24 * MS, &bench.err), 0);
	cr_assert_eq(sl_meter_turn(&bench.meter, 25 * MS, &bench.err), -ETIMEDOUT);
	cr_assert(strstr(bench.err.msg, "no answer") != NULL);
	bench.limits.stopped = always;
	cr_assert_eq(sl_meter_turn(&bench.meter, 6 * MS, &bench.err), 1);
	cr_assert(bench.result.interrupted);
	bench_fini(&bench);
	cr_assert_eq(sl_load_result_init(&endless.result), 0);
	cr_assert_eq(sl_meter_start(&endless.meter, &endless.limits, &endless.result, 0, &endless.err),
		     -EINVAL);
	bench_fini(&endless);
}

/* user 1, nice 2, system 4, idle 8, iowait 16, irq 32, softirq 64, steal 128: 1 + 2 + 4 + 32 + 64 + 128
 * of 255 were of no use to anybody else. */
Test(meter, the_machine_is_busy_but_for_idle_and_iowait)
{
	struct sl_meter_cpu cpu = {0};

	sl_meter_machine_parse("cpu  1 2 4 8 16 32 64 128 256 512\n", &cpu);
	cr_assert_eq(cpu.machine_busy, 231u);
	cr_assert_eq(cpu.machine_total, 255u);
	/* A kernel that says less leaves it unknown. */
	cpu = (struct sl_meter_cpu){0};
	sl_meter_machine_parse("cpu  1 2 4 8 16 32 64\n", &cpu);
	sl_meter_machine_parse("intr 1 2 4 8 16 32 64 128\n", &cpu);
	cr_assert_eq(cpu.machine_total, 0u);
}
