/* What a run found: cells of variant x workload, on one engine or side by side. */
#ifndef SL_STACK_RESULT_H
#define SL_STACK_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"
#include "sim/base/hist.h"
#include "sim/base/loop.h"
#include "sim/base/series.h"
#include "sim/base/trace.h"
#include "sim/scenario/scenario.h"
#include "sim/store/store.h"
#include "sim/zfs/zil.h"

struct sl_pool;

#define SL_RESOURCES_MAX 16
#define SL_SAMPLES_MAX 64

/* Share of the measured time that a resource was busy (1 = saturated), e.g. "guest vCPUs". */
struct sl_resource {
	const char *name; /* static */
	double utilisation;
};

/* What a cut of the power takes: the worst of some hundred cuts of the whole box. */
struct sl_loss {
	bool known;      /* the run was recorded */
	bool at_least;   /* it was too short for the worst: less than two txgs */
	double seconds;  /* age of the oldest acknowledged write that is lost */
	uint64_t writes; /* acknowledged and lost, as many at once */
	int64_t bytes;
	char why[160]; /* the layer that answers for it; "" when nothing is lost */
};

/* One run of one workload on one box. Latencies are those of one transaction (oltp), one request (fileio:
 * request or fsync round trip as the client sees it) or one write (syncwrite). */
struct sl_measure {
	double rate; /* transactions, requests or writes per second */
	uint64_t operations;
	int64_t elapsed_ns;
	/* Mean and quantiles of the latency; a quantile of 0 is not known (an SSD's saturation test). */
	int64_t mean_ns, p50_ns, p95_ns, p99_ns, p999_ns, max_ns;
	double read_share; /* oltp: of the transactions' time, waiting for pages that the guest has not */
	uint64_t events;
	/* Written to the log, wherever it is, and to all data disks together, parity, copies and log blocks
	 * that go there included. */
	int64_t log_bytes, data_bytes;
	int64_t log_peak_bytes, log_room_bytes, log_need_bytes; /* see sl_pool_stats */
	uint64_t log_requests; /* of the log devices, flushes included, as iostat counts writes */
	struct sl_loss loss;
	int n_resources;
	struct sl_resource resources[SL_RESOURCES_MAX];
	struct sl_series series; /* operations per second over time */
	int64_t span_bytes;      /* kind disk: the part of the disk that is written */
};

enum sl_engine {
	SL_ENGINE_MODEL,
	SL_ENGINE_MODEL_LAB, /* the model with the substitutions of the real engine beside it */
	SL_ENGINE_LIVE,
	SL_ENGINE_VM
};

struct sl_cell {
	int variant, workload; /* indices into the scenario */
	enum sl_engine engine;
	int n_samples;
	double value; /* mean of samples */
	double ci95;  /* half width of the 95 % interval (Student t), 0 with one sample */
	double samples[SL_SAMPLES_MAX];
	struct sl_measure measure;   /* of the first sample */
	double published, error_pct; /* (value / published - 1) * 100 */
	enum sl_role role;
	bool has_published;
	double dilate;     /* modelled times were so many times as long on the wall; 0 = not on the wall */
	bool untrusted;    /* measured, but of something else than was asked for: `warning` says of what */
	char warning[600]; /* "" = none */
};

#define SL_SUBSTITUTIONS_MAX 16

struct sl_result {
	const struct sl_scenario *scenario; /* borrowed */
	uint64_t seed;
	int n_cells;
	struct sl_cell *cells; /* owned */
	int n_substitutions;
	char substitutions[SL_SUBSTITUTIONS_MAX][160];
};

struct sl_run_options {
	const int *variants, *workloads; /* indices to run; NULL = all */
	int n_variants, n_workloads;
	int repeat; /* repeat i uses seed + i */
	uint64_t seed;
	bool steady; /* on past the stop rules until the rate lasts, and that rate; kind disk is left alone */
	struct sl_trace *trace; /* of the first sample of the first cell; may be NULL */
	/* Called after each sample, done of total samples of all cells; may be NULL. Return false to stop
	 * (Ctrl-C): the result keeps what was measured, a last cell with fewer samples included. */
	bool (*progress)(void *arg, int done, int total);
	void *progress_arg;
	/* Asked within a sample, every few milliseconds; true stops as well, without that sample. NULL:
	 * never. */
	bool (*stopped)(void);
};

/* How a box is run. Zeroed: with seed 0, by the rules, to the end. */
struct sl_stack_setup {
	uint64_t seed;
	struct sl_trace *trace;    /* NULL: none */
	enum sl_zil_broken broken; /* a rule of the ZIL */
	bool (*stopped)(void); /* asked every few milliseconds: true ends the run with -EINTR; NULL: never */
};

/* Fills in what `latency` knows of the times in ns. */
void sl_measure_latency(struct sl_measure *measure, const struct sl_hist *latency);

/* One run in virtual time. Same box, workload and seed: same result, to the bit. Errors: -EINTR (stopped),
 * -ENOMEM, -EINVAL (a disk that cannot be made). */
int sl_stack_run(const struct sl_box *box, const struct sl_workload *workload,
		 const struct sl_stack_setup *setup, struct sl_measure *ret, struct sl_err *err);

/* The same with ret->loss filled, at a few per cent of time more. */
int sl_stack_run_loss(const struct sl_box *box, const struct sl_workload *workload,
		      const struct sl_stack_setup *setup, struct sl_measure *ret, struct sl_err *err);

/* innodb_flush_log_at_trx_commit 0 and 2: the commits of the last second are lost, whatever is below. No
 * fsync promised them, so that the audit of writes does not see them. */
void sl_loss_add_database(const struct sl_box *box, const struct sl_workload *workload,
			  struct sl_measure *measure);

/* Does `a` lose clearly more than `b`? The worst of some hundred cuts is known to a factor of two. */
bool sl_loss_is_more(const struct sl_loss *a, const struct sl_loss *b);

/* 0 = nothing, then one more per decade of seconds: for ranking. */
int sl_loss_class(const struct sl_loss *loss);

/* Runs the model engine over variants x workloads. Release with sl_result_fini. */
int sl_result_run(const struct sl_scenario *sc, const struct sl_run_options *options, struct sl_result *ret,
		  struct sl_err *err);
void sl_result_fini(struct sl_result *result);

/* Appends a cell (copied); 0 or -ENOMEM. */
int sl_result_add(struct sl_result *result, const struct sl_cell *cell);
const struct sl_cell *sl_result_find(const struct sl_result *result, int variant, int workload,
				     enum sl_engine engine);

/* Root mean square of error_pct over the cells of `role`; *ret_count says over how many. */
double sl_result_rms(const struct sl_result *result, enum sl_role role, enum sl_engine engine,
		     int *ret_count);

/* Median size of error_pct over the same cells, 0 when there is none. */
double sl_result_median_error(const struct sl_result *result, enum sl_role role, enum sl_engine engine);

/* Mean and 95 % half width of n samples (Student t, n < 2: 0). */
void sl_stats_mean_ci(const double *samples, int n, double *ret_mean, double *ret_ci95);

/* Mean of `after` minus that of `before`, n batches each, and its 95 % half width (pooled; n < 2: 0). */
void sl_stats_difference(const double *before, const double *after, int n, double *ret_mean,
			 double *ret_ci95);

/* The resource that was busy for most of the time; NULL without any. */
const struct sl_resource *sl_measure_busiest(const struct sl_measure *measure);

/* What a log device brings: the first variant with one against the first without. */
struct sl_gain {
	const struct sl_cell *none, *slog; /* of the result */
	double ratio;                      /* above 1 = better; of latencies, by how much shorter */
	double ratio_ci95;               /* half width, of the samples' noise only; 0 with one sample each */
	const struct sl_resource *limit; /* the busiest of `slog`; NULL = nothing is known to be busy */
};

/* False when no such pair was run for `workload`. */
bool sl_result_gain_find(const struct sl_result *result, int workload, enum sl_engine engine,
			 struct sl_gain *ret);

/* The value of a cell as such a sentence says it: whole operations per second, three digits of others. */
void sl_result_figure(const struct sl_cell *cell, const struct sl_workload *workload, char *buf, size_t size);

const char *sl_engine_name(enum sl_engine engine);                /* "model", "model(lab)", "live", "vm" */
const char *sl_metric_unit(enum sl_workload_kind kind);           /* of the kind's own metric */
const char *sl_workload_unit(const struct sl_workload *workload); /* "TPS", "requests/s", "writes/s", ... */
/* The figure that `workload` reports, in its unit. */
double sl_metric_value(const struct sl_measure *measure, const struct sl_workload *workload);
/* The same, but the rate where a latency is reported, of which more would be worse (a bare disk's stays), or
 * what iostat shows of the log. And its unit. */
double sl_speed_value(const struct sl_measure *measure, const struct sl_workload *workload);
const char *sl_speed_unit(const struct sl_workload *workload);
/* The latency that SL_METRIC_MEAN ... SL_METRIC_MAX stand for, in ns. */
int64_t sl_measure_time(const struct sl_measure *measure, int metric);

struct sl_record;

/* The timed store of `box` (ZFS pool of modelled disks with nfsd threads) on `loop`: what serve puts behind
 * its sockets. `record` (record.h; borrowed, NULL: nobody asks) is told of
 * what a cut needs to know; its pool is set. Owned by the caller: sl_store_free. *ret_pool is part of it, for
 * its statistics. */
int sl_stack_store(const struct sl_box *box, struct sl_loop *loop, uint64_t seed, struct sl_record *record,
		   struct sl_store **ret, struct sl_pool **ret_pool, struct sl_err *err);

#endif
