#include "sim/report/report_paired.h"

#include <stdio.h>
#include <string.h>

#include "sim/base/json.h"
#include "sim/stack/paired.h"

struct comparison {
	enum sl_engine engine;
	int base, variant, workload;
	struct sl_paired paired;
	char verdict[256];
};

typedef void take_fn(const struct sl_report *report, const struct comparison *c, void *arg);

/* The first variant that has a cell: what the others are compared with. -1 = none. */
static int base_of(const struct sl_report *report, const struct comparison *c)
{
	for (int v = 0; v < sl_scenario_variants(report->result->scenario); v++) {
		if (sl_result_find(report->result, v, c->workload, c->engine)) {
			return v;
		}
	}
	return -1;
}

static bool untrusted(const struct sl_report *report, const struct comparison *c)
{
	const struct sl_cell *base = sl_result_find(report->result, c->base, c->workload, c->engine),
			     *cell = sl_result_find(report->result, c->variant, c->workload, c->engine);

	return (base && !sl_report_trusted(report, base)) || (cell && !sl_report_trusted(report, cell));
}

static void each_variant(const struct sl_report *report, struct comparison *c, take_fn *take, void *arg)
{
	const struct sl_scenario *sc = report->result->scenario;

	c->base = base_of(report, c);
	for (c->variant = c->base + 1; c->base >= 0 && c->variant < sl_scenario_variants(sc); c->variant++) {
		char name[2 * SL_REPORT_NAME + 16], labels[2][SL_REPORT_NAME];

		if (sl_paired_cells(report->result, c->base, c->variant, c->workload, c->engine, &c->paired) <
			0 ||
		    c->paired.n < 2) {
			continue;
		}
		snprintf(name, sizeof(name), "%s against %s", sl_report_variant(sc, c->variant, labels[0]),
			 sl_report_variant(sc, c->base, labels[1]));
		sl_paired_verdict(&c->paired, name, c->verdict, sizeof(c->verdict));
		if (untrusted(report, c)) {
			size_t used = strlen(c->verdict);

			(void)snprintf(c->verdict + used, sizeof(c->verdict) - used,
				       "; the timing is not trustworthy");
		}
		take(report, c, arg);
	}
}

/* Calls `take` for every variant that has at least two samples in common with the base: what was predicted,
 * and what was measured beside it. */
static void each_comparison(const struct sl_report *report, take_fn *take, void *arg)
{
	for (int w = 0; w < sl_scenario_workloads(report->result->scenario); w++) {
		struct comparison c = {.engine = sl_report_predictor(report), .workload = w};

		each_variant(report, &c, take, arg);
		c.engine = sl_report_real(report);
		each_variant(report, &c, take, arg);
		if (c.engine != SL_ENGINE_LIVE) {
			c.engine = SL_ENGINE_LIVE;
			each_variant(report, &c, take, arg);
		}
	}
}

static void print_one(const struct sl_report *report, const struct comparison *c, void *arg)
{
	bool beside = sl_report_has_engine(report, sl_report_real(report));

	fprintf(arg, "%s%s%s, %s\n", beside ? sl_engine_name(c->engine) : "", beside ? ", " : "",
		sl_scenario_workload(report->result->scenario, c->workload)->name, c->verdict);
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
	json_t *object =
	    json_pack("{s:o, s:s, s:o, s:o, s:i, s:o, s:o}", "workload",
		      sl_json_text(sl_scenario_workload(sc, c->workload)->name), "engine",
		      sl_engine_name(c->engine), "base", sl_json_text(sl_scenario_variant_name(sc, c->base)),
		      "variant", sl_json_text(sl_scenario_variant_name(sc, c->variant)), "pairs", p->n,
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
