#include "engine/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/calibration.h"
#include "engine/live_lab.h"
#include "engine/live_rig.h"
#include "engine/measured.h"
#include "engine/tempdir.h"
#include "guests/needs.h"
#include "guests/sandbox.h"
#include "sim/base/signals.h"

#define TIME_S 10 /* of a load that has no end of its own */

struct job {
	const struct sl_scenario *sc;
	const struct sl_live_options *options;
	struct sl_live *live;
	struct sl_tempdir temp;
	struct sl_sandbox sandbox;
	bool guest; /* this machine can run one */
	double dilate;
	int done, total;
};

/* One cell under way. */
struct pair {
	int variant;
	struct sl_box box; /* as the scenario says */
	struct sl_timing timing;
	struct sl_cell real, modelled;
};

/* One workload on all variants. */
struct group {
	int workload;
	struct sl_workload load,
	    model_load; /* with the limits of this run, on the wall's and on the model's clock */
	struct sl_live_rig rig;
	int n;
	struct pair *pairs; /* one per variant */
};

static int chosen(const int *list, int i)
{
	return list ? list[i] : i;
}

static int n_variants(const struct job *job)
{
	return job->options->run->variants ? job->options->run->n_variants : sl_scenario_variants(job->sc);
}

static int n_workloads(const struct job *job)
{
	return job->options->run->workloads ? job->options->run->n_workloads : sl_scenario_workloads(job->sc);
}

/* Limits of the run. A load through libnfs has no other end than the time. */
static void loads_make(const struct job *job, struct group *group)
{
	const struct sl_live_options *o = job->options;
	struct sl_workload *load = &group->load;
	const struct sl_measured_limits limits = {
	    .time_s = o->time_s, .quick = o->quick, .dilate = job->dilate};

	*load = *sl_scenario_workload(job->sc, group->workload);
	if (o->quick) {
		sl_measured_shrink(load);
	}
	if (group->rig.guest == SL_LIVE_NO_GUEST) {
		load->max_requests = 0;
		load->max_time_ns = (double)(o->time_s > 0 ? o->time_s : TIME_S) * 1e9;
	} else {
		sl_measured_limit(&limits, load);
	}
	group->model_load = *load;
	group->model_load.max_time_ns /= job->dilate;
}

static int sample(struct job *job, struct group *group, struct pair *pair, int i, struct sl_err *err)
{
	const struct sl_live_run run = {
	    .box = &pair->box, .seed = job->options->run->seed + (uint64_t)i, .dilate = job->dilate};
	struct sl_timing timing = {.variant = pair->variant, .workload = group->workload};
	struct sl_trust_input input = {0};
	struct sl_live_load_result result;
	struct sl_live_calls before, after;
	int rc = sl_live_rig_up(&group->rig, &run, err);

	if (rc < 0) {
		return rc;
	}
	rc = sl_live_server_timing(&group->rig.server, &timing, &before, err);
	if (rc == 0) {
		rc = sl_live_rig_load(&group->rig, run.seed, &result, err);
	}
	if (rc == 0) {
		rc = sl_live_server_timing(&group->rig.server, &timing, &after, err);
	}
	sl_live_rig_down(&group->rig);
	if (rc == 0) {
		double n = (double)result.measure.operations;

		timing.reads = (after.reads - before.reads) / n;
		timing.writes = (after.writes - before.writes) / n;
		timing.commits = (after.commits - before.commits) / n;
		timing.write_bytes = after.writes > before.writes ? (after.write_bytes - before.write_bytes) /
									(after.writes - before.writes)
								  : 0;
		timing.null_rtt_ns = result.null_ns;
		memcpy(input.waits, group->rig.waits, sizeof(input.waits));
		input.measured_wall_ns = result.measure.elapsed_ns;
		sl_measured_trust(&timing, &input, pair->real.n_samples == 0, &pair->timing);
		sl_measured_sample(&pair->real, sl_scenario_workload(job->sc, group->workload), &result,
				   job->dilate);
	}
	return rc;
}

static int group_measure(struct job *job, struct group *group, struct sl_err *err)
{
	const struct sl_run_options *run = job->options->run;
	int rc = sl_live_rig_prepare(&group->rig, err);

	/* All variants before the next repeat: what drifts on this machine meets all alike. */
	for (int i = 0; rc == 0 && i < run->repeat; i++) {
		for (int v = 0; rc == 0 && v < group->n; v++) {
			rc = sample(job, group, &group->pairs[v], i, err);
			job->done += rc == 0;
			if (rc == 0 && run->progress &&
			    !run->progress(run->progress_arg, job->done, job->total)) {
				rc = sl_err_set(err, -EINTR, "interrupted");
			}
		}
	}
	sl_live_rig_clear(&group->rig);
	return rc;
}

static int pair_model(struct job *job, const struct group *group, struct pair *pair, struct sl_err *err)
{
	const struct sl_live_lab lab = {
	    .guest = group->rig.guest, .null_ns = pair->timing.null_rtt_ns, .dilate = job->dilate};
	struct sl_box box;
	int rc = sl_scenario_box(job->options->lab, pair->variant, &box, err);

	if (rc < 0) {
		return rc;
	}
	sl_live_lab_box(&lab, &box, &job->live->result);
	return sl_measured_model(&(struct sl_measured_load){&box, &group->model_load, job->options->run->seed,
							    job->options->run->stopped},
				 pair->real.n_samples, &pair->modelled, err);
}

static int pair_keep(struct job *job, const struct group *group, struct pair *pair, struct sl_err *err)
{
	struct sl_live *live = job->live;
	struct sl_timing *timings;

	sl_measured_finish(&pair->real);
	sl_measured_finish(&pair->modelled);
	if (group->load.kind == SL_WL_FILEIO && group->rig.guest == SL_LIVE_NO_GUEST) {
		sl_measured_warn(&pair->modelled,
				 "not comparable with live: the model writes through a guest's page cache, "
				 "the load has none");
	}
	sl_measured_warn_timing(&pair->real, &pair->timing);
	live->trustworthy = live->trustworthy && pair->timing.trustworthy;
	timings = realloc(live->timings, (size_t)(live->n_timings + 1) * sizeof(*timings));
	if (!timings) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	live->timings = timings;
	live->timings[live->n_timings++] = pair->timing;
	if ((pair->modelled.n_samples > 0 && sl_result_add(&live->result, &pair->modelled) < 0) ||
	    sl_result_add(&live->result, &pair->real) < 0) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static int pairs_make(struct job *job, struct group *group, struct sl_err *err)
{
	int rc = 0;

	group->n = n_variants(job);
	group->pairs = calloc((size_t)group->n, sizeof(*group->pairs));
	if (!group->pairs) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	for (int i = 0; rc == 0 && i < group->n; i++) {
		struct pair *pair = &group->pairs[i];

		pair->variant = chosen(job->options->run->variants, i);
		pair->timing = (struct sl_timing){.variant = pair->variant, .workload = group->workload};
		pair->real = (struct sl_cell){
		    .variant = pair->variant, .workload = group->workload, .engine = SL_ENGINE_LIVE};
		pair->modelled = pair->real;
		pair->modelled.engine = SL_ENGINE_MODEL_LAB;
		rc = sl_scenario_box(job->sc, pair->variant, &pair->box, err);
	}
	return rc;
}

/* Real first, then the model beside it, for whatever was measured. */
static int group_run(struct job *job, struct group *group, struct sl_err *err)
{
	struct sl_err later = {0};
	int rc = pairs_make(job, group, err);

	if (rc < 0) {
		return rc;
	}
	group->rig.bin = job->options->paths->bin;
	group->rig.dir = job->temp.path;
	group->rig.stopped = job->options->run->stopped;
	group->rig.guest =
	    job->guest ? sl_live_guest_of(sl_scenario_workload(job->sc, group->workload)) : SL_LIVE_NO_GUEST;
	group->rig.guest_box = &group->pairs[0].box;
	group->rig.workload = &group->load;
	loads_make(job, group);
	rc = group_measure(job, group, err);
	for (int i = 0; i < group->n; i++) {
		struct sl_err *where = rc == 0 ? err : &later;
		int code = 0;

		if (group->pairs[i].real.n_samples > 0) {
			code = pair_model(job, group, &group->pairs[i], where);
			code = code < 0 ? code : pair_keep(job, group, &group->pairs[i], where);
		}
		rc = rc == 0 ? code : rc;
	}
	return rc;
}

/* Puts this host's figures into the lab, measured now, if it needs some and has none. */
static int lab_calibrate(struct job *job, struct sl_err *err)
{
	const struct sl_live_options *o = job->options;
	char path[PATH_MAX + 16];
	struct sl_calibration found;
	struct sl_err why = {0};
	struct sl_box box;
	int rc = 0;

	if (!job->guest || o->calibrated) {
		return 0;
	}
	snprintf(path, sizeof(path), "%s/host.yaml", job->temp.path);
	rc = sl_scenario_box(job->sc, 0, &box, err);
	if (rc == 0) {
		rc = sl_calibration_measure(
		    &(struct sl_calibration_site){&box, o->paths->bin, job->temp.path, o->run->stopped},
		    &found, &why);
	}
	if (rc == -EAGAIN) { /* the measurement itself judges whether it can be trusted */
		sl_live_lab_unmeasured(&job->live->result);
		return 0;
	}
	if (rc < 0 && why.msg[0] != '\0') {
		*err = why;
	}
	if (rc == 0) {
		rc = sl_calibration_write(&found, path, err);
	}
	return rc < 0 ? rc : sl_scenario_overlay(o->lab, path, err);
}

/* The most that any of the workloads needs. */
static enum sl_live_guest guest_needed(const struct job *job)
{
	enum sl_live_guest most = SL_LIVE_NO_GUEST;

	for (int w = 0; w < n_workloads(job); w++) {
		enum sl_live_guest guest =
		    sl_live_guest_of(sl_scenario_workload(job->sc, chosen(job->options->run->workloads, w)));

		most = guest > most ? guest : most;
	}
	return most;
}

/* With a guest the lab has this host's figures; without one they are a NULL call through libnfs, which is
 * measured now. */
static int dilate_find(struct job *job, struct sl_err *err)
{
	const struct sl_live_options *o = job->options;
	enum sl_live_guest guest = job->guest ? guest_needed(job) : SL_LIVE_NO_GUEST;
	int variant = chosen(o->run->variants, 0), rc;
	struct sl_box box, here;

	job->dilate = o->dilate;
	if (o->dilate > 0) {
		return 0;
	}
	rc = sl_scenario_box(job->sc, variant, &box, err);
	if (rc == 0) {
		rc = sl_scenario_box(o->lab, variant, &here, err);
	}
	if (rc == 0 && guest == SL_LIVE_NO_GUEST) {
		rc = sl_calibration_call(
		    &(struct sl_calibration_site){&box, o->paths->bin, job->temp.path, o->run->stopped},
		    &here.hyp_op_delay_ns, err);
	}
	if (rc == 0) {
		job->dilate = sl_live_lab_dilate(guest, &here, &box, &job->live->result);
	}
	return rc;
}

static bool stopped(const struct job *job)
{
	const struct sl_run_options *run = job->options->run;

	return run->stopped && run->stopped();
}

/* A sandbox for the guest where one is needed and can be; else job->live->missing says what it would take. */
static int guest_enter(struct job *job, struct sl_err *err)
{
	const struct sl_need *missing;
	struct sl_err why = {0};
	enum sl_live_guest guest = guest_needed(job);

	if (guest == SL_LIVE_NO_GUEST) {
		return 0;
	}
	missing = sl_needs_missing(guest == SL_LIVE_DATABASE);
	if (missing) {
		snprintf(job->live->missing, sizeof(job->live->missing), "%s: missing (%s); %s",
			 missing->name, missing->purpose, missing->fix);
		return 0;
	}
	if (sl_sandbox_enter(&job->sandbox, &why) < 0) {
		snprintf(job->live->missing, sizeof(job->live->missing), "%.250s", why.msg);
		return 0;
	}
	job->guest = true;
	return stopped(job) ? sl_err_set(err, -EINTR, "interrupted") : 0;
}

static int groups_run(struct job *job, struct sl_err *err)
{
	const struct sl_run_options *run = job->options->run;
	int rc = 0;

	for (int w = 0; w < n_workloads(job); w++) {
		job->total +=
		    sl_measured_runs(sl_scenario_workload(job->sc, chosen(run->workloads, w)), job->guest);
	}
	job->live->n_skipped = n_workloads(job) - job->total;
	job->total *= n_variants(job) * run->repeat;
	if (job->total == 0) {
		return sl_err_set(err, -EINVAL,
				  "--engine live: none of the workloads asked for can run here%s%s",
				  job->live->missing[0] != '\0' ? ": " : "", job->live->missing);
	}
	if (run->progress) {
		run->progress(run->progress_arg, 0, job->total);
	}
	rc = lab_calibrate(job, err);
	if (rc == 0) {
		rc = dilate_find(job, err);
	}
	for (int w = 0; rc == 0 && w < n_workloads(job); w++) {
		struct group *group;

		if (!sl_measured_runs(sl_scenario_workload(job->sc, chosen(run->workloads, w)), job->guest)) {
			continue;
		}
		group = calloc(1, sizeof(*group));
		if (!group) {
			return sl_err_set(err, -ENOMEM, "out of memory");
		}
		group->workload = chosen(run->workloads, w);
		rc = group_run(job, group, err);
		free(group->pairs);
		free(group);
	}
	return rc;
}

int sl_live_run(const struct sl_scenario *sc, const struct sl_live_options *options, struct sl_live *ret,
		struct sl_err *err)
{
	struct job job = {.sc = sc, .options = options, .live = ret};
	int rc;

	memset(ret, 0, sizeof(*ret));
	ret->result.scenario = sc;
	ret->result.seed = options->run->seed;
	ret->trustworthy = true;
	rc = sl_tempdir_make(&job.temp, err);
	if (rc < 0) {
		return rc;
	}
	rc = guest_enter(&job, err);
	if (rc == 0) {
		rc = groups_run(&job, err);
	}
	sl_sandbox_leave(&job.sandbox);
	sl_tempdir_remove(&job.temp);
	return rc;
}

void sl_live_fini(struct sl_live *live)
{
	sl_result_fini(&live->result);
	free(live->timings);
	live->timings = NULL;
	live->n_timings = 0;
	for (int i = 0; i < live->n_evidence; i++) {
		sl_evidence_fini(&live->evidence[i]);
	}
	free(live->evidence);
	live->evidence = NULL;
	live->n_evidence = 0;
}

static void pick(int found, int *list, int *n)
{
	if (found >= 0) {
		list[(*n)++] = found;
	}
}

void sl_live_quick(const struct sl_scenario *sc, struct sl_run_options *options, int variants[2],
		   int workloads[2])
{
	int bare = -1, slog = -1, oltp = -1, files = -1;

	for (int v = sl_scenario_variants(sc) - 1; v >= 0; v--) {
		struct sl_box box;

		if (sl_scenario_box(sc, v, &box, NULL) == 0) {
			*(box.n_log > 0 ? &slog : &bare) = v;
		}
	}
	for (int w = sl_scenario_workloads(sc) - 1; w >= 0; w--) {
		const struct sl_workload *load = sl_scenario_workload(sc, w);
		bool better = files < 0 || load->mode == SL_MODE_RNDWR ||
			      sl_scenario_workload(sc, files)->mode != SL_MODE_RNDWR;

		oltp = load->kind == SL_WL_OLTP ? w : oltp;
		files = load->kind == SL_WL_FILEIO && better ? w : files;
	}
	if (!options->variants) {
		options->variants = variants;
		options->n_variants = 0;
		pick(bare, variants, &options->n_variants);
		pick(slog, variants, &options->n_variants);
	}
	if (!options->workloads && (oltp >= 0 || files >= 0)) {
		options->workloads = workloads;
		options->n_workloads = 0;
		pick(oltp, workloads, &options->n_workloads);
		pick(files, workloads, &options->n_workloads);
	}
}
