/*
 * The fit finds parameters that it was not told, from cells that a box with known parameters has given, and
 * predicts a workload it never saw. (sloglab fit b3n-2014 --hold-out oltp4 does the same with what was really
 * published; it takes minutes.)
 */
#include <stdlib.h>
#include <unistd.h>

#include "sim/stack/fit.h"
#include "tests/sim/lib.h"

#define EVALUATIONS 80
#define NEARLY (1 + 1e-9)

/* Writes of one client and of eight, of one block and of sixteen: what a commit costs the CPU, and what a
 * call waits outside the storage VM, show in them differently. Of the third parameter no cell knows anything.
 */
static const char box[] =
    "format: sloglab-scenario/1\n"
    "title: a box with known parameters\n"
    "host: {profile: modern-xeon, hypervisor: qemu}\n"
    "nas: {zil: 2014}\n"
    "pool: {data: {layout: mirror, disks: [hdd-7200-desktop x 2]}, log: intel-dc-s3700-200}\n"
    "workloads:\n"
    "  one:   {kind: syncwrite, block: 4KiB, file_total: 1GiB, max_time: 2s, max_requests: 0}\n"
    "  eight: {kind: syncwrite, block: 4KiB, depth: 8, file_total: 1GiB, max_time: 2s, max_requests: 0}\n"
    "  large: {kind: syncwrite, block: 64KiB, file_total: 1GiB, max_time: 2s, max_requests: 0}\n"
    "variants: {base: {}}\n"
    "params:\n"
    "  zil.commit_cpu: {value: %s, kind: fitted, min: 20us, max: 500us, source: test}\n"
    "  hyp.op_delay: {value: %s, kind: fitted, min: 20us, max: 500us, source: test}\n"
    "  innodb.log_size: {value: 20MiB, kind: fitted, min: 10MiB, max: 40MiB, source: test}\n"
    "published:\n"
    "  base: {one: {value: %.6f, role: calibrate}, eight: {value: %.6f, role: calibrate},"
    " large: {value: %.6f, role: calibrate}}\n";

static struct sl_scenario *load(const char *commit, const char *delay, const double published[3])
{
	char path[] = "/tmp/sloglab-fit-XXXXXX.yaml", text[4096];
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};
	int fd = mkstemps(path, 5);

	cr_assert(fd >= 0);
	snprintf(text, sizeof(text), box, commit, delay, published[0], published[1], published[2]);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	cr_assert_eq(sl_scenario_load(path, SL_SOURCE_DIR "/sim/scenario", &sc, &err), 0, "%s", err.msg);
	unlink(path);
	return sc;
}

/* What the box with the true parameters gives: 90 us of CPU a commit, 150 us a call. */
static void measure_truth(double published[3])
{
	static const double nothing[] = {1, 1, 1};
	struct sl_scenario *sc = load("90us", "150us", nothing);
	struct sl_result truth = run_all_cells(sc, 1);

	for (int i = 0; i < 3; i++) {
		published[i] = truth.cells[i].value;
	}
	sl_result_fini(&truth);
	sl_scenario_free(sc);
}

static const struct sl_fit_param *find(const struct sl_fit *fit, const char *key)
{
	for (int i = 0; i < fit->n_params; i++) {
		if (strcmp(fit->params[i].key, key) == 0) {
			return &fit->params[i];
		}
	}
	cr_assert_fail("%s is not free", key);
	return NULL;
}

Test(fit, a_hold_out_starts_in_the_middle_and_finds_what_a_known_box_has)
{
	/* The scenario itself says the truth: a hold-out must not start from there. */
	double published[3];
	struct sl_fit_options options = {.held = {1, -1}, .max_evaluations = EVALUATIONS, .seed = 1};
	const struct sl_fit_param *commit, *delay;
	struct sl_scenario *sc;
	struct sl_err err = {0};
	struct sl_fit fit;

	measure_truth(published);
	sc = load("90us", "150us", published);
	cr_assert_eq(sl_fit_run(sc, &options, &fit, &err), 0, "%s", err.msg);
	cr_assert_eq(fit.n_params, 3);
	cr_assert_eq(fit.n_cells, 2);
	cr_assert_eq(fit.degrees_of_freedom, -1);
	cr_assert(fit.rms_pct < 0.5, "%.2f %%", fit.rms_pct);
	for (int i = 0; i < fit.n_params; i++) {
		const struct sl_fit_param *p = &fit.params[i];

		cr_assert(fabs(p->start / sqrt(p->min * p->max) - 1) < 1e-9, "%s starts at %g", p->key,
			  p->start);
		/* But for the last bit: values go through logarithms. */
		cr_assert(p->min <= p->low * NEARLY && p->low <= p->value * NEARLY &&
			      p->value <= p->high * NEARLY && p->high <= p->max * NEARLY,
			  "%s: %g <= %g <= %g <= %g <= %g", p->key, p->min, p->low, p->value, p->high,
			  p->max);
	}
	/* One request at a time feels the two costs as a sum: 240 us in both cells, which does not tell them
	 * apart; the cells know one direction, and of the redo log's size nothing. */
	commit = find(&fit, "params.zil.commit_cpu");
	delay = find(&fit, "params.hyp.op_delay");
	cr_assert(fabs((commit->value + delay->value) / 240e3 - 1) < 0.05, "%g + %g", commit->value,
		  delay->value);
	cr_assert_eq(fit.identified.n_identified, 1, "%d", fit.identified.n_identified);
	sl_fit_fini(&fit);
	sl_scenario_free(sc);
}

Test(fit, with_eight_in_flight_seen_the_costs_are_told_apart)
{
	double published[3];
	struct sl_fit_options options = {.held = {-1, -1}, .max_evaluations = 2 * EVALUATIONS, .seed = 1};
	struct sl_scenario *sc;
	struct sl_err err = {0};
	struct sl_fit fit;

	measure_truth(published);
	sc = load("200us", "60us", published);
	cr_assert_eq(sl_fit_run(sc, &options, &fit, &err), 0, "%s", err.msg);
	cr_assert(fit.rms_pct < 0.5, "%.2f %%", fit.rms_pct);
	for (int i = 0; i < fit.n_params; i++) {
		const struct sl_fit_param *p = &fit.params[i];
		double truth = strstr(p->key, "commit") ? 90e3 : 150e3;

		if (!strstr(p->key, "innodb")) {
			/* Commands of the log device vary: that much of a cost is in the noise. */
			cr_assert(fabs(p->value / truth - 1) < 0.08, "%s: %g", p->key, p->value);
		} else {
			cr_assert(isinf(fit.identified.sd[i]));
		}
	}
	cr_assert_eq(fit.identified.n_identified, 2);
	sl_fit_fini(&fit);
	sl_scenario_free(sc);
}
