#include "sim/scenario/metric.h"

#define MIB 1048576.0

/* By SL_METRIC_*; the rate has its name and unit from the kind of the workload. */
static const struct sl_metric metrics[] = {
    [SL_METRIC_IOSTAT_WRITES] = {"iostat_write_rate", SL_UNIT_NONE, "log writes/s", 1},
    [SL_METRIC_IOSTAT_KIB] = {"iostat_kib_rate", SL_UNIT_NONE, "log KiB/s", 1},
    [SL_METRIC_THROUGHPUT] = {"throughput", SL_UNIT_RATE, "MB/s", 1e6},
    [SL_METRIC_MEAN] = {"latency_mean", SL_UNIT_TIME, "ms", 1e6},
    [SL_METRIC_P50] = {"latency_p50", SL_UNIT_TIME, "ms", 1e6},
    [SL_METRIC_P95] = {"latency_p95", SL_UNIT_TIME, "ms", 1e6},
    [SL_METRIC_P99] = {"latency_p99", SL_UNIT_TIME, "ms", 1e6},
    [SL_METRIC_P999] = {"latency_p999", SL_UNIT_TIME, "ms", 1e6},
    [SL_METRIC_MAX] = {"latency_max", SL_UNIT_TIME, "ms", 1e6},
};

static const struct sl_metric rates[] = {
    [SL_WL_OLTP] = {"transaction_rate", SL_UNIT_IOPS, "TPS", 1},
    [SL_WL_FILEIO] = {"request_rate", SL_UNIT_IOPS, "requests/s", 1},
    [SL_WL_SYNCWRITE] = {"write_rate", SL_UNIT_IOPS, "writes/s", 1},
};

static const struct sl_metric disk_metrics[] = {
    [SL_DISK_IOPS] = {"iops", SL_UNIT_IOPS, "IOPS", 1},
    [SL_DISK_MIB] = {"mib_rate", SL_UNIT_RATE, "MiB/s", MIB},
    [SL_DISK_LEAST_IOPS] = {"least_iops", SL_UNIT_IOPS, "IOPS", 1},
    [SL_DISK_LEAST_MIB] = {"least_mib_rate", SL_UNIT_RATE, "MiB/s", MIB},
    [SL_DISK_STEADY_IOPS] = {"steady_iops", SL_UNIT_IOPS, "IOPS", 1},
    [SL_DISK_STEADY_MIB] = {"steady_mib_rate", SL_UNIT_RATE, "MiB/s", MIB},
    [SL_DISK_STEADY_MINUTES] = {"steady_minutes", SL_UNIT_NONE, "minutes", 1},
    [SL_DISK_FILL_MINUTES] = {"fill_minutes", SL_UNIT_NONE, "minutes", 1},
    [SL_DISK_LATENCY_US] = {"latency", SL_UNIT_TIME, "us", 1e3},
    [SL_DISK_THROUGHPUT] = {"throughput", SL_UNIT_RATE, "MB/s", 1e6},
    [SL_DISK_MEAN] = {"latency_mean", SL_UNIT_TIME, "ms", 1e6},
    [SL_DISK_P50] = {"latency_p50", SL_UNIT_TIME, "ms", 1e6},
    [SL_DISK_P95] = {"latency_p95", SL_UNIT_TIME, "ms", 1e6},
    [SL_DISK_P99] = {"latency_p99", SL_UNIT_TIME, "ms", 1e6},
    [SL_DISK_P999] = {"latency_p999", SL_UNIT_TIME, "ms", 1e6},
    [SL_DISK_MAX] = {"latency_max", SL_UNIT_TIME, "ms", 1e6},
};

struct sl_metric sl_metric_of(const struct sl_workload *workload)
{
	struct sl_metric metric = workload->kind == SL_WL_DISK         ? disk_metrics[workload->disk_metric]
				  : workload->metric == SL_METRIC_RATE ? rates[workload->kind]
								       : metrics[workload->metric];

	if (workload->unit) {
		metric.unit = workload->unit;
		metric.unit_size = workload->unit_size;
	}
	return metric;
}

bool sl_metric_is_latency(const struct sl_workload *workload)
{
	return sl_metric_of(workload).kind == SL_UNIT_TIME;
}

int sl_metric_at(const struct sl_workload *workload)
{
	return workload->kind == SL_WL_DISK ? workload->disk_metric : workload->metric;
}

void sl_metric_set(struct sl_workload *workload, int at)
{
	if (workload->kind == SL_WL_DISK) {
		workload->disk_metric = at;
	} else {
		workload->metric = at;
	}
}

int sl_metric_of_kind(const struct sl_workload *workload, enum sl_unit kind)
{
	bool disk = workload->kind == SL_WL_DISK;

	if (kind == SL_UNIT_RATE) {
		return disk ? SL_DISK_THROUGHPUT : SL_METRIC_THROUGHPUT;
	}
	if (kind == SL_UNIT_TIME) {
		return disk ? SL_DISK_MEAN : SL_METRIC_MEAN;
	}
	return 0; /* the first of both lists */
}

bool sl_metric_fits(const struct sl_workload *workload)
{
	bool iostat = workload->metric == SL_METRIC_IOSTAT_WRITES || workload->metric == SL_METRIC_IOSTAT_KIB;

	if (workload->kind == SL_WL_OLTP && workload->metric == SL_METRIC_THROUGHPUT) {
		return false;
	}
	return !iostat || workload->kind == SL_WL_SYNCWRITE;
}

double sl_workload_bytes(const struct sl_workload *workload)
{
	return workload->kind == SL_WL_OLTP ? 0 : workload->block_bytes;
}
