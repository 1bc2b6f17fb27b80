#include <jansson.h>

#include "sim/report/report_advise.h"
#include "sim/report/report_explain.h"
#include "sim/report/report_powercut.h"
#include "tests/unit/report/lib.h"
#include "tests/unit/report/schema.h"

static json_t *load(const char *path)
{
	json_error_t where;
	json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &where);

	cr_assert_not_null(root, "%s:%d: %s", path, where.line, where.text);
	return root;
}

static bool obeys(json_t *schema, json_t *value, char why[256])
{
	return schema_check(schema, schema, value, why, 256);
}

static json_t *made_json(struct made *m)
{
	char *text = rendered(sl_report_json, m);
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	free(text);
	cr_assert_not_null(root);
	return root;
}

Test(schema, example_of_the_manual_obeys)
{
	json_t *schema = load(SL_SOURCE_DIR "/docs/result.schema.json");
	json_t *example = load(SL_SOURCE_DIR "/docs/result.example.json");
	char why[256];

	cr_assert(obeys(schema, example, why), "%s", why);
	cr_assert(json_array_size(json_object_get(example, "cells")) > 0);
	json_decref(example);
	json_decref(schema);
}

Test(schema, what_is_written_obeys)
{
	json_t *schema = load(SL_SOURCE_DIR "/docs/result.schema.json");

	for (int live = 0; live < 2; live++) {
		struct made m;
		json_t *root;
		char why[256];

		made_init(&m, live);
		root = made_json(&m);
		cr_assert(obeys(schema, root, why), "%s", why);
		cr_assert_eq(json_array_size(json_object_get(root, "cells")), live ? 4 : 2);
		json_decref(root);
		made_fini(&m);
	}
	json_decref(schema);
}

Test(schema, what_a_fit_writes_obeys)
{
	json_t *schema = load(SL_SOURCE_DIR "/docs/result.schema.json");
	struct sl_fit fit = {
	    .n_params = 1, .n_cells = 2, .degrees_of_freedom = 1, .rms_pct = 1.5, .evaluations = 9};
	struct sl_fit_report fr = {.fit = &fit, .held = {1, -1}};
	struct sl_err err = {0};
	struct made m;
	char *text = NULL, why[256];
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *root;

	made_init(&m, false);
	fr.report = &m.report;
	fit.result = m.result;
	fit.params[0] =
	    (struct sl_fit_param){.key = "params.zil.commit_cpu", .unit = SL_UNIT_TIME, .value = 5e5};
	cr_assert_eq(sl_report_fit_json(&fr, out, &err), 0, "%s", err.msg);
	fclose(out);
	root = json_loads(text, 0, NULL);
	cr_assert(obeys(schema, root, why), "%s", why);
	cr_assert_str_eq(json_string_value(json_object_get(json_object_get(root, "fit"), "hold_out")),
			 "oltp\"2'");
	json_decref(root);
	free(text);
	made_fini(&m);
	json_decref(schema);
}

/* What `render` writes about `arg`, parsed. */
static json_t *written(int (*render)(void *arg, FILE *out, struct sl_err *err), void *arg)
{
	struct sl_err err = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *root;

	cr_assert_not_null(out);
	cr_assert_eq(render(arg, out, &err), 0, "%s", err.msg);
	fclose(out);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	cr_assert_not_null(root);
	return root;
}

static struct sl_scenario *load_hostile(void)
{
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_load(HOSTILE, DATA_DIR, &sc, &err), 0, "%s", err.msg);
	return sc;
}

Test(schema, what_explain_writes_obeys)
{
	json_t *schema = load(SL_SOURCE_DIR "/docs/explain.schema.json"), *root;
	struct sl_scenario *sc = load_hostile();
	struct sl_explain_options options = {.seed = 1};
	struct sl_explain explain;
	struct sl_explain_report report = {.explain = &explain};
	struct sl_err err = {0};
	char why[256];

	cr_assert_eq(sl_explain_run(sc, &options, &explain, &err), 0, "%s", err.msg);
	root = written(sl_explain_json, &report);
	cr_assert(obeys(schema, root, why), "%s", why);
	cr_assert_eq(json_array_size(json_object_get(root, "cells")), 4);
	json_object_set_new(json_array_get(json_object_get(root, "cells"), 0), "p50", json_integer(1));
	cr_assert_not(obeys(schema, root, why));
	cr_assert_str_eq(why, "wrong type in p50 in item 0 in cells");
	json_decref(root);
	sl_explain_fini(&explain);
	sl_scenario_free(sc);
	json_decref(schema);
}

Test(schema, what_advise_writes_obeys)
{
	static const char *const drives[] = {"intel-dc-s3500-80", "stec-mach16-slc-100", "nowhere"};
	json_t *schema = load(SL_SOURCE_DIR "/docs/advice.schema.json"), *root;
	struct sl_scenario *sc = load_hostile(), *shelf = load_hostile();
	int workload = 0;
	struct sl_advise_options options = {.workloads = &workload,
					    .n_workloads = 1,
					    .drives = drives,
					    .n_drives = 3,
					    .named = true,
					    .repeat = 2,
					    .seed = 1};
	struct sl_advice advice;
	struct sl_advise_report report = {.advice = &advice};
	struct sl_err err = {0};
	char why[256];

	cr_assert_eq(sl_advise_run(sc, shelf, &options, &advice, &err), 0, "%s", err.msg);
	root = written(sl_report_advise_json, &report);
	cr_assert(obeys(schema, root, why), "%s", why);
	cr_assert_eq(json_array_size(json_object_get(root, "tables")), 1);
	cr_assert_eq(json_array_size(json_object_get(root, "notes")), 1);
	json_object_set_new(root, "seed", json_string("1"));
	cr_assert_not(obeys(schema, root, why));
	cr_assert_str_eq(why, "wrong type in seed");
	json_decref(root);
	sl_advice_fini(&advice);
	sl_scenario_free(shelf);
	sl_scenario_free(sc);
	json_decref(schema);
}

/* The checker must be able to say no. */
Test(schema, violations_are_seen)
{
	json_t *schema = load(SL_SOURCE_DIR "/docs/result.schema.json");
	static const struct {
		const char *key;
		const char *value; /* NULL: removed */
		const char *why;
	} cases[] = {{"seed", NULL, "seed is missing"},
		     {"seed", "\"7\"", "wrong type in seed"},
		     {"seed", "-1", "wrong value in seed"},
		     {"hostname", "\"x\"", "hostname is not allowed"},
		     {"schema", "\"sloglab-result/2\"", "wrong value in schema"},
		     {"engines", "[\"model\", \"vm2\"]", "wrong value in item 1 in engines"},
		     {"cells", "[{}]", "variant is missing in item 0 in cells"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made m;
		json_t *root;
		char why[256];

		made_init(&m, false);
		root = made_json(&m);
		if (cases[i].value) {
			json_object_set_new(root, cases[i].key,
					    json_loads(cases[i].value, JSON_DECODE_ANY, NULL));
		} else {
			json_object_del(root, cases[i].key);
		}
		cr_assert(!obeys(schema, root, why), "case %zu", i);
		cr_assert_str_eq(why, cases[i].why);
		json_decref(root);
		made_fini(&m);
	}
	json_decref(schema);
}

static json_t *powercut_json(struct sl_powercut *powercut)
{
	struct sl_err err = {0};
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	json_t *root;

	cr_assert_eq(sl_powercut_json(powercut, out, &err), 0, "%s", err.msg);
	fclose(out);
	root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	cr_assert_not_null(root);
	return root;
}

static json_t *first_worst(json_t *root)
{
	return json_object_get(json_array_get(json_object_get(root, "verdicts"), 0), "worst");
}

Test(schema, what_powercut_writes_obeys)
{
	json_t *schema = load(SL_SOURCE_DIR "/docs/powercut.schema.json"), *root, *verdict;
	struct sl_verdict verdicts[] = {{.variant = 0,
					 .n_cuts = 3,
					 .lossy = 2,
					 .at_least = true,
					 .worst = {.lost = 4,
						   .cause = SL_CAUSE_LIAR,
						   .disk = "disk",
						   .imported = {.txg = 5, .believed = 6}},
					 .causes = {[SL_CAUSE_LIAR] = 2, [SL_CAUSE_DISK_CACHE] = 1},
					 .why = "disk acknowledged a flush that it did not do"},
					{.variant = 1, .n_cuts = 3, .why = "nobody lied"}};
	struct sl_powercut powercut = {
	    .n_verdicts = 2, .verdicts = verdicts, .n_notes = 1, .notes = {"note"}};
	char why[256];
	struct made m;

	made_init(&m, false);
	powercut.scenario = m.sc;
	root = powercut_json(&powercut);
	cr_assert(obeys(schema, root, why), "%s", why);
	verdict = json_array_get(json_object_get(root, "verdicts"), 0);
	cr_assert_eq(json_integer_value(json_object_get(json_object_get(verdict, "causes"), "liar")), 2);
	cr_assert(json_is_true(json_object_get(verdict, "at_least")));
	cr_assert(json_is_null(json_object_get(json_array_get(json_object_get(root, "verdicts"), 1), "why")));
	cr_assert_eq(json_integer_value(json_object_get(first_worst(root), "replayed_blocks")), 0);
	json_decref(root);

	/* What a real box does not tell. */
	powercut.real = true;
	root = powercut_json(&powercut);
	cr_assert(obeys(schema, root, why), "%s", why);
	cr_assert_eq(json_integer_value(json_object_get(first_worst(root), "imported_txg")), 5);
	cr_assert(json_is_null(json_object_get(first_worst(root), "replayed_blocks")));
	json_decref(root);
	verdicts[0].worst.imported.txg = 0;
	verdicts[0].longest_answer_ns = SL_NEVER;
	root = powercut_json(&powercut);
	cr_assert(obeys(schema, root, why), "%s", why);
	cr_assert(json_is_null(json_object_get(first_worst(root), "imported_txg")));
	json_decref(root);
	json_decref(schema);
	made_fini(&m);
}
