#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/progress.h"
#include "engine/powercut_vm.h"
#include "sim/base/out.h"
#include "sim/base/signals.h"
#include "sim/base/units.h"
#include "sim/report/report_powercut.h"
#include "sim/scenario/session.h"

#define RANDOM_DEFAULT 1000
#define RANDOM_MAX 10000000
#define SEED_DEFAULT 1
#define SEED_UNSET UINT64_MAX
#define VM_LOAD_NS 20000000000 /* before the cut */

struct powercut {
	struct sl_words operands, variant, workload, set, log, at;
	uint64_t seed, random;
	bool every, vm;
	const char *engine, *window, *radius, *fail, *client, *broken;
	const char *json, *html;
	struct sl_session session;
	struct sl_chosen variants, workloads;
	struct sl_powercut_options options;
	struct sl_powercut result;
};

static int powercut_parse(struct powercut *p, const struct sl_command *self, int argc, char **argv,
			  struct sl_err *err)
{
	const struct sl_option options[] = {
	    {"engine", "model|vm",
	     "vm: cut real OpenZFS in a virtual machine and its disks, once a variant, under load in a guest "
	     "(default model)",
	     SL_OPT_TEXT, &p->engine, 0, 0},
	    {"variant", "A,B", "only these variants", SL_OPT_WORDS, &p->variant, 0, 0},
	    {"workload", "A,B", "only these workloads", SL_OPT_WORDS, &p->workload, 0, 0},
	    {"log", "DEVICE", "add a variant: the one without a log device with this one; may be repeated",
	     SL_OPT_WORDS, &p->log, 0, 0},
	    {"set", "KEY=VALUE", "override a key of the scenario in every variant; may be repeated",
	     SL_OPT_WORDS, &p->set, 0, 0},
	    {"random", "N", "cut at N random events of each run (default 1000)", SL_OPT_NUMBER, &p->random, 1,
	     RANDOM_MAX},
	    {"at", "TIME", "cut at this time of the run, as in 12.5s; may be repeated", SL_OPT_WORDS, &p->at,
	     0, 0},
	    {"every", NULL, "cut at every event of --window", SL_OPT_FLAG, &p->every, 0, 0},
	    {"window", "A..B", "from and to, as in 10s..10.5s", SL_OPT_TEXT, &p->window, 0, 0},
	    {"radius", "box|storage", "what stops: the whole box (default), or the storage VM alone",
	     SL_OPT_TEXT, &p->radius, 0, 0},
	    {"fail", "slog|slog-side|slog@TIME",
	     "the log device does not come back; one side of a mirrored one does not; or it is pulled at "
	     "TIME of the run (alone: without a cut)",
	     SL_OPT_TEXT, &p->fail, 0, 0},
	    {"client", "esxi|libnfs|linux", "resend rules of this NFS client instead of the box's own",
	     SL_OPT_TEXT, &p->client, 0, 0},
	    {"break", "flush|early-ack|order",
	     "break a rule of the ZIL on purpose, to see what it is there for", SL_OPT_TEXT, &p->broken, 0,
	     0},
	    {"seed", "N", "seed (default 1)", SL_OPT_NUMBER, &p->seed, 0, INT64_MAX},
	    {"json", "FILE", "write everything as JSON; - is stdout, the text then goes to stderr",
	     SL_OPT_TEXT, &p->json, 0, 0},
	    {"html", "FILE", "write a self-contained page", SL_OPT_TEXT, &p->html, 0, 0},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	bool help;
	int rc;

	p->seed = SEED_UNSET;
	rc = sl_options_parse(options, argc, argv, &p->operands, &help, err);
	if (rc == 0 && help) {
		printf("usage: sloglab %s %s [OPTION]...\n%s\n\n", self->name, self->args, self->summary);
		sl_options_print(options, stdout);
		return 1;
	}
	return rc;
}

static int parse_time(const char *option, const char *text, int64_t *ret_ns, struct sl_err *err)
{
	double ns;

	if (sl_units_parse(text, SL_UNIT_TIME, &ns, err) < 0) {
		return sl_err_wrap(err, "--%s", option);
	}
	if (ns < 0 || ns > 9e18) {
		return sl_err_set(err, -EINVAL, "--%s: %.40s: a time of the run, from 0s on", option, text);
	}
	*ret_ns = (int64_t)ns;
	return 0;
}

static int parse_window(struct powercut *p, struct sl_err *err)
{
	struct sl_powercut_options *o = &p->options;
	char from[64];
	const char *dots = p->window ? strstr(p->window, "..") : NULL;
	size_t length = dots ? (size_t)(dots - p->window) : 0;

	if (!dots || length == 0 || length >= sizeof(from)) {
		return sl_err_set(err, -EINVAL, "--every: %s; give --window A..B, as in --window 10s..10.5s",
				  p->window ? "--window has no A..B" : "of which window?");
	}
	memcpy(from, p->window, length);
	from[length] = '\0';
	if (parse_time("window", from, &o->from_ns, err) < 0 ||
	    parse_time("window", dots + 2, &o->to_ns, err) < 0) {
		return err->code;
	}
	return o->from_ns <= o->to_ns
		   ? 0
		   : sl_err_set(err, -EINVAL, "--window: %.60s ends before it begins", p->window);
}

static int choose_when(struct powercut *p, struct sl_err *err)
{
	struct sl_powercut_options *o = &p->options;

	if ((p->random > 0) + (p->at.n > 0) + p->every > 1) {
		return sl_err_set(err, -EINVAL, "only one of --random, --at and --every");
	}
	if (p->window && !p->every) {
		return sl_err_set(err, -EINVAL, "--window goes with --every");
	}
	o->when = p->every ? SL_WHEN_EVERY : p->at.n > 0 ? SL_WHEN_AT : SL_WHEN_RANDOM;
	o->n_random = p->random > 0 ? p->random : RANDOM_DEFAULT;
	for (o->n_at = 0; o->n_at < p->at.n; o->n_at++) {
		if (parse_time("at", p->at.word[o->n_at], &o->at_ns[o->n_at], err) < 0) {
			return err->code;
		}
	}
	return p->every ? parse_window(p, err) : 0;
}

/* Position of `word` among `n` words; -EINVAL names them. */
static int pick(const char *option, const char *word, const char *const *words, int n, struct sl_err *err)
{
	for (int i = 0; i < n; i++) {
		if (strcmp(word, words[i]) == 0) {
			return i;
		}
	}
	sl_err_set(err, -EINVAL, "--%s: %.40s: it takes %s, %s%s%s", option, word, words[0], words[1],
		   n > 2 ? " or " : "", n > 2 ? words[2] : "");
	return -EINVAL;
}

static int choose_fault(struct powercut *p, struct sl_err *err)
{
	static const char *const faults[] = {"slog", "slog-side", "slog@TIME"};
	struct sl_powercut_options *o = &p->options;
	bool cut = p->random > 0 || p->at.n > 0 || p->every || p->radius;
	int at;

	if (!p->fail) {
		return 0;
	}
	if (strncmp(p->fail, "slog@", 5) == 0) {
		o->fault = SL_FAULT_SLOG_PULLED;
		o->radius = cut ? o->radius : SL_RADIUS_NONE;
		return parse_time("fail", p->fail + 5, &o->pulled_ns, err);
	}
	at = pick("fail", p->fail, faults, 3, err);
	if (at == 2) {
		return sl_err_set(err, -EINVAL, "--fail: slog@TIME: say when, as in slog@20s");
	}
	o->fault = at == 0 ? SL_FAULT_SLOG : SL_FAULT_SLOG_SIDE;
	return at < 0 ? at : 0;
}

static int choose_rules(struct powercut *p, struct sl_err *err)
{
	static const char *const radii[] = {"box", "storage"}, *const clients[] = {"esxi", "libnfs", "linux"},
				 *const rules[] = {"flush", "early-ack", "order"};
	struct sl_powercut_options *o = &p->options;
	int radius = p->radius ? pick("radius", p->radius, radii, 2, err) : 0;
	int client = p->client && radius >= 0 ? pick("client", p->client, clients, 3, err) : 0;
	int rule = p->broken && radius >= 0 && client >= 0 ? pick("break", p->broken, rules, 3, err) : 0;

	if (radius < 0 || client < 0 || rule < 0) {
		return err->code;
	}
	o->radius = radius == 0 ? SL_RADIUS_BOX : SL_RADIUS_STORAGE;
	o->client = p->client ? client : -1;
	o->broken = p->broken ? (enum sl_zil_broken)(rule + 1) : SL_ZIL_INTACT;
	return 0;
}

/* Of what is computed, a real box can do little. */
static int vm_check(const struct powercut *p, struct sl_err *err)
{
	if (p->workload.n > 0 || p->random > 0 || p->every || p->fail || p->client || p->broken ||
	    p->seed != SEED_UNSET || p->at.n > 1 || (p->radius && strcmp(p->radius, "storage") != 0)) {
		return sl_err_set(err, -EINVAL,
				  "--engine vm: cuts the storage VM and its disks under its own load; it "
				  "takes --variant, --set, --json, --html and one --at");
	}
	return 0;
}

static int powercut_check(struct powercut *p, struct sl_err *err)
{
	static const char *const engines[] = {"model", "vm"};
	const char *const files[] = {p->json, p->html};
	int engine;

	if (p->operands.n != 1) {
		return sl_err_set(err, -EINVAL, "powercut: %s; usage: sloglab powercut SCENARIO [OPTION]...",
				  p->operands.n ? "more than one scenario" : "scenario missing");
	}
	engine = p->engine ? pick("engine", p->engine, engines, 2, err) : 0;
	p->vm = engine == 1;
	if (engine < 0 || (p->vm && vm_check(p, err) < 0)) {
		return err->code;
	}
	if (choose_when(p, err) < 0 || choose_rules(p, err) < 0 || choose_fault(p, err) < 0) {
		return err->code;
	}
	for (int i = 0; i < 2; i++) {
		if (files[i] && sl_out_check(files[i], err) < 0) {
			return err->code;
		}
	}
	if (p->json && p->html && sl_out_is_stdout(p->json) && sl_out_is_stdout(p->html)) {
		return sl_err_set(err, -EINVAL, "only one of --json and --html can go to stdout");
	}
	return sl_out_check_distinct(files, 2, err);
}

static int powercut_prepare(struct powercut *p, struct sl_err *err)
{
	int rc = sl_session_open(&p->session, p->operands.word[0], &p->set, err);

	if (rc == 0) {
		rc = sl_session_variants(&p->session, "variant", &p->variant, &p->variants, err);
	}
	if (rc == 0) {
		rc = sl_session_logs(&p->session, &p->log, &p->variants, err);
	}
	if (rc == 0) {
		rc = sl_session_workloads(&p->session, "workload", &p->workload, &p->workloads, err);
	}
	for (int v = 0; rc == 0 && v < sl_scenario_variants(p->session.sc); v++) {
		struct sl_box box;

		rc = sl_scenario_box(p->session.sc, v, &box, err);
	}
	return rc;
}

static int powercut_write(struct powercut *p, struct sl_err *err)
{
	int rc = 0;

	if (p->json) {
		rc = sl_out_write(p->json, sl_powercut_json, &p->result, err);
	}
	if (rc == 0 && p->html) {
		rc = sl_out_write(p->html, sl_powercut_html, &p->result, err);
	}
	return rc;
}

static bool cut_anything(const struct sl_powercut *powercut)
{
	for (int i = 0; i < powercut->n_verdicts; i++) {
		if (powercut->verdicts[i].n_cuts > 0) {
			return true;
		}
	}
	return false;
}

static int model_cut(struct powercut *p, struct sl_err *err)
{
	struct sl_progress progress;
	int rc;

	p->options.variants = p->variants.index;
	p->options.n_variants = p->variants.n;
	p->options.workloads = p->workloads.index;
	p->options.n_workloads = p->workloads.n;
	p->options.seed = p->seed != SEED_UNSET ? p->seed : SEED_DEFAULT;
	p->options.progress = sl_progress_step;
	p->options.progress_arg = &progress;
	p->options.stopped = sl_signals_stopped;
	sl_progress_start(&progress, stderr, "cells");
	rc = sl_powercut_run(p->session.sc, &p->options, &p->result, err);
	sl_progress_end(&progress);
	return rc;
}

static void vm_said(void *arg, const char *what)
{
	(void)arg;
	fprintf(stderr, "lab: %s\n", what);
}

static int vm_cut(struct powercut *p, struct sl_err *err)
{
	const struct sl_vm_cut_options options = {.scenario = p->operands.word[0],
						  .variants = &p->variant,
						  .sets = &p->set,
						  .load_ns = p->at.n > 0 ? p->options.at_ns[0] : VM_LOAD_NS,
						  .said = vm_said,
						  .stopped = sl_signals_stopped};

	return sl_vm_cut_run(p->session.sc, &options, &p->result, err);
}

static int powercut_do(struct powercut *p, struct sl_err *err)
{
	bool taken = (p->json && sl_out_is_stdout(p->json)) || (p->html && sl_out_is_stdout(p->html));
	struct sl_err later = {0};
	int rc = p->vm ? vm_cut(p, err) : model_cut(p, err);

	/* A lab that fails, or is interrupted, keeps the verdicts before. */
	if (rc < 0 && p->result.n_verdicts == 0) {
		return rc == -EINVAL          ? SL_EXIT_USAGE
		       : sl_signals_stopped() ? SL_EXIT_INTERRUPTED
					      : SL_EXIT_FAILED;
	}
	if (sl_signals_stopped() && p->result.n_verdicts == 0) {
		sl_err_set(err, -EINTR, "interrupted: nothing was cut");
		return SL_EXIT_INTERRUPTED;
	}
	if (sl_powercut_text(&p->result, taken ? stderr : stdout, rc < 0 ? &later : err) < 0) {
		return SL_EXIT_FAILED;
	}
	if (sl_signals_stopped()) {
		*err = (struct sl_err){0};
		sl_err_set(err, -EINTR, "interrupted: what was cut so far is above, no files were written");
		return SL_EXIT_INTERRUPTED;
	}
	if (rc < 0 || powercut_write(p, err) < 0) {
		return SL_EXIT_FAILED;
	}
	if (!cut_anything(&p->result)) {
		(void)sl_err_set(err, -ENODATA, "nothing was cut, so nothing is known to be safe");
		return SL_EXIT_FAILED;
	}
	return SL_EXIT_OK;
}

int sl_cmd_powercut(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct powercut p = {0};
	int code = SL_EXIT_USAGE;
	int rc = powercut_parse(&p, self, argc, argv, err);

	if (rc > 0) {
		return SL_EXIT_OK;
	}
	if (rc == 0 && powercut_check(&p, err) == 0 && powercut_prepare(&p, err) == 0) {
		code = powercut_do(&p, err);
	}
	sl_powercut_fini(&p.result);
	free(p.variants.index);
	free(p.workloads.index);
	sl_session_close(&p.session);
	return code;
}
