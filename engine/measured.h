/* What the engines on the wall clock have in common: the limits of a load, samples in time of the model, the
 * cells of the model beside them. */
#ifndef SL_ENGINE_MEASURED_H
#define SL_ENGINE_MEASURED_H

#include "engine/live_load.h"
#include "sim/stack/result.h"
#include "sim/stack/timing.h"

/* Can the workload be run for real? Without a guest, what goes through libnfs. */
bool sl_measured_runs(const struct sl_workload *workload, bool guest);

struct sl_measured_limits {
	uint64_t time_s; /* of each measurement at most; 0 = what the workload says */
	bool quick;      /* small table and files, few requests */
	double dilate;
};

/* The workload as it is run in a guest: time on the wall. */
void sl_measured_limit(const struct sl_measured_limits *limits, struct sl_workload *load);
/* Table and files of --quick. */
void sl_measured_shrink(struct sl_workload *load);

/* --dilate auto: how many times as slow the lab is as the scenario's box in the same work; at least 1, at
 * most 20. */
double sl_measured_dilate(double lab_ns, double box_ns);

/* Appends to the cell's warning; what it already says is not repeated. */
void sl_measured_warn(struct sl_cell *cell, const char *text);
/* How busy a CPU was in the runs of a cell: one line for all of them. */
struct sl_measured_busy {
	int full;     /* runs in which it set the rate, not the disks */
	double worst; /* share of the time in the worst of these */
};
void sl_measured_busy_add(struct sl_measured_busy *busy, double share);
/* `whose`: "the guest's". Nothing where no run was. */
void sl_measured_warn_busy(struct sl_cell *cell, const char *whose, const struct sl_measured_busy *busy);
/* Judges one sample on the wall clock; of several samples of a cell *kept is the worst. `input` takes its
 * lateness and modelled time from *timing. */
void sl_measured_trust(const struct sl_timing *timing, struct sl_trust_input *input, bool first,
		       struct sl_timing *kept);
/* Marks the cell and says why: "timing not trustworthy: ..."; nothing when it is. */
void sl_measured_warn_timing(struct sl_cell *cell, const struct sl_timing *timing);
/* Adds one run of `workload` on the wall clock to the cell, undilated. */
void sl_measured_sample(struct sl_cell *cell, const struct sl_workload *workload,
			const struct sl_live_load_result *result, double dilate);

/* As many samples of the model as the measured cell has, with the same seeds; fewer, and perhaps none, once
 * stopped() says true. */
struct sl_measured_load {
	const struct sl_box *box;
	const struct sl_workload *load;
	uint64_t seed; /* of the first */
	bool (*stopped)(void);
};
int sl_measured_model(const struct sl_measured_load *run, int n, struct sl_cell *cell, struct sl_err *err);
/* Mean and interval. No error: what was published was measured on another machine than this one. */
void sl_measured_finish(struct sl_cell *cell);

#endif
