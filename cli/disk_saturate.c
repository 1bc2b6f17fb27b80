#include "cli/disk_saturate.h"

#include <errno.h>
#include <string.h>

#include "sim/base/out.h"
#include "sim/base/signals.h"
#include "sim/device/ssd.h"
#include "sim/report/disk_curve.h"
#include "sim/scenario/scenario.h"

#define STEADY_WINDOW_NS INT64_C(600000000000) /* 10 minutes */
#define STEADY_TOLERANCE 0.03

struct saturation {
	const struct sl_disk_curve_options *options;
	struct sl_disk_curves found;
};

static int parse_state(const char *text, enum sl_ssd_state *ret, struct sl_err *err)
{
	static const char *const words[] = {"fresh", "full", "steady"};

	for (int i = 0; text && i < 3; i++) {
		if (strcmp(text, words[i]) == 0) {
			*ret = (enum sl_ssd_state)i;
			return 0;
		}
	}
	*ret = SL_SSD_FRESH;
	return text ? sl_err_set(err, -EINVAL, "--state: \"%.40s\" is not known; use fresh, full or steady",
				 text)
		    : 0;
}

static int run_curve(struct saturation *all, const char *name, enum sl_ssd_state state, struct sl_err *err)
{
	const struct sl_disk_curve_options *options = all->options;
	struct sl_disk_curve *curve = &all->found.curves[all->found.n];
	struct sl_ssd_load load = {.duration_ns = (int64_t)options->minutes * INT64_C(60000000000),
				   .seed = options->seed,
				   .state = state,
				   .stopped = sl_signals_stopped};
	const struct sl_dev_spec *spec;
	struct sl_scenario *sc;
	int rc = sl_scenario_load_device(name, options->data_dir, &sc, &spec, err);

	if (rc < 0) {
		return rc;
	}
	curve->name = name;
	if (spec->kind != SL_DEV_SSD || !sl_ssd_has_nand(spec)) {
		rc = sl_err_set(err, -EINVAL,
				"--saturate: %s has no figures of its flash (raw_size ...), or none at all; "
				"its rate does "
				"not change over time",
				name);
	} else {
		rc = sl_ssd_saturate(spec, &load, &curve->data, err);
	}
	sl_scenario_free(sc);
	if (rc == 0) {
		curve->steady_ns = sl_series_steady_ns(&curve->data.iops, STEADY_WINDOW_NS, STEADY_TOLERANCE);
		all->found.n++;
	}
	return rc;
}

static bool is_stdout(const char *file)
{
	return file && sl_out_is_stdout(file);
}

static int write_all(struct saturation *all, struct sl_err *err)
{
	const struct sl_disk_curve_options *options = all->options;
	FILE *out =
	    is_stdout(options->csv) || is_stdout(options->json) || is_stdout(options->svg) ? stderr : stdout;
	int rc = 0;

	for (int i = 0; i < all->found.n; i++) {
		fputs(i ? "\n" : "", out);
		sl_disk_curve_text(&all->found.curves[i], out);
	}
	if (options->csv) {
		rc = sl_out_write(options->csv, sl_disk_curves_csv, &all->found, err);
	}
	if (rc == 0 && options->json) {
		rc = sl_out_write(options->json, sl_disk_curves_json, &all->found, err);
	}
	return rc == 0 && options->svg ? sl_out_write(options->svg, sl_disk_curves_svg, &all->found, err)
				       : rc;
}

int sl_disk_curves_run(const struct sl_words *names, const struct sl_disk_curve_options *options,
		       struct sl_err *err)
{
	struct saturation all = {.options = options, .found = {.minutes = options->minutes}};
	enum sl_ssd_state state;
	int rc = parse_state(options->state, &state, err);

	for (int i = 0; rc == 0 && i < names->n && i < SL_DISK_CURVES_MAX; i++) {
		rc = run_curve(&all, names->word[i], state, err);
		if (rc == 0 && sl_signals_stopped()) {
			rc = -EINTR;
		}
	}
	rc = rc == 0 ? write_all(&all, err) : rc;
	for (int i = 0; i < all.found.n; i++) {
		sl_ssd_curve_free(&all.found.curves[i].data);
	}
	return rc;
}
