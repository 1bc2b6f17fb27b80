#include "engine/measured.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/scenario/metric.h"

#define QUICK_ROWS 100000
#define QUICK_FILE_BYTES 536870912.0
#define QUICK_REQUESTS 1000
#define DILATE_AUTO_MAX 20
#define CPU_FULL 0.9 /* a CPU busier than this sets the rate, not the disks */

void sl_measured_shrink(struct sl_workload *load)
{
	load->rows = load->rows < QUICK_ROWS ? load->rows : QUICK_ROWS;
	load->file_total_bytes =
	    load->file_total_bytes < QUICK_FILE_BYTES ? load->file_total_bytes : QUICK_FILE_BYTES;
}

bool sl_measured_runs(const struct sl_workload *workload, bool guest)
{
	switch (workload->kind) {
	case SL_WL_SYNCWRITE:
		return workload->access == SL_ACCESS_NFS &&
		       sl_metric_of(workload).kind != SL_UNIT_NONE; /* iostat sees a pool's disks */
	case SL_WL_FILEIO:
		return true;
	case SL_WL_OLTP:
		return guest;
	case SL_WL_DISK:
		break;
	}
	return false;
}

void sl_measured_limit(const struct sl_measured_limits *limits, struct sl_workload *load)
{
	double time_ns = (double)limits->time_s * 1e9;

	load->max_time_ns *= limits->dilate;
	if (limits->time_s > 0 && (load->max_time_ns <= 0 || load->max_time_ns > time_ns)) {
		load->max_time_ns = time_ns;
	}
	if (limits->quick && (load->max_requests == 0 || load->max_requests > QUICK_REQUESTS)) {
		load->max_requests = QUICK_REQUESTS;
	}
}

double sl_measured_dilate(double lab_ns, double box_ns)
{
	if (lab_ns <= box_ns) {
		return 1;
	}
	return lab_ns < DILATE_AUTO_MAX * box_ns ? lab_ns / box_ns : DILATE_AUTO_MAX;
}

void sl_measured_warn(struct sl_cell *cell, const char *text)
{
	size_t used = strlen(cell->warning);

	if (!strstr(cell->warning, text)) {
		(void)snprintf(cell->warning + used, sizeof(cell->warning) - used, "%s%s",
			       used > 0 ? "; " : "", text);
	}
}

void sl_measured_busy_add(struct sl_measured_busy *busy, double share)
{
	if (share > CPU_FULL) {
		busy->full++;
		busy->worst = share > busy->worst ? share : busy->worst;
	}
}

void sl_measured_warn_busy(struct sl_cell *cell, const char *whose, const struct sl_measured_busy *busy)
{
	char text[200], runs[64] = "";

	if (busy->full == 0) {
		return;
	}
	if (cell->n_samples > 1) {
		(void)snprintf(runs, sizeof(runs), " in %d of %d runs, at worst", busy->full,
			       cell->n_samples);
	}
	(void)snprintf(text, sizeof(text),
		       "%s CPU was busy%s for %.0f %% of the time: it set the rate, not the modelled disks",
		       whose, runs, busy->worst * 100);
	sl_measured_warn(cell, text);
	cell->untrusted = true;
}

void sl_measured_trust(const struct sl_timing *timing, struct sl_trust_input *input, bool first,
		       struct sl_timing *kept)
{
	struct sl_timing judged = *timing;

	input->lateness_p99_wall_ns = timing->lateness_p99_wall_ns;
	input->modelled_p50_wall_ns = timing->modelled_p50_wall_ns;
	sl_trust_judge(input, &judged.trust);
	judged.trustworthy = judged.trust.verdict == SL_TRUST_YES;
	if (first || sl_trust_worse(&judged.trust, &kept->trust)) {
		*kept = judged;
	}
}

void sl_measured_warn_timing(struct sl_cell *cell, const struct sl_timing *timing)
{
	char text[300];

	if (!timing->trustworthy) {
		(void)snprintf(text, sizeof(text), "timing not trustworthy: %s", timing->trust.reason);
		sl_measured_warn(cell, text);
		cell->untrusted = true;
	}
}

void sl_measured_sample(struct sl_cell *cell, const struct sl_workload *workload,
			const struct sl_live_load_result *result, double dilate)
{
	struct sl_measure m = result->measure;
	int64_t *const times[] = {&m.elapsed_ns, &m.mean_ns, &m.p50_ns, &m.p95_ns,
				  &m.p99_ns,     &m.p999_ns, &m.max_ns};

	m.rate *= dilate;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		*times[i] = (int64_t)((double)*times[i] / dilate);
	}
	cell->measure = cell->n_samples == 0 ? m : cell->measure;
	cell->samples[cell->n_samples++] = sl_metric_value(&m, workload);
	cell->dilate = dilate;
	if (result->warning[0] != '\0') { /* its CPU or this machine's set the rate, not the server */
		sl_measured_warn(cell, result->warning);
		cell->untrusted = true;
	}
}

int sl_measured_model(const struct sl_measured_load *run, int n, struct sl_cell *cell, struct sl_err *err)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < n; i++) {
		const struct sl_stack_setup setup = {.seed = run->seed + (uint64_t)i,
						     .stopped = run->stopped};
		struct sl_measure measure;

		rc = i == 0 ? sl_stack_run_loss(run->box, run->load, &setup, &measure, err)
			    : sl_stack_run(run->box, run->load, &setup, &measure, err);
		if (rc == 0) {
			cell->measure = i == 0 ? measure : cell->measure;
			cell->samples[cell->n_samples++] = sl_metric_value(&measure, run->load);
		}
	}
	return rc == -EINTR ? 0 : rc;
}

void sl_measured_finish(struct sl_cell *cell)
{
	sl_stats_mean_ci(cell->samples, cell->n_samples, &cell->value, &cell->ci95);
}
