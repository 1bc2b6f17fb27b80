/*
 * Where one operation's time goes: the path of the median and of the 99th-percentile operation through every
 * layer, and what the workload would do if one layer cost nothing.
 */
#ifndef SL_STACK_EXPLAIN_H
#define SL_STACK_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"
#include "sim/base/trace.h"
#include "sim/scenario/scenario.h"
#include "sim/stack/result.h"

/* From the program in the guest down to the disks. */
enum sl_layer {
	SL_LAYER_GUEST,    /* CPU of the program, in the guest with its database */
	SL_LAYER_DATABASE, /* waiting for the log writer */
	SL_LAYER_FS,       /* ext4 and its journal */
	SL_LAYER_HYP,      /* virtual disk and NFS client of the hypervisor */
	SL_LAYER_NETWORK,
	SL_LAYER_NFSD,
	SL_LAYER_ZFS,      /* copying into records */
	SL_LAYER_THROTTLE, /* waiting to be let into a txg while too much is dirty */
	SL_LAYER_ZIL,
	SL_LAYER_VDEV, /* CPU per disk access: encryption, parity */
	SL_LAYER_LOG_DISK,
	SL_LAYER_DATA_DISK,
	SL_LAYERS
};

/* A stretch of an operation that one layer accounts for, in ns since the operation's start. Waiting is time
 * behind others: for a CPU, a thread, the log, the batch in flight, the disk. */
struct sl_segment {
	enum sl_layer layer;
	bool waiting;
	int64_t start_ns, end_ns;
};

/*
 * One operation. Its segments follow each other without gap from 0 to latency_ns, so that service and waiting
 * of all layers add up to latency_ns exactly. At each instant the time belongs to the deepest layer that then
 * works on what the operation waits for, its own work or others' that it shares (group commit).
 */
struct sl_path {
	uint64_t op;
	const char *name; /* static: "transaction", "fsync", "read", "write" */
	int64_t start_ns, latency_ns;
	int64_t service_ns[SL_LAYERS], waiting_ns[SL_LAYERS];
	/* Calls to the store one after the other on the path: NFS calls, or a local program's. */
	int reads, writes, commits;
	int n_segments, room;
	struct sl_segment *segments; /* owned, in order of time */
};

/* Changes to the box that explain tries; the first SL_LAYERS are the layers at no cost. */
enum sl_what_if {
	SL_WHAT_IF_GUEST_VCPUS = SL_LAYERS, /* twice as many */
	SL_WHAT_IF_NAS_VCPUS,
	SL_WHAT_IF_SYNC_DISABLED, /* writes are acknowledged from memory: not safe, but the upper bound */
	SL_WHAT_IFS
};

#define SL_WHAT_IF_WHY_MAX 128

/* A change that brings less can add no more; one that takes more has a reason. */
#define SL_WHAT_IF_NOTHING_PCT 2.0

enum sl_explain_quantile {
	SL_EXPLAIN_P50,
	SL_EXPLAIN_P99,
	SL_EXPLAIN_QUANTILES
};

struct sl_explain_cell {
	int variant, workload;
	struct sl_measure measure;
	double value;  /* what the workload is measured by: operations per second, or its own metric */
	bool has_path; /* false when no operation waited for anything */
	struct sl_path path[SL_EXPLAIN_QUANTILES];
	bool tried[SL_WHAT_IFS];  /* does the change mean anything here? */
	double rate[SL_WHAT_IFS]; /* the value with it */
	/* Where it is slower by more than SL_WHAT_IF_NOTHING_PCT: why, from the run; else "". */
	char why[SL_WHAT_IFS][SL_WHAT_IF_WHY_MAX];
};

struct sl_explain {
	const struct sl_scenario *scenario; /* borrowed */
	uint64_t seed;
	int n_cells;
	struct sl_explain_cell *cells; /* owned; by workload, then variant */
};

struct sl_explain_options {
	const int *variants, *workloads; /* indices; NULL = all */
	int n_variants, n_workloads;
	uint64_t seed;
	struct sl_trace
	    *trace; /* gets everything that happened during the two operations of the first cell */
	int jobs;   /* threads; the result does not depend on it. 0 = 1 */
	/* Called after each cell, by one thread at a time; false stops: the result keeps the finished cells.
	 */
	bool (*progress)(void *arg, int done, int total);
	void *progress_arg;
	/* Asked within a cell by any thread, every few milliseconds: true stops without that cell. NULL:
	 * never. */
	bool (*stopped)(void);
};

/* Runs each cell once to find its operations, once more to follow them, and once per change. Same scenario
 * and seed: same result. Release with sl_explain_fini. */
int sl_explain_run(const struct sl_scenario *sc, const struct sl_explain_options *options,
		   struct sl_explain *ret, struct sl_err *err);
void sl_explain_fini(struct sl_explain *explain);

/* One run of `box` and its two paths, without changes; setup->trace gets what happened during their
 * operations. Release the paths with sl_path_fini. Errors: those of sl_stack_run. */
int sl_explain_paths(const struct sl_box *box, const struct sl_workload *workload,
		     const struct sl_stack_setup *setup, struct sl_explain_cell *ret, struct sl_err *err);

/* Follows operation `op` (a span of layer "guest") through the spans of `trace`. 0, -ENOENT, -ENOMEM,
 * -EINTR once `stopped` (NULL: never), asked every few milliseconds, is true. `box` says what kind the disks
 * are. */
int sl_path_find(const struct sl_trace *trace, uint64_t op, const struct sl_box *box, bool (*stopped)(void),
		 struct sl_path *ret);

/* The path of a write to a bare disk: one layer. 0 or -ENOMEM. */
int sl_path_of_disk(int64_t latency_ns, struct sl_path *ret);
void sl_path_fini(struct sl_path *path);

/* Changes *box as `what` says; false when that means nothing for this box and workload. */
bool sl_what_if_apply(enum sl_what_if what, const struct sl_workload *workload, struct sl_box *box);

/* Runs every change that means something here: fills tried and rate of *cell, whose measure and value are
 * those of the box as it is. Errors: those of sl_stack_run. */
int sl_what_if_run(const struct sl_box *box, const struct sl_workload *workload,
		   const struct sl_stack_setup *setup, struct sl_explain_cell *cell, struct sl_err *err);

/* Why the run of the changed box is slower: what grew most per operation, "" when nothing did. */
void sl_what_if_why(const struct sl_box *box, const struct sl_measure *before, const struct sl_box *changed,
		    const struct sl_measure *after, char *buf, size_t size);

/* Gain of `what` in %, NAN when it was not tried. */
double sl_what_if_gain(const struct sl_explain_cell *cell, enum sl_what_if what);

/* The change with the largest gain, those that are not safe left out; -1 when none was tried. */
int sl_what_if_best(const struct sl_explain_cell *cell);

/* Layer that takes most of the path, service and waiting together. */
enum sl_layer sl_path_most(const struct sl_path *path);

/* The cell that the conclusion is about: the first variant with a log device, else the first. */
const struct sl_explain_cell *sl_explain_subject(const struct sl_explain *explain, int workload);

/* One sentence: what limits `workload`, and what would lift it. Empty when it was not run. */
void sl_explain_conclusion(const struct sl_explain *explain, int workload, char *buf, size_t size);

const char *sl_layer_name(enum sl_layer layer);    /* "program CPU", "ext4 + jbd2", ... */
const char *sl_what_if_name(enum sl_what_if what); /* "SLOG at no cost", "twice the guest vCPUs" */
const char *sl_what_if_key(enum sl_what_if what);  /* for JSON: "slog", "guest_vcpus_x2" */

#endif
