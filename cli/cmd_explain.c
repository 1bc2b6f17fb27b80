#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "sim/base/out.h"
#include "sim/base/signals.h"
#include "sim/report/report_explain.h"
#include "sim/scenario/session.h"

#define TRACE_SPANS 1000000

struct explain {
	struct sl_words operands, variant, workload, set, log;
	uint64_t seed;
	bool ask;
	const char *json, *html, *trace_file;
	struct sl_session session;
	struct sl_chosen variants, workloads;
	struct sl_trace *trace;
	struct sl_explain result;
};

static int explain_parse(struct explain *x, const struct sl_command *self, int argc, char **argv,
			 struct sl_err *err)
{
	const struct sl_option options[] = {
	    {"variant", "A,B", "only these variants", SL_OPT_WORDS, &x->variant, 0, 0},
	    {"workload", "A,B", "only these workloads", SL_OPT_WORDS, &x->workload, 0, 0},
	    {"log", "DEVICE", "add a variant: the one without a log device with this one; may be repeated",
	     SL_OPT_WORDS, &x->log, 0, 0},
	    {"set", "KEY=VALUE", "override a key of the scenario in every variant; may be repeated",
	     SL_OPT_WORDS, &x->set, 0, 0},
	    {"seed", "N", "seed (default 1)", SL_OPT_NUMBER, &x->seed, 0, INT64_MAX},
	    {"ask", NULL, "hide the answers until you have guessed them", SL_OPT_FLAG, &x->ask, 0, 0},
	    {"json", "FILE", "write everything as JSON; - is stdout, the text then goes to stderr",
	     SL_OPT_TEXT, &x->json, 0, 0},
	    {"html", "FILE", "write a self-contained page with waterfalls and bars", SL_OPT_TEXT, &x->html, 0,
	     0},
	    {"trace", "FILE", "write the two operations of the first cell as Chrome trace JSON", SL_OPT_TEXT,
	     &x->trace_file, 0, 0},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	bool help;
	int rc;

	x->seed = 1;
	rc = sl_options_parse(options, argc, argv, &x->operands, &help, err);
	if (rc == 0 && help) {
		printf("usage: sloglab %s %s [OPTION]...\n%s\n\n", self->name, self->args, self->summary);
		sl_options_print(options, stdout);
		return 1;
	}
	return rc;
}

static int explain_check(const struct explain *x, struct sl_err *err)
{
	const char *files[] = {x->json, x->html, x->trace_file};
	int on_stdout = 0;

	if (x->operands.n != 1) {
		return sl_err_set(err, -EINVAL, "explain: %s; usage: sloglab explain SCENARIO [OPTION]...",
				  x->operands.n ? "more than one scenario" : "scenario missing");
	}
	if (x->ask && !isatty(STDIN_FILENO)) {
		return sl_err_set(err, -EINVAL, "--ask: standard input is no terminal; leave --ask out");
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (files[i] && sl_out_check(files[i], err) < 0) {
			return err->code;
		}
		on_stdout += files[i] && sl_out_is_stdout(files[i]);
	}
	if (on_stdout > 1) {
		return sl_err_set(err, -EINVAL, "only one of --json, --html and --trace can go to stdout");
	}
	return 0;
}

static int explain_prepare(struct explain *x, struct sl_err *err)
{
	int rc = sl_session_open(&x->session, x->operands.word[0], &x->set, err);

	if (rc == 0) {
		rc = sl_session_variants(&x->session, "variant", &x->variant, &x->variants, err);
	}
	if (rc == 0) {
		rc = sl_session_logs(&x->session, &x->log, &x->variants, err);
	}
	if (rc == 0) {
		rc = sl_session_workloads(&x->session, "workload", &x->workload, &x->workloads, err);
	}
	for (int v = 0; rc == 0 && v < sl_scenario_variants(x->session.sc); v++) {
		struct sl_box box;

		rc = sl_scenario_box(x->session.sc, v, &box, err);
	}
	if (rc == 0 && x->trace_file) {
		x->trace = sl_trace_new(TRACE_SPANS);
		rc = x->trace ? 0 : sl_err_set(err, -ENOMEM, "out of memory");
	}
	return rc;
}

static int trace_render(void *arg, FILE *out, struct sl_err *err)
{
	const struct explain *x = arg;

	return sl_trace_write(x->trace, sl_scenario_name(x->session.sc), out, err);
}

static int explain_write(struct explain *x, struct sl_explain_report *report, struct sl_err *err)
{
	int rc = 0;

	if (x->json) {
		rc = sl_out_write(x->json, sl_explain_json, report, err);
	}
	if (rc == 0 && x->html) {
		rc = sl_out_write(x->html, sl_explain_html, report, err);
	}
	if (rc == 0 && x->trace_file) {
		rc = sl_out_write(x->trace_file, trace_render, x, err);
	}
	return rc;
}

/* Where people read: not where a file goes. */
static FILE *text_stream(const struct explain *x)
{
	const char *files[] = {x->json, x->html, x->trace_file};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (files[i] && sl_out_is_stdout(files[i])) {
			return stderr;
		}
	}
	return stdout;
}

static int explain_do(struct explain *x, struct sl_err *err)
{
	struct sl_progress progress;
	struct sl_explain_options options = {.variants = x->variants.index,
					     .n_variants = x->variants.n,
					     .workloads = x->workloads.index,
					     .n_workloads = x->workloads.n,
					     .seed = x->seed,
					     .trace = x->trace,
					     .jobs = (int)sysconf(_SC_NPROCESSORS_ONLN),
					     .progress = sl_progress_step,
					     .progress_arg = &progress,
					     .stopped = sl_signals_stopped};
	struct sl_explain_report report = {.explain = &x->result};
	FILE *out = text_stream(x);
	int rc;

	sl_progress_start(&progress, stderr, "cells");
	rc = sl_explain_run(x->session.sc, &options, &x->result, err);
	sl_progress_end(&progress);
	if (rc < 0) {
		return rc == -EINVAL ? SL_EXIT_USAGE : SL_EXIT_FAILED;
	}
	sl_explain_terminal(out, &report);
	if (x->ask && !sl_signals_stopped()) {
		sl_explain_ask(&report, stdin, out);
	}
	if (sl_explain_text(&report, out, err) < 0) {
		return SL_EXIT_FAILED;
	}
	if (sl_signals_stopped()) {
		sl_err_set(err, -EINTR,
			   "interrupted: what was explained so far is above, no files were written");
		return SL_EXIT_INTERRUPTED;
	}
	return explain_write(x, &report, err) < 0 ? SL_EXIT_FAILED : SL_EXIT_OK;
}

int sl_cmd_explain(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct explain x = {0};
	int code = SL_EXIT_USAGE;
	int rc = explain_parse(&x, self, argc, argv, err);

	if (rc > 0) {
		return SL_EXIT_OK;
	}
	if (rc == 0 && explain_check(&x, err) == 0 && explain_prepare(&x, err) == 0) {
		code = explain_do(&x, err);
	}
	sl_explain_fini(&x.result);
	sl_trace_free(x.trace);
	free(x.variants.index);
	free(x.workloads.index);
	sl_session_close(&x.session);
	return code;
}
