#include "engine/vm_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/lab_control.h"
#include "engine/lab_life.h"
#include "engine/live_lab.h"
#include "engine/measured.h"
#include "engine/vm_cell.h"
#include "engine/vm_costs.h"
#include "engine/vm_kept.h"

#define END_MS 20000

/* The CPUs behind a cell. */
struct cpus {
	struct sl_measured_busy guest, storage, host;
};

struct job {
	const struct sl_scenario *sc;
	const struct sl_vm_options *options;
	struct sl_live *live;
	struct sl_lab_plan plan;
	bool ours; /* the lab was not up before */
	struct sl_vm_kept kept;
	struct sl_vm_costs costs, profile; /* of the lab, and of the profile's CPUs in its place */
	double dilate;
	int n_workloads, n_cells;
	int *workloads;        /* those that can run */
	struct sl_cell *cells; /* [workload * plan.n_variants + variant]: the measured ones */
	struct cpus *cpus;     /* likewise */
	int done, total;
};

/* Lab */

static int plan_make(struct job *job, struct sl_err *err)
{
	const struct sl_run_options *run = job->options->run;
	struct sl_words names = {0};
	struct sl_lab_plan_options plan = {.scenario = job->options->scenario,
					   .variants = &names,
					   .sets = job->options->sets,
					   .dilate = job->options->dilate > 0 ? job->options->dilate : 1};

	for (int i = 0; run->variants && i < run->n_variants; i++) {
		if (names.n == SL_WORDS_MAX) {
			return sl_err_set(err, -E2BIG, "--variant: more than %d", SL_WORDS_MAX);
		}
		names.word[names.n++] = sl_scenario_variant_name(job->sc, run->variants[i]);
	}
	return sl_lab_plan(&plan, &job->plan, err);
}

static struct sl_lab_at lab_at(const struct job *job)
{
	return (struct sl_lab_at){job->plan.dir, job->options->run->stopped};
}

/* A lab that is up must be of this scenario, with a pool of the OpenZFS that the scenario asks for. */
static int lab_matches(const struct job *job, const char *status, struct sl_err *err)
{
	char words[128];

	(void)snprintf(words, sizeof(words), "key %016llx\nzfs %s\n", (unsigned long long)job->plan.key,
		       job->plan.zfs);
	return strstr(status, words) ? 0
				     : sl_err_set(err, -EBUSY,
						  "lab %s is up with another scenario or other settings; run "
						  "sloglab vm down --name %s",
						  job->plan.name, job->plan.name);
}

static int lab_up(struct job *job, struct sl_err *err)
{
	char status[8192];
	struct sl_err absent = {0};
	const struct sl_lab_at lab = lab_at(job);
	int rc = sl_lab_ask(&lab, status, sizeof(status), &absent, "status");

	if (rc == 0) {
		return lab_matches(job, status, err);
	}
	rc = sl_lab_bring_up(&job->plan, job->options->said, job->options->run->stopped, err);
	job->ours = rc == 0;
	return rc;
}

/* A load that was left behind in a lab that stays up is ended. */
static void lab_leave(struct job *job)
{
	const struct sl_patience patience = {.timeout_ms = END_MS};
	struct sl_err ignored = {0};
	struct sl_lab_run run;

	if (job->ours) {
		(void)sl_lab_remove(job->plan.dir, SL_LAB_DOWN_MS, &ignored);
		return;
	}
	if (sl_lab_run(job->plan.dir, "guest", "killall -q sloglab-load", &patience, &run, &ignored) == 0) {
		sl_lab_run_fini(&run);
	}
	(void)sl_lab_ask_disks(job->plan.dir, "latency on", NULL, 0, &ignored);
}

static bool lab_kvm(const struct job *job)
{
	char nbd[SL_LAB_PATH_MAX];

	return sl_lab_plan_config(&job->plan, nbd).kvm;
}

/* Dilation */

/* What the profile's CPUs would need in the lab's place: its software, one vCPU each. */
static int profile_costs(const struct job *job, struct sl_vm_costs *ret, struct sl_err *err)
{
	const struct sl_vm_lab lab = {.kvm = lab_kvm(job), .zfs = job->plan.zfs, .dilate = 1};
	struct sl_result unsaid = {0};
	struct sl_box box = job->plan.boxes[0];

	sl_vm_lab_box(&lab, &box, &unsaid);
	return sl_vm_costs_model(&box, job->options->run->stopped, ret, err);
}

static int dilate_find(struct job *job, struct sl_err *err)
{
	const struct sl_lab_at lab = lab_at(job);
	char command[64];
	int rc = profile_costs(job, &job->profile, err);

	if (rc == 0 && !sl_vm_kept_costs(&job->kept, &job->costs)) {
		rc = sl_vm_costs_measure(&lab, sl_scenario_variant_name(job->sc, job->plan.variants[0]),
					 &job->plan.boxes[0], &job->costs, err);
		if (rc == 0) {
			rc = sl_vm_kept_costs_set(&job->kept, &job->costs, err);
		}
	}
	if (rc < 0) {
		return rc;
	}
	job->dilate = job->options->dilate > 0
			  ? job->options->dilate
			  : sl_measured_dilate(job->costs.oltp_ns + job->costs.sync_ns,
					       job->profile.oltp_ns + job->profile.sync_ns);
	(void)snprintf(command, sizeof(command), "dilate %.6g", job->dilate);
	return sl_lab_ask_disks(job->plan.dir, command, NULL, 0, err);
}

/* Cells */

static void load_make(const struct job *job, int workload, struct sl_workload *ret)
{
	const struct sl_measured_limits limits = {
	    .time_s = job->options->time_s, .quick = job->options->quick, .dilate = job->dilate};

	*ret = *sl_scenario_workload(job->sc, workload);
	if (job->options->quick) {
		sl_measured_shrink(ret);
	}
	sl_measured_limit(&limits, ret);
}

/* Of several samples the worst timing is the one to judge by. */
static int timing_keep(struct job *job, const struct sl_cell *cell, const struct sl_vm_sample *sample,
		       struct sl_err *err)
{
	struct sl_live *live = job->live;
	struct sl_timing timing = {.variant = cell->variant,
				   .workload = cell->workload,
				   .lateness_p50_wall_ns = sample->late_p50_wall_ns,
				   .lateness_p99_wall_ns = sample->late_p99_wall_ns,
				   .modelled_p50_wall_ns = sample->modelled_p50_wall_ns};
	const bool unknown = sample->waits_wall_ns <= 0;
	struct sl_trust_input input = {
	    .measured_wall_ns = sample->load.measure.elapsed_ns,
	    .waits = {[SL_TRUST_SERVER] = {.present = true,
					   .unknown = unknown,
					   .wait_wall_ns = sample->server_wait_wall_ns,
					   .wall_ns = sample->waits_wall_ns},
		      [SL_TRUST_MACHINES] = {.present = true,
					     .unknown = unknown,
					     .wait_wall_ns = sample->machines_wait_wall_ns,
					     .wall_ns = sample->waits_wall_ns}}};
	struct sl_timing *timings;

	for (int i = 0; i < live->n_timings; i++) {
		struct sl_timing *old = &live->timings[i];

		if (old->variant == cell->variant && old->workload == cell->workload) {
			sl_measured_trust(&timing, &input, false, old);
			return 0;
		}
	}
	timings = realloc(live->timings, (size_t)(live->n_timings + 1) * sizeof(*timings));
	if (!timings) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	live->timings = timings;
	sl_measured_trust(&timing, &input, true, &live->timings[live->n_timings++]);
	return 0;
}

/* Moves the evidence out of the sample, in the place of an earlier one. */
static int evidence_keep(struct job *job, const struct sl_cell *cell, struct sl_vm_sample *sample,
			 struct sl_err *err)
{
	struct sl_live *live = job->live;
	struct sl_evidence *list, *at = NULL;

	sample->evidence.variant = cell->variant;
	sample->evidence.workload = cell->workload;
	for (int i = 0; i < live->n_evidence; i++) {
		if (live->evidence[i].variant == cell->variant &&
		    live->evidence[i].workload == cell->workload) {
			at = &live->evidence[i];
			sl_evidence_fini(at);
		}
	}
	if (!at) {
		list = realloc(live->evidence, (size_t)(live->n_evidence + 1) * sizeof(*list));
		if (!list) {
			return sl_err_set(err, -ENOMEM, "out of memory");
		}
		live->evidence = list;
		at = &live->evidence[live->n_evidence++];
	}
	*at = sample->evidence;
	sample->evidence = (struct sl_evidence){0};
	return 0;
}

static int sample_keep(struct job *job, struct sl_cell *cell, struct sl_vm_sample *sample, struct sl_err *err)
{
	struct cpus *cpus = &job->cpus[cell - job->cells];
	int rc = timing_keep(job, cell, sample, err);

	sl_measured_sample(cell, sl_scenario_workload(job->sc, cell->workload), &sample->load, job->dilate);
	sl_measured_busy_add(&cpus->guest, sample->evidence.guest_busy);
	sl_measured_busy_add(&cpus->storage, sample->evidence.storage_busy);
	sl_measured_busy_add(&cpus->host, sample->evidence.host_busy);
	return rc < 0 ? rc : evidence_keep(job, cell, sample, err);
}

static int sample_take(struct job *job, int v, struct sl_cell *cell, int repeat, struct sl_err *err)
{
	const char *variant = sl_scenario_variant_name(job->sc, cell->variant);
	const char *workload = sl_scenario_workload(job->sc, cell->workload)->name;
	struct sl_workload load;
	const struct sl_vm_cell measured = {.lab = lab_at(job),
					    .variant = variant,
					    .box = &job->plan.boxes[v],
					    .load = &load,
					    .dilate = job->dilate,
					    .seed = job->options->run->seed + (uint64_t)repeat};
	struct sl_vm_sample sample;
	int rc = 0;

	load_make(job, cell->workload, &load);
	if (!sl_vm_kept_find(&job->kept, variant, workload, repeat, &sample)) {
		rc = sl_vm_cell_run(&measured, &sample, err);
		if (rc < 0) {
			return rc;
		}
		rc = sl_vm_kept_add(&job->kept, variant, workload, repeat, &sample, err);
	}
	if (rc == 0) {
		rc = sample_keep(job, cell, &sample, err);
	}
	sl_vm_sample_fini(&sample);
	return rc;
}

static int progress(struct job *job, struct sl_err *err)
{
	const struct sl_run_options *run = job->options->run;

	return run->progress && !run->progress(run->progress_arg, job->done, job->total)
		   ? sl_err_set(err, -EINTR, "interrupted")
		   : 0;
}

/* All variants before the next repeat: what drifts on this machine meets all alike. */
static int samples_take(struct job *job, struct sl_err *err)
{
	int rc = progress(job, err);

	for (int i = 0; rc == 0 && i < job->options->run->repeat; i++) {
		for (int v = 0; rc == 0 && v < job->plan.n_variants; v++) {
			for (int w = 0; rc == 0 && w < job->n_workloads; w++) {
				rc = sample_take(job, v, &job->cells[w * job->plan.n_variants + v], i, err);
				job->done += rc == 0;
				rc = rc < 0 ? rc : progress(job, err);
			}
		}
	}
	return rc;
}

/* The model beside a measured cell. */
static int cell_model(struct job *job, const struct sl_cell *cell, struct sl_cell *ret, struct sl_err *err)
{
	const struct sl_measured_limits limits = {.time_s = 0, .quick = job->options->quick, .dilate = 1};
	const struct sl_vm_lab lab = {.kvm = lab_kvm(job),
				      .zfs = job->plan.zfs,
				      .dilate = job->dilate,
				      .guest_factor = job->costs.oltp_ns / job->profile.oltp_ns,
				      .storage_factor = job->costs.sync_ns / job->profile.sync_ns};
	struct sl_workload load = *sl_scenario_workload(job->sc, cell->workload);
	double cap_ns = (double)job->options->time_s * 1e9 / job->dilate;
	struct sl_box box;
	int rc = sl_scenario_box(job->sc, cell->variant, &box, err);

	if (job->options->quick) {
		sl_measured_shrink(&load);
	}
	sl_measured_limit(&limits, &load);
	if (cap_ns > 0 && (load.max_time_ns <= 0 || load.max_time_ns > cap_ns)) {
		load.max_time_ns = cap_ns;
	}
	*ret = (struct sl_cell){
	    .variant = cell->variant, .workload = cell->workload, .engine = SL_ENGINE_MODEL_LAB};
	if (rc == 0) {
		sl_vm_lab_box(&lab, &box, &job->live->result);
		rc = sl_measured_model(&(struct sl_measured_load){&box, &load, job->options->run->seed,
								  job->options->run->stopped},
				       cell->n_samples, ret, err);
	}
	return rc;
}

static void warn_late(const struct job *job, struct sl_cell *cell)
{
	for (int i = 0; i < job->live->n_timings; i++) {
		const struct sl_timing *t = &job->live->timings[i];

		if (t->variant == cell->variant && t->workload == cell->workload) {
			sl_measured_warn_timing(cell, t);
		}
	}
}

static void warn_busy(const struct cpus *cpus, struct sl_cell *cell)
{
	sl_measured_warn_busy(cell, "the guest's", &cpus->guest);
	sl_measured_warn_busy(cell, "the storage VM's", &cpus->storage);
	sl_measured_warn_busy(cell, "this machine's", &cpus->host);
}

static int cells_finish(struct job *job, struct sl_err *err)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < job->n_cells; i++) {
		struct sl_cell *cell = &job->cells[i], modelled;

		if (cell->n_samples == 0) {
			continue;
		}
		rc = cell_model(job, cell, &modelled, err);
		if (rc == 0) {
			warn_busy(&job->cpus[i], cell);
			warn_late(job, cell);
			sl_measured_finish(&modelled);
			sl_measured_finish(cell);
			if ((modelled.n_samples > 0 && sl_result_add(&job->live->result, &modelled) < 0) ||
			    sl_result_add(&job->live->result, cell) < 0) {
				rc = sl_err_set(err, -ENOMEM, "out of memory");
			}
		}
	}
	return rc;
}

static int cells_make(struct job *job, struct sl_err *err)
{
	const struct sl_run_options *run = job->options->run;
	int n = run->workloads ? run->n_workloads : sl_scenario_workloads(job->sc);

	job->workloads = calloc((size_t)n + 1, sizeof(*job->workloads));
	for (int i = 0; job->workloads && i < n; i++) {
		int w = run->workloads ? run->workloads[i] : i;

		if (sl_measured_runs(sl_scenario_workload(job->sc, w), true)) {
			job->workloads[job->n_workloads++] = w;
		}
	}
	job->live->n_skipped = n - job->n_workloads;
	job->n_cells = job->n_workloads * job->plan.n_variants;
	job->total = job->n_cells * run->repeat;
	job->cells = calloc((size_t)job->n_cells + 1, sizeof(*job->cells));
	job->cpus = calloc((size_t)job->n_cells + 1, sizeof(*job->cpus));
	if (!job->workloads || !job->cells || !job->cpus) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	if (job->n_workloads == 0) {
		return sl_err_set(
		    err, -EINVAL,
		    "--engine vm: none of the workloads asked for runs in a guest; it takes the "
		    "kinds oltp, fileio, and syncwrite over NFS");
	}
	for (int i = 0; i < job->n_cells; i++) {
		job->cells[i] = (struct sl_cell){.variant = job->plan.variants[i % job->plan.n_variants],
						 .workload = job->workloads[i / job->plan.n_variants],
						 .engine = SL_ENGINE_VM};
	}
	return 0;
}

/* What the kept measurements were made under, besides scenario and overrides. */
static uint64_t kept_key(const struct job *job)
{
	const struct sl_vm_options *o = job->options;
	char text[128];
	uint64_t key = job->plan.key;

	(void)snprintf(text, sizeof(text), "%d %llu %llu %.6g %s", o->quick, (unsigned long long)o->time_s,
		       (unsigned long long)o->run->seed, o->dilate, job->plan.zfs);
	for (const char *c = text; *c; c++) {
		key = key * 31 + (unsigned char)*c;
	}
	return key;
}

static int job_run(struct job *job, struct sl_err *err)
{
	struct sl_err later = {0};
	int rc = cells_make(job, err), code;

	if (rc == 0) {
		rc = lab_up(job, err);
	}
	if (rc < 0) {
		return rc;
	}
	rc = sl_vm_kept_open(job->plan.name, kept_key(job), job->options->fresh, &job->kept, err);
	if (rc == 0) {
		rc = dilate_find(job, err);
	}
	if (rc == 0) {
		rc = samples_take(job, err);
	}
	lab_leave(job);
	code = cells_finish(job, rc == 0 ? err : &later);
	if (rc == 0 && code == 0) {
		sl_vm_kept_remove(&job->kept);
	}
	return rc < 0 ? rc : code;
}

int sl_vm_run(const struct sl_scenario *sc, const struct sl_vm_options *options, struct sl_live *ret,
	      struct sl_err *err)
{
	struct job *job = calloc(1, sizeof(*job));
	int rc;

	*ret = (struct sl_live){.result = {.scenario = sc, .seed = options->run->seed}, .trustworthy = true};
	if (!job) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	*job = (struct job){.sc = sc, .options = options, .live = ret};
	rc = plan_make(job, err);
	if (rc == 0) {
		rc = job_run(job, err);
	}
	sl_vm_kept_close(&job->kept);
	sl_lab_plan_fini(&job->plan);
	free(job->workloads);
	free(job->cells);
	free(job->cpus);
	free(job);
	return rc;
}

/* The first workload of single updates, made of the first oltp where there is none. -ENOENT without either.
 */
static int update_find(struct sl_scenario *sc, struct sl_err *err)
{
	struct sl_workload update;
	int oltp = -1;

	for (int w = sl_scenario_workloads(sc) - 1; w >= 0; w--) {
		const struct sl_workload *load = sl_scenario_workload(sc, w);

		if (load->kind == SL_WL_OLTP && load->oltp_list == SL_LIST_UPDATE_INDEX) {
			return w;
		}
		oltp = load->kind == SL_WL_OLTP ? w : oltp;
	}
	if (oltp < 0) {
		return -ENOENT;
	}
	update = *sl_scenario_workload(sc, oltp);
	update.oltp_list = SL_LIST_UPDATE_INDEX;
	(void)snprintf(update.name, sizeof(update.name), "update_index");
	return sl_scenario_workload_add(sc, &update, err);
}

int sl_vm_quick(struct sl_scenario *sc, struct sl_run_options *options, int variants[2], int workloads[3],
		struct sl_err *err)
{
	bool given = options->workloads != NULL;
	int update;

	sl_live_quick(sc, options, variants, workloads);
	if (given) {
		return 0;
	}
	update = update_find(sc, err);
	if (update == -ENOENT) {
		return 0;
	}
	if (update < 0) {
		return update;
	}
	for (int i = 0; i < options->n_workloads; i++) {
		if (workloads[i] == update) {
			return 0;
		}
	}
	workloads[options->n_workloads++] = update;
	return 0;
}
