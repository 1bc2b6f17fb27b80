#include "cli/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live_load.h"
#include "cli/live_server.h"
#include "cli/signals.h"
#include "cli/tempdir.h"

/* A reply later than this share of the modelled median shows in the rate. */
#define LATE_SHARE 0.2

struct job {
	const struct sl_scenario *sc;
	const struct sl_live_options *options;
	struct sl_live *live;
	int done, total;
};

/* One cell under way. */
struct pair {
	int variant, workload;
	uint64_t seed;           /* of the present sample */
	struct sl_box box, lab;  /* as the scenario says; with what is real here */
	struct sl_workload load; /* with the time of this run as its only limit */
	struct sl_timing timing;
	struct sl_cell real, modelled;
};

static bool workload_runs(const struct sl_workload *workload)
{
	return (workload->kind == SL_WL_SYNCWRITE && workload->access == SL_ACCESS_NFS &&
		workload->metric == SL_METRIC_RATE) ||
	       workload->kind == SL_WL_FILEIO;
}

static void substitute(struct sl_result *result, const char *text)
{
	for (int i = 0; i < result->n_substitutions; i++) {
		if (strcmp(result->substitutions[i], text) == 0) {
			return;
		}
	}
	if (result->n_substitutions < SL_SUBSTITUTIONS_MAX) {
		snprintf(result->substitutions[result->n_substitutions++], sizeof(result->substitutions[0]),
			 "%s", text);
	}
}

/* The box of model(lab): client, network and guest are real here, so their modelled costs go. */
static void pair_substitute(struct pair *pair, struct sl_result *result)
{
	struct sl_box *lab = &pair->lab;

	*lab = pair->box;
	lab->hyp_op_delay_ns = (double)pair->timing.null_rtt_ns;
	lab->nic_rx_frame_ns = 0;
	lab->nic_tx_segment_ns = 0;
	lab->link_bps = 1e12;
	lab->guest_file_cpu_ns = 0;
	lab->guest_fsync_cpu_ns = 0;
	lab->guest_block_cpu_ns = 0;
	lab->guest_cache_share = 0;
	substitute(result,
		   "hypervisor client: libnfs; params.hyp.op_delay = measured NULL call of each cell");
	substitute(result, "network: loopback; params.nic.rx_frame, params.nic.tx_segment = 0, "
			   "params.link.rate without limit");
	if (pair->load.kind == SL_WL_FILEIO) {
		substitute(
		    result,
		    "guest: none, files are written through libnfs; params.guest.*_cpu and cache_share = 0");
	}
}

/* One server, one client, one measurement. */
static int pair_serve(const struct sl_live_options *options, const struct pair *pair, const char *dir,
		      struct sl_timing *timing, struct sl_measure *ret, struct sl_err *err)
{
	struct sl_live_server server;
	struct sl_live_load load = {.bin = options->paths->bin,
				    .server = &server,
				    .workload = &pair->load,
				    .time_s = options->time_s,
				    .seed = pair->seed};
	int rc = sl_live_server_start(&pair->box, pair->seed, dir, &server, err);

	if (rc < 0) {
		return rc;
	}
	rc = sl_live_load_run(&load, ret, &timing->null_rtt_ns, err);
	if (rc == 0) {
		rc = sl_live_server_stop(&server, timing, err);
	}
	sl_live_server_kill(&server);
	return rc;
}

static int pair_measure(struct job *job, struct pair *pair, struct sl_measure *ret, struct sl_err *err)
{
	struct sl_timing timing = {.variant = pair->variant, .workload = pair->workload};
	struct sl_tempdir temp;
	int rc = sl_tempdir_make(&temp, err);

	if (rc < 0) {
		return rc;
	}
	rc = pair_serve(job->options, pair, temp.path, &timing, ret, err);
	sl_tempdir_remove(&temp);
	if (rc == 0) {
		timing.trustworthy =
		    (double)timing.lateness_p99_ns <= LATE_SHARE * (double)timing.modelled_p50_ns;
		/* Of several samples the worst timing is the one to judge by. */
		if (pair->real.n_samples == 0 || timing.lateness_p99_ns > pair->timing.lateness_p99_ns) {
			pair->timing = timing;
		}
	}
	return rc;
}

static void cell_finish(const struct sl_scenario *sc, struct sl_cell *cell)
{
	const struct sl_published *published = sl_scenario_published(sc, cell->variant, cell->workload);

	sl_stats_mean_ci(cell->samples, cell->n_samples, &cell->value, &cell->ci95);
	if (published) {
		cell->has_published = true;
		cell->published = published->value;
		cell->role = published->role;
		cell->error_pct = (cell->value / published->value - 1) * 100;
	}
}

/* Real first, then the model with the round trip that was measured. */
static int pair_run(struct job *job, struct pair *pair, struct sl_err *err)
{
	const struct sl_run_options *run = job->options->run;
	struct sl_measure measure;
	int rc = 0;

	for (int i = 0; rc == 0 && i < run->repeat; i++) {
		pair->seed = run->seed + (uint64_t)i;
		rc = pair_measure(job, pair, &measure, err);
		if (rc == 0) {
			pair->real.measure = i == 0 ? measure : pair->real.measure;
			pair->real.samples[pair->real.n_samples++] = measure.rate;
			job->done++;
			if (run->progress && !run->progress(run->progress_arg, job->done, job->total)) {
				break;
			}
		}
	}
	if (pair->real.n_samples == 0) {
		return rc;
	}
	pair_substitute(pair, &job->live->result);
	for (int i = 0; rc == 0 && i < pair->real.n_samples; i++) {
		uint64_t seed = run->seed + (uint64_t)i;

		rc = i == 0 ? sl_stack_run_loss(&pair->lab, &pair->load, seed, NULL, &measure, err)
			    : sl_stack_run(&pair->lab, &pair->load, seed, NULL, &measure, err);
		if (rc == 0) {
			pair->modelled.measure = i == 0 ? measure : pair->modelled.measure;
			pair->modelled.samples[pair->modelled.n_samples++] = measure.rate;
		}
	}
	return rc;
}

static int pair_keep(struct job *job, struct pair *pair, struct sl_err *err)
{
	struct sl_live *live = job->live;
	struct sl_timing *timings;

	cell_finish(job->sc, &pair->real);
	cell_finish(job->sc, &pair->modelled);
	if (pair->load.kind == SL_WL_FILEIO) {
		snprintf(pair->modelled.warning, sizeof(pair->modelled.warning),
			 "not comparable with live: the model writes through a guest's page cache, the load "
			 "has none");
	}
	if (!pair->timing.trustworthy) {
		char late[32], modelled[32];

		sl_report_time(pair->timing.lateness_p99_ns, late, sizeof(late));
		sl_report_time(pair->timing.modelled_p50_ns, modelled, sizeof(modelled));
		snprintf(pair->real.warning, sizeof(pair->real.warning),
			 "timing not trustworthy: replies were late by %s (p99) where %s (p50) is modelled",
			 late, modelled);
		live->trustworthy = false;
	}
	timings = realloc(live->timings, (size_t)(live->n_timings + 1) * sizeof(*timings));
	if (!timings) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	live->timings = timings;
	live->timings[live->n_timings++] = pair->timing;
	if (sl_result_add(&live->result, &pair->modelled) < 0 ||
	    sl_result_add(&live->result, &pair->real) < 0) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static int cell_run(struct job *job, int variant, int workload, struct sl_err *err)
{
	struct pair *pair = calloc(1, sizeof(*pair));
	int rc;

	if (!pair) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	pair->variant = variant;
	pair->workload = workload;
	pair->timing = (struct sl_timing){.variant = variant, .workload = workload};
	pair->real = (struct sl_cell){.variant = variant, .workload = workload, .engine = SL_ENGINE_LIVE};
	pair->modelled =
	    (struct sl_cell){.variant = variant, .workload = workload, .engine = SL_ENGINE_MODEL_LAB};
	pair->load = *sl_scenario_workload(job->sc, workload);
	pair->load.max_time_ns = (double)job->options->time_s * 1e9;
	pair->load.max_requests = 0;
	rc = sl_scenario_box(job->sc, variant, &pair->box, err);
	if (rc == 0) {
		rc = pair_run(job, pair, err);
	}
	if (pair->real.n_samples > 0 && pair->modelled.n_samples > 0) {
		struct sl_err later = {0};

		rc = pair_keep(job, pair, rc == 0 ? err : &later) < 0 && rc == 0 ? -ENOMEM : rc;
	}
	free(pair);
	return rc;
}

static int chosen(const int *list, int i)
{
	return list ? list[i] : i;
}

static int job_run(struct job *job, struct sl_err *err)
{
	const struct sl_run_options *run = job->options->run;
	int variants = run->variants ? run->n_variants : sl_scenario_variants(job->sc);
	int workloads = run->workloads ? run->n_workloads : sl_scenario_workloads(job->sc);
	int rc = 0;

	for (int w = 0; w < workloads; w++) {
		job->total += workload_runs(sl_scenario_workload(job->sc, chosen(run->workloads, w)));
	}
	job->live->n_skipped = workloads - job->total;
	job->total *= variants * run->repeat;
	if (job->total == 0) {
		return sl_err_set(err, -EINVAL,
				  "--engine live: no workload of kind syncwrite (over NFS) or fileio among "
				  "those asked for");
	}
	if (run->progress) {
		run->progress(run->progress_arg, 0, job->total);
	}
	for (int w = 0; rc == 0 && w < workloads; w++) {
		int workload = chosen(run->workloads, w);

		if (!workload_runs(sl_scenario_workload(job->sc, workload))) {
			continue;
		}
		for (int v = 0; rc == 0 && !sl_signals_stopped() && v < variants; v++) {
			rc = cell_run(job, chosen(run->variants, v), workload, err);
		}
	}
	return rc;
}

int sl_live_run(const struct sl_scenario *sc, const struct sl_live_options *options, struct sl_live *ret,
		struct sl_err *err)
{
	struct job job = {.sc = sc, .options = options, .live = ret};

	memset(ret, 0, sizeof(*ret));
	ret->result.scenario = sc;
	ret->result.seed = options->run->seed;
	ret->trustworthy = true;
	return job_run(&job, err);
}

void sl_live_fini(struct sl_live *live)
{
	sl_result_fini(&live->result);
	free(live->timings);
	live->timings = NULL;
	live->n_timings = 0;
}
