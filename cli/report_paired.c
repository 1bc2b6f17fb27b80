#include "cli/report_paired.h"

#include "cli/json_text.h"
#include "sim/base/json.h"
#include "sim/stack/paired.h"

struct comparison {
	int base, variant, workload;
	struct sl_paired paired;
	char verdict[256];
};

/* The first variant that has a cell: what the others are compared with. -1 = none. */
static int base_of(const struct sl_report *report, int workload)
{
	for (int v = 0; v < sl_scenario_variants(report->result->scenario); v++) {
		if (sl_result_find(report->result, v, workload, sl_report_predictor(report))) {
			return v;
		}
	}
	return -1;
}

/* Calls `take` for every variant that has at least two samples in common with the base. */
static void each_comparison(const struct sl_report *report,
			    void (*take)(const struct sl_report *report, const struct comparison *c,
					 void *arg),
			    void *arg)
{
	const struct sl_scenario *sc = report->result->scenario;

	for (int w = 0; w < sl_scenario_workloads(sc); w++) {
		struct comparison c = {.base = base_of(report, w), .workload = w};

		for (c.variant = c.base + 1; c.base >= 0 && c.variant < sl_scenario_variants(sc);
		     c.variant++) {
			char name[160];

			if (sl_paired_cells(report->result, c.base, c.variant, w, sl_report_predictor(report),
					    &c.paired) < 0 ||
			    c.paired.n < 2) {
				continue;
			}
			snprintf(name, sizeof(name), "%s against %s", sl_scenario_variant_name(sc, c.variant),
				 sl_scenario_variant_name(sc, c.base));
			sl_paired_verdict(&c.paired, name, c.verdict, sizeof(c.verdict));
			take(report, &c, arg);
		}
	}
}

static void print_one(const struct sl_report *report, const struct comparison *c, void *arg)
{
	fprintf(arg, "%s, %s\n", sl_scenario_workload(report->result->scenario, c->workload)->name,
		c->verdict);
}

void sl_report_paired_text(const struct sl_report *report, FILE *out)
{
	each_comparison(report, print_one, out);
}

static void append_one(const struct sl_report *report, const struct comparison *c, void *arg)
{
	const struct sl_scenario *sc = report->result->scenario;
	const struct sl_paired *p = &c->paired;
	json_t *ratio = json_pack("{s:o, s:o, s:o}", "mean", sl_json_figure(p->ratio), "low",
				  sl_json_figure(p->ratio_low), "high", sl_json_figure(p->ratio_high));
	json_t *object = json_pack("{s:o, s:o, s:o, s:i, s:o, s:o}", "workload",
				   sl_json_text(sl_scenario_workload(sc, c->workload)->name), "base",
				   sl_json_text(sl_scenario_variant_name(sc, c->base)), "variant",
				   sl_json_text(sl_scenario_variant_name(sc, c->variant)), "pairs", p->n,
				   "ratio", ratio, "verdict", sl_json_text(c->verdict));

	json_array_append_new(arg, object);
}

json_t *sl_report_paired_json(const struct sl_report *report)
{
	json_t *array = json_array();

	if (array) {
		each_comparison(report, append_one, array);
	}
	return array;
}
