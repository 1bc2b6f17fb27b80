/* What the tests of sim/scenario share. */
#ifndef SL_TESTS_SCENARIO_LIB_H
#define SL_TESTS_SCENARIO_LIB_H

#include <criterion/criterion.h>
#include <string.h>

#include "sim/scenario/inner.h"

#define DATA_DIR SL_SOURCE_DIR "/sim/scenario"

/* Four lines: a test adds its own from line 5. */
#define HEAD                                                  \
	"format: sloglab-scenario/1\n"                        \
	"title: test\n"                                       \
	"pool: {data: {layout: raidz1, disks: [null x 3]}}\n" \
	"workloads: {w: {kind: oltp}, f: {kind: fileio}}\n"

static inline struct sl_scenario *load_text(const char *text)
{
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};
	int rc = sl_scenario_load_buffer(text, strlen(text), "t.yaml", DATA_DIR, &sc, &err);

	cr_assert_eq(rc, 0, "%s", err.msg);
	return sc;
}

static inline struct sl_box *box_of(const struct sl_scenario *sc, const char *variant)
{
	struct sl_box *box = calloc(1, sizeof(*box));
	struct sl_err err = {0};

	cr_assert_not_null(box);
	cr_assert_eq(sl_scenario_box(sc, sl_scenario_find_variant(sc, variant), box, &err), 0, "%s", err.msg);
	return box;
}

static inline struct sl_param param_of(const struct sl_scenario *sc, int variant, const char *key)
{
	struct sl_param param = {0};

	for (int i = 0; i < sl_scenario_params(sc); i++) {
		cr_assert_eq(sl_scenario_param(sc, variant, i, &param), 0);
		if (strcmp(param.key, key) == 0) {
			return param;
		}
	}
	cr_assert_fail("no parameter %s", key);
	return param;
}

#endif
