#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "sim/base/out.h"
#include "sim/base/signals.h"
#include "sim/base/suggest.h"
#include "sim/report/report.h"
#include "sim/scenario/session.h"

#define HELD_NAMES 64 /* workloads and variants that a name is compared with */

struct fit {
	struct sl_words operands, set;
	uint64_t seed, evaluations;
	const char *json, *hold_out;
	struct sl_session session;
	struct sl_held held;
	struct sl_fit fit;
};

static int fit_parse(struct fit *fit, const struct sl_command *self, int argc, char **argv,
		     struct sl_err *err)
{
	const struct sl_option options[] = {
	    {"hold-out", "NAME", "hide this workload or variant from the fit and predict it", SL_OPT_TEXT,
	     &fit->hold_out, 0, 0},
	    {"seed", "N", "seed of the runs (default 1)", SL_OPT_NUMBER, &fit->seed, 0, INT64_MAX},
	    {"evaluations", "N",
	     "runs of the whole scenario that the search may take (default 400); the ranges and slopes take "
	     "up to 14 per parameter more",
	     SL_OPT_NUMBER, &fit->evaluations, 1, 1000000},
	    {"set", "KEY=VALUE", "override a key of the scenario in every variant; may be repeated",
	     SL_OPT_WORDS, &fit->set, 0, 0},
	    {"json", "FILE", "write fit and cells as JSON; - is stdout, the tables then go to stderr",
	     SL_OPT_TEXT, &fit->json, 0, 0},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	bool help;
	int rc;

	fit->seed = 1;
	rc = sl_options_parse(options, argc, argv, &fit->operands, &help, err);
	if (rc == 0 && help) {
		printf("usage: sloglab %s %s [OPTION]...\n%s\n\n", self->name, self->args, self->summary);
		sl_options_print(options, stdout);
		return 1;
	}
	return rc;
}

/* A workload, else a variant. */
static int find_held(struct fit *fit, struct sl_err *err)
{
	const struct sl_scenario *sc = fit->session.sc;
	const char *names[HELD_NAMES], *near;
	int n = 0;

	fit->held.workload = sl_scenario_find_workload(sc, fit->hold_out);
	if (fit->held.workload >= 0) {
		return 0;
	}
	fit->held.variant = sl_scenario_find_variant(sc, fit->hold_out);
	if (fit->held.variant >= 0) {
		return 0;
	}
	for (int w = 0; w < sl_scenario_workloads(sc) && n < HELD_NAMES; w++) {
		names[n++] = sl_scenario_workload(sc, w)->name;
	}
	for (int v = 0; v < sl_scenario_variants(sc) && n < HELD_NAMES; v++) {
		names[n++] = sl_scenario_variant_name(sc, v);
	}
	near = sl_suggest(fit->hold_out, names, n);
	return sl_err_set(err, -EINVAL,
			  "--hold-out: \"%.60s\" is neither a workload nor a variant of the scenario%s%s%s",
			  fit->hold_out, near ? "; did you mean " : ": sloglab run shows both",
			  near ? near : "", near ? "?" : "");
}

static int fit_prepare(struct fit *fit, struct sl_err *err)
{
	int rc;

	if (fit->operands.n != 1) {
		return sl_err_set(err, -EINVAL, "fit: %s; usage: sloglab fit SCENARIO [OPTION]...",
				  fit->operands.n ? "more than one scenario" : "scenario missing");
	}
	if (fit->json && sl_out_check(fit->json, err) < 0) {
		return err->code;
	}
	rc = sl_session_open(&fit->session, fit->operands.word[0], &fit->set, err);
	return rc == 0 && fit->hold_out ? find_held(fit, err) : rc;
}

static int fit_do(struct fit *fit, struct sl_err *err)
{
	struct sl_progress progress;
	struct sl_fit_options options = {.held = fit->held,
					 .max_evaluations = (int)fit->evaluations,
					 .seed = fit->seed,
					 .progress = sl_progress_step,
					 .progress_arg = &progress,
					 .stopped = sl_signals_stopped};
	struct sl_report report = {.result = &fit->fit.result};
	struct sl_fit_report fit_report = {.fit = &fit->fit, .report = &report, .held = fit->held};
	FILE *out = fit->json && sl_out_is_stdout(fit->json) ? stderr : stdout;
	int rc;

	sl_progress_start(&progress, stderr, "evaluations");
	rc = sl_fit_run(fit->session.sc, &options, &fit->fit, err);
	sl_progress_end(&progress);
	if (rc == -EINVAL) {
		return SL_EXIT_USAGE; /* nothing free, no calibrate cell: nothing ran */
	}
	if (rc < 0 && !sl_signals_stopped()) {
		return SL_EXIT_FAILED;
	}
	if (sl_signals_stopped()) {
		if (rc == 0) {
			sl_report_fit_text(&fit->fit, &fit->held, out, err);
		}
		sl_err_set(err, -EINTR, "interrupted: %s",
			   rc == 0 ? "these are the best values so far, no file was written"
				   : "nothing was fitted");
		return SL_EXIT_INTERRUPTED;
	}
	if (sl_report_fit_text(&fit->fit, &fit->held, out, err) < 0) {
		return SL_EXIT_FAILED;
	}
	if (fit->json && sl_out_write(fit->json, sl_report_fit_json, &fit_report, err) < 0) {
		return SL_EXIT_FAILED;
	}
	return SL_EXIT_OK;
}

int sl_cmd_fit(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct fit fit = {.held = {-1, -1}};
	int code = SL_EXIT_USAGE;
	int rc = fit_parse(&fit, self, argc, argv, err);

	if (rc > 0) {
		return SL_EXIT_OK;
	}
	if (rc == 0 && fit_prepare(&fit, err) == 0) {
		code = fit_do(&fit, err);
	}
	sl_fit_fini(&fit.fit);
	sl_session_close(&fit.session);
	return code;
}
