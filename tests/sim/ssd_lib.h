/* Drives of the catalogue, saturated. */
#ifndef SL_TESTS_SIM_SSD_LIB_H
#define SL_TESTS_SIM_SSD_LIB_H

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>

#include "sim/device/ssd.h"
#include "sim/scenario/scenario.h"

#define MINUTE INT64_C(60000000000)
#define MIB 1048576.0

/* The figures of a drive that is made of no others. */
static inline struct sl_dev_spec drive(const char *name)
{
	const struct sl_dev_spec *found;
	struct sl_scenario *sc = NULL;
	struct sl_err err = {0};
	struct sl_dev_spec spec;

	cr_assert_eq(sl_scenario_load_device(name, SL_SOURCE_DIR "/sim/scenario", &sc, &found, &err), 0, "%s",
		     err.msg);
	spec = *found;
	sl_scenario_free(sc);
	return spec;
}

static inline struct sl_ssd_curve saturate(const struct sl_dev_spec *spec, const struct sl_ssd_load *load)
{
	struct sl_ssd_curve curve;
	struct sl_err err = {0};

	cr_assert_eq(sl_ssd_saturate(spec, load, &curve, &err), 0, "%s", err.msg);
	return curve;
}

static inline void within(double value, double published, double share, const char *what)
{
	cr_assert(fabs(value / published - 1) <= share, "%s: %g for %g, %+.1f %%", what, value, published,
		  100 * (value / published - 1));
}

#endif
