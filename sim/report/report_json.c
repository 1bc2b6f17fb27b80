/* The JSON result: docs/result.schema.json. Same input, same bytes: no times of day, durations or host names.
 */
#include "sim/report/report.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>

#include "sim/base/json.h"
#include "sim/report/gain.h"
#include "sim/report/report_costs.h"
#include "sim/report/report_paired.h"
#include "sim/scenario/metric.h"

static const char *unit_name(enum sl_unit unit)
{
	switch (unit) {
	case SL_UNIT_TIME:
		return "ns";
	case SL_UNIT_BYTES:
		return "B";
	case SL_UNIT_LINK:
	case SL_UNIT_RATE:
		return "B/s";
	case SL_UNIT_IOPS:
		return "1/s";
	case SL_UNIT_DATA:
	case SL_UNIT_NONE:
		break;
	}
	return "";
}

static json_t *json_engines(const struct sl_report *report)
{
	static const enum sl_engine engines[] = {SL_ENGINE_MODEL, SL_ENGINE_MODEL_LAB, SL_ENGINE_LIVE,
						 SL_ENGINE_VM};
	json_t *array = json_array();

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		if (sl_report_has_engine(report, engines[i])) {
			json_array_append_new(array, json_string(sl_engine_name(engines[i])));
		}
	}
	return array;
}

static json_t *json_disks(const struct sl_dev_spec *specs, int n)
{
	json_t *array = json_array();

	for (int i = 0; i < n; i++) {
		json_array_append_new(array, json_string(specs[i].name));
	}
	return array;
}

static json_t *json_variants(const struct sl_report *report)
{
	const struct sl_scenario *sc = report->result->scenario;
	json_t *array = json_array();

	for (int v = 0; v < sl_scenario_variants(sc); v++) {
		char note[SL_REPORT_NOTE_MAX];
		struct sl_box box;

		if (sl_report_has_variant(report, v) && sl_scenario_box(sc, v, &box, NULL) == 0) {
			json_t *variant = json_pack(
			    "{s:s, s:o, s:o}", "name", sl_scenario_variant_name(sc, v), "data",
			    json_disks(box.data, box.n_data), "log", json_disks(box.log, box.n_log));

			if (sl_scenario_note(sc, v, note, sizeof(note))) {
				json_object_set_new(variant, "note", sl_json_text(note));
			}
			if (sl_scenario_touched(sc, v) != SL_TOUCH_NONE) {
				json_object_set_new(variant, "changed", json_true());
			}
			if (box.n_special > 0) {
				json_object_set_new(variant, "special",
						    json_disks(box.special, box.n_special));
			}
			if (box.n_cache > 0) {
				json_object_set_new(variant, "cache", json_disks(box.cache, box.n_cache));
			}
			json_array_append_new(array, variant);
		}
	}
	return array;
}

/* Who waited for a CPU, as shares of the measured time. */
static json_t *json_waits(const struct sl_trust *trust)
{
	json_t *object = json_object();

	for (int i = 0; i < SL_TRUST_WHO; i++) {
		if (trust->shares[i] >= 0) {
			json_object_set_new(object, sl_trust_who_name((enum sl_trust_who)i),
					    sl_json_figure(trust->shares[i]));
		}
	}
	return object;
}

static json_t *json_cell_timing(const struct sl_timing *t)
{
	return json_pack("{s:{s:I, s:I}, s:{s:I, s:I}, s:I, s:I, s:b, s:o, s:o}", "lateness_ns", "p50",
			 (json_int_t)t->lateness_p50_wall_ns, "p99", (json_int_t)t->lateness_p99_wall_ns,
			 "modelled_ns", "p50", (json_int_t)t->modelled_p50_wall_ns, "p99",
			 (json_int_t)t->modelled_p99_wall_ns, "credit_used_ns", (json_int_t)t->credit_used_ns,
			 "null_rtt_ns", (json_int_t)t->null_rtt_ns, "trustworthy", t->trustworthy, "reason",
			 t->trustworthy ? json_null() : sl_json_text(t->trust.reason), "cpu_wait",
			 json_waits(&t->trust));
}

static json_t *json_evidence(const struct sl_evidence *e)
{
	return json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "log_writes",
			 (json_int_t)e->log_writes, "data_writes", (json_int_t)e->data_writes, "data_flushes",
			 (json_int_t)e->data_flushes, "guest_cpu_busy", sl_json_figure(e->guest_busy),
			 "storage_cpu_busy", sl_json_figure(e->storage_busy), "host_cpu_busy",
			 sl_json_figure(e->host_busy), "zpool_status", sl_json_text(e->zpool_status),
			 "zpool_iostat", sl_json_text(e->zpool_iostat), "zil", sl_json_text(e->zil), "disks",
			 sl_json_text(e->disks));
}

/* null where it is not known */
static json_t *json_time(int64_t ns)
{
	return ns > 0 ? json_integer((json_int_t)ns) : json_null();
}

static void cell_put_measure(json_t *object, const struct sl_measure *measure)
{
	json_t *resources = json_array();

	json_object_set_new(object, "operations", json_integer((json_int_t)measure->operations));
	json_object_set_new(object, "latency_ns",
			    json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "mean", json_time(measure->mean_ns),
				      "p50", json_time(measure->p50_ns), "p95", json_time(measure->p95_ns),
				      "p99", json_time(measure->p99_ns), "p999", json_time(measure->p999_ns),
				      "max", json_time(measure->max_ns)));
	for (int i = 0; i < measure->n_resources; i++) {
		json_array_append_new(
		    resources, json_pack("{s:s, s:o}", "name", measure->resources[i].name, "utilisation",
					 sl_json_figure(measure->resources[i].utilisation)));
	}
	json_object_set_new(object, "resources", resources);
}

static json_t *json_cell(const struct sl_report *report, const struct sl_cell *cell)
{
	const struct sl_scenario *sc = report->result->scenario;
	const struct sl_workload *workload = sl_scenario_workload(sc, cell->workload);
	const struct sl_timing *timing = sl_report_timing(report, cell->variant, cell->workload);
	const struct sl_evidence *evidence = sl_report_evidence(report, cell->variant, cell->workload);
	struct sl_endurance endurance;
	json_t *object = json_object();
	json_t *samples = json_array();
	json_t *warnings = json_array();
	const struct sl_metric metric = sl_metric_of(workload);
	double bytes = sl_workload_bytes(workload);
	double dilate = cell->dilate > 0 ? cell->dilate : 1;

	json_object_set_new(object, "variant", sl_json_text(sl_scenario_variant_name(sc, cell->variant)));
	json_object_set_new(object, "workload", json_string(workload->name));
	json_object_set_new(object, "engine", json_string(sl_engine_name(cell->engine)));
	json_object_set_new(object, "metric", json_string(metric.name));
	json_object_set_new(object, "unit", json_string(metric.unit));
	json_object_set_new(object, "value", sl_json_figure(cell->value));
	json_object_set_new(
	    object, "raw",
	    sl_json_figure(metric.kind == SL_UNIT_TIME ? cell->value * dilate : cell->value / dilate));
	json_object_set_new(object, "dilate",
			    dilate == (double)(int)dilate ? json_integer((json_int_t)dilate)
							  : sl_json_figure(dilate));
	json_object_set_new(object, "ci95", cell->n_samples > 1 ? sl_json_figure(cell->ci95) : json_null());
	for (int i = 0; i < cell->n_samples; i++) {
		json_array_append_new(samples, sl_json_figure(cell->samples[i]));
	}
	json_object_set_new(object, "samples", samples);
	json_object_set_new(object, "rate", sl_json_figure(cell->measure.rate));
	json_object_set_new(object, "bytes_per_second",
			    bytes > 0 ? sl_json_figure(cell->measure.rate * bytes) : json_null());
	cell_put_measure(object, &cell->measure);
	json_object_set_new(object, "loss", sl_costs_json_loss(&cell->measure.loss));
	json_object_set_new(object, "endurance",
			    sl_costs_endurance(sc, cell, &endurance) ? sl_costs_json_endurance(&endurance)
								     : json_null());
	json_object_set_new(object, "log_space", sl_costs_json_log_space(&cell->measure));
	json_object_set_new(object, "published",
			    cell->has_published ? sl_json_figure(cell->published) : json_null());
	json_object_set_new(object, "error_pct",
			    cell->has_published ? sl_json_figure(cell->error_pct) : json_null());
	json_object_set_new(object, "role",
			    cell->role == SL_ROLE_NONE ? json_null() : json_string(sl_role_name(cell->role)));
	if (cell->engine == SL_ENGINE_LIVE || cell->engine == SL_ENGINE_VM) {
		json_object_set_new(object, "trustworthy", json_boolean(sl_report_trusted(report, cell)));
	}
	if (timing && cell->engine == sl_report_real(report)) {
		json_object_set_new(object, "timing", json_cell_timing(timing));
	}
	if (evidence && cell->engine == SL_ENGINE_VM) {
		json_object_set_new(object, "evidence", json_evidence(evidence));
	}
	if (cell->warning[0] != '\0') {
		json_array_append_new(warnings, json_string(cell->warning));
	}
	json_object_set_new(object, "warnings", warnings);
	return object;
}

static json_t *json_rms(const struct sl_report *report)
{
	static const enum sl_role roles[] = {SL_ROLE_CALIBRATE, SL_ROLE_PREDICT};
	json_t *object = json_object();

	for (int i = 0; i < 2; i++) {
		int n = 0;
		double rms = sl_result_rms(report->result, roles[i], sl_report_predictor(report), &n);

		if (n > 0) {
			json_object_set_new(
			    object, sl_role_name(roles[i]),
			    json_pack("{s:o, s:o, s:i}", "error_pct", sl_json_figure(rms), "median_pct",
				      sl_json_figure(sl_result_median_error(report->result, roles[i],
									    sl_report_predictor(report))),
				      "cells", n));
		}
	}
	return object;
}

static json_t *json_param(const struct sl_report *report, const struct sl_param_row *row)
{
	const struct sl_scenario *sc = report->result->scenario;
	const struct sl_param *p = &row->param;
	json_t *object = json_object();
	json_t *variants = json_array();

	json_object_set_new(object, "key", sl_json_text(p->key));
	json_object_set_new(object, "text", sl_json_text(p->text));
	json_object_set_new(object, "value", sl_json_figure(p->value));
	json_object_set_new(object, "unit", json_string(unit_name(p->unit)));
	json_object_set_new(object, "kind", json_string(sl_provenance_name(p->kind)));
	json_object_set_new(object, "source", sl_json_text(p->source));
	json_object_set_new(object, "where", sl_json_text(row->where));
	if (row->device) {
		json_object_set_new(object, "device", json_true());
	}
	for (int v = 0; row->variants && v < sl_scenario_variants(sc); v++) {
		if (row->variants[v]) {
			json_array_append_new(variants, sl_json_text(sl_scenario_variant_name(sc, v)));
		}
	}
	json_object_set_new(object, "variants", variants);
	return object;
}

static int json_params(const struct sl_report *report, json_t **ret)
{
	struct sl_param_list list;
	int rc = sl_param_list_make(report, &list);
	json_t *array;

	if (rc < 0) {
		return rc;
	}
	array = json_array();
	for (int i = 0; i < list.n; i++) {
		json_array_append_new(array, json_param(report, &list.rows[i]));
	}
	sl_param_list_fini(&list);
	*ret = array;
	return 0;
}

static json_t *json_head(const struct sl_report *report)
{
	const struct sl_result *result = report->result;
	json_t *root = json_object();
	json_t *substitutions = json_array();
	json_t *gains = json_array();

	json_object_set_new(root, "schema", json_string("sloglab-result/1"));
	json_object_set_new(root, "scenario", sl_json_text(sl_scenario_name(result->scenario)));
	json_object_set_new(root, "title", sl_json_text(sl_scenario_title(result->scenario)));
	json_object_set_new(root, "seed", json_integer((json_int_t)result->seed));
	json_object_set_new(root, "versions", json_pack("{s:s}", "sloglab", SL_VERSION));
	json_object_set_new(root, "engines", json_engines(report));
	for (int i = 0; i < result->n_substitutions; i++) {
		json_array_append_new(substitutions, json_string(result->substitutions[i]));
	}
	json_object_set_new(root, "substitutions", substitutions);
	json_object_set_new(root, "variants", json_variants(report));
	json_object_set_new(root, "rms", json_rms(report));
	sl_gains_json(report, sl_report_predictor(report), gains);
	sl_gains_json(report, sl_report_real(report), gains);
	json_object_set_new(root, "gains", gains);
	json_object_set_new(root, "paired", sl_report_paired_json(report));
	return root;
}

/* Fills root with cells and params; takes no reference. */
static int json_body(const struct sl_report *report, json_t *root)
{
	json_t *cells = json_array();
	json_t *params = NULL;
	int rc;

	for (int i = 0; i < report->result->n_cells; i++) {
		json_array_append_new(cells, json_cell(report, &report->result->cells[i]));
	}
	json_object_set_new(root, "cells", cells);
	rc = json_params(report, &params);
	if (rc == 0) {
		json_object_set_new(root, "params", params);
	}
	return rc;
}

static int json_print(json_t *root, int rc, FILE *out, struct sl_err *err)
{
	if (rc == 0) {
		rc = sl_json_write(root, out, err);
	} else {
		sl_err_set(err, rc, "JSON: out of memory");
	}
	json_decref(root);
	return rc;
}

int sl_report_json(void *arg, FILE *out, struct sl_err *err)
{
	const struct sl_report *report = arg;
	json_t *root = json_head(report);

	return json_print(root, json_body(report, root), out, err);
}

/* sd: what the cells leave open of it, as a logarithm. */
static json_t *json_fit_param(const struct sl_fit_param *p, double sd)
{
	json_t *object = json_object();

	json_object_set_new(object, "key", sl_json_text(p->key));
	json_object_set_new(object, "unit", json_string(unit_name(p->unit)));
	json_object_set_new(object, "start", sl_json_figure(p->start));
	json_object_set_new(object, "value", sl_json_figure(p->value));
	json_object_set_new(object, "min", sl_json_figure(p->min));
	json_object_set_new(object, "max", sl_json_figure(p->max));
	json_object_set_new(object, "low", sl_json_figure(p->low));
	json_object_set_new(object, "high", sl_json_figure(p->high));
	json_object_set_new(object, "sd", isfinite(sd) ? sl_json_figure(sd) : json_null());
	return object;
}

int sl_report_fit_json(void *arg, FILE *out, struct sl_err *err)
{
	const struct sl_fit_report *fr = arg;
	const struct sl_fit *fit = fr->fit;
	const char *held = sl_fit_held_name(&fr->held, fit->result.scenario);
	json_t *root = json_head(fr->report);
	json_t *object = json_object();
	json_t *params = json_array();

	json_object_set_new(object, "cells", json_integer(fit->n_cells));
	json_object_set_new(object, "free_parameters", json_integer(fit->n_params));
	json_object_set_new(object, "degrees_of_freedom", json_integer(fit->degrees_of_freedom));
	json_object_set_new(object, "rms_pct", sl_json_figure(fit->rms_pct));
	json_object_set_new(object, "evaluations", json_integer(fit->evaluations));
	json_object_set_new(object, "identified", json_integer(fit->identified.n_identified));
	json_object_set_new(object, "plain_rms_pct",
			    fit->plain_n > 0 ? sl_json_figure(fit->plain_rms_pct) : json_null());
	json_object_set_new(object, "hold_out", held ? sl_json_text(held) : json_null());
	for (int i = 0; i < fit->n_params; i++) {
		json_array_append_new(params, json_fit_param(&fit->params[i], fit->identified.sd[i]));
	}
	json_object_set_new(object, "params", params);
	json_object_set_new(root, "fit", object);
	return json_print(root, json_body(fr->report, root), out, err);
}
