/*
 * A set of equal CPUs under processor sharing: n runnable jobs on c CPUs each advance at rate min(1, c / n).
 * Used for the vCPUs of the guest and of the storage VM.
 */
#ifndef SL_BASE_CPU_H
#define SL_BASE_CPU_H

#include <stdint.h>

#include "sim/base/loop.h"

/* Embedded in the job's owner; must live until `done` fires. */
struct sl_cpu_job {
	struct sl_timer done;
	struct sl_cpu_job *next; /* private: by finish, earliest first */
	double finish;           /* private: in the CPU's virtual time */
};

struct sl_cpu {
	struct sl_loop *loop; /* borrowed */
	struct sl_cpu_job *first;
	struct sl_timer timer;
	double virtual_now, count, rate;
	int64_t last_ns;
	int jobs;
	double busy_ns; /* CPU time given out so far, all CPUs together */
};

/* `count` CPUs on `loop`. */
void sl_cpu_init(struct sl_cpu *cpu, struct sl_loop *loop, int count);

/* Runs `work_ns` of CPU time for `job`, then fires job->done (never from inside this call). */
void sl_cpu_run(struct sl_cpu *cpu, int64_t now_ns, struct sl_cpu_job *job, int64_t work_ns);

/* Share of all CPUs' time used since time 0, in [0, 1]. */
double sl_cpu_utilisation(const struct sl_cpu *cpu, int64_t now_ns);

#endif
