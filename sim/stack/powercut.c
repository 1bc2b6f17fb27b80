#include "sim/stack/powercut.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/oom.h"
#include "sim/base/rng.h"
#include "sim/guest/innodb.h"
#include "sim/stack/cuts.h"

#define WRITES_MAX (1u << 21) /* followed at a time: about 120 MB of record */

/* Times of cuts: of events drawn, of all in a window, or as asked. */
struct times {
	int64_t *at_ns;
	size_t n, room;
};

static void add_time(struct times *times, int64_t at_ns)
{
	if (times->n == times->room) {
		size_t room = times->room ? 2 * times->room : 4096;
		int64_t *grown = realloc(times->at_ns, room * sizeof(*grown));

		if (!grown) {
			sl_oom();
		}
		times->at_ns = grown;
		times->room = room;
	}
	times->at_ns[times->n++] = at_ns;
}

static int by_time(const void *a, const void *b)
{
	const int64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* What the first run of a cell is for. */
struct look {
	const struct sl_powercut_options *options;
	struct times times;
	struct sl_rng rng;
	uint64_t n_events;
};

/* Every event of the window, or as many as are to be drawn, each event of the run with the same chance
 * (Vitter's algorithm R). */
static void see_event(void *arg, int64_t at_ns)
{
	struct look *look = arg;
	const struct sl_powercut_options *options = look->options;
	uint64_t at;

	if (options->when == SL_WHEN_EVERY) {
		if (at_ns >= options->from_ns && at_ns <= options->to_ns) {
			add_time(&look->times, at_ns);
		}
		return;
	}
	look->n_events++;
	if (look->times.n < options->n_random) {
		add_time(&look->times, at_ns);
		return;
	}
	at = sl_rng_below(&look->rng, look->n_events);
	if (at < look->times.n) {
		look->times.at_ns[at] = at_ns;
	}
}

/* Is `a` the worse one to have? */
static bool is_worse(const struct sl_outcome *a, const struct sl_outcome *b)
{
	if (a->lost != b->lost) {
		return a->lost > b->lost;
	}
	if (a->window_ns != b->window_ns) {
		return a->window_ns > b->window_ns;
	}
	return a->imported.stop - a->imported.first > b->imported.stop - b->imported.first;
}

static void count_cut(struct sl_verdict *ret, const struct sl_outcome *cut)
{
	uint64_t rolled_back = cut->imported.believed - cut->imported.txg;
	uint64_t blocks = cut->imported.stop - cut->imported.first;

	if (ret->n_cuts == 0 || is_worse(cut, &ret->worst)) {
		ret->worst = *cut;
	}
	ret->n_cuts++;
	ret->lossy += cut->lost > 0;
	ret->mean_lost += (double)cut->lost;
	ret->window_ns = cut->window_ns > ret->window_ns ? cut->window_ns : ret->window_ns;
	ret->causes[cut->cause] += cut->lost > 0;
	ret->most_resent = cut->resent > ret->most_resent ? cut->resent : ret->most_resent;
	ret->most_rolled_back = rolled_back > ret->most_rolled_back ? rolled_back : ret->most_rolled_back;
	ret->most_blocks = blocks > ret->most_blocks ? blocks : ret->most_blocks;
}

/* The cuts of a cell. */
struct series {
	struct times times;
	size_t at;
	struct sl_verdict *verdict;
};

static int64_t next_time(void *arg)
{
	struct series *series = arg;

	return series->at < series->times.n ? series->times.at_ns[series->at++] : SL_NEVER;
}

static void take_cut(void *arg, const struct sl_outcome *cut)
{
	struct series *series = arg;

	count_cut(series->verdict, cut);
}

/* A box, a workload and how they are run. */
struct cell {
	struct sl_box box;
	const struct sl_workload *workload;
	struct sl_stack_setup setup;
	struct sl_audit_options how;
};

static int64_t no_time(void *arg)
{
	(void)arg;
	return SL_NEVER;
}

/* Runs the cell once without a cut, for the times of its events. */
static int look_at(const struct cell *cell, struct look *look, struct sl_verdict *ret, struct sl_err *err)
{
	struct sl_measure measure;
	struct sl_cuts cuts;
	size_t kept = 0;
	int rc;

	sl_rng_init(&look->rng, look->options->seed, "powercut");
	sl_cuts_init(&cuts, WRITES_MAX);
	cuts.next = no_time;
	cuts.event = see_event;
	cuts.arg = look;
	rc = sl_cuts_run(&cuts, &cell->box, cell->workload, &cell->setup, &cell->how, &measure, err);
	ret->end_ns = cuts.record.end_ns;
	ret->rate = rc == 0 ? sl_metric_value(&measure, cell->workload) : 0;
	sl_cuts_fini(&cuts);
	if (rc < 0) {
		return rc;
	}
	for (size_t i = 0; i < look->times.n; i++) { /* disks also note what comes after the end */
		if (look->times.at_ns[i] <= ret->end_ns) {
			look->times.at_ns[kept++] = look->times.at_ns[i];
		}
	}
	look->times.n = kept;
	for (uint64_t i = kept;
	     look->options->when == SL_WHEN_RANDOM && kept > 0 && i < look->options->n_random; i++) {
		add_time(&look->times, look->times.at_ns[sl_rng_below(&look->rng, kept)]);
	}
	return 0;
}

/* The times of the cuts, in rising order. */
static int choose_times(const struct cell *cell, const struct sl_powercut_options *options,
			struct times *times, struct sl_verdict *ret, struct sl_err *err)
{
	struct look look = {.options = options};
	size_t kept = 0;
	int rc = 0;

	if (options->when == SL_WHEN_AT) {
		for (int i = 0; i < options->n_at; i++) {
			add_time(&look.times, options->at_ns[i]);
		}
	} else {
		rc = look_at(cell, &look, ret, err);
	}
	*times = look.times;
	if (times->n == 0) {
		return rc;
	}
	qsort(times->at_ns, times->n, sizeof(*times->at_ns), by_time);
	for (size_t i = 0; options->when == SL_WHEN_EVERY && i < times->n; i++) {
		if (kept == 0 || times->at_ns[i] != times->at_ns[kept - 1]) {
			times->at_ns[kept++] = times->at_ns[i];
		}
	}
	times->n = options->when == SL_WHEN_EVERY ? kept : times->n;
	return rc;
}

static int make_cuts(const struct cell *cell, struct series *series, struct sl_err *err)
{
	struct sl_verdict *ret = series->verdict;
	struct sl_measure measure;
	struct sl_cuts cuts;
	int rc;

	sl_cuts_init(&cuts, WRITES_MAX);
	cuts.next = next_time;
	cuts.cut = take_cut;
	cuts.arg = series;
	rc = sl_cuts_run(&cuts, &cell->box, cell->workload, &cell->setup, &cell->how, &measure, err);
	if (rc == 0) {
		ret->rate = sl_metric_value(&measure, cell->workload);
		ret->end_ns = cuts.record.end_ns;
		ret->at_least = ret->worst.lost > 0 && sl_cuts_too_short(&cell->box, ret->end_ns);
	}
	ret->followed = cuts.record.ledger.max_weight;
	ret->acknowledged = sl_audit_acknowledged(&cuts.audit);
	ret->longest_answer_ns = sl_ledger_longest_answer_ns(&cuts.record.ledger, ret->end_ns);
	ret->mean_lost = ret->n_cuts > 0 ? ret->mean_lost / (double)ret->n_cuts : 0;
	sl_outcome_why(&ret->worst, ret->why, sizeof(ret->why));
	sl_cuts_fini(&cuts);
	return rc;
}

int sl_powercut_cell(const struct sl_box *box, const struct sl_workload *workload,
		     const struct sl_powercut_options *options, struct sl_verdict *ret, struct sl_err *err)
{
	bool direct = workload->kind == SL_WL_SYNCWRITE;
	struct cell cell = {
	    .box = *box,
	    .workload = workload,
	    .setup = {.seed = options->seed, .broken = options->broken, .stopped = options->stopped},
	    .how = {.radius = options->radius,
		    .fault = options->fault,
		    .local = direct && workload->access == SL_ACCESS_LOCAL,
		    .direct = direct}};
	struct series series = {.verdict = ret};
	int rc;

	if (options->fault == SL_FAULT_SLOG_PULLED) {
		cell.box.log_fail_at_ns = (double)options->pulled_ns;
	}
	/* A program in the guest that writes over NFS by itself does so with libnfs. */
	ret->client = options->client >= 0 ? (enum sl_nfs_client)options->client
		      : direct             ? SL_CLIENT_LIBNFS
					   : sl_nfs_client_of(box);
	cell.how.client = ret->client;
	rc = choose_times(&cell, options, &series.times, ret, err);
	rc = rc == 0 ? make_cuts(&cell, &series, err) : rc;
	free(series.times.at_ns);
	return rc;
}

static void note(struct sl_powercut *powercut, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void note(struct sl_powercut *powercut, const char *fmt, ...)
{
	va_list args;

	if (powercut->n_notes == SL_POWERCUT_NOTES_MAX) {
		return;
	}
	va_start(args, fmt);
	(void)vsnprintf(powercut->notes[powercut->n_notes++], SL_POWERCUT_NOTE_MAX, fmt, args);
	va_end(args);
}

static bool has_mirrored_log(const struct sl_box *box)
{
	for (int i = 0; i < box->n_log; i++) {
		if (box->log[i].kind == SL_DEV_MIRROR) {
			return true;
		}
	}
	return false;
}

/* Can the cell be cut as asked? Else says why not. */
static bool can_cut(struct sl_powercut *powercut, const struct sl_box *box, int v, int w)
{
	const struct sl_workload *workload = sl_scenario_workload(powercut->scenario, w);
	const char *variant = sl_scenario_variant_name(powercut->scenario, v);
	enum sl_fault fault = powercut->options.fault;

	if (workload->kind == SL_WL_DISK) {
		note(powercut, "%s, %s: a bare disk promises nothing: nothing to audit", workload->name,
		     variant);
		return false;
	}
	if (fault != SL_FAULT_NONE && box->n_log == 0) {
		note(powercut, "%s, %s: has no log device that could fail", workload->name, variant);
		return false;
	}
	if (fault == SL_FAULT_SLOG_SIDE && !has_mirrored_log(box)) {
		note(powercut, "%s, %s: its log device is no mirror; take --fail slog", workload->name,
		     variant);
		return false;
	}
	return true;
}

static void note_ends(struct sl_powercut *powercut, const struct sl_verdict *verdict)
{
	const struct sl_powercut_options *options = &powercut->options;
	const char *workload = sl_scenario_workload(powercut->scenario, verdict->workload)->name;
	const char *variant = sl_scenario_variant_name(powercut->scenario, verdict->variant);
	double end_s = (double)verdict->end_ns / 1e9;

	for (int i = 0; options->when == SL_WHEN_AT && i < options->n_at; i++) {
		if (options->at_ns[i] > verdict->end_ns) {
			note(powercut, "%s, %s: its run ends after %.4g s: no cut at %.6g s", workload,
			     variant, end_s, (double)options->at_ns[i] / 1e9);
		}
	}
	if (options->when == SL_WHEN_EVERY && options->to_ns > verdict->end_ns) {
		note(powercut, "%s, %s: its run ends after %.4g s: no cuts later in the window", workload,
		     variant, end_s);
	}
	if (options->fault == SL_FAULT_SLOG_PULLED && options->pulled_ns > verdict->end_ns) {
		note(powercut, "%s, %s: its run ends after %.4g s: the log device was never pulled", workload,
		     variant, end_s);
	}
	if (verdict->at_least) {
		note(powercut,
		     "%s, %s: its run ends after %.4g s, less than two txgs: a longer one may lose more",
		     workload, variant, end_s);
	}
	if (verdict->followed > 1) {
		note(powercut,
		     "%s, %s: so many writes are at risk at once that up to one in %" PRIu32 " is followed",
		     workload, variant, verdict->followed);
	}
}

/* A database that answers before its log is synced promises what no layer below it was asked for. */
static void note_database(struct sl_powercut *powercut, const struct sl_box *box,
			  const struct sl_verdict *verdict)
{
	const struct sl_workload *workload = sl_scenario_workload(powercut->scenario, verdict->workload);

	if (workload->kind == SL_WL_OLTP && box->flush_log_at_commit != SL_FLUSH_LOG_SYNC) {
		note(powercut,
		     "%s, %s: the database syncs its log once a second (guests.flush_log_at_commit: %d): up "
		     "to "
		     "a second of commits is lost on top, which no write of it shows",
		     workload->name, sl_scenario_variant_name(powercut->scenario, verdict->variant),
		     (int)box->flush_log_at_commit);
	}
}

static int run_cell(struct sl_powercut *powercut, int v, int w, struct sl_err *err)
{
	struct sl_verdict *verdict = &powercut->verdicts[powercut->n_verdicts];
	struct sl_box box;
	int rc = sl_scenario_box(powercut->scenario, v, &box, err);

	if (rc < 0 || !can_cut(powercut, &box, v, w)) {
		return rc;
	}
	*verdict = (struct sl_verdict){.variant = v, .workload = w};
	rc = sl_powercut_cell(&box, sl_scenario_workload(powercut->scenario, w), &powercut->options, verdict,
			      err);
	if (rc == 0 || (rc == -EINTR && verdict->n_cuts > 0 && verdict->end_ns > 0)) {
		note_ends(powercut, verdict);
		note_database(powercut, &box, verdict);
		powercut->n_verdicts += verdict->n_cuts > 0;
	}
	return rc;
}

int sl_powercut_run(const struct sl_scenario *sc, const struct sl_powercut_options *options,
		    struct sl_powercut *ret, struct sl_err *err)
{
	int n_variants = options->variants ? options->n_variants : sl_scenario_variants(sc);
	int n_workloads = options->workloads ? options->n_workloads : sl_scenario_workloads(sc);
	int total = n_variants * n_workloads, rc = 0;

	*ret = (struct sl_powercut){.scenario = sc, .options = *options};
	ret->verdicts = calloc((size_t)total + 1, sizeof(*ret->verdicts));
	if (!ret->verdicts) {
		return sl_err_set(err, -ENOMEM, "power cut: out of memory");
	}
	for (int i = 0; rc == 0 && !ret->stopped && i < total; i++) {
		int v = options->variants ? options->variants[i % n_variants] : i % n_variants;
		int w = options->workloads ? options->workloads[i / n_variants] : i / n_variants;

		/* Of all workloads those that look at the run of another one have nothing to add. */
		if (options->workloads || sl_scenario_workload(sc, w)->run == w) {
			rc = run_cell(ret, v, w, err);
		}
		if (rc == -EINTR) {
			ret->stopped = true;
			return 0;
		}
		ret->stopped = options->progress && !options->progress(options->progress_arg, i + 1, total);
	}
	return rc;
}

void sl_powercut_fini(struct sl_powercut *powercut)
{
	free(powercut->verdicts);
	powercut->verdicts = NULL;
	powercut->n_verdicts = 0;
}

const char *sl_fault_name(enum sl_fault fault)
{
	static const char *const names[] = {"none", "slog", "slog-side", "slog-pulled"};

	return names[fault];
}

const char *sl_zil_broken_name(enum sl_zil_broken broken)
{
	static const char *const names[] = {"none", "flush", "early-ack", "order"};

	return names[broken];
}
