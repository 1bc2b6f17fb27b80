/* Runs the cells of a scenario on the model engine and keeps what they found. */
#include "sim/stack/result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SATURATED 0.9 /* a resource busier than this is named as the limit */

const char *sl_engine_name(enum sl_engine engine)
{
	static const char *const names[] = {"model", "model(lab)", "live"};

	return names[engine];
}

const char *sl_metric_unit(enum sl_workload_kind kind)
{
	static const char *const units[] = {"TPS", "requests/s", "writes/s", "IOPS"};

	return units[kind];
}

const char *sl_workload_unit(const struct sl_workload *workload)
{
	static const char *const units[] = {
	    [SL_METRIC_IOSTAT_WRITES] = "log writes/s", [SL_METRIC_IOSTAT_KIB] = "log KiB/s"};

	if (workload->kind == SL_WL_DISK && workload->disk_metric == SL_DISK_MIB) {
		return "MiB/s";
	}
	return workload->metric == SL_METRIC_RATE ? sl_metric_unit(workload->kind) : units[workload->metric];
}

double sl_metric_value(const struct sl_measure *measure, const struct sl_workload *workload)
{
	double seconds = (double)measure->elapsed_ns / 1e9;

	if (workload->kind == SL_WL_DISK && workload->disk_metric == SL_DISK_MIB) {
		return measure->rate * workload->block_bytes / (1 << 20);
	}
	switch (workload->metric) {
	case SL_METRIC_IOSTAT_WRITES:
		return seconds > 0 ? (double)measure->log_requests / seconds : 0;
	case SL_METRIC_IOSTAT_KIB:
		return seconds > 0 ? (double)measure->log_bytes / 1024 / seconds : 0;
	default:
		return measure->rate;
	}
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

static void compare(struct sl_cell *cell, const struct sl_published *published)
{
	if (published) {
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

/* One more sample of the cell; its seed is the first one's plus its number. */
static int cell_sample(struct run *run, const struct sl_box *box, struct sl_cell *cell, struct sl_err *err)
{
	const struct sl_run_options *options = run->options;
	struct sl_measure measure;
	int rc = sl_stack_run(box, sl_scenario_workload(run->sc, cell->workload),
			      options->seed + (uint64_t)cell->n_samples,
			      run->done == 0 ? options->trace : NULL, &measure, err);

	if (rc < 0) {
		return rc;
	}
	cell->measure = cell->n_samples == 0 ? measure : cell->measure;
	cell->samples[cell->n_samples++] =
	    sl_metric_value(&measure, sl_scenario_workload(run->sc, cell->workload));
	run->done++;
	run->stopped = options->progress && !options->progress(options->progress_arg, run->done, run->total);
	return 0;
}

/* A cell that was stopped between samples counts with those it has. */
static int run_cell(struct run *run, struct sl_cell *cell, struct sl_err *err)
{
	struct sl_box box;
	int rc = sl_scenario_box(run->sc, cell->variant, &box, err);

	while (rc == 0 && !run->stopped && cell->n_samples < run->repeat) {
		rc = cell_sample(run, &box, cell, err);
	}
	if (rc < 0) {
		return rc;
	}
	sl_stats_mean_ci(cell->samples, cell->n_samples, &cell->value, &cell->ci95);
	compare(cell, sl_scenario_published(run->sc, cell->variant, cell->workload));
	return 0;
}

static int repeats(const struct sl_run_options *options)
{
	if (options->repeat < 1) {
		return 1;
	}
	return options->repeat < SL_SAMPLES_MAX ? options->repeat : SL_SAMPLES_MAX;
}

int sl_result_run(const struct sl_scenario *sc, const struct sl_run_options *options, struct sl_result *ret,
		  struct sl_err *err)
{
	int n_variants = options->variants ? options->n_variants : sl_scenario_variants(sc);
	int n_workloads = options->workloads ? options->n_workloads : sl_scenario_workloads(sc);
	int n_cells = n_variants * n_workloads;
	struct run run = {.sc = sc, .options = options, .repeat = repeats(options)};

	run.total = n_cells * run.repeat;
	*ret = (struct sl_result){.scenario = sc, .seed = options->seed};
	for (int i = 0; i < n_cells && !run.stopped; i++) {
		int v = i / n_workloads, w = i % n_workloads;
		struct sl_cell cell = {.variant = options->variants ? options->variants[v] : v,
				       .workload = options->workloads ? options->workloads[w] : w,
				       .engine = SL_ENGINE_MODEL};
		int rc = run_cell(&run, &cell, err);

		if (rc == 0 && sl_result_add(ret, &cell) < 0) {
			rc = sl_err_set(err, -ENOMEM, "result: out of memory");
		}
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

/* Is it what a faster SLOG would relieve? */
static bool is_log(const struct sl_resource *resource)
{
	return strcmp(resource->name, "ZIL") == 0 || strcmp(resource->name, "log device") == 0;
}

static const struct sl_resource *busiest(const struct sl_measure *measure)
{
	const struct sl_resource *most = NULL;

	for (int i = 0; i < measure->n_resources; i++) {
		if (!most || measure->resources[i].utilisation > most->utilisation) {
			most = &measure->resources[i];
		}
	}
	return most;
}

void sl_result_gain(const struct sl_result *result, int workload, enum sl_engine engine, char *buf,
		    size_t size)
{
	const struct sl_cell *none = first_cell(result, workload, engine, false);
	const struct sl_cell *slog = first_cell(result, workload, engine, true);
	const struct sl_workload *w = sl_scenario_workload(result->scenario, workload);
	const struct sl_resource *limit;
	char what[80];
	int n;

	buf[0] = '\0';
	if (!none || !slog || none->value <= 0) {
		return;
	}
	if (w->kind == SL_WL_OLTP) {
		(void)snprintf(what, sizeof(what), "%s, %lld thread%s", w->name, (long long)w->threads,
			       w->threads == 1 ? "" : "s");
	} else {
		(void)snprintf(what, sizeof(what), "%s", w->name);
	}
	n = snprintf(buf, size, "%s: %.0f -> %.0f %s with %s, %.2fx", what, none->value, slog->value,
		     sl_workload_unit(w), sl_scenario_variant_name(result->scenario, slog->variant),
		     slog->value / none->value);
	limit = busiest(&slog->measure);
	if (limit && n > 0 && (size_t)n < size) {
		(void)snprintf(
		    buf + n, size - (size_t)n, "; %s %.0f %% busy%s", limit->name, limit->utilisation * 100,
		    limit->utilisation >= SATURATED && !is_log(limit) ? ": a faster SLOG can add no more"
								      : "");
	}
}
