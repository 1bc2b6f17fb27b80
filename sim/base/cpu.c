#include "sim/base/cpu.h"

#include <assert.h>
#include <stddef.h>

/* Tolerance in ns of virtual time: completions are rounded up to whole ns. */
#define SL_CPU_EPSILON 0.5

static inline bool is_crowded(const struct sl_cpu *cpu)
{
	return cpu->jobs > cpu->count;
}

/* So many jobs are present from now on. A division takes longer than all else here: once for each change. */
static inline void set_jobs(struct sl_cpu *cpu, int jobs)
{
	cpu->jobs = jobs;
	cpu->busy = is_crowded(cpu) ? cpu->count : jobs;
	cpu->rate = is_crowded(cpu) ? cpu->crowded * (double)cpu->count / (double)jobs : 1;
}

/* Brings the virtual clock to now: it runs at the rate that every present job gets. Most jobs follow another
 * at once. */
static inline void cpu_advance(struct sl_cpu *cpu, int64_t now_ns)
{
	double elapsed = (double)(now_ns - cpu->last_ns);

	if (now_ns == cpu->last_ns) {
		return;
	}
	cpu->virtual_now += elapsed * cpu->rate;
	cpu->busy_ns += elapsed * cpu->busy;
	cpu->last_ns = now_ns;
}

/* Arms the timer for the earliest job. A timer that would fire too early is left: it finds nothing and
 * re-arms. */
static inline void cpu_arm(struct sl_cpu *cpu)
{
	double left = cpu->first->finish - cpu->virtual_now;
	int64_t due_ns;

	left = is_crowded(cpu) ? left / cpu->rate : left;
	due_ns = cpu->last_ns + (left > 0 ? (int64_t)(left + 0.999) : 0);

	if (!cpu->timer.armed || cpu->timer.due_ns > due_ns) {
		sl_loop_arm(cpu->loop, &cpu->timer, due_ns);
	}
}

static void note_job(const struct sl_cpu *cpu, const struct sl_cpu_job *job, int64_t now_ns)
{
	int64_t took_ns = now_ns - job->start_ns;

	if (took_ns > 0) {
		sl_trace_unit(cpu->trace, NULL, 0,
			      &(struct sl_span){cpu->layer, "job", 0, job->start_ns, now_ns,
						job->work_ns < took_ns ? job->work_ns : took_ns});
	}
}

/* Takes the jobs out whose work is done at `until` in virtual time, linked by `next`; NULL: none is. */
static inline struct sl_cpu_job *take_ready(struct sl_cpu *cpu, double until)
{
	struct sl_cpu_job *ready = cpu->first, *last = NULL, *job = ready;
	int left = cpu->jobs;

	for (; job && job->finish <= until; job = job->next) {
		last = job;
		left--;
	}
	if (!last) {
		return NULL;
	}
	last->next = NULL;
	cpu->first = job;
	cpu->last = job ? cpu->last : NULL;
	cpu->latest = job && cpu->latest && cpu->latest->finish > until ? cpu->latest : NULL;
	set_jobs(cpu, left);
	return ready;
}

static void cpu_timer_fire(struct sl_timer *timer, int64_t now_ns)
{
	struct sl_cpu *cpu = sl_container_of(timer, struct sl_cpu, timer);
	struct sl_cpu_job *ready;

	cpu_advance(cpu, now_ns);
	ready = take_ready(cpu, cpu->virtual_now + SL_CPU_EPSILON);
	if (cpu->first) {
		cpu_arm(cpu);
	}
	while (ready) {
		struct sl_cpu_job *job = ready;

		ready = job->next;
		if (cpu->trace) {
			note_job(cpu, job, now_ns);
		}
		sl_timer_fire(&job->done, now_ns);
	}
}

void sl_cpu_init(struct sl_cpu *cpu, struct sl_loop *loop, int count)
{
	assert(count > 0);
	*cpu = (struct sl_cpu){
	    .loop = loop, .timer.fire = cpu_timer_fire, .count = count, .crowded = 1.0, .rate = 1.0};
}

void sl_cpu_set_switching(struct sl_cpu *cpu, int64_t switch_ns, int64_t slice_ns)
{
	assert(switch_ns >= 0 && slice_ns > 0 && cpu->jobs == 0);
	cpu->crowded = (double)slice_ns / (double)(slice_ns + switch_ns);
}

void sl_cpu_set_trace(struct sl_cpu *cpu, struct sl_trace *trace, const char *layer)
{
	cpu->trace = trace;
	cpu->layer = layer;
}

void sl_cpu_run(struct sl_cpu *cpu, int64_t now_ns, struct sl_cpu_job *job, int64_t work_ns)
{
	struct sl_cpu_job **at = &cpu->first;

	assert(work_ns >= 0);
	cpu_advance(cpu, now_ns);
	job->start_ns = now_ns;
	job->work_ns = work_ns;
	job->finish = cpu->virtual_now + (double)work_ns;
	/* Jobs come in a few sizes: a thousand of them go to the end, or behind their like, without a search.
	 */
	if (cpu->last && cpu->last->finish <= job->finish) {
		at = &cpu->last->next;
	} else if (cpu->latest && cpu->latest->finish <= job->finish) {
		at = &cpu->latest->next;
	}
	while (*at && (*at)->finish <= job->finish) {
		at = &(*at)->next;
	}
	job->next = *at;
	*at = job;
	cpu->last = job->next ? cpu->last : job;
	cpu->latest = job->next ? job : cpu->latest;
	set_jobs(cpu, cpu->jobs + 1);
	cpu_arm(cpu);
}

double sl_cpu_utilisation(const struct sl_cpu *cpu, int64_t now_ns)
{
	double elapsed = (double)(now_ns - cpu->last_ns);
	double busy = cpu->busy_ns + elapsed * cpu->busy;

	return now_ns > 0 ? busy / ((double)now_ns * (double)cpu->count) : 0;
}
