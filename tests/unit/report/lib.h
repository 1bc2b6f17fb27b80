/* A result made by hand over hostile.yaml: two workloads, two variants, all three engines. */
#ifndef SL_TESTS_REPORT_LIB_H
#define SL_TESTS_REPORT_LIB_H

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "sim/report/report.h"

#define DATA_DIR SL_SOURCE_DIR "/sim/scenario"
#define HOSTILE SL_SOURCE_DIR "/tests/unit/report/hostile.yaml"

struct made {
	struct sl_scenario *sc;
	struct sl_result result;
	struct sl_timing timing;
	struct sl_report report;
};

static inline void made_cell(struct made *m, int variant, int workload, enum sl_engine engine, double value)
{
	const struct sl_published *published = sl_scenario_published(m->sc, variant, workload);
	struct sl_cell cell = {.variant = variant,
			       .workload = workload,
			       .engine = engine,
			       .value = value,
			       .ci95 = 2.5,
			       .n_samples = 2,
			       .samples = {value - 1, value + 1}};

	if (published) {
		cell.has_published = true;
		cell.published = published->value;
		cell.role = published->role;
		cell.error_pct = (value / published->value - 1) * 100;
	}
	cell.measure = (struct sl_measure){.rate = value,
					   .operations = 1000,
					   .mean_ns = 1300000,
					   .p50_ns = 1234567,
					   .p95_ns = 2000000,
					   .p99_ns = 3000000,
					   .p999_ns = 4000000,
					   .max_ns = 5000000,
					   .n_resources = 1,
					   .resources = {{"guest vCPUs", 0.97}}};
	if (engine == SL_ENGINE_LIVE) {
		snprintf(cell.warning, sizeof(cell.warning), "<u>late</u>");
	}
	cr_assert_eq(sl_result_add(&m->result, &cell), 0);
}

static inline void made_init(struct made *m, bool live)
{
	struct sl_err err = {0};

	memset(m, 0, sizeof(*m));
	cr_assert_eq(sl_scenario_load(HOSTILE, DATA_DIR, &m->sc, &err), 0, "%s", err.msg);
	m->result.scenario = m->sc;
	m->result.seed = 7;
	made_cell(m, 0, 1, SL_ENGINE_MODEL, 149.49);
	made_cell(m, 1, 1, SL_ENGINE_MODEL, 191.123456789);
	if (live) {
		made_cell(m, 0, 0, SL_ENGINE_MODEL_LAB, 60);
		made_cell(m, 0, 0, SL_ENGINE_LIVE, 58);
		m->timing = (struct sl_timing){
		    .lateness_p99_wall_ns = 400000, .modelled_p50_wall_ns = 9000000, .trustworthy = true};
		m->report.timings = &m->timing;
		m->report.n_timings = 1;
		snprintf(m->result.substitutions[0], sizeof(m->result.substitutions[0]), "<s>ESXi</s>");
		m->result.n_substitutions = 1;
	}
	m->report.result = &m->result;
}

static inline void made_fini(struct made *m)
{
	sl_result_fini(&m->result);
	sl_scenario_free(m->sc);
}

/* What `render` writes, as a string to be freed. */
static inline char *rendered(int (*render)(void *arg, FILE *out, struct sl_err *err), struct made *m)
{
	struct sl_err err = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	cr_assert_not_null(out);
	cr_assert_eq(render(&m->report, out, &err), 0, "%s", err.msg);
	fclose(out);
	return text;
}

#endif
