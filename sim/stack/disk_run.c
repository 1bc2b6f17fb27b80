#include "sim/stack/disk_run.h"

#include <errno.h>

#include "sim/device/iops.h"
#include "sim/device/ssd.h"

#define STEPS 600
#define MINUTE_NS 60e9

/* "Steady" as the terms of the published saturation tests put it. */
#define STEADY_WINDOW_NS INT64_C(600000000000)
#define STEADY_TOLERANCE 0.03

static int64_t step_of(const struct sl_workload *workload)
{
	double step_ns = workload->interval_ns > 0 ? workload->interval_ns : workload->max_time_ns / STEPS;

	return step_ns >= 1 ? (int64_t)step_ns : 1;
}

static int saturate(const struct sl_dev_spec *spec, const struct sl_workload *workload,
		    const struct sl_stack_setup *setup, struct sl_measure *ret, struct sl_err *err)
{
	struct sl_ssd_load load = {
	    .block_bytes = (int64_t)workload->block_bytes,
	    .depth = (int)(workload->depth * workload->threads),
	    .span_bytes = (int64_t)workload->file_total_bytes,
	    .duration_ns = (int64_t)workload->max_time_ns,
	    .sample_ns = step_of(workload),
	    .seed = setup->seed,
	    .stopped = setup->stopped,
	    .state = (enum sl_ssd_state)workload->disk_state,
	};
	struct sl_ssd_curve curve = {0};
	int rc;

	if (workload->disk_metric >= SL_DISK_P50 && workload->disk_metric <= SL_DISK_MAX) {
		return sl_err_set(err, -EINVAL,
				  "workload %s: of an SSD that fills up only the mean latency is known; "
				  "write metric: mean, or flush: each",
				  workload->name);
	}
	load.span_bytes =
	    load.span_bytes > (int64_t)spec->capacity_bytes ? (int64_t)spec->capacity_bytes : load.span_bytes;
	rc = sl_ssd_saturate(spec, &load, &curve, err);
	if (rc < 0) {
		return rc;
	}
	ret->series = curve.iops;
	ret->span_bytes = load.span_bytes;
	ret->rate = sl_series_mean(&curve.iops, 0, load.duration_ns);
	ret->operations = curve.writes * curve.scale;
	ret->events = curve.writes;
	ret->mean_ns = ret->rate > 0 ? (int64_t)(load.depth * 1e9 / ret->rate + 0.5) : 0;
	sl_ssd_curve_free(&curve);
	return 0;
}

static int closed_loop(const struct sl_dev_spec *disk, const struct sl_workload *workload,
		       const struct sl_stack_setup *setup, struct sl_measure *ret, struct sl_err *err)
{
	struct sl_dev_spec spec = *disk;
	struct sl_hist latency;
	struct sl_iops_load load = {
	    .write = true,
	    .flush = workload->disk_flush == SL_DISK_FLUSH_EACH,
	    .block_bytes = (int64_t)workload->block_bytes,
	    .span_bytes = (int64_t)workload->file_total_bytes,
	    .depth = (int)(workload->depth * workload->threads),
	    .duration_ns = (int64_t)workload->max_time_ns,
	    .requests = workload->max_requests > 0 ? (uint64_t)workload->max_requests : UINT64_MAX,
	    .seed = setup->seed,
	    .stopped = setup->stopped,
	    .series = &ret->series,
	    .latency = &latency,
	};
	int rc;

	/* With a flush after each write the flash keeps up: its map need not be made. */
	spec.raw_bytes = 0;
	ret->series.step_ns = step_of(workload);
	ret->span_bytes = load.span_bytes;
	if (sl_hist_init(&latency) < 0) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	rc = sl_dev_iops(&spec, &load, &ret->rate, err);
	if (rc == 0) {
		sl_measure_latency(ret, &latency);
	}
	sl_hist_fini(&latency);
	if (rc < 0) {
		return rc;
	}
	ret->operations = (uint64_t)(ret->rate * (double)load.duration_ns / 1e9);
	return 0;
}

static int64_t end_of(const struct sl_workload *workload)
{
	return workload->measure_to_ns > 0 ? (int64_t)workload->measure_to_ns
					   : (int64_t)workload->max_time_ns;
}

int sl_disk_run(const struct sl_box *box, const struct sl_workload *workload,
		const struct sl_stack_setup *setup, struct sl_measure *ret, struct sl_err *err)
{
	struct sl_dev_spec disks[SL_BOX_DATA_MAX];
	const struct sl_dev_spec *spec = &disks[0];

	sl_box_data_disks(box, disks);
	*ret = (struct sl_measure){.elapsed_ns = (int64_t)workload->max_time_ns};
	if (spec->kind == SL_DEV_SSD && sl_ssd_has_nand(spec) &&
	    workload->disk_flush == SL_DISK_FLUSH_NEVER) {
		return saturate(spec, workload, setup, ret, err);
	}
	return closed_loop(spec, workload, setup, ret, err);
}

static double rate_of(const struct sl_measure *measure, const struct sl_workload *workload)
{
	const struct sl_series *series = &measure->series;
	int64_t from_ns = (int64_t)workload->measure_from_ns, steady_ns;

	switch (workload->disk_metric) {
	case SL_DISK_LEAST_IOPS:
	case SL_DISK_LEAST_MIB:
		return sl_series_least(series, from_ns, end_of(workload));
	case SL_DISK_STEADY_IOPS:
	case SL_DISK_STEADY_MIB:
		steady_ns = sl_series_steady_ns(series, STEADY_WINDOW_NS, STEADY_TOLERANCE);
		return steady_ns < 0 ? 0 : sl_series_mean(series, steady_ns, steady_ns + STEADY_WINDOW_NS);
	default:
		/* The whole run is known better than by its steps: the last one is not complete. */
		return from_ns == 0 && workload->measure_to_ns <= 0
			   ? measure->rate
			   : sl_series_mean(series, from_ns, end_of(workload));
	}
}

double sl_disk_value(const struct sl_measure *measure, const struct sl_workload *workload)
{
	double rate;
	int64_t at_ns;

	switch (workload->disk_metric) {
	case SL_DISK_MIB:
	case SL_DISK_LEAST_MIB:
	case SL_DISK_STEADY_MIB:
	case SL_DISK_THROUGHPUT:
		return rate_of(measure, workload) * workload->block_bytes;
	case SL_DISK_LATENCY_US:
	case SL_DISK_MEAN:
		rate = rate_of(measure, workload);
		return rate > 0 ? (double)(workload->depth * workload->threads) * 1e9 / rate : 0;
	case SL_DISK_P50:
	case SL_DISK_P95:
	case SL_DISK_P99:
	case SL_DISK_P999:
	case SL_DISK_MAX:
		return (double)sl_measure_time(measure,
					       workload->disk_metric - SL_DISK_MEAN + SL_METRIC_MEAN);
	case SL_DISK_STEADY_MINUTES:
		at_ns = sl_series_steady_ns(&measure->series, STEADY_WINDOW_NS, STEADY_TOLERANCE);
		break;
	case SL_DISK_FILL_MINUTES:
		at_ns =
		    sl_series_reach_ns(&measure->series, (double)measure->span_bytes / workload->block_bytes);
		break;
	default:
		return rate_of(measure, workload);
	}
	return at_ns < 0 ? 0 : (double)at_ns / MINUTE_NS;
}
