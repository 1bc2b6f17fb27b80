/* toms-s3700 and percona-intel320: bare disks over hours of their time. */
#include "tests/sim/lib.h"

static struct sl_scenario *load(const char *path)
{
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};

	cr_assert_eq(sl_scenario_load(path, SL_SOURCE_DIR "/sim/scenario", &sc, &err), 0, "%s", err.msg);
	return sc;
}

/* Distance of a cell from what was published, in %. */
static double error_of(const struct sl_scenario *sc, const char *variant, const char *workload)
{
	int v = sl_scenario_find_variant(sc, variant), w = sl_scenario_find_workload(sc, workload);
	struct sl_measure measure;
	struct sl_err err = {0};
	struct sl_box box;

	cr_assert(v >= 0 && w >= 0, "no cell %s/%s", variant, workload);
	cr_assert_eq(sl_scenario_box(sc, v, &box, &err), 0, "%s", err.msg);
	cr_assert_eq(sl_stack_run(&box, sl_scenario_workload(sc, w), 1, NULL, &measure, &err), 0, "%s",
		     err.msg);
	cr_assert_not_null(sl_scenario_published(sc, v, w), "%s/%s", variant, workload);
	return (sl_metric_value(&measure, sl_scenario_workload(sc, w)) /
		    sl_scenario_published(sc, v, w)->value -
		1) *
	       100;
}

Test(disks, the_200_gb_s3700_follows_from_the_800_gb_one)
{
	static const char *const cells[][2] = {
	    {"s3700-800", "fresh"}, {"s3700-800", "steady"}, {"s3700-200", "steady"}};
	struct sl_scenario *sc = load(SL_SOURCE_DIR "/scenarios/toms-s3700.yaml");

	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		double error = error_of(sc, cells[i][0], cells[i][1]);

		cr_assert(fabs(error) <= 7, "%s/%s: %+.2f %%", cells[i][0], cells[i][1], error);
	}
	sl_scenario_free(sc);
}

Test(disks, the_intel_320_by_used_space_and_an_array_of_disks)
{
	static const struct {
		const char *variant, *workload;
		double limit_pct;
	} cells[] = {
	    {"intel-320", "gib10", 5},    {"intel-320", "gib20", 12},  {"intel-320", "gib70", 5},
	    {"intel-320", "gib100", 12},  {"intel-320", "gib120", 12}, {"intel-320", "gib140", 5},
	    {"raid10-15k", "gib100", 20},
	};
	struct sl_scenario *sc = load(SL_SOURCE_DIR "/scenarios/percona-intel320.yaml");

	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		double error = error_of(sc, cells[i].variant, cells[i].workload);

		cr_assert(fabs(error) <= cells[i].limit_pct, "%s/%s: %+.2f %%", cells[i].variant,
			  cells[i].workload, error);
	}
	sl_scenario_free(sc);
}
