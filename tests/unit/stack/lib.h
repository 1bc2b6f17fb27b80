/* The box of b3n-2014, and workloads short enough for a unit test. */
#ifndef SL_TESTS_STACK_LIB_H
#define SL_TESTS_STACK_LIB_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim/scenario/scenario.h"
#include "sim/stack/result.h"

static inline struct sl_scenario *load(const char *name)
{
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};
	char path[512];

	snprintf(path, sizeof(path), SL_SOURCE_DIR "/scenarios/%s.yaml", name);
	cr_assert_eq(sl_scenario_load(path, SL_SOURCE_DIR "/sim/scenario", &sc, &err), 0, "%s", err.msg);
	return sc;
}

static inline struct sl_scenario *load_text(const char *text)
{
	char path[] = "/tmp/sl-stack-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};
	int rc;

	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
	rc = sl_scenario_load(path, SL_SOURCE_DIR "/sim/scenario", &sc, &err);
	unlink(path);
	cr_assert_eq(rc, 0, "%s", err.msg);
	return sc;
}

static inline int variant(const struct sl_scenario *sc, const char *name)
{
	int index = sl_scenario_find_variant(sc, name);

	cr_assert(index >= 0, "no variant %s", name);
	return index;
}

static inline int workload(const struct sl_scenario *sc, const char *name)
{
	int index = sl_scenario_find_workload(sc, name);

	cr_assert(index >= 0, "no workload %s", name);
	return index;
}

#endif
