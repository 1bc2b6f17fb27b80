/* What engine live makes of this host's figures: a profile that the model takes, and the dilation. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/calibration.h"
#include "engine/live_lab.h"
#include "engine/measured.h"
#include "sim/scenario/scenario.h"

static const struct sl_calibration host = {.op_delay_ns = 120e3,
					   .link_bps = 900e6,
					   .block_cpu_ns = 40e3,
					   .file_cpu_ns = 6e3,
					   .fsync_cpu_ns = 500,
					   .oltp_cpu_ns = 13e6,
					   .redo_bytes = 2000,
					   .cpu = "CPU: of a test #1",
					   .date = "2026-11-30"};

static struct sl_scenario *scenario(const char *name)
{
	char path[256];
	struct sl_scenario *sc;
	struct sl_err err = {0};

	(void)snprintf(path, sizeof(path), SL_SOURCE_DIR "/scenarios/%s.yaml", name);
	cr_assert_eq(sl_scenario_load(path, SL_SOURCE_DIR "/sim/scenario", &sc, &err), 0, "%s", err.msg);
	return sc;
}

static void box_of(const struct sl_scenario *sc, struct sl_box *ret)
{
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_box(sc, 0, ret, &err), 0, "%s", err.msg);
}

/* Puts the profile that calibrate writes for `host` over the scenario. */
static void calibrated(struct sl_scenario *sc)
{
	char path[] = "/tmp/sl-host-XXXXXX";
	int fd = mkstemp(path);
	struct sl_err err = {0};

	cr_assert(fd >= 0);
	(void)close(fd);
	cr_assert_eq(sl_calibration_write(&host, path, &err), 0, "%s", err.msg);
	cr_assert_eq(sl_scenario_overlay(sc, path, &err), 0, "%s", err.msg);
	(void)unlink(path);
}

Test(calibration, its_profile_goes_over_any_scenario)
{
	static const char *const names[] = {"b3n-2014", "quick", "zeusram"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct sl_scenario *sc = scenario(names[i]);
		struct sl_box box;

		calibrated(sc);
		box_of(sc, &box);
		cr_expect_float_eq(box.guest_oltp_cpu_ns, host.oltp_cpu_ns, 1);
		cr_expect_float_eq(box.guest_block_cpu_ns, host.block_cpu_ns, 1);
		cr_expect_float_eq(box.guest_file_cpu_ns, host.file_cpu_ns, 1);
		cr_expect_float_eq(box.guest_fsync_cpu_ns, host.fsync_cpu_ns, 1);
		cr_expect_float_eq(box.hyp_op_delay_ns, host.op_delay_ns, 1);
		cr_expect_float_eq(box.link_bps, host.link_bps, 1);
		cr_expect_float_eq(box.redo_bytes, host.redo_bytes, 1);
		sl_scenario_free(sc);
	}
}

/* 13 ms of CPU on one vCPU are at most 77 transactions a second, whatever the disks do. */
Test(calibration, the_model_runs_with_its_profile)
{
	struct sl_scenario *sc = scenario("b3n-2014");
	struct sl_workload load = *sl_scenario_workload(sc, 0);
	struct sl_box box;
	struct sl_measure before, after;
	struct sl_err err = {0};

	load.max_requests = 500;
	box_of(sc, &box);
	cr_assert_eq(sl_stack_run(&box, &load, &(struct sl_stack_setup){.seed = 1}, &before, &err), 0, "%s",
		     err.msg);
	calibrated(sc);
	box_of(sc, &box);
	box.guest_vcpus = 1;
	cr_assert_eq(sl_stack_run(&box, &load, &(struct sl_stack_setup){.seed = 1}, &after, &err), 0, "%s",
		     err.msg);
	cr_assert(after.rate < 1e9 / host.oltp_cpu_ns, "%g", after.rate);
	cr_assert(after.rate < before.rate, "%g, before %g", after.rate, before.rate);
	sl_scenario_free(sc);
}

Test(calibration, its_json_has_each_figure)
{
	struct sl_calibration found = host;
	struct sl_err err = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	json_t *doc;

	cr_assert_not_null(out);
	cr_assert_eq(sl_calibration_json(&found, out, &err), 0, "%s", err.msg);
	(void)fclose(out);
	doc = json_loads(text, 0, NULL);
	cr_assert_not_null(doc, "%s", text);
	cr_expect_str_eq(json_string_value(json_object_get(doc, "schema")), "sloglab-host/1");
	cr_expect_str_eq(json_string_value(json_object_get(doc, "cpu")), host.cpu);
	cr_expect_float_eq(json_number_value(json_object_get(doc, "guest.oltp_cpu_ns")), host.oltp_cpu_ns, 1);
	cr_expect_float_eq(json_number_value(json_object_get(doc, "guest.block_cpu_ns")), host.block_cpu_ns,
			   1);
	cr_expect_float_eq(json_number_value(json_object_get(doc, "guest.file_cpu_ns")), host.file_cpu_ns, 1);
	cr_expect_float_eq(json_number_value(json_object_get(doc, "guest.fsync_cpu_ns")), host.fsync_cpu_ns,
			   1);
	cr_expect_float_eq(json_number_value(json_object_get(doc, "hyp.op_delay_ns")), host.op_delay_ns, 1);
	cr_expect_float_eq(json_number_value(json_object_get(doc, "link.rate_bps")), host.link_bps, 1);
	cr_expect_float_eq(json_number_value(json_object_get(doc, "innodb.redo_per_txn_bytes")),
			   host.redo_bytes, 1);
	json_decref(doc);
	free(text);
}

Test(dilate_auto, is_how_much_slower_the_lab_is_from_1_to_20)
{
	cr_expect_float_eq(sl_measured_dilate(30, 10), 3, 1e-9);
	cr_expect_float_eq(sl_measured_dilate(10, 30), 1, 1e-9);
	cr_expect_float_eq(sl_measured_dilate(1000, 10), 20, 1e-9);
	cr_expect_float_eq(sl_measured_dilate(10, 0), 20, 1e-9);
	cr_expect_float_eq(sl_measured_dilate(0, 0), 1, 1e-9);
}

/* After dilation the host's transaction is as fast as the box's. */
Test(dilate_auto, makes_a_slow_host_look_like_the_box)
{
	struct sl_scenario *sc = scenario("b3n-2014"), *lab = scenario("b3n-2014");
	struct sl_result result = {0};
	struct sl_box box, here, seen;
	struct sl_live_lab how = {.guest = SL_LIVE_DATABASE};

	calibrated(lab);
	box_of(sc, &box);
	box_of(lab, &here);
	seen = here;
	how.dilate = sl_live_lab_dilate(SL_LIVE_DATABASE, &here, &box, &result);
	cr_assert(how.dilate > 1.5 && how.dilate < 20, "%g", how.dilate);
	cr_assert_eq(result.n_substitutions, 1);
	cr_assert(strstr(result.substitutions[0], "a transaction and its commit"), "%s",
		  result.substitutions[0]);
	sl_live_lab_box(&how, &seen, &result);
	cr_assert_float_eq(sl_live_lab_real_ns(SL_LIVE_DATABASE, &seen),
			   sl_live_lab_real_ns(SL_LIVE_DATABASE, &box), 1e-3 * box.guest_oltp_cpu_ns);
	sl_scenario_free(sc);
	sl_scenario_free(lab);
}

Test(dilate_auto, a_fast_host_is_left_alone_and_it_says_so)
{
	struct sl_scenario *sc = scenario("b3n-2014");
	struct sl_result result = {0};
	struct sl_box box, here;

	box_of(sc, &box);
	here = box;
	here.guest_oltp_cpu_ns /= 4;
	cr_assert_eq(sl_live_lab_dilate(SL_LIVE_DATABASE, &here, &box, &result), 1);
	cr_assert(strstr(result.substitutions[0], "k = 1"), "%s", result.substitutions[0]);
	sl_scenario_free(sc);
}

/* Without a database the CPU time of a transaction is nobody's. */
Test(dilate_auto, counts_what_the_workloads_do)
{
	struct sl_box slow = {.guest_oltp_cpu_ns = 1e9, .guest_block_cpu_ns = 10, .hyp_op_delay_ns = 20};

	cr_expect_float_eq(sl_live_lab_real_ns(SL_LIVE_NO_GUEST, &slow), 20, 1e-9);
	cr_expect_float_eq(sl_live_lab_real_ns(SL_LIVE_FILES, &slow), 60, 1e-9);
	cr_expect_float_eq(sl_live_lab_real_ns(SL_LIVE_DATABASE, &slow), 1e9 + 60, 1e-3);
}
