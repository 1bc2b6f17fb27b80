/* Measures a load: warm-up, limits, samples, stall. Internal to loadgen. */
#ifndef SL_LOADGEN_METER_H
#define SL_LOADGEN_METER_H

#include "loadgen/load.h"

/* CPU time so far: this process's, and in clock ticks the machine's (total 0 = unknown). */
struct sl_meter_cpu {
	int64_t user_ns, system_ns;
	uint64_t machine_busy, machine_total;
};

/* Takes the machine's ticks from the first line of /proc/stat; another line leaves *ret as it is. */
void sl_meter_machine_parse(const char *line, struct sl_meter_cpu *ret);

/* Zero-initialise; release with sl_meter_fini. */
struct sl_meter {
	const struct sl_load_limits *limits;
	struct sl_load_result *result;
	int64_t begin_ns;      /* measurement begins (after the warm-up) */
	int64_t progress_ns;   /* last completion */
	int64_t sample_end_ns; /* of the present interval */
	int64_t sample_start_ns;
	uint64_t sample_requests;
	uint64_t sample_ops[SL_LOAD_OPS], sample_errors;
	struct sl_meter_cpu cpu; /* when the measurement began */
	/* Waits for a CPU: when the measurement began (negative errno: unknown), and by the last look, which
	 * is taken now and then, since a thread that has ended no longer tells. */
	int64_t wait_begin_ns, wait_last_ns;
	int64_t wait_look_ns; /* when that was */
	bool measuring;
	struct sl_hist interval;
};

/* Starts at now_ns; limits and result are borrowed. -EINVAL when nothing limits the load; -ENOMEM. */
int sl_meter_start(struct sl_meter *meter, const struct sl_load_limits *limits, struct sl_load_result *result,
		   int64_t now_ns, struct sl_err *err);
/* What was done in one go. */
struct sl_meter_work {
	uint32_t ops[SL_LOAD_OPS], bytes[SL_LOAD_OPS];
	uint32_t errors; /* tries in vain before */
	bool request;    /* counts as a request, with its latency */
};

/* Counts what took from start_ns to end_ns; not when it began in the warm-up. */
void sl_meter_add_work(struct sl_meter *meter, int64_t start_ns, int64_t end_ns,
		       const struct sl_meter_work *work);
/* The same for one operation, which is a request unless it is SL_LOAD_OTHER. */
void sl_meter_add(struct sl_meter *meter, enum sl_load_op op, int64_t start_ns, int64_t end_ns,
		  uint32_t bytes);
/* Once per turn: closes samples. 0; 1 when a limit is reached or the user stopped it; -ETIMEDOUT on a stall.
 */
int sl_meter_turn(struct sl_meter *meter, int64_t now_ns, struct sl_err *err);
/* How long the caller may sleep from now_ns on (ns, at most 100 ms). */
int64_t sl_meter_nap(const struct sl_meter *meter, int64_t now_ns);
/* Ends the measurement. */
void sl_meter_stop(struct sl_meter *meter, int64_t now_ns);
void sl_meter_fini(struct sl_meter *meter);

#endif
