/* This host's figures for the model beside the live engine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "engine/calibration.h"
#include "engine/tempdir.h"
#include "guests/needs.h"
#include "guests/sandbox.h"
#include "sim/base/out.h"
#include "sim/base/signals.h"
#include "sim/scenario/paths.h"
#include "sim/scenario/session.h"

struct calibrate {
	const char *output, *json;
	char home[PATH_MAX]; /* where the profile goes when nobody says */
	struct sl_calibration found;
};

static int calibrate_parse(struct calibrate *c, const struct sl_command *self, int argc, char **argv,
			   struct sl_err *err)
{
	const struct sl_option options[] = {
	    {"output", "FILE", "write the host profile there; - is stdout (default: where run finds it)",
	     SL_OPT_TEXT, &c->output, 0, 0},
	    {"json", "FILE", "write the figures as JSON; - is stdout", SL_OPT_TEXT, &c->json, 0, 0},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	struct sl_words operands;
	bool help;
	int rc = sl_options_parse(options, argc, argv, &operands, &help, err);

	if (rc == 0 && help) {
		printf("usage: sloglab %s %s [OPTION]...\n%s\n\n", self->name, self->args, self->summary);
		sl_options_print(options, stdout);
		return 1;
	}
	if (rc == 0 && operands.n > 0) {
		rc = sl_err_set(err, -EINVAL,
				"calibrate: %.60s: takes no argument; usage: sloglab calibrate [OPTION]...",
				operands.word[0]);
	}
	return rc;
}

/* Before anything runs: can it be written? The user's own folder for it is made when missing. */
static int calibrate_check(struct calibrate *c, struct sl_err *err)
{
	const char *files[2];
	char *slash;
	int rc;

	if (!c->output) {
		rc = sl_paths_profile(c->home, err);
		if (rc < 0) {
			return rc;
		}
		/* Both folders: ~/.config may be missing too. */
		for (slash = strstr(c->home, "/sloglab/host.yaml"); slash; slash = strchr(slash + 1, '/')) {
			*slash = '\0';
			(void)mkdir(c->home, 0755);
			*slash = '/';
		}
		c->output = c->home;
	}
	files[0] = c->output;
	files[1] = c->json;
	for (int i = 0; i < 2; i++) {
		if (files[i] && sl_out_check(files[i], err) < 0) {
			return err->code;
		}
	}
	if (c->json && sl_out_is_stdout(c->json) && sl_out_is_stdout(c->output)) {
		return sl_err_set(err, -EINVAL, "only one of --output and --json can go to stdout");
	}
	return sl_out_check_distinct(files, 2, err);
}

/* A box whose commits take about 1 ms, short enough for the histogram of modelled times (0.8 %) to tell what
 * a wake-up costs beside them. */
#define BOX_SCENARIO "b3n-2014"
#define BOX_VARIANT "s3500"

static int calibrate_measure(struct calibrate *c, struct sl_err *err)
{
	struct sl_session session;
	struct sl_sandbox sandbox = {0};
	struct sl_tempdir temp = {0};
	struct sl_box box;
	int rc = sl_session_open(&session, BOX_SCENARIO, NULL, err);

	if (rc == 0) {
		rc =
		    sl_scenario_box(session.sc, sl_scenario_find_variant(session.sc, BOX_VARIANT), &box, err);
	}
	if (rc == 0) {
		rc = sl_tempdir_make(&temp, err);
	}
	if (rc == 0) {
		rc = sl_sandbox_enter(&sandbox, err);
	}
	if (rc == 0) {
		rc = sl_calibration_measure(
		    &(struct sl_calibration_site){&box, session.paths.bin, temp.path, sl_signals_stopped},
		    &c->found, err);
	}
	sl_sandbox_leave(&sandbox);
	sl_tempdir_remove(&temp);
	sl_session_close(&session);
	return rc;
}

static void print_summary(const struct calibrate *c, FILE *out)
{
	const struct sl_calibration *f = &c->found;

	fprintf(out,
		"%s\n"
		"disk request     %6.0f us of CPU, and %.0f us more of its round trip\n"
		"larger requests  %6.0f MB/s\n"
		"file write       %6.1f us of CPU per 16 KiB\n"
		"clean fsync      %6.1f us of CPU\n"
		"transaction      %6.0f us of CPU, %.0f B of redo\n",
		f->cpu, f->block_cpu_ns / 1e3, f->op_delay_ns / 1e3, f->link_bps / 1e6, f->file_cpu_ns / 1e3,
		f->fsync_cpu_ns / 1e3, f->oltp_cpu_ns / 1e3, f->redo_bytes);
	if (!sl_out_is_stdout(c->output)) {
		fprintf(out, "written to %s\n", c->output);
	}
}

static int calibrate_do(struct calibrate *c, struct sl_err *err)
{
	bool on_stdout = sl_out_is_stdout(c->output) || (c->json && sl_out_is_stdout(c->json));
	const struct sl_need *missing = sl_needs_missing(true);
	int rc;

	if (missing) {
		sl_err_set(err, -ENOENT, "calibrate: %s: missing (%s); %s", missing->name, missing->purpose,
			   missing->fix);
		return SL_EXIT_FAILED;
	}
	rc = calibrate_measure(c, err);
	if (sl_signals_stopped()) {
		sl_err_set(err, -EINTR, "interrupted: nothing was written");
		return SL_EXIT_INTERRUPTED;
	}
	if (rc == 0) {
		rc = sl_calibration_write(&c->found, c->output, err);
	}
	if (rc == 0 && c->json) {
		rc = sl_out_write(c->json, sl_calibration_json, &c->found, err);
	}
	if (rc < 0) {
		return SL_EXIT_FAILED;
	}
	print_summary(c, on_stdout ? stderr : stdout);
	return SL_EXIT_OK;
}

int sl_cmd_calibrate(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct calibrate calibrate = {0};
	int rc = calibrate_parse(&calibrate, self, argc, argv, err);

	if (rc > 0) {
		return SL_EXIT_OK;
	}
	if (rc < 0 || calibrate_check(&calibrate, err) < 0) {
		return SL_EXIT_USAGE;
	}
	return calibrate_do(&calibrate, err);
}
