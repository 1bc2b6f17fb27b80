#include "sim/stack/plain_table.h"

#include <math.h>

#include "sim/base/rng.h"

static bool is_seen(const struct sl_scenario *sc, sl_seen_fn seen, const void *arg, int variant, int workload)
{
	return sl_scenario_published(sc, variant, workload) && seen(arg, variant, workload);
}

static double published(const struct sl_scenario *sc, int variant, int workload)
{
	return sl_scenario_published(sc, variant, workload)->value;
}

static int count_seen(const struct sl_scenario *sc, sl_seen_fn seen, const void *arg, int variant)
{
	int n = 0;

	for (int w = 0; w < sl_scenario_workloads(sc); w++) {
		n += is_seen(sc, seen, arg, variant, w);
	}
	return n;
}

/* The variant before `variant` of which most cells were seen, the nearest of these; -1 = none. */
static int row_before(const struct sl_scenario *sc, sl_seen_fn seen, const void *arg, int variant)
{
	int best = -1, most = 0;

	for (int v = 0; v < variant; v++) {
		int n = count_seen(sc, seen, arg, v);

		if (n > 0 && n >= most) {
			best = v;
			most = n;
		}
	}
	return best;
}

/* How the seen cells of a variant differ from those of the row before: geometric mean, 1 when none was seen.
 */
static double factor_of(const struct sl_scenario *sc, sl_seen_fn seen, const void *arg, int variant)
{
	int before = row_before(sc, seen, arg, variant), n = 0;
	double sum = 0;

	for (int w = 0; before >= 0 && w < sl_scenario_workloads(sc); w++) {
		if (is_seen(sc, seen, arg, variant, w) && is_seen(sc, seen, arg, before, w)) {
			sum += sl_log(published(sc, variant, w) / published(sc, before, w));
			n++;
		}
	}
	return n > 0 ? sl_exp(sum / n) : 1;
}

double sl_plain_table_value(const struct sl_scenario *sc, sl_seen_fn seen, const void *arg, int variant,
			    int workload)
{
	int before = row_before(sc, seen, arg, variant);

	if (before < 0 || !is_seen(sc, seen, arg, before, workload)) {
		return 0;
	}
	return published(sc, before, workload) * factor_of(sc, seen, arg, variant);
}

double sl_plain_table_rms(const struct sl_scenario *sc, sl_seen_fn seen, const void *arg, enum sl_role role,
			  int *ret_n)
{
	double sum = 0;

	*ret_n = 0;
	for (int v = 0; v < sl_scenario_variants(sc); v++) {
		for (int w = 0; w < sl_scenario_workloads(sc); w++) {
			const struct sl_published *cell = sl_scenario_published(sc, v, w);
			double value, error;

			if (!cell || cell->role != role || seen(arg, v, w)) {
				continue;
			}
			value = sl_plain_table_value(sc, seen, arg, v, w);
			error = value / cell->value - 1;
			sum += value > 0 ? error * error : 0;
			*ret_n += value > 0;
		}
	}
	return *ret_n > 0 ? 100 * sqrt(sum / *ret_n) : 0;
}
