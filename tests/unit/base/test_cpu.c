/* Processor sharing: n jobs on c CPUs, what switching costs, and how busy the CPUs were. */
#include <criterion/criterion.h>

#include "tests/lib/notes.h"

#include "sim/base/cpu.h"
#include "sim/base/slab.h"

struct rig {
	struct sl_loop *loop;
	struct sl_cpu cpu;
	struct notes notes;
	struct job {
		struct sl_cpu_job job;
		struct rig *rig;
		const char *name;
		int64_t work_ns;
		struct event start;
	} jobs[8];
	int n;
};

static struct rig *rig_new(int cpus)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	cr_assert_not_null(rig);
	rig->loop = sl_loop_new_virtual();
	sl_cpu_init(&rig->cpu, rig->loop, cpus);
	return rig;
}

static void rig_free(struct rig *rig)
{
	sl_loop_free(rig->loop);
	free(rig);
}

static void job_done(struct sl_timer *timer, int64_t now_ns)
{
	struct job *job = sl_container_of(timer, struct job, job.done);

	notes_add(&job->rig->notes, now_ns, "%s done", job->name);
}

static void job_start(void *arg, int64_t now_ns)
{
	struct job *job = arg;

	sl_cpu_run(&job->rig->cpu, now_ns, &job->job, job->work_ns);
}

/* Lets `name` begin `work_ns` of work at start_ns. */
static void job_at(struct rig *rig, const char *name, int64_t start_ns, int64_t work_ns)
{
	struct job *job = &rig->jobs[rig->n++];

	*job = (struct job){.job.done.fire = job_done, .rig = rig, .name = name, .work_ns = work_ns};
	event_at(&job->start, rig->loop, start_ns, job_start, job);
}

Test(cpu, a_job_alone_takes_its_work)
{
	struct rig *rig = rig_new(1);

	job_at(rig, "a", 5 * MS, 100 * MS);
	run_all(rig->loop);
	notes_expect(&rig->notes, "[105ms] a done\n");
	rig_free(rig);
}

Test(cpu, two_jobs_share_one_cpu)
{
	struct rig *rig = rig_new(1);

	job_at(rig, "a", 0, 100 * MS);
	job_at(rig, "b", 50 * MS, 100 * MS); /* a has 50 ms left: 100 ms at half speed */
	run_all(rig->loop);
	notes_expect(&rig->notes, "[150ms] a done\n[200ms] b done\n");
	rig_free(rig);
}

Test(cpu, as_many_cpus_as_jobs_and_nobody_waits)
{
	struct rig *rig = rig_new(2);

	job_at(rig, "a", 0, 100 * MS);
	job_at(rig, "b", 50 * MS, 100 * MS);
	run_all(rig->loop);
	notes_expect(&rig->notes, "[100ms] a done\n[150ms] b done\n");
	rig_free(rig);
}

Test(cpu, three_jobs_on_two_cpus_run_at_two_thirds)
{
	struct rig *rig = rig_new(2);

	job_at(rig, "a", 0, 100 * MS);
	job_at(rig, "b", 0, 300 * MS);
	job_at(rig, "c", 0, 300 * MS);
	run_all(rig->loop);
	/* a: 100 / (2/3); then two CPUs for two jobs that have 200 ms left. */
	notes_expect(&rig->notes, "[150ms] a done\n[350ms] b done\n[350ms] c done\n");
	rig_free(rig);
}

Test(cpu, equal_jobs_end_in_order_of_arrival)
{
	struct rig *rig = rig_new(1);

	job_at(rig, "a", 0, MS);
	job_at(rig, "b", 0, MS);
	job_at(rig, "c", 0, MS);
	run_all(rig->loop);
	notes_expect(&rig->notes, "[3ms] a done\n[3ms] b done\n[3ms] c done\n");
	rig_free(rig);
}

Test(cpu, work_of_no_length_ends_at_once_but_not_inside_the_call)
{
	struct rig *rig = rig_new(1);

	rig->jobs[0] = (struct job){.job.done.fire = job_done, .rig = rig, .name = "a"};
	sl_cpu_run(&rig->cpu, 0, &rig->jobs[0].job, 0);
	notes_expect(&rig->notes, "");
	run_all(rig->loop);
	notes_expect(&rig->notes, "[0ms] a done\n");
	rig_free(rig);
}

Test(cpu, switching_costs_only_while_jobs_outnumber_cpus)
{
	struct rig *rig = rig_new(1);

	/* 0.1 ms lost after each 1.9 ms: 5 % of the CPU. */
	sl_cpu_set_switching(&rig->cpu, 100 * US, 1900 * US);
	job_at(rig, "a", 0, 95 * MS);
	job_at(rig, "b", 0, 195 * MS);
	run_all(rig->loop);
	/* Both at 0.475 until a's end; then b has 100 ms left, alone. */
	notes_expect(&rig->notes, "[200ms] a done\n[300ms] b done\n");
	rig_free(rig);
}

Test(cpu, utilisation_is_the_share_of_all_cpus_and_of_all_time)
{
	struct rig *rig = rig_new(2);

	job_at(rig, "a", 0, 100 * MS);
	cr_assert_eq(sl_cpu_utilisation(&rig->cpu, 0), 0.0);
	cr_assert_eq(sl_loop_run_until(rig->loop, 50 * MS, NULL), 0);
	cr_assert_float_eq(sl_cpu_utilisation(&rig->cpu, 50 * MS), 0.5, 1e-12);
	cr_assert_eq(sl_loop_run_until(rig->loop, 200 * MS, NULL), 0);
	cr_assert_float_eq(sl_cpu_utilisation(&rig->cpu, 200 * MS), 0.25, 1e-12);
	job_at(rig, "b", 200 * MS, 200 * MS);
	job_at(rig, "c", 200 * MS, 200 * MS);
	job_at(rig, "d", 200 * MS, 200 * MS);
	run_all(rig->loop);
	cr_assert_float_eq(sl_cpu_utilisation(&rig->cpu, 500 * MS), 0.7,
			   1e-9); /* (100 + 600) of 2 x 500 ms */
	rig_free(rig);
}

struct thing {
	void *pool_link;
	int64_t value;
	char text[20];
};

Test(slab, an_object_given_back_is_the_next_one_out_and_keeps_its_content)
{
	struct sl_slab slab;
	struct thing *a, *b;

	sl_slab_init(&slab, sizeof(struct thing));
	a = sl_slab_get(&slab);
	cr_assert_eq(a->value, 0);
	a->value = 7;
	b = sl_slab_get(&slab);
	cr_assert(a != b);
	sl_slab_put(&slab, b);
	sl_slab_put(&slab, a);
	cr_assert(sl_slab_get(&slab) == a);
	cr_assert_eq(a->value, 7);
	cr_assert(sl_slab_get(&slab) == b);
	sl_slab_fini(&slab);
}

Test(slab, many_objects_are_apart_aligned_and_all_freed_at_the_end)
{
	struct sl_slab slab;
	struct thing *things[1000];

	sl_slab_init(&slab, sizeof(struct thing));
	for (int i = 0; i < 1000; i++) {
		things[i] = sl_slab_get(&slab);
		cr_assert_eq((uintptr_t)things[i] % _Alignof(max_align_t), 0);
		memset(things[i], i % 251, sizeof(*things[i]));
	}
	for (int i = 0; i < 1000; i++) {
		const unsigned char *bytes = (const unsigned char *)things[i];

		for (size_t b = 0; b < sizeof(struct thing); b++) {
			cr_assert_eq(bytes[b], i % 251, "object %d, byte %zu", i, b);
		}
	}
	for (int i = 0; i < 1000; i += 2) {
		sl_slab_put(&slab, things[i]);
	}
	sl_slab_fini(&slab); /* with half of them in use: LeakSanitizer looks on */
}

struct crowd_job {
	struct sl_cpu_job job;
	int size, number;
	int *done; /* how many are */
	struct crowd_job **order;
};

static void crowd_done(struct sl_timer *timer, int64_t now_ns)
{
	struct crowd_job *job = sl_container_of(timer, struct crowd_job, job.done);

	(void)now_ns;
	job->order[(*job->done)++] = job;
}

/* Jobs that come together share the CPUs evenly: the smaller ones are done first, equal ones as they came. */
Test(cpu, a_crowd_of_a_few_sizes_is_done_by_size_and_then_in_order)
{
	static struct crowd_job jobs[600], *order[600];
	struct sl_loop *loop = sl_loop_new_virtual();
	struct sl_err err = {0};
	struct sl_cpu cpu;
	int done = 0;

	sl_cpu_init(&cpu, loop, 2);
	for (int i = 0; i < 600; i++) {
		jobs[i] = (struct crowd_job){.size = i * 7 % 5, .number = i, .done = &done, .order = order};
		jobs[i].job.done.fire = crowd_done;
		sl_cpu_run(&cpu, 0, &jobs[i].job, 1000 * (jobs[i].size + 1));
	}
	cr_assert_eq(sl_loop_run(loop, &err), 0);
	cr_assert_eq(done, 600);
	for (int i = 1; i < 600; i++) {
		cr_assert(order[i - 1]->size < order[i]->size || (order[i - 1]->size == order[i]->size &&
								  order[i - 1]->number < order[i]->number),
			  "at %d", i);
	}
	sl_loop_free(loop);
}
