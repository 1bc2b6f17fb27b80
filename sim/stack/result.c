/* Runs the cells of a scenario on the model engine and keeps what they found. */
#include "sim/stack/result.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/scenario/metric.h"
#include "sim/stack/disk_run.h"
#include "sim/stack/record.h"
#include "sim/stack/steady.h"

const char *sl_engine_name(enum sl_engine engine)
{
	static const char *const names[] = {"model", "model(lab)", "live", "vm"};

	return names[engine];
}

const char *sl_metric_unit(enum sl_workload_kind kind)
{
	return sl_metric_of(&(struct sl_workload){.kind = kind}).unit;
}

const char *sl_workload_unit(const struct sl_workload *workload)
{
	return sl_metric_of(workload).unit;
}

int64_t sl_measure_time(const struct sl_measure *measure, int metric)
{
	switch (metric) {
	case SL_METRIC_P50:
		return measure->p50_ns;
	case SL_METRIC_P95:
		return measure->p95_ns;
	case SL_METRIC_P99:
		return measure->p99_ns;
	case SL_METRIC_P999:
		return measure->p999_ns;
	case SL_METRIC_MAX:
		return measure->max_ns;
	default:
		return measure->mean_ns;
	}
}

/* In base units. */
static double value_of(const struct sl_measure *measure, const struct sl_workload *workload)
{
	double seconds = (double)measure->elapsed_ns / 1e9;

	if (workload->kind == SL_WL_DISK) {
		return sl_disk_value(measure, workload);
	}
	switch (workload->metric) {
	case SL_METRIC_RATE:
		return measure->rate;
	case SL_METRIC_THROUGHPUT:
		return measure->rate * sl_workload_bytes(workload);
	case SL_METRIC_IOSTAT_WRITES:
		return seconds > 0 ? (double)measure->log_requests / seconds : 0;
	case SL_METRIC_IOSTAT_KIB:
		return seconds > 0 ? (double)measure->log_bytes / 1024 / seconds : 0;
	default:
		return (double)sl_measure_time(measure, workload->metric);
	}
}

double sl_metric_value(const struct sl_measure *measure, const struct sl_workload *workload)
{
	return value_of(measure, workload) / sl_metric_of(workload).unit_size;
}

/* A latency, or what a log device does for the work: more of it is not more work done. */
static bool is_no_speed(const struct sl_workload *workload)
{
	return sl_metric_is_latency(workload) || workload->metric == SL_METRIC_IOSTAT_WRITES ||
	       workload->metric == SL_METRIC_IOSTAT_KIB;
}

double sl_speed_value(const struct sl_measure *measure, const struct sl_workload *workload)
{
	return is_no_speed(workload) && workload->kind != SL_WL_DISK ? measure->rate
								     : sl_metric_value(measure, workload);
}

const char *sl_speed_unit(const struct sl_workload *workload)
{
	return is_no_speed(workload) && workload->kind != SL_WL_DISK ? sl_metric_unit(workload->kind)
								     : sl_workload_unit(workload);
}

int sl_result_add(struct sl_result *result, const struct sl_cell *cell)
{
	struct sl_cell *cells = realloc(result->cells, (size_t)(result->n_cells + 1) * sizeof(*cells));

	if (!cells) {
		return -ENOMEM;
	}
	result->cells = cells;
	cells[result->n_cells++] = *cell;
	return 0;
}

void sl_result_fini(struct sl_result *result)
{
	free(result->cells);
	result->cells = NULL;
	result->n_cells = 0;
}

const struct sl_cell *sl_result_find(const struct sl_result *result, int variant, int workload,
				     enum sl_engine engine)
{
	for (int i = 0; i < result->n_cells; i++) {
		const struct sl_cell *cell = &result->cells[i];

		if (cell->variant == variant && cell->workload == workload && cell->engine == engine) {
			return cell;
		}
	}
	return NULL;
}

/* A box that --set changed is not the one that the figures were published for. */
static void compare(const struct sl_scenario *sc, struct sl_cell *cell)
{
	const struct sl_published *published = sl_scenario_published(sc, cell->variant, cell->workload);

	if (published && sl_scenario_touched(sc, cell->variant) == SL_TOUCH_NONE) {
		cell->has_published = true;
		cell->published = published->value;
		cell->role = published->role;
		cell->error_pct = (cell->value / published->value - 1) * 100;
	}
}

/* A run over all cells: how far it is, in samples. */
struct run {
	const struct sl_scenario *sc;
	const struct sl_run_options *options;
	int repeat, done, total;
	bool stopped; /* the caller wants no more */
};

/* The workload whose run the one at `at` looks at. */
static int run_of(const struct run *run, int at)
{
	return sl_scenario_workload(run->sc, at)->run;
}

static void add_sample(const struct run *run, struct sl_cell *cell, const struct sl_measure *measure)
{
	if (cell->n_samples == 0) {
		cell->measure = *measure;
	}
	cell->samples[cell->n_samples++] =
	    sl_metric_value(measure, sl_scenario_workload(run->sc, cell->workload));
}

/* One run, as the workload's stop rules say, or until its rate lasts. */
static int run_once(const struct run *run, const struct sl_box *box, const struct sl_workload *workload,
		    const struct sl_stack_setup *setup, bool first, struct sl_cell *cell,
		    struct sl_measure *ret, struct sl_err *err)
{
	bool steady = run->options->steady && workload->kind != SL_WL_DISK;
	struct sl_loss loss = {0};
	struct sl_steady found;
	int rc = 0;

	if (first) {
		rc = sl_stack_run_loss(box, workload, setup, ret, err);
		sl_loss_add_database(box, workload, ret);
		loss = ret->loss;
	}
	if (rc == 0 && steady) {
		const struct sl_stack_setup longer = {.seed = setup->seed, .stopped = setup->stopped};

		rc = sl_steady_run(box, workload, &longer, ret, &found, err);
		ret->loss = loss;
		if (rc == 0 && first) {
			sl_steady_unsteady(&found, cell->warning, sizeof(cell->warning));
		}
	} else if (rc == 0 && !first) {
		rc = sl_stack_run(box, workload, setup, ret, err);
	}
	return rc;
}

/* One more sample of the cells that look at the same run as the first. Its seed is the first one's plus its
 * number. */
static int run_sample(struct run *run, const struct sl_box *box, struct sl_cell *cells, int n,
		      struct sl_err *err)
{
	const struct sl_run_options *options = run->options;
	int of = run_of(run, cells[0].workload);
	struct sl_measure measure;
	const struct sl_stack_setup setup = {.seed = options->seed + (uint64_t)cells[0].n_samples,
					     .trace = run->done == 0 ? options->trace : NULL,
					     .stopped = options->stopped};
	int rc = run_once(run, box, sl_scenario_workload(run->sc, of), &setup, cells[0].n_samples == 0,
			  &cells[0], &measure, err);

	if (rc < 0) {
		run->stopped = rc == -EINTR;
		return run->stopped ? 0 : rc;
	}
	for (int i = 0; i < n; i++) {
		if (run_of(run, cells[i].workload) == of) {
			add_sample(run, &cells[i], &measure);
		}
	}
	run->done++;
	run->stopped = options->progress && !options->progress(options->progress_arg, run->done, run->total);
	return 0;
}

/* A published run stopped by the same rules: it is compared as it was. One warning for all looks at a run. */
static void warn(const struct run *run, const struct sl_box *box, struct sl_cell *cell)
{
	const struct sl_stack_setup setup = {.seed = run->options->seed, .stopped = run->options->stopped};
	const struct sl_workload *workload = sl_scenario_workload(run->sc, cell->workload);

	if (!run->options->steady && !run->stopped && !cell->has_published && cell->n_samples > 0 &&
	    workload->run == cell->workload) {
		sl_steady_warning(box, workload, &setup, &cell->measure, cell->warning,
				  sizeof(cell->warning));
	}
}

/* All cells of a variant. One that was stopped between samples counts with those it has. */
static int run_variant(struct run *run, int variant, struct sl_cell *cells, int n, struct sl_err *err)
{
	struct sl_box box;
	int rc = sl_scenario_box(run->sc, variant, &box, err);

	for (int i = 0; rc == 0 && i < n; i++) {
		while (rc == 0 && !run->stopped && cells[i].n_samples < run->repeat) {
			rc = run_sample(run, &box, &cells[i], n - i, err);
		}
	}
	for (int i = 0; rc == 0 && i < n; i++) {
		sl_stats_mean_ci(cells[i].samples, cells[i].n_samples, &cells[i].value, &cells[i].ci95);
		compare(run->sc, &cells[i]);
		warn(run, &box, &cells[i]);
	}
	return rc;
}

static int repeats(const struct sl_run_options *options)
{
	if (options->repeat < 1) {
		return 1;
	}
	return options->repeat < SL_SAMPLES_MAX ? options->repeat : SL_SAMPLES_MAX;
}

/* Empty cells of a variant, in the order of the workloads asked for; *ret_runs: how many runs they need. */
static struct sl_cell *new_cells(const struct run *run, int variant, int n, int *ret_runs)
{
	struct sl_cell *cells = calloc((size_t)n, sizeof(*cells));

	*ret_runs = 0;
	for (int i = 0; cells && i < n; i++) {
		bool again = false;

		cells[i] =
		    (struct sl_cell){.variant = variant,
				     .workload = run->options->workloads ? run->options->workloads[i] : i,
				     .engine = SL_ENGINE_MODEL};
		for (int k = 0; k < i && !again; k++) {
			again = run_of(run, cells[k].workload) == run_of(run, cells[i].workload);
		}
		*ret_runs += !again;
	}
	return cells;
}

static int add_variant(struct run *run, int variants, int at, struct sl_result *ret, struct sl_err *err)
{
	const struct sl_run_options *options = run->options;
	int n = options->workloads ? options->n_workloads : sl_scenario_workloads(run->sc), runs, rc = 0;
	int variant = options->variants ? options->variants[at] : at;
	struct sl_cell *cells = new_cells(run, variant, n, &runs);

	if (!cells) {
		return sl_err_set(err, -ENOMEM, "result: out of memory");
	}
	run->total = variants * runs * run->repeat;
	rc = run_variant(run, variant, cells, n, err);
	for (int i = 0; rc == 0 && i < n; i++) {
		if (cells[i].n_samples > 0 && sl_result_add(ret, &cells[i]) < 0) {
			rc = sl_err_set(err, -ENOMEM, "result: out of memory");
		}
	}
	free(cells);
	return rc;
}

int sl_result_run(const struct sl_scenario *sc, const struct sl_run_options *options, struct sl_result *ret,
		  struct sl_err *err)
{
	int n_variants = options->variants ? options->n_variants : sl_scenario_variants(sc);
	struct run run = {.sc = sc, .options = options, .repeat = repeats(options)};

	*ret = (struct sl_result){.scenario = sc, .seed = options->seed};
	for (int v = 0; v < n_variants && !run.stopped; v++) {
		int rc = add_variant(&run, n_variants, v, ret, err);

		if (rc < 0) {
			sl_result_fini(ret);
			return rc;
		}
	}
	return 0;
}

/* The first variants with and without a log device that differ in nothing asked about: log in order of the
 * file. */
static const struct sl_cell *first_cell(const struct sl_result *result, int workload, enum sl_engine engine,
					bool with_log)
{
	for (int i = 0; i < result->n_cells; i++) {
		const struct sl_cell *cell = &result->cells[i];
		struct sl_box box;

		if (cell->workload != workload || cell->engine != engine) {
			continue;
		}
		if (sl_scenario_box(result->scenario, cell->variant, &box, NULL) == 0 &&
		    (box.n_log > 0) == with_log) {
			return cell;
		}
	}
	return NULL;
}

const struct sl_resource *sl_measure_busiest(const struct sl_measure *measure)
{
	const struct sl_resource *most = NULL;

	for (int i = 0; i < measure->n_resources; i++) {
		if (!most || measure->resources[i].utilisation > most->utilisation) {
			most = &measure->resources[i];
		}
	}
	return most;
}

/* Operations per second are whole; others need digits. */
void sl_result_figure(const struct sl_cell *cell, const struct sl_workload *workload, char *buf, size_t size)
{
	enum sl_unit kind = sl_metric_of(workload).kind;
	bool digits = kind == SL_UNIT_RATE || kind == SL_UNIT_TIME;

	(void)(digits ? snprintf(buf, size, "%.3g", cell->value) : snprintf(buf, size, "%.0f", cell->value));
}

bool sl_result_gain_find(const struct sl_result *result, int workload, enum sl_engine engine,
			 struct sl_gain *ret)
{
	const struct sl_cell *none = first_cell(result, workload, engine, false);
	const struct sl_cell *slog = first_cell(result, workload, engine, true);
	double before, after;

	if (!none || !slog || none->value <= 0 || slog->value <= 0) {
		return false;
	}
	*ret =
	    (struct sl_gain){.none = none,
			     .slog = slog,
			     .ratio = sl_metric_is_latency(sl_scenario_workload(result->scenario, workload))
					  ? none->value / slog->value
					  : slog->value / none->value,
			     .limit = sl_measure_busiest(&slog->measure)};
	before = none->ci95 / none->value;
	after = slog->ci95 / slog->value;
	ret->ratio_ci95 = ret->ratio * sqrt(before * before + after * after);
	return true;
}
