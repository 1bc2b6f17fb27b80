/* What a log device brings, in a sentence and in figures. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim/report/gain.h"

static struct sl_scenario *sc;
static struct sl_cell cells[2];
static struct sl_result result;

static int workload(const char *name)
{
	return sl_scenario_find_workload(sc, name);
}

/* 207 -> 271 TPS, the guest's CPU nearly full. */
static void two_cells(void)
{
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_load(SL_SOURCE_DIR "/scenarios/b3n-2014.yaml", SL_SOURCE_DIR "/sim/scenario",
				      &sc, &err),
		     0, "%s", err.msg);
	for (int i = 0; i < 2; i++) {
		cells[i] = (struct sl_cell){.variant = sl_scenario_find_variant(sc, i ? "s3500" : "none"),
					    .workload = workload("oltp4"),
					    .value = i ? 271 : 207};
	}
	cells[1].measure.n_resources = 2;
	cells[1].measure.resources[0] = (struct sl_resource){"guest vCPUs", 0.94};
	cells[1].measure.resources[1] = (struct sl_resource){"ZIL", 0.5};
	result = (struct sl_result){.scenario = sc, .n_cells = 2, .cells = cells};
}

static void no_cells(void)
{
	sl_scenario_free(sc);
}

TestSuite(gain, .init = two_cells, .fini = no_cells);

Test(gain, is_a_sentence_that_names_the_limit)
{
	char text[256];

	cr_assert(sl_gain_text(&result, workload("oltp4"), SL_ENGINE_MODEL, text, sizeof(text)));
	cr_assert_str_eq(text, "oltp4, 4 threads: 207 -> 271 TPS with s3500, 1.31x; guest vCPUs 94 % busy");
	cr_assert(!sl_gain_text(&result, workload("oltp2"), SL_ENGINE_MODEL, text, sizeof(text)));
	cr_assert_str_eq(text, "");
}

/* 14.1 / 3.6 = 3.917. */
Test(gain, of_a_latency_is_how_much_shorter_it_is)
{
	struct sl_workload slow = *sl_scenario_workload(sc, workload("oltp4"));
	char text[256];

	slow.metric = SL_METRIC_P99;
	(void)snprintf(slow.name, sizeof(slow.name), "p99");
	cells[0].workload = cells[1].workload = sl_scenario_workload_add(sc, &slow, NULL);
	cells[0].value = 14.1;
	cells[1].value = 3.6;
	cr_assert(sl_gain_text(&result, cells[0].workload, SL_ENGINE_MODEL, text, sizeof(text)));
	cr_assert(strncmp(text, "p99, 4 threads: 14.1 -> 3.6 ms with s3500, 3.92x shorter;", 57) == 0, "%s",
		  text);
}

/* 271 / 207 = 1.30918; a program need not read the sentence. */
Test(gain, is_figures_in_json)
{
	const struct sl_report report = {.result = &result};
	json_t *gains = json_array(), *gain;

	sl_gains_json(&report, SL_ENGINE_MODEL, gains);
	cr_assert_eq(json_array_size(gains), 1);
	gain = json_array_get(gains, 0);
	cr_assert_eq(json_number_value(json_object_get(gain, "ratio")), 1.30918);
	cr_assert_eq(json_number_value(json_object_get(json_object_get(gain, "without"), "value")), 207);
	cr_assert_str_eq(json_string_value(json_object_get(json_object_get(gain, "with"), "variant")),
			 "s3500");
	cr_assert_eq(json_number_value(json_object_get(json_object_get(gain, "limit"), "utilisation")), 0.94);
	cr_assert_str_eq(json_string_value(json_object_get(gain, "unit")), "TPS");
	json_decref(gains);
}
