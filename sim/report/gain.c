#include "sim/report/gain.h"

#include <stdio.h>

#include "sim/base/json.h"
#include "sim/scenario/metric.h"

static void name_put(const struct sl_workload *w, char *buf, size_t size)
{
	if (w->kind == SL_WL_OLTP) {
		(void)snprintf(buf, size, "%s, %lld thread%s", w->name, (long long)w->threads,
			       w->threads == 1 ? "" : "s");
	} else {
		(void)snprintf(buf, size, "%s", w->name);
	}
}

bool sl_gain_text(const struct sl_result *result, int workload, enum sl_engine engine, char *buf, size_t size)
{
	const struct sl_workload *w = sl_scenario_workload(result->scenario, workload);
	struct sl_gain gain;
	char what[80], before[32], after[32];
	int n;

	buf[0] = '\0';
	if (!sl_result_gain_find(result, workload, engine, &gain)) {
		return false;
	}
	name_put(w, what, sizeof(what));
	sl_result_figure(gain.none, w, before, sizeof(before));
	sl_result_figure(gain.slog, w, after, sizeof(after));
	n = snprintf(buf, size, "%s: %s -> %s %s with %s, %.2fx%s", what, before, after, sl_workload_unit(w),
		     sl_scenario_variant_name(result->scenario, gain.slog->variant), gain.ratio,
		     sl_metric_is_latency(w) ? " shorter" : "");
	/* A fact. Whether a faster SLOG could add more, the what-ifs of explain and advise say. */
	if (gain.limit && n > 0 && (size_t)n < size) {
		(void)snprintf(buf + n, size - (size_t)n, "; %s %.0f %% busy", gain.limit->name,
			       gain.limit->utilisation * 100);
	}
	return true;
}

/* One sample has no interval. */
static json_t *interval_json(double ci95, int n_samples)
{
	return n_samples > 1 ? sl_json_figure(ci95) : json_null();
}

static json_t *side_json(const struct sl_result *result, const struct sl_cell *cell)
{
	return json_pack("{s:o, s:o, s:o}", "variant",
			 sl_json_text(sl_scenario_variant_name(result->scenario, cell->variant)), "value",
			 sl_json_figure(cell->value), "ci95", interval_json(cell->ci95, cell->n_samples));
}

static json_t *limit_json(const struct sl_resource *limit)
{
	return limit ? json_pack("{s:s, s:o}", "resource", limit->name, "utilisation",
				 sl_json_figure(limit->utilisation))
		     : json_null();
}

void sl_gains_json(const struct sl_report *report, enum sl_engine engine, json_t *array)
{
	const struct sl_result *result = report->result;
	struct sl_gain gain;
	char text[512];

	for (int w = 0; w < sl_scenario_workloads(result->scenario); w++) {
		const struct sl_workload *workload = sl_scenario_workload(result->scenario, w);

		if (!sl_report_has_workload(report, w) ||
		    !sl_gain_text(result, w, engine, text, sizeof(text)) ||
		    !sl_result_gain_find(result, w, engine, &gain)) {
			continue;
		}
		json_array_append_new(
		    array,
		    json_pack("{s:o, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:s, s:b}", "workload",
			      sl_json_text(workload->name), "engine", sl_engine_name(engine), "unit",
			      sl_workload_unit(workload), "without", side_json(result, gain.none), "with",
			      side_json(result, gain.slog), "ratio", sl_json_figure(gain.ratio), "ratio_ci95",
			      interval_json(gain.ratio_ci95, gain.none->n_samples < gain.slog->n_samples
								 ? gain.none->n_samples
								 : gain.slog->n_samples),
			      "limit", limit_json(gain.limit), "text", text, "trustworthy",
			      (int)sl_report_gain_trusted(report, w, engine)));
	}
}
