/* What every real load has in common: limits, progress, results. */
#ifndef SL_LOADGEN_LOAD_H
#define SL_LOADGEN_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"
#include "sim/base/hist.h"

enum sl_load_op {
	SL_LOAD_READ,
	SL_LOAD_WRITE,
	SL_LOAD_OTHER, /* fsync, BEGIN, COMMIT: measured, but not a request of its own (sysbench's rule) */
	SL_LOAD_OPS
};

enum sl_load_stage {
	SL_LOAD_PREPARE = 1,
	SL_LOAD_RUN = 2,
	SL_LOAD_CLEANUP = 4
};

/* One report interval. */
struct sl_load_sample {
	int64_t end_ns, interval_ns; /* since the measurement began */
	uint64_t requests, errors;
	uint64_t ops[SL_LOAD_OPS];
	int64_t p95_ns;
};

/* When a load ends, and whom it tells. Zero-initialise for "no limit"; something must limit it. */
struct sl_load_limits {
	int64_t time_ns;       /* measured time, 0 = no limit */
	int64_t warmup_ns;     /* before it: load without measurement */
	uint64_t max_requests; /* measured requests, 0 = no limit */
	int64_t interval_ns;   /* between samples, 0 = none */
	int64_t stall_ns;      /* give up when nothing completes for so long; 0 = 30 s */
	bool (*stopped)(void); /* asked at least every 100 ms (Ctrl-C); may be NULL */
	void (*report)(void *arg, const struct sl_load_sample *sample); /* may be NULL */
	void *report_arg;
};

#define SL_LOAD_SAMPLES_MAX 100000u

/* Owned by the caller; sl_load_result_init before, sl_load_result_fini after. Valid after a failed run too:
 * what was measured until then. */
struct sl_load_result {
	int64_t elapsed_ns;        /* measured time */
	uint64_t requests;         /* what completed in it: reads and writes, or transactions */
	uint64_t errors;           /* transactions that the server gave up; each was done again */
	uint64_t ops[SL_LOAD_OPS]; /* by kind */
	uint64_t bytes[SL_LOAD_OPS];
	struct sl_hist latency; /* of the requests; of fsyncs too where the load says so */
	int64_t null_ns;        /* median round trip of an NFS NULL call before the load */
	/* Time that a request of an open loop waited for a thread; its latency has it already. */
	struct sl_hist queue;
	uint64_t queued;         /* open loop: due at the end, but not begun */
	int64_t user_ns, cpu_ns; /* of this process during the measurement: user, user + system */
	int64_t cpu_wait_ns;     /* its threads' waits for a CPU meanwhile, summed; negative = unknown */
	double machine_busy;     /* share of all CPUs of this machine in use, negative = unknown */
	bool interrupted;
	struct sl_load_sample *samples; /* at most SL_LOAD_SAMPLES_MAX */
	uint32_t sample_count;
};

/* 0 or -ENOMEM. */
int sl_load_result_init(struct sl_load_result *result);
void sl_load_result_fini(struct sl_load_result *result);
/* Requests per second; 0 when nothing was measured. */
double sl_load_result_rate(const struct sl_load_result *result);

#endif
