/*
 * A set of equal CPUs under processor sharing: n runnable jobs on c CPUs each advance at rate min(1, c / n).
 * When n > c the CPUs also switch between jobs, which loses a share of their time.
 * Used for the vCPUs of the guest and of the storage VM.
 */
#ifndef SL_BASE_CPU_H
#define SL_BASE_CPU_H

#include <stdint.h>

#include "sim/base/loop.h"
#include "sim/base/trace.h"

/* Embedded in the job's owner; must live until `done` fires. */
struct sl_cpu_job {
	struct sl_timer done;
	struct sl_cpu_job *next;   /* private: by finish, earliest first */
	double finish;             /* private: in the CPU's virtual time */
	int64_t start_ns, work_ns; /* private: for the trace */
};

struct sl_cpu {
	struct sl_loop *loop; /* borrowed */
	struct sl_cpu_job *first, *last;
	struct sl_cpu_job *latest; /* to be put into the list; NULL when it has left it */
	struct sl_timer timer;
	double virtual_now;
	double
	    crowded; /* share of a CPU's time that is left for jobs while more jobs than CPUs are runnable */
	double rate, busy; /* what every present job gets of a CPU; CPUs that have something to do */
	int64_t last_ns;
	int count, jobs;        /* CPUs; jobs present */
	double busy_ns;         /* time the CPUs had something to do, all together */
	struct sl_trace *trace; /* borrowed, may be NULL */
	const char *layer;      /* of the jobs' spans */
};

/* `count` CPUs on `loop`. */
void sl_cpu_init(struct sl_cpu *cpu, struct sl_loop *loop, int count);

/* Sets what switching costs: `switch_ns` (direct cost and cold caches) after each `slice_ns` of work. Default
 * 0. */
void sl_cpu_set_switching(struct sl_cpu *cpu, int64_t switch_ns, int64_t slice_ns);

/* Each job becomes a span of `layer` (static), whose busy time is its work. Default: no trace. */
void sl_cpu_set_trace(struct sl_cpu *cpu, struct sl_trace *trace, const char *layer);

/* Runs `work_ns` of CPU time for `job`, then fires job->done (never from inside this call). */
void sl_cpu_run(struct sl_cpu *cpu, int64_t now_ns, struct sl_cpu_job *job, int64_t work_ns);

/* Share of all CPUs' time used since time 0, in [0, 1]. */
double sl_cpu_utilisation(const struct sl_cpu *cpu, int64_t now_ns);

#endif
