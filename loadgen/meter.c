#include "loadgen/meter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "sim/base/clock.h"
#include "sim/base/runwait.h"

#define STALL_DEFAULT_NS 30000000000
#define NAP_MAX_NS 100000000
#define WAIT_LOOK_NS 100000000

/* user, nice, system, idle, iowait, irq, softirq, steal (proc(5)). */
void sl_meter_machine_parse(const char *line, struct sl_meter_cpu *ret)
{
	unsigned long long t[8];

	/* NOLINTNEXTLINE(cert-err34-c): numbers of the kernel */
	if (sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3], &t[4],
		   &t[5], &t[6], &t[7]) == 8) {
		ret->machine_busy = t[0] + t[1] + t[2] + t[5] + t[6] + t[7];
		ret->machine_total = ret->machine_busy + t[3] + t[4];
	}
}

static void machine_read(struct sl_meter_cpu *ret)
{
	char line[256];
	FILE *file = fopen("/proc/stat", "re");

	if (!file) {
		return;
	}
	if (fgets(line, sizeof(line), file)) {
		sl_meter_machine_parse(line, ret);
	}
	(void)fclose(file);
}

static struct sl_meter_cpu cpu_read(void)
{
	struct sl_meter_cpu cpu = {0};
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) == 0) {
		cpu.user_ns =
		    (int64_t)usage.ru_utime.tv_sec * 1000000000 + (int64_t)usage.ru_utime.tv_usec * 1000;
		cpu.system_ns =
		    (int64_t)usage.ru_stime.tv_sec * 1000000000 + (int64_t)usage.ru_stime.tv_usec * 1000;
	}
	machine_read(&cpu);
	return cpu;
}

int sl_load_result_init(struct sl_load_result *result)
{
	memset(result, 0, sizeof(*result));
	result->machine_busy = -1;
	result->cpu_wait_ns = -1;
	if (sl_hist_init(&result->latency) < 0 || sl_hist_init(&result->queue) < 0) {
		sl_load_result_fini(result);
		return -ENOMEM;
	}
	return 0;
}

void sl_load_result_fini(struct sl_load_result *result)
{
	sl_hist_fini(&result->latency);
	sl_hist_fini(&result->queue);
	free(result->samples);
	memset(result, 0, sizeof(*result));
}

double sl_load_result_rate(const struct sl_load_result *result)
{
	return result->elapsed_ns > 0 ? (double)result->requests * 1e9 / (double)result->elapsed_ns : 0;
}

int sl_meter_start(struct sl_meter *meter, const struct sl_load_limits *limits, struct sl_load_result *result,
		   int64_t now_ns, struct sl_err *err)
{
	if (limits->time_ns <= 0 && limits->max_requests == 0) {
		return sl_err_set(err, -EINVAL,
				  "nothing limits the load; give a time or a number of requests");
	}
	if (sl_hist_init(&meter->interval)) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	meter->limits = limits;
	meter->result = result;
	meter->begin_ns = now_ns + limits->warmup_ns;
	meter->progress_ns = now_ns;
	meter->sample_start_ns = meter->begin_ns;
	meter->sample_end_ns = meter->begin_ns + limits->interval_ns;
	return 0;
}

/* The most that was seen: of threads that have ended nothing can be read any more. */
static void wait_look(struct sl_meter *meter)
{
	int64_t wait_ns;

	if (meter->wait_begin_ns >= 0 && sl_runwait_ns(0, &wait_ns) == 0 && wait_ns > meter->wait_last_ns) {
		meter->wait_last_ns = wait_ns;
	}
}

static void measuring_begin(struct sl_meter *meter)
{
	int rc;

	if (!meter->measuring) {
		meter->measuring = true;
		meter->cpu = cpu_read();
		rc = sl_runwait_ns(0, &meter->wait_begin_ns);
		if (rc < 0) {
			meter->wait_begin_ns = rc;
		}
		meter->wait_last_ns = meter->wait_begin_ns;
	}
}

void sl_meter_add_work(struct sl_meter *meter, int64_t start_ns, int64_t end_ns,
		       const struct sl_meter_work *work)
{
	struct sl_load_result *result = meter->result;

	meter->progress_ns = end_ns;
	if (start_ns < meter->begin_ns) {
		return;
	}
	measuring_begin(meter);
	for (int op = 0; op < SL_LOAD_OPS; op++) {
		result->ops[op] += work->ops[op];
		result->bytes[op] += work->bytes[op];
		meter->sample_ops[op] += work->ops[op];
	}
	result->errors += work->errors;
	meter->sample_errors += work->errors;
	result->elapsed_ns = end_ns - meter->begin_ns;
	if (work->request) {
		result->requests++;
		meter->sample_requests++;
		sl_hist_add(&result->latency, end_ns - start_ns);
		sl_hist_add(&meter->interval, end_ns - start_ns);
	}
}

void sl_meter_add(struct sl_meter *meter, enum sl_load_op op, int64_t start_ns, int64_t end_ns,
		  uint32_t bytes)
{
	struct sl_meter_work work = {.request = op != SL_LOAD_OTHER};

	work.ops[op] = 1;
	work.bytes[op] = bytes;
	sl_meter_add_work(meter, start_ns, end_ns, &work);
}

static void sample_close(struct sl_meter *meter, int64_t end_ns)
{
	struct sl_load_result *result = meter->result;
	struct sl_load_sample sample = {
	    .end_ns = end_ns - meter->begin_ns,
	    .interval_ns = end_ns - meter->sample_start_ns,
	    .requests = meter->sample_requests,
	    .errors = meter->sample_errors,
	    .p95_ns = sl_hist_quantile(&meter->interval, 0.95),
	};

	memcpy(sample.ops, meter->sample_ops, sizeof(sample.ops));
	memset(meter->sample_ops, 0, sizeof(meter->sample_ops));
	meter->sample_requests = 0;
	meter->sample_errors = 0;
	meter->sample_start_ns = end_ns;
	sl_hist_reset(&meter->interval);
	if (result->sample_count < SL_LOAD_SAMPLES_MAX) {
		/* Grown by powers of two; a sample that finds no memory is reported, but not kept. */
		if ((result->sample_count & (result->sample_count - 1)) == 0) {
			uint32_t room = result->sample_count ? result->sample_count * 2 : 1;
			struct sl_load_sample *grown = realloc(result->samples, room * sizeof(*grown));

			if (!grown) {
				return;
			}
			result->samples = grown;
		}
		result->samples[result->sample_count++] = sample;
	}
	if (meter->limits->report) {
		meter->limits->report(meter->limits->report_arg, &sample);
	}
}

int sl_meter_turn(struct sl_meter *meter, int64_t now_ns, struct sl_err *err)
{
	const struct sl_load_limits *limits = meter->limits;
	int64_t stall_ns = limits->stall_ns > 0 ? limits->stall_ns : STALL_DEFAULT_NS;

	if (now_ns >= meter->begin_ns) {
		measuring_begin(meter);
	}
	if (meter->measuring && now_ns - meter->wait_look_ns >= WAIT_LOOK_NS) {
		meter->wait_look_ns = now_ns;
		wait_look(meter);
	}
	if (limits->interval_ns > 0 && now_ns >= meter->sample_end_ns) {
		sample_close(meter, now_ns);
		/* After a stall the ticks that were missed are not made up. */
		while (meter->sample_end_ns <= now_ns) {
			meter->sample_end_ns += limits->interval_ns;
		}
	}
	if (limits->stopped && limits->stopped()) {
		meter->result->interrupted = true;
		return 1;
	}
	if (limits->max_requests > 0 && meter->result->requests >= limits->max_requests) {
		return 1;
	}
	if (limits->time_ns > 0 && now_ns - meter->begin_ns >= limits->time_ns) {
		return 1;
	}
	if (now_ns - meter->progress_ns >= stall_ns) {
		return sl_err_set(err, -ETIMEDOUT, "no answer for %lld s; is the server still running?",
				  (long long)(stall_ns / 1000000000));
	}
	return 0;
}

int64_t sl_meter_nap(const struct sl_meter *meter, int64_t now_ns)
{
	const struct sl_load_limits *limits = meter->limits;
	int64_t nap_ns = NAP_MAX_NS;
	int64_t left_ns = meter->begin_ns + limits->time_ns - now_ns;

	if (limits->time_ns > 0 && left_ns < nap_ns) {
		nap_ns = left_ns;
	}
	if (limits->interval_ns > 0 && meter->sample_end_ns - now_ns < nap_ns) {
		nap_ns = meter->sample_end_ns - now_ns;
	}
	return nap_ns > 0 ? nap_ns : 0;
}

static void cpu_result(const struct sl_meter_cpu *from, struct sl_load_result *result)
{
	struct sl_meter_cpu to = cpu_read();

	result->user_ns = to.user_ns - from->user_ns;
	result->cpu_ns = result->user_ns + to.system_ns - from->system_ns;
	if (to.machine_total > from->machine_total) {
		result->machine_busy = (double)(to.machine_busy - from->machine_busy) /
				       (double)(to.machine_total - from->machine_total);
	}
}

void sl_meter_stop(struct sl_meter *meter, int64_t now_ns)
{
	struct sl_load_result *result = meter->result;

	/* By time: all of it counts. By requests: until the last one of them. */
	if (now_ns > meter->begin_ns &&
	    (meter->limits->max_requests == 0 || result->requests < meter->limits->max_requests)) {
		result->elapsed_ns = now_ns - meter->begin_ns;
	}
	if (meter->measuring) {
		cpu_result(&meter->cpu, result);
		wait_look(meter);
		if (meter->wait_begin_ns >= 0) {
			result->cpu_wait_ns = meter->wait_last_ns - meter->wait_begin_ns;
		}
	}
}

void sl_meter_fini(struct sl_meter *meter)
{
	sl_hist_fini(&meter->interval);
}
