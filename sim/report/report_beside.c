/* What engine live said beside a run on virtual machines: another clock, so it is not in their table. */
#include "sim/report/report.h"

static void print_cell(const struct sl_result *result, const struct sl_cell *live, FILE *out)
{
	const struct sl_cell *modelled =
	    sl_result_find(result, live->variant, live->workload, SL_ENGINE_MODEL_LAB);
	char value[32], expected[32], error[32];

	if (!modelled) {
		return;
	}
	sl_report_number(live->value, value, sizeof(value));
	sl_report_number(modelled->value, expected, sizeof(expected));
	sl_report_percent(sl_report_difference(live, modelled), error, sizeof(error));
	fprintf(out, "live, %s on %s: %s%s where its own model(lab) says %s, %s\n",
		sl_scenario_workload(result->scenario, live->workload)->name,
		sl_scenario_variant_name(result->scenario, live->variant), value, sl_report_mark(live),
		expected, error);
}

void sl_report_beside(const struct sl_result *result, const char *missing, FILE *out)
{
	if (missing[0] != '\0') {
		fprintf(out, "no live beside: %s\n", missing);
	}
	for (int i = 0; i < result->n_cells; i++) {
		if (result->cells[i].engine == SL_ENGINE_LIVE) {
			print_cell(result, &result->cells[i], out);
		}
	}
}
