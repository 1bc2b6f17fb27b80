#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/full_run.h"
#include "cli/progress.h"
#include "engine/beside.h"
#include "engine/live.h"
#include "engine/vm_run.h"
#include "sim/base/out.h"
#include "sim/base/signals.h"
#include "sim/base/trace.h"
#include "sim/base/units.h"
#include "sim/report/report.h"
#include "sim/scenario/session.h"

#define TRACE_SPANS 500000
#define TRACE_TIME_NS INT64_C(2000000000)
#define DILATE_MAX 1e6

struct run {
	const char *engine, *dilate_text, *profile;
	double dilate;
	bool quick, fresh, no_live, steady;
	char profile_path[PATH_MAX];
	struct sl_words operands, variant, workload, set, log;
	uint64_t repeat, seed, time_s;
	const char *json, *csv, *html, *trace_file;
	struct sl_session session, lab;
	struct sl_chosen variants, workloads;
	struct sl_trace *trace;
	int64_t trace_time_ns;
	struct sl_result result;
	struct sl_live live, beside; /* beside: engine live's cells in a run of engine vm */
	struct sl_full full;
	bool is_live, is_vm, wants_full;
};

static int run_parse(struct run *run, const struct sl_command *self, int argc, char **argv,
		     struct sl_err *err)
{
	const struct sl_option options[] = {
	    {"engine", "model|live|vm",
	     "model: virtual time (default); live: a real NFS client; vm: OpenZFS and guest in virtual "
	     "machines",
	     SL_OPT_TEXT, &run->engine, 0, 0},
	    {"variant", "A,B", "only these variants", SL_OPT_WORDS, &run->variant, 0, 0},
	    {"workload", "A,B", "only these workloads", SL_OPT_WORDS, &run->workload, 0, 0},
	    {"repeat", "N", "runs of each cell, with seeds SEED, SEED+1, ... (default 1)", SL_OPT_NUMBER,
	     &run->repeat, 1, SL_SAMPLES_MAX},
	    {"seed", "N", "first seed (default 1)", SL_OPT_NUMBER, &run->seed, 0, INT64_MAX},
	    {"set", "KEY=VALUE", "override a key of the scenario in every variant; may be repeated",
	     SL_OPT_WORDS, &run->set, 0, 0},
	    {"log", "DEVICE",
	     "add a variant: the one without a log device with this one; may be repeated (not vm)",
	     SL_OPT_WORDS, &run->log, 0, 0},
	    {"steady", NULL, "run on past the stop rules until the rate lasts, and report that", SL_OPT_FLAG,
	     &run->steady, 0, 0},
	    {"time", "S",
	     "live, vm: seconds of each measurement at most (default: the workload's; libnfs 10)",
	     SL_OPT_NUMBER, &run->time_s, 1, 3600},
	    {"quick", NULL, "live, vm: two variants, two or three workloads, small table and files",
	     SL_OPT_FLAG, &run->quick, 0, 0},
	    {"dilate", "K|auto",
	     "live, vm: modelled times take K times as long; auto = as the CPUs here need", SL_OPT_TEXT,
	     &run->dilate_text, 0, 0},
	    {"profile", "FILE",
	     "live, vm: this host's figures for live (default: sloglab calibrate's, else measured now)",
	     SL_OPT_TEXT, &run->profile, 0, 0},
	    {"fresh", NULL, "vm: measure again what an unfinished run has measured", SL_OPT_FLAG, &run->fresh,
	     0, 0},
	    {"no-live", NULL, "vm: do not run engine live beside", SL_OPT_FLAG, &run->no_live, 0, 0},
	    {"json", "FILE", "write the result as JSON; - is stdout, the table then goes to stderr",
	     SL_OPT_TEXT, &run->json, 0, 0},
	    {"csv", "FILE", "write the cells as CSV", SL_OPT_TEXT, &run->csv, 0, 0},
	    {"html", "FILE", "write a self-contained page with charts and every parameter", SL_OPT_TEXT,
	     &run->html, 0, 0},
	    {"full", NULL, "the page also says where the time goes, what a power cut takes, and what to buy",
	     SL_OPT_FLAG, &run->wants_full, 0, 0},
	    {"trace", "FILE", "write what begins in the first 2 s of the first cell as Chrome trace JSON",
	     SL_OPT_TEXT, &run->trace_file, 0, 0},
	    {"trace-time", "TIME", "with --trace: the first TIME instead", SL_OPT_TIME, &run->trace_time_ns,
	     1000000, INT64_C(1000000000000)},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	bool help;
	int rc;

	run->engine = "model";
	run->repeat = 1;
	run->seed = 1;
	run->trace_time_ns = TRACE_TIME_NS;
	rc = sl_options_parse(options, argc, argv, &run->operands, &help, err);
	if (rc == 0 && help) {
		printf("usage: sloglab %s %s [OPTION]...\n%s\n\n", self->name, self->args, self->summary);
		sl_options_print(options, stdout);
		return 1;
	}
	return rc;
}

/* What goes with some engines only. */
static int options_check(const struct run *run, struct sl_err *err)
{
	const char *only_real = run->time_s > 0    ? "time"
				: run->quick       ? "quick"
				: run->dilate_text ? "dilate"
						   : NULL;

	if ((run->is_live || run->is_vm) && run->trace_file) {
		return sl_err_set(err, -EINVAL, "--trace: works with --engine model only");
	}
	if (run->is_vm && run->log.n > 0) {
		return sl_err_set(err, -EINVAL,
				  "--log: works with --engine model and live only; name a variant in the "
				  "scenario");
	}
	if ((run->is_live || run->is_vm) && run->steady) {
		return sl_err_set(err, -EINVAL, "--steady: works with --engine model only");
	}
	if (!run->is_live && !run->is_vm && run->profile) {
		return sl_err_set(err, -EINVAL, "--profile: works with --engine live and vm only");
	}
	if (!run->is_vm && (run->fresh || run->no_live)) {
		return sl_err_set(err, -EINVAL, "--%s: works with --engine vm only",
				  run->fresh ? "fresh" : "no-live");
	}
	return only_real && !run->is_live && !run->is_vm
		   ? sl_err_set(err, -EINVAL, "--%s: works with --engine live and vm only", only_real)
		   : 0;
}

/* 0 = auto */
static int dilate_check(struct run *run, struct sl_err *err)
{
	run->dilate = 1;
	if (!run->dilate_text) {
		return 0;
	}
	if (strcmp(run->dilate_text, "auto") == 0) {
		run->dilate = 0;
		return 0;
	}
	if (sl_units_parse(run->dilate_text, SL_UNIT_NONE, &run->dilate, err) < 0) {
		return sl_err_wrap(err, "--dilate");
	}
	return run->dilate >= 1 && run->dilate <= DILATE_MAX
		   ? 0
		   : sl_err_set(err, -EINVAL, "--dilate: must be from 1 to 1e6, or auto");
}

static int engine_check(struct run *run, struct sl_err *err)
{
	int rc;

	run->is_live = strcmp(run->engine, "live") == 0;
	run->is_vm = strcmp(run->engine, "vm") == 0;
	if (!run->is_live && !run->is_vm && strcmp(run->engine, "model") != 0) {
		return sl_err_set(err, -EINVAL, "--engine: \"%.40s\" is not an engine; use model, live or vm",
				  run->engine);
	}
	rc = options_check(run, err);
	if (rc == 0) {
		rc = dilate_check(run, err);
	}
	if (rc == 0 && (run->is_live || run->is_vm) && !run->profile &&
	    sl_paths_profile(run->profile_path, NULL) == 0 && access(run->profile_path, R_OK) == 0) {
		run->profile = run->profile_path;
	}
	return rc;
}

static int run_check(struct run *run, struct sl_err *err)
{
	const char *files[] = {run->json, run->csv, run->html, run->trace_file};
	int on_stdout = 0;

	if (run->operands.n != 1) {
		return sl_err_set(err, -EINVAL, "run: %s; usage: sloglab run SCENARIO [OPTION]...",
				  run->operands.n ? "more than one scenario" : "scenario missing");
	}
	if (engine_check(run, err) < 0) {
		return err->code;
	}
	if (run->wants_full && (run->is_live || run->is_vm || !run->html)) {
		return sl_err_set(err, -EINVAL, "--full: goes with --html FILE and --engine model");
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (files[i] && sl_out_check(files[i], err) < 0) {
			return err->code;
		}
		on_stdout += files[i] && sl_out_is_stdout(files[i]);
	}
	if (on_stdout > 1) {
		return sl_err_set(err, -EINVAL,
				  "only one of --json, --csv, --html and --trace can go to stdout");
	}
	return sl_out_check_distinct(files, (int)(sizeof(files) / sizeof(files[0])), err);
}

static int run_prepare(struct run *run, struct sl_err *err)
{
	int rc = sl_session_open(&run->session, run->operands.word[0], &run->set, err);

	if (rc == 0) {
		rc = sl_session_variants(&run->session, "variant", &run->variant, &run->variants, err);
	}
	if (rc == 0) {
		rc = sl_session_logs(&run->session, &run->log, &run->variants, err);
	}
	if (rc == 0) {
		rc = sl_session_workloads(&run->session, "workload", &run->workload, &run->workloads, err);
	}
	/* A box that cannot be resolved is bad input: found before anything runs. */
	for (int v = 0; rc == 0 && v < sl_scenario_variants(run->session.sc); v++) {
		struct sl_box box;

		rc = sl_scenario_box(run->session.sc, v, &box, err);
	}
	if (rc == 0 && (run->is_live || run->is_vm)) {
		rc = sl_session_open(&run->lab, run->operands.word[0], &run->set, err);
		rc = rc == 0 ? sl_session_logs(&run->lab, &run->log, NULL, err) : rc;
		if (rc == 0 && run->profile) {
			rc = sl_scenario_overlay(run->lab.sc, run->profile, err);
		}
	}
	if (rc == 0 && run->trace_file) {
		run->trace = sl_trace_new(TRACE_SPANS);
		rc = run->trace ? 0 : sl_err_set(err, -ENOMEM, "out of memory");
		if (rc == 0) {
			sl_trace_first(run->trace, run->trace_time_ns);
		}
	}
	return rc;
}

static void lab_said(void *arg, const char *what)
{
	(void)arg;
	fprintf(stderr, "lab: %s\n", what);
}

/* Engine live first: it takes a minute, and its servers are gone before the first machine boots. */
static int vm_run(struct run *run, const struct sl_live_options *live, const struct sl_vm_options *vm,
		  struct sl_err *err)
{
	int rc = run->no_live ? 0 : sl_beside_run(run->session.sc, live, &run->beside, err), code = 0;

	if (rc == 0) {
		rc = sl_vm_run(run->session.sc, vm, &run->live, err);
		code = sl_beside_add(&run->beside, &run->live.result);
	}
	return rc == 0 && code < 0 ? sl_err_set(err, code, "out of memory") : rc;
}

static int run_engine(struct run *run, struct sl_err *err)
{
	struct sl_progress progress;
	struct sl_run_options options = {.variants = run->variants.index,
					 .n_variants = run->variants.n,
					 .workloads = run->workloads.index,
					 .n_workloads = run->workloads.n,
					 .repeat = (int)run->repeat,
					 .seed = run->seed,
					 .steady = run->steady,
					 .trace = run->trace,
					 .progress = sl_progress_step,
					 .progress_arg = &progress,
					 .stopped = sl_signals_stopped};
	struct sl_live_options live = {.run = &options,
				       .paths = &run->session.paths,
				       .lab = run->lab.sc,
				       .calibrated = run->profile != NULL,
				       .time_s = run->time_s,
				       .quick = run->quick,
				       .dilate = run->is_vm ? 1 : run->dilate};
	const struct sl_vm_options vm = {.run = &options,
					 .scenario = run->operands.word[0],
					 .sets = &run->set,
					 .time_s = run->time_s,
					 .quick = run->quick,
					 .fresh = run->fresh,
					 .dilate = run->dilate,
					 .said = lab_said};
	int variants[2], workloads[3], rc = 0;

	sl_progress_start(&progress, stderr, "runs");
	if (run->quick && run->is_vm) {
		rc = sl_vm_quick(run->session.sc, &options, variants, workloads, err);
	} else if (run->quick) {
		sl_live_quick(run->session.sc, &options, variants, workloads);
	}
	if (rc < 0) {
		return rc;
	}
	if (run->is_vm) {
		rc = vm_run(run, &live, &vm, err);
	} else if (run->is_live) {
		rc = sl_live_run(run->session.sc, &live, &run->live, err);
	} else {
		rc = sl_result_run(run->session.sc, &options, &run->result, err);
	}
	sl_progress_end(&progress);
	return rc;
}

static int trace_render(void *arg, FILE *out, struct sl_err *err)
{
	const struct run *run = arg;

	return sl_trace_write(run->trace, sl_scenario_name(run->session.sc), out, err);
}

/* More happened in the time that was asked for than a viewer opens. */
static void trace_shortened(const struct run *run)
{
	int64_t until_ns = sl_trace_until(run->trace);
	char kept[32];

	if (until_ns < run->trace_time_ns) {
		sl_units_format((double)until_ns, SL_UNIT_TIME, kept, sizeof(kept));
		fprintf(stderr, "%s: the first %s only: there are more than %d spans in what was asked for\n",
			run->trace_file, kept, TRACE_SPANS);
	}
}

static int run_write(struct run *run, struct sl_report *report, struct sl_err *err)
{
	int rc = 0;

	if (run->json) {
		rc = sl_out_write(run->json, sl_report_json, report, err);
	}
	if (rc == 0 && run->csv) {
		rc = sl_out_write(run->csv, sl_report_csv, report, err);
	}
	if (rc == 0 && run->html) {
		rc = sl_out_write(run->html, sl_report_html, report, err);
	}
	if (rc == 0 && run->trace_file) {
		rc = sl_out_write(run->trace_file, trace_render, run, err);
		trace_shortened(run);
	}
	return rc;
}

static bool run_uses_stdout(const struct run *run)
{
	const char *files[] = {run->json, run->csv, run->html, run->trace_file};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (files[i] && sl_out_is_stdout(files[i])) {
			return true;
		}
	}
	return false;
}

/* The table, and what --set and --steady made of it. */
static int print_table(const struct run *run, const struct sl_report *report, struct sl_err *err)
{
	FILE *out = run_uses_stdout(run) ? stderr : stdout;
	int rc = sl_report_text(report, out, err);

	if (rc == 0 && run->steady) {
		fputs("steady: rates that last, past the stop rules; published runs stopped by theirs\n",
		      out);
	}
	for (int i = 0; rc == 0 && i < run->set.n; i++) {
		fprintf(out, "%s%s", i > 0 ? ", " : "overridden: ", run->set.word[i]);
	}
	if (rc == 0 && run->set.n > 0) {
		fprintf(out, "%s\n",
			sl_report_touched(report) == SL_TOUCH_NONE ? "; the box is as it was"
								   : "; the box was changed");
	}
	return rc;
}

/* What the real engine could not run here, and why. */
static void print_missing(const struct run *run)
{
	if (run->live.missing[0] != '\0') {
		fprintf(stderr, "live without a guest: %s; fileio runs through libnfs, oltp not at all\n",
			run->live.missing);
	}
	if (run->is_vm && !run->no_live) {
		sl_report_beside(&run->beside.result, run->beside.missing, stderr);
	}
	if (run->live.n_skipped > 0) {
		fprintf(stderr, "skipped on %s: %d workload%s (%s)\n", run->engine, run->live.n_skipped,
			run->live.n_skipped > 1 ? "s" : "",
			run->is_vm ? "it runs oltp, fileio, and syncwrite over NFS"
				   : "oltp needs a guest, local access and iostat a pool");
	}
}

static int run_full(struct run *run, struct sl_err *err)
{
	struct sl_full_options options = {.variants = &run->variants,
					  .workloads = &run->workloads,
					  .name = run->operands.word[0],
					  .seed = run->seed};

	return sl_full_run(&run->session, &options, &run->full, err);
}

/* What belongs to a whole run: the files. Returns an exit code. */
static int run_finish(struct run *run, struct sl_report *report, struct sl_err *err)
{
	if (run->wants_full) {
		if (run_full(run, err) < 0) {
			return err->code == -EINTR ? SL_EXIT_INTERRUPTED : SL_EXIT_FAILED;
		}
		report->full = &run->full;
	}
	if (run_write(run, report, err) < 0) {
		return SL_EXIT_FAILED;
	}
	if (run->is_live && !run->live.trustworthy) {
		sl_err_set(
		    err, -ETIME,
		    "timing not trustworthy: the warnings above say where and why; run again on a quieter "
		    "machine, or with a larger --dilate");
		return SL_EXIT_FAILED;
	}
	return SL_EXIT_OK;
}

/* Runs, prints, writes; files are written only when everything asked for was measured. */
static int run_do(struct run *run, struct sl_err *err)
{
	int rc = run_engine(run, err);
	bool interrupted = sl_signals_stopped();
	struct sl_report report = {.result = run->is_live || run->is_vm ? &run->live.result : &run->result,
				   .timings = run->live.timings,
				   .n_timings = run->live.n_timings,
				   .evidence = run->live.evidence,
				   .n_evidence = run->live.n_evidence,
				   .interrupted = interrupted};
	struct sl_err later = {0};

	if (interrupted) {
		*err = (struct sl_err){0};
	} else if (rc < 0 && report.result->n_cells == 0) {
		return rc == -EINVAL ? SL_EXIT_USAGE : SL_EXIT_FAILED;
	}
	print_missing(run);
	report.result = report.result->scenario ? report.result : NULL;
	if (report.result && print_table(run, &report, &later) < 0) {
		*err = later;
		return SL_EXIT_FAILED;
	}
	if (interrupted) {
		sl_err_set(err, -EINTR,
			   "interrupted: the table holds what was measured so far, no files were written");
		return SL_EXIT_INTERRUPTED;
	}
	if (rc < 0) {
		fputs("the table holds what was measured until an error; no files were written\n", stderr);
		return SL_EXIT_FAILED;
	}
	return run_finish(run, &report, err);
}

static void run_fini(struct run *run)
{
	sl_result_fini(&run->result);
	sl_live_fini(&run->live);
	sl_live_fini(&run->beside);
	sl_full_fini(&run->full);
	sl_trace_free(run->trace);
	free(run->variants.index);
	free(run->workloads.index);
	sl_session_close(&run->session);
	sl_session_close(&run->lab);
}

int sl_cmd_run(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct run run = {0};
	int code = SL_EXIT_USAGE;
	int rc = run_parse(&run, self, argc, argv, err);

	if (rc > 0) {
		return SL_EXIT_OK;
	}
	if (rc == 0 && run_check(&run, err) == 0 && run_prepare(&run, err) == 0) {
		code = run_do(&run, err);
	}
	run_fini(&run);
	return code;
}
