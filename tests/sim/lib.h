/* A published benchmark with all its cells on the model. */
#ifndef SL_TESTS_SIM_LIB_H
#define SL_TESTS_SIM_LIB_H

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "sim/scenario/scenario.h"
#include "sim/stack/result.h"

static inline struct sl_scenario *load_b3n(void)
{
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_load(SL_SOURCE_DIR "/scenarios/b3n-2014.yaml", SL_SOURCE_DIR "/sim/scenario",
				      &sc, &err),
		     0, "%s", err.msg);
	return sc;
}

/* A scenario from its text below the line "format". */
static inline struct sl_scenario *load_text(const char *text)
{
	char path[] = "scenario-XXXXXX";
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};
	int fd = mkstemp(path);

	cr_assert(fd >= 0);
	cr_assert(dprintf(fd, "format: sloglab-scenario/1\n%s", text) > 0);
	cr_assert_eq(close(fd), 0);
	cr_assert_eq(sl_scenario_load(path, SL_SOURCE_DIR "/sim/scenario", &sc, &err), 0, "%s", err.msg);
	cr_assert_eq(unlink(path), 0);
	return sc;
}

/* All cells, one run each. Release with sl_result_fini. */
static inline struct sl_result run_all_cells(const struct sl_scenario *sc, uint64_t seed)
{
	struct sl_run_options options = {.repeat = 1, .seed = seed};
	struct sl_result result;
	struct sl_err err = {0};

	cr_assert_eq(sl_result_run(sc, &options, &result, &err), 0, "%s", err.msg);
	cr_assert_eq(result.n_cells, sl_scenario_variants(sc) * sl_scenario_workloads(sc));
	return result;
}

/* One cell, by name. */
static inline struct sl_measure measure_of(const struct sl_scenario *sc, const char *variant,
					   const char *workload)
{
	int v = sl_scenario_find_variant(sc, variant), w = sl_scenario_find_workload(sc, workload);
	struct sl_measure measure;
	struct sl_err err = {0};
	struct sl_box box;

	cr_assert(v >= 0 && w >= 0, "no cell %s/%s", variant, workload);
	cr_assert_eq(sl_scenario_box(sc, v, &box, &err), 0, "%s", err.msg);
	cr_assert_eq(sl_stack_run(&box, sl_scenario_workload(sc, w), &(struct sl_stack_setup){.seed = 1},
				  &measure, &err),
		     0, "%s", err.msg);
	return measure;
}

/* What one cell reports. */
static inline double rate_of(const struct sl_scenario *sc, const char *variant, const char *workload)
{
	struct sl_measure measure = measure_of(sc, variant, workload);

	return sl_metric_value(&measure, sl_scenario_workload(sc, sl_scenario_find_workload(sc, workload)));
}

static inline const char *cell_variant(const struct sl_result *result, const struct sl_cell *cell)
{
	return sl_scenario_variant_name(result->scenario, cell->variant);
}

static inline const char *cell_workload(const struct sl_result *result, const struct sl_cell *cell)
{
	return sl_scenario_workload(result->scenario, cell->workload)->name;
}

static const char *const workloads[] = {"oltp2", "oltp4", "rndrw", "rndwr"};

#endif
