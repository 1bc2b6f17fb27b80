#include "sim/stack/powercut.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"

#define WRITES_MAX 500000u /* followed: about 150 MB of record */

struct times {
	int64_t *at_ns;
	size_t n, room;
};

static void add_time(struct times *times, int64_t at_ns, int64_t end_ns)
{
	if (at_ns < 0 || at_ns > end_ns) {
		return;
	}
	if (times->n == times->room) {
		size_t room = times->room ? 2 * times->room : 4096;
		int64_t *grown = realloc(times->at_ns, room * sizeof(*grown));

		if (!grown) {
			abort();
		}
		times->at_ns = grown;
		times->room = room;
	}
	times->at_ns[times->n++] = at_ns;
}

static void add_marks(struct times *times, const struct sl_mark *mark, int64_t end_ns)
{
	for (; mark; mark = mark->next) {
		if (mark->parts) {
			add_marks(times, mark->parts, end_ns);
		} else {
			add_time(times, mark->done_ns, end_ns);
			add_time(times, mark->safe_ns, end_ns);
		}
	}
}

static int by_time(const void *a, const void *b)
{
	const int64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

/* All events, in order, each once. */
static void list_events(const struct sl_record *record, struct times *ret)
{
	const struct sl_history *history = &record->history;
	int64_t end_ns = record->end_ns;
	size_t kept = 0;

	for (uint32_t i = 0; i < record->ledger.n_writes; i++) {
		const struct sl_ledger_write *write = &record->ledger.writes[i];

		add_time(ret, write->sent_ns, end_ns);
		add_time(ret, write->replied_ns, end_ns);
		add_time(ret, write->committed_ns, end_ns);
		add_time(ret, write->promised_ns, end_ns);
	}
	for (uint32_t i = 0; i < history->n_blocks; i++) {
		add_marks(ret, history->blocks[i].mark, end_ns);
	}
	for (uint32_t i = 0; i < history->n_txgs; i++) {
		add_time(ret, history->txgs[i].synced_ns, end_ns);
		add_marks(ret, history->txgs[i].mark, end_ns);
	}
	if (ret->n == 0) {
		return;
	}
	qsort(ret->at_ns, ret->n, sizeof(*ret->at_ns), by_time);
	for (size_t i = 0; i < ret->n; i++) {
		if (kept == 0 || ret->at_ns[i] != ret->at_ns[kept - 1]) {
			ret->at_ns[kept++] = ret->at_ns[i];
		}
	}
	ret->n = kept;
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

static void count_cut(const struct sl_audit *audit, int64_t at_ns, struct sl_verdict *ret)
{
	struct sl_outcome cut;
	uint64_t rolled_back;
	uint32_t blocks;

	sl_audit_cut(audit, at_ns, &cut);
	rolled_back = cut.imported.believed - cut.imported.txg;
	blocks = cut.imported.stop - cut.imported.first;
	if (ret->n_cuts == 0 || is_worse(&cut, &ret->worst)) {
		ret->worst = cut;
	}
	ret->n_cuts++;
	ret->lossy += cut.lost > 0;
	ret->mean_lost += (double)cut.lost;
	ret->window_ns = cut.window_ns > ret->window_ns ? cut.window_ns : ret->window_ns;
	ret->causes[cut.cause] += cut.lost > 0;
	ret->most_resent = cut.resent > ret->most_resent ? cut.resent : ret->most_resent;
	ret->most_rolled_back = rolled_back > ret->most_rolled_back ? rolled_back : ret->most_rolled_back;
	ret->most_blocks = blocks > ret->most_blocks ? blocks : ret->most_blocks;
}

static bool is_stopped(const struct sl_powercut_options *options)
{
	return options->stopped && options->stopped();
}

static void cut_random(const struct sl_audit *audit, const struct times *events,
		       const struct sl_powercut_options *options, struct sl_verdict *ret)
{
	struct sl_rng rng;

	sl_rng_init(&rng, options->seed, "powercut");
	for (uint64_t i = 0; i < options->n_random && events->n > 0 && !is_stopped(options); i++) {
		count_cut(audit, events->at_ns[sl_rng_below(&rng, events->n)], ret);
	}
}

static void make_cuts(const struct sl_audit *audit, const struct sl_powercut_options *options,
		      struct sl_verdict *ret)
{
	struct times events = {0};

	if (options->when == SL_WHEN_AT) {
		for (int i = 0; i < options->n_at; i++) {
			if (options->at_ns[i] <= ret->end_ns) {
				count_cut(audit, options->at_ns[i], ret);
			}
		}
		return;
	}
	list_events(audit->record, &events);
	if (options->when == SL_WHEN_RANDOM) {
		cut_random(audit, &events, options, ret);
	}
	for (size_t i = 0; options->when == SL_WHEN_EVERY && i < events.n && !is_stopped(options); i++) {
		if (events.at_ns[i] >= options->from_ns && events.at_ns[i] <= options->to_ns) {
			count_cut(audit, events.at_ns[i], ret);
		}
	}
	free(events.at_ns);
}

static void read_ledger(const struct sl_record *record, struct sl_verdict *ret)
{
	for (uint32_t i = 0; i < record->ledger.n_writes; i++) {
		const struct sl_ledger_write *write = &record->ledger.writes[i];
		int64_t until_ns = write->replied_ns < record->end_ns ? write->replied_ns : record->end_ns;

		if (until_ns - write->sent_ns > ret->longest_answer_ns) {
			ret->longest_answer_ns = until_ns - write->sent_ns;
		}
	}
}

static int judge(const struct sl_box *box, const struct sl_record *record, bool local, bool direct,
		 const struct sl_powercut_options *options, struct sl_verdict *ret, struct sl_err *err)
{
	const struct sl_audit_options how = {.radius = options->radius,
					     .fault = options->fault,
					     .client = ret->client,
					     .local = local,
					     .direct = direct};
	struct sl_outcome end;
	struct sl_audit audit;
	int rc = sl_audit_init(&audit, box, record, &how, err);

	if (rc == 0) {
		ret->end_ns = record->end_ns;
		ret->cut_short = record->ledger.full_ns != SL_NEVER;
		read_ledger(record, ret);
		sl_audit_cut(&audit, record->end_ns, &end);
		ret->acknowledged = end.acknowledged;
		make_cuts(&audit, options, ret);
		ret->mean_lost = ret->n_cuts > 0 ? ret->mean_lost / (double)ret->n_cuts : 0;
		sl_outcome_why(&ret->worst, ret->why, sizeof(ret->why));
	}
	sl_audit_fini(&audit);
	return rc;
}

int sl_powercut_cell(const struct sl_box *box, const struct sl_workload *workload,
		     const struct sl_powercut_options *options, struct sl_verdict *ret, struct sl_err *err)
{
	const struct sl_stack_setup setup = {
	    .seed = options->seed, .broken = options->broken, .stopped = options->stopped};
	bool guest = workload->kind == SL_WL_SYNCWRITE, local = guest && workload->access == SL_ACCESS_LOCAL;
	struct sl_box broken = *box;
	struct sl_measure measure;
	struct sl_record record;
	int rc;

	if (options->fault == SL_FAULT_SLOG_PULLED) {
		broken.log_fail_at_ns = (double)options->pulled_ns;
	}
	/* A program in the guest that writes over NFS by itself does so with libnfs. */
	ret->client = options->client >= 0 ? (enum sl_nfs_client)options->client
		      : guest              ? SL_CLIENT_LIBNFS
					   : sl_nfs_client_of(box);
	sl_record_init(&record, WRITES_MAX);
	rc = sl_stack_record(&broken, workload, &setup, &record, &measure, err);
	if (rc == 0) {
		ret->rate = sl_metric_value(&measure, workload);
		rc = judge(&broken, &record, local, guest, options, ret, err);
	}
	sl_record_fini(&record);
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
	const char *what = verdict->cut_short ? "its record ends" : "its run ends";

	for (int i = 0; options->when == SL_WHEN_AT && i < options->n_at; i++) {
		if (options->at_ns[i] > verdict->end_ns) {
			note(powercut, "%s, %s: %s after %.4g s: no cut at %.6g s", workload, variant, what,
			     end_s, (double)options->at_ns[i] / 1e9);
		}
	}
	if (options->when == SL_WHEN_EVERY && options->to_ns > verdict->end_ns) {
		note(powercut, "%s, %s: %s after %.4g s: no cuts later in the window", workload, variant,
		     what, end_s);
	}
	if (options->fault == SL_FAULT_SLOG_PULLED && options->pulled_ns > verdict->end_ns) {
		note(powercut, "%s, %s: %s after %.4g s: the log device was never pulled", workload, variant,
		     what, end_s);
	}
	if (options->when == SL_WHEN_RANDOM && verdict->cut_short) {
		note(powercut, "%s, %s: the first %" PRIu32 " writes are followed: cuts up to %.4g s",
		     workload, variant, WRITES_MAX, end_s);
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
	if (rc == 0) {
		note_ends(powercut, verdict);
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
