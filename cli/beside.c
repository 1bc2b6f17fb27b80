#include "cli/beside.h"

#include <errno.h>
#include <stdio.h>

#include "sim/base/signals.h"

int sl_beside_run(const struct sl_scenario *sc, const struct sl_live_options *options, struct sl_live *ret,
		  struct sl_err *err)
{
	struct sl_err why = {0};
	int rc = sl_live_run(sc, options, ret, &why);

	if (sl_signals_stopped()) {
		return sl_err_set(err, -EINTR, "interrupted");
	}
	if (rc < 0 && ret->missing[0] == '\0') {
		(void)snprintf(ret->missing, sizeof(ret->missing), "%.250s", why.msg);
	}
	return 0;
}

int sl_beside_add(const struct sl_live *beside, struct sl_result *result)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < beside->result.n_cells; i++) {
		if (beside->result.cells[i].engine == SL_ENGINE_LIVE) {
			rc = sl_result_add(result, &beside->result.cells[i]);
		}
	}
	return rc;
}

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

void sl_beside_print(const struct sl_live *beside, FILE *out)
{
	if (beside->missing[0] != '\0') {
		fprintf(out, "no live beside: %s\n", beside->missing);
	}
	for (int i = 0; i < beside->result.n_cells; i++) {
		if (beside->result.cells[i].engine == SL_ENGINE_LIVE) {
			print_cell(&beside->result, &beside->result.cells[i], out);
		}
	}
}
