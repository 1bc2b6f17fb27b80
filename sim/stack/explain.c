/* Runs the cells of a scenario to explain them: the base, the paths, and each change. */
#include "sim/stack/explain.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPANS_MAX (1u << 22) /* of one trace: memory, not time, is the limit */
#define SMALL_GAIN_PCT 5.0   /* below: not worth money */
#define SATURATED 0.9
#define JOBS_MAX 64
#define MANY_TIMES_PCT 900.0 /* from here on a percentage is hard to read */

/* The operations of a run, shortest first. */
struct operations {
	struct sl_trace *trace; /* their spans; owned */
	const struct sl_span **sorted;
	int n;
};

static int by_latency(const void *a, const void *b)
{
	const struct sl_span *sa = *(const struct sl_span *const *)a;
	const struct sl_span *sb = *(const struct sl_span *const *)b;
	int64_t la = sa->end_ns - sa->start_ns, lb = sb->end_ns - sb->start_ns;

	if (la != lb) {
		return la < lb ? -1 : 1;
	}
	return (sa->start_ns > sb->start_ns) - (sa->start_ns < sb->start_ns);
}

static void operations_fini(struct operations *ops)
{
	free(ops->sorted);
	sl_trace_free(ops->trace);
}

/* Where there are syncs, they are what a SLOG is about: reads are left out then. */
static int operations_sort(struct operations *ops)
{
	uint32_t count = sl_trace_count(ops->trace);
	bool syncs = false;

	ops->sorted = calloc((size_t)count + 1, sizeof(struct sl_span *));
	if (!ops->sorted) {
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < count && !syncs; i++) {
		syncs = strcmp(sl_trace_get(ops->trace, i)->name, "fsync") == 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct sl_span *span = sl_trace_get(ops->trace, i);

		if (!syncs || strcmp(span->name, "fsync") == 0) {
			ops->sorted[ops->n++] = span;
		}
	}
	qsort(ops->sorted, (size_t)ops->n, sizeof(struct sl_span *), by_latency);
	return 0;
}

/* The operation of which a share q of all took no longer. */
static const struct sl_span *operation_at(const struct operations *ops, double q)
{
	int rank = (int)ceil(q * ops->n);

	return ops->sorted[rank > 0 ? rank - 1 : 0];
}

/* One run that can be repeated. */
struct subject {
	const struct sl_box *box;
	const struct sl_workload *workload;
	const struct sl_stack_setup *setup;
};

/* The same run again, until the chosen operations are over, with every layer's spans of their time. */
static int follow(const struct subject *subject, const struct sl_span *const *chosen, struct sl_trace *trace,
		  struct sl_explain_cell *ret, struct sl_err *err)
{
	struct sl_trace_window windows[SL_EXPLAIN_QUANTILES];
	struct sl_workload until = *subject->workload;
	struct sl_stack_setup setup = *subject->setup;
	struct sl_measure measure;
	int64_t end_ns = 0;
	int rc;

	for (int q = 0; q < SL_EXPLAIN_QUANTILES; q++) {
		windows[q] = (struct sl_trace_window){chosen[q]->start_ns, chosen[q]->end_ns};
		end_ns = chosen[q]->end_ns > end_ns ? chosen[q]->end_ns : end_ns;
	}
	/* What happens up to end_ns does not depend on a stop rule of later. */
	if (until.max_time_ns <= 0 || until.max_time_ns > (double)end_ns + 1) {
		until.max_time_ns = (double)end_ns + 1;
	}
	setup.trace = trace;
	sl_trace_select(trace, NULL, windows, SL_EXPLAIN_QUANTILES);
	rc = sl_stack_run(subject->box, &until, &setup, &measure, err);
	sl_trace_select(trace, NULL, NULL, 0);
	for (int q = 0; rc == 0 && q < SL_EXPLAIN_QUANTILES; q++) {
		rc = sl_path_find(trace, chosen[q]->op, subject->box, setup.stopped, &ret->path[q]);
		if (rc == -EINTR) {
			(void)sl_err_set(err, rc, "interrupted");
		} else if (rc < 0) {
			(void)sl_err_set(err, rc, "workload %s: operation %llu cannot be followed: %s",
					 until.name, (unsigned long long)chosen[q]->op,
					 rc == -ENOMEM ? "out of memory"
						       : "more happened in its time than is kept; set "
							 "fewer threads or a smaller depth");
		}
	}
	ret->has_path = rc == 0;
	return rc;
}

static int find_paths(const struct subject *subject, const struct operations *ops,
		      struct sl_explain_cell *ret, struct sl_err *err)
{
	struct sl_trace *trace = subject->setup->trace;
	const struct sl_span *chosen[SL_EXPLAIN_QUANTILES] = {operation_at(ops, 0.50),
							      operation_at(ops, 0.99)};
	struct sl_trace *own = trace ? NULL : sl_trace_new(SPANS_MAX);
	int rc;

	if (!trace && !own) {
		return sl_err_set(err, -ENOMEM, "explain: out of memory");
	}
	rc = follow(subject, chosen, trace ? trace : own, ret, err);
	sl_trace_free(own);
	return rc;
}

/* A bare disk: the one layer there is. The drive's own queue is part of its work. */
static int disk_path(const struct subject *subject, struct sl_explain_cell *ret, struct sl_err *err)
{
	int rc = sl_stack_run(subject->box, subject->workload, subject->setup, &ret->measure, err);
	const struct sl_measure *m = &ret->measure;
	/* Of an SSD that fills up only the mean is known. */
	const int64_t latency_ns[SL_EXPLAIN_QUANTILES] = {m->p50_ns > 0 ? m->p50_ns : m->mean_ns,
							  m->p50_ns > 0 ? m->p99_ns : m->mean_ns};

	ret->value = rc == 0 ? sl_speed_value(&ret->measure, subject->workload) : 0;
	ret->has_path = rc == 0 && latency_ns[0] > 0;
	for (int q = 0; ret->has_path && rc == 0 && q < SL_EXPLAIN_QUANTILES; q++) {
		rc = sl_path_of_disk(latency_ns[q], &ret->path[q]);
	}
	return rc == -ENOMEM ? sl_err_set(err, rc, "explain: out of memory") : rc;
}

int sl_explain_paths(const struct sl_box *box, const struct sl_workload *workload,
		     const struct sl_stack_setup *setup, struct sl_explain_cell *ret, struct sl_err *err)
{
	struct operations ops = {0};
	struct subject subject = {box, workload, setup};
	struct sl_stack_setup first = *setup;
	int rc;

	if (workload->kind == SL_WL_DISK) {
		return disk_path(&subject, ret, err);
	}
	ops.trace = sl_trace_new(SPANS_MAX);
	if (!ops.trace) {
		return sl_err_set(err, -ENOMEM, "explain: out of memory");
	}
	first.trace = ops.trace;
	sl_trace_select(ops.trace, "guest", NULL, 0);
	rc = sl_stack_run(box, workload, &first, &ret->measure, err);
	ret->value = rc == 0 ? sl_speed_value(&ret->measure, workload) : 0;
	if (rc == 0 && operations_sort(&ops) < 0) {
		rc = sl_err_set(err, -ENOMEM, "explain: out of memory");
	}
	if (rc == 0 && ops.n > 0) {
		rc = find_paths(&subject, &ops, ret, err);
	}
	operations_fini(&ops);
	return rc;
}

/* The cells are independent of each other: threads take the next one until none is left. */
struct pool {
	const struct sl_explain_options *options;
	const struct sl_scenario *sc;
	struct sl_explain *explain;
	struct sl_box *boxes; /* by cell; owned */
	bool *finished;       /* by cell; owned */
	pthread_mutex_t lock; /* what follows */
	int next, done;
	bool stopped; /* by the caller, or by an error */
	int rc;
	struct sl_err err;
};

static int explain_cell(const struct pool *pool, int index, struct sl_err *err)
{
	struct sl_explain_cell *cell = &pool->explain->cells[index];
	const struct sl_workload *workload = sl_scenario_workload(pool->sc, cell->workload);
	const struct sl_box *box = &pool->boxes[index];
	struct sl_stack_setup setup = {.seed = pool->options->seed,
				       .trace = index == 0 ? pool->options->trace : NULL,
				       .stopped = pool->options->stopped};
	int rc = sl_explain_paths(box, workload, &setup, cell, err);

	setup.trace = NULL;
	return rc < 0 ? rc : sl_what_if_run(box, workload, &setup, cell, err);
}

static int pool_take(struct pool *pool)
{
	int index = -1;

	(void)pthread_mutex_lock(&pool->lock);
	if (!pool->stopped && pool->next < pool->explain->n_cells) {
		index = pool->next++;
	}
	(void)pthread_mutex_unlock(&pool->lock);
	return index;
}

static void pool_put(struct pool *pool, int index, int rc, const struct sl_err *err)
{
	const struct sl_explain_options *options = pool->options;

	(void)pthread_mutex_lock(&pool->lock);
	pool->finished[index] = rc == 0;
	pool->done++;
	if (rc < 0 && rc != -EINTR && pool->rc == 0) {
		pool->rc = rc;
		pool->err = *err;
	}
	pool->stopped |= rc < 0 || (options->progress && !options->progress(options->progress_arg, pool->done,
									    pool->explain->n_cells));
	(void)pthread_mutex_unlock(&pool->lock);
}

static void *pool_work(void *arg)
{
	struct pool *pool = arg;
	int index;

	while ((index = pool_take(pool)) >= 0) {
		struct sl_err err = {0};
		int rc = explain_cell(pool, index, &err);

		pool_put(pool, index, rc, &err);
	}
	return NULL;
}

/* Works in this thread and in as many others as there are to be had. */
static void pool_run(struct pool *pool, int jobs)
{
	pthread_t threads[JOBS_MAX];
	int n = 0;

	jobs = jobs < JOBS_MAX ? jobs : JOBS_MAX;
	while (n < jobs - 1 && pthread_create(&threads[n], NULL, pool_work, pool) == 0) {
		n++;
	}
	(void)pool_work(pool);
	while (n > 0) {
		(void)pthread_join(threads[--n], NULL);
	}
}

static int pool_init(struct pool *pool, int n_variants, int n_workloads, struct sl_err *err)
{
	const struct sl_explain_options *options = pool->options;
	size_t n = (size_t)n_variants * (size_t)n_workloads + 1; /* calloc(0) may be NULL */
	int rc = 0;

	pool->explain->cells = calloc(n, sizeof(*pool->explain->cells));
	pool->boxes = calloc(n, sizeof(*pool->boxes));
	pool->finished = calloc(n, sizeof(*pool->finished));
	if (!pool->explain->cells || !pool->boxes || !pool->finished) {
		return sl_err_set(err, -ENOMEM, "explain: out of memory");
	}
	for (int i = 0; rc == 0 && i < n_variants * n_workloads; i++) {
		struct sl_explain_cell *cell = &pool->explain->cells[pool->explain->n_cells++];
		int w = i / n_variants, v = i % n_variants;

		cell->variant = options->variants ? options->variants[v] : v;
		cell->workload = options->workloads ? options->workloads[w] : w;
		rc = sl_scenario_box(pool->sc, cell->variant, &pool->boxes[i], err);
	}
	return rc;
}

/* After a stop: only what is whole stays. */
static void drop_unfinished(struct pool *pool)
{
	struct sl_explain *explain = pool->explain;
	int kept = 0;

	for (int i = 0; i < explain->n_cells; i++) {
		if (pool->finished[i]) {
			explain->cells[kept++] = explain->cells[i];
		}
	}
	explain->n_cells = kept;
}

int sl_explain_run(const struct sl_scenario *sc, const struct sl_explain_options *options,
		   struct sl_explain *ret, struct sl_err *err)
{
	struct pool pool = {.options = options, .sc = sc, .explain = ret, .lock = PTHREAD_MUTEX_INITIALIZER};
	int rc;

	*ret = (struct sl_explain){.scenario = sc, .seed = options->seed};
	rc = pool_init(&pool, options->variants ? options->n_variants : sl_scenario_variants(sc),
		       options->workloads ? options->n_workloads : sl_scenario_workloads(sc), err);
	if (rc == 0) {
		pool_run(&pool, options->jobs);
		rc = pool.rc;
		if (rc < 0) {
			*err = pool.err;
		} else {
			drop_unfinished(&pool);
		}
	}
	(void)pthread_mutex_destroy(&pool.lock);
	free(pool.boxes);
	free(pool.finished);
	if (rc < 0) {
		sl_explain_fini(ret);
	}
	return rc;
}

void sl_explain_fini(struct sl_explain *explain)
{
	for (int i = 0; i < explain->n_cells; i++) {
		for (int q = 0; q < SL_EXPLAIN_QUANTILES; q++) {
			sl_path_fini(&explain->cells[i].path[q]);
		}
	}
	free(explain->cells);
	explain->cells = NULL;
	explain->n_cells = 0;
}

enum sl_layer sl_path_most(const struct sl_path *path)
{
	int most = 0;

	for (int layer = 1; layer < SL_LAYERS; layer++) {
		if (path->service_ns[layer] + path->waiting_ns[layer] >
		    path->service_ns[most] + path->waiting_ns[most]) {
			most = layer;
		}
	}
	return (enum sl_layer)most;
}

double sl_what_if_gain(const struct sl_explain_cell *cell, enum sl_what_if what)
{
	return cell->tried[what] && cell->value > 0 ? (cell->rate[what] / cell->value - 1) * 100
						    : (double)NAN;
}

int sl_what_if_best(const struct sl_explain_cell *cell)
{
	int best = -1;

	for (int what = 0; what < SL_WHAT_IFS; what++) {
		if (cell->tried[what] && what != SL_WHAT_IF_SYNC_DISABLED &&
		    (best < 0 || cell->rate[what] > cell->rate[best])) {
			best = what;
		}
	}
	return best;
}

const struct sl_explain_cell *sl_explain_subject(const struct sl_explain *explain, int workload)
{
	const struct sl_explain_cell *first = NULL;

	for (int i = 0; i < explain->n_cells; i++) {
		const struct sl_explain_cell *cell = &explain->cells[i];
		struct sl_box box;

		if (cell->workload != workload) {
			continue;
		}
		first = first ? first : cell;
		if (sl_scenario_box(explain->scenario, cell->variant, &box, NULL) == 0 && box.n_log > 0) {
			return cell;
		}
	}
	return first;
}

/* Appends to a string that is cut when it is full. */
static void append(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void append(char *buf, size_t size, const char *fmt, ...)
{
	size_t used = strlen(buf);
	va_list args;

	va_start(args, fmt);
	(void)vsnprintf(buf + used, size - used, fmt, args);
	va_end(args);
}

/* "+31 %", "+5.9 %", "60 times as many" */
static void append_gain(char *buf, size_t size, double pct)
{
	if (pct >= MANY_TIMES_PCT) {
		append(buf, size, "%.0f times as many", pct / 100 + 1);
	} else {
		append(buf, size, "%+.*f %%", fabs(pct) < 10 ? 1 : 0, fabs(pct) < 0.05 ? 0.0 : pct);
	}
}

static void conclude_slog(const struct sl_explain_cell *cell, char *buf, size_t size)
{
	double gain = sl_what_if_gain(cell, (enum sl_what_if)SL_LAYER_LOG_DISK);

	if (isnan(gain)) {
		append(buf, size, "nothing is synchronous, a SLOG has no work");
	} else if (gain < SL_WHAT_IF_NOTHING_PCT) {
		append(buf, size, "no SSD can lift this, a SLOG at no cost can add no more: ");
		append_gain(buf, size, gain);
	} else if (gain < SMALL_GAIN_PCT) {
		append(buf, size, "no SSD can lift this by much, a SLOG at no cost brings ");
		append_gain(buf, size, gain);
	} else {
		append(buf, size, "the best SLOG there could be brings ");
		append_gain(buf, size, gain);
	}
}

/* A full set of CPUs: what more of them bring. */
static void conclude_limit(const struct sl_explain_cell *cell, char *buf, size_t size)
{
	const struct sl_resource *limit = sl_measure_busiest(&cell->measure);
	bool full = limit->utilisation >= SATURATED;
	int more = strcmp(limit->name, "guest vCPUs") == 0        ? SL_WHAT_IF_GUEST_VCPUS
		   : strcmp(limit->name, "storage VM vCPUs") == 0 ? SL_WHAT_IF_NAS_VCPUS
								  : -1;

	if (full && more >= 0 && cell->tried[more]) {
		append(buf, size, "; the %s are full (%.0f %%), twice as many bring ", limit->name,
		       limit->utilisation * 100);
		append_gain(buf, size, sl_what_if_gain(cell, (enum sl_what_if)more));
	} else {
		append(buf, size, "; busiest: %s, %.0f %%", limit->name, limit->utilisation * 100);
	}
}

void sl_explain_conclusion(const struct sl_explain *explain, int workload, char *buf, size_t size)
{
	const struct sl_explain_cell *cell = sl_explain_subject(explain, workload);
	const struct sl_workload *load = sl_scenario_workload(explain->scenario, workload);
	int best;

	buf[0] = '\0';
	if (cell && load->kind == SL_WL_DISK) {
		append(buf, size, "%s, %.0f %s with %s: a bare disk, all of a write is the drive's own time",
		       load->name, cell->value, sl_speed_unit(load),
		       sl_scenario_variant_name(explain->scenario, cell->variant));
		return;
	}
	if (!cell || cell->measure.n_resources == 0) {
		return;
	}
	append(buf, size, "%s, %.0f %s with %s: ", load->name, cell->value, sl_speed_unit(load),
	       sl_scenario_variant_name(explain->scenario, cell->variant));
	conclude_slog(cell, buf, size);
	conclude_limit(cell, buf, size);
	best = sl_what_if_best(cell);
	if (best >= 0 && best != (int)SL_LAYER_LOG_DISK &&
	    sl_what_if_gain(cell, (enum sl_what_if)best) >= SMALL_GAIN_PCT) {
		append(buf, size, "; %s would bring most, ", sl_what_if_name((enum sl_what_if)best));
		append_gain(buf, size, sl_what_if_gain(cell, (enum sl_what_if)best));
	}
}
