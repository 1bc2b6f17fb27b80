#include "sim/stack/disk_run.h"

#include "sim/device/iops.h"
#include "sim/device/ssd.h"

#define SAMPLES 600

static int saturate(const struct sl_dev_spec *spec, const struct sl_workload *workload, uint64_t seed,
		    struct sl_measure *ret, struct sl_err *err)
{
	struct sl_ssd_load load = {
	    .block_bytes = (int64_t)workload->block_bytes,
	    .depth = (int)(workload->depth * workload->threads),
	    .span_bytes = (int64_t)workload->file_total_bytes,
	    .duration_ns = (int64_t)workload->max_time_ns,
	    .sample_ns = (int64_t)workload->max_time_ns / SAMPLES,
	    .seed = seed,
	    .state = (enum sl_ssd_state)workload->disk_state,
	};
	struct sl_ssd_curve curve = {0};
	int rc;

	load.span_bytes =
	    load.span_bytes > (int64_t)spec->capacity_bytes ? (int64_t)spec->capacity_bytes : load.span_bytes;
	rc = sl_ssd_saturate(spec, &load, &curve, err);
	if (rc < 0) {
		return rc;
	}
	*ret = (struct sl_measure){
	    .rate = sl_ssd_curve_mean(&curve, (int64_t)workload->measure_from_ns, load.duration_ns),
	    .operations = curve.writes * curve.scale,
	    .elapsed_ns = load.duration_ns,
	    .events = curve.writes,
	};
	if (curve.n > 0) {
		ret->p50_ns = ret->p95_ns = ret->p99_ns = (int64_t)curve.samples[curve.n - 1].latency_ns;
	}
	sl_ssd_curve_free(&curve);
	return 0;
}

static int closed_loop(const struct sl_dev_spec *spec, const struct sl_workload *workload, uint64_t seed,
		       struct sl_measure *ret, struct sl_err *err)
{
	struct sl_iops_load load = {
	    .write = true,
	    .block_bytes = (int64_t)workload->block_bytes,
	    .span_bytes = (int64_t)workload->file_total_bytes,
	    .depth = (int)(workload->depth * workload->threads),
	    .from_ns = (int64_t)workload->measure_from_ns,
	    .duration_ns = (int64_t)workload->max_time_ns,
	    .requests = workload->max_requests > 0 ? (uint64_t)workload->max_requests : UINT64_MAX,
	    .seed = seed,
	};
	double rate;
	int rc = sl_dev_iops(spec, &load, &rate, err);

	if (rc < 0) {
		return rc;
	}
	*ret = (struct sl_measure){
	    .rate = rate,
	    .operations = (uint64_t)(rate * (double)(load.duration_ns - load.from_ns) / 1e9),
	    .elapsed_ns = load.duration_ns,
	};
	ret->p50_ns = ret->p95_ns = ret->p99_ns = rate > 0 ? (int64_t)(load.depth * 1e9 / rate) : 0;
	return 0;
}

int sl_disk_run(const struct sl_box *box, const struct sl_workload *workload, uint64_t seed,
		struct sl_measure *ret, struct sl_err *err)
{
	const struct sl_dev_spec *spec = &box->data[0];

	if (spec->kind == SL_DEV_SSD && sl_ssd_has_nand(spec)) {
		return saturate(spec, workload, seed, ret, err);
	}
	return closed_loop(spec, workload, seed, ret, err);
}
