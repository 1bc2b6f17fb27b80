/* JSON of explain: "sloglab-explain/1". Same input, same bytes. */
#include <errno.h>
#include <jansson.h>

#include "sim/base/json.h"
#include "sim/report/report_explain.h"

static json_t *json_layers(const struct sl_path *path)
{
	json_t *array = json_array();

	for (int layer = 0; layer < SL_LAYERS; layer++) {
		if (path->service_ns[layer] + path->waiting_ns[layer] > 0) {
			json_array_append_new(
			    array, json_pack("{s:s, s:I, s:I}", "layer", sl_layer_name((enum sl_layer)layer),
					     "service_ns", (json_int_t)path->service_ns[layer], "waiting_ns",
					     (json_int_t)path->waiting_ns[layer]));
		}
	}
	return array;
}

static json_t *json_segments(const struct sl_path *path)
{
	json_t *array = json_array();

	for (int i = 0; i < path->n_segments; i++) {
		const struct sl_segment *s = &path->segments[i];

		json_array_append_new(array,
				      json_pack("{s:s, s:b, s:I, s:I}", "layer", sl_layer_name(s->layer),
						"waiting", s->waiting, "start_ns", (json_int_t)s->start_ns,
						"end_ns", (json_int_t)s->end_ns));
	}
	return array;
}

static json_t *json_path(const struct sl_path *path)
{
	json_t *object =
	    json_pack("{s:s, s:I, s:I, s:I}", "kind", path->name, "operation", (json_int_t)path->op,
		      "start_ns", (json_int_t)path->start_ns, "latency_ns", (json_int_t)path->latency_ns);

	json_object_set_new(object, "serial_calls",
			    json_pack("{s:i, s:i, s:i}", "read", path->reads, "write", path->writes, "commit",
				      path->commits));
	json_object_set_new(object, "layers", json_layers(path));
	json_object_set_new(object, "segments", json_segments(path));
	return object;
}

static json_t *json_changes(const struct sl_explain_cell *cell)
{
	enum sl_what_if order[SL_WHAT_IFS];
	json_t *array = json_array();
	int n = sl_explain_order(cell, order);

	for (int i = 0; i < n; i++) {
		json_t *change =
		    json_pack("{s:s, s:s, s:o, s:o}", "key", sl_what_if_key(order[i]), "change",
			      sl_what_if_name(order[i]), "rate", sl_json_figure(cell->rate[order[i]]),
			      "gain_pct", sl_json_figure(sl_what_if_gain(cell, order[i])));

		if (cell->why[order[i]][0] != '\0') {
			json_object_set_new(change, "why", json_string(cell->why[order[i]]));
		}
		json_array_append_new(array, change);
	}
	return array;
}

static json_t *json_resources(const struct sl_measure *measure)
{
	json_t *array = json_array();

	for (int i = 0; i < measure->n_resources; i++) {
		json_array_append_new(array, json_pack("{s:s, s:o}", "name", measure->resources[i].name,
						       "utilisation",
						       sl_json_figure(measure->resources[i].utilisation)));
	}
	return array;
}

static json_t *json_cell(const struct sl_scenario *sc, const struct sl_explain_cell *cell)
{
	const struct sl_workload *workload = sl_scenario_workload(sc, cell->workload);
	json_t *object = json_object();

	json_object_set_new(object, "variant", sl_json_text(sl_scenario_variant_name(sc, cell->variant)));
	json_object_set_new(object, "workload", sl_json_text(workload->name));
	json_object_set_new(object, "unit", json_string(sl_speed_unit(workload)));
	json_object_set_new(object, "rate", sl_json_figure(cell->value));
	json_object_set_new(object, "resources", json_resources(&cell->measure));
	for (int q = 0; q < SL_EXPLAIN_QUANTILES; q++) {
		json_object_set_new(object, sl_explain_quantile_name((enum sl_explain_quantile)q),
				    cell->has_path ? json_path(&cell->path[q]) : json_null());
	}
	json_object_set_new(object, "what_if", json_changes(cell));
	return object;
}

static json_t *json_conclusions(const struct sl_explain *explain)
{
	json_t *array = json_array();
	char text[512];

	for (int w = 0; w < sl_scenario_workloads(explain->scenario); w++) {
		sl_explain_conclusion(explain, w, text, sizeof(text));
		if (text[0] != '\0') {
			json_array_append_new(
			    array, json_pack("{s:o, s:o}", "workload",
					     sl_json_text(sl_scenario_workload(explain->scenario, w)->name),
					     "text", sl_json_text(text)));
		}
	}
	return array;
}

int sl_explain_json(void *arg, FILE *out, struct sl_err *err)
{
	const struct sl_explain_report *report = arg;
	const struct sl_explain *explain = report->explain;
	json_t *root = json_object(), *cells = json_array();
	int rc;

	json_object_set_new(root, "schema", json_string("sloglab-explain/1"));
	json_object_set_new(root, "scenario", sl_json_text(sl_scenario_name(explain->scenario)));
	json_object_set_new(root, "title", sl_json_text(sl_scenario_title(explain->scenario)));
	json_object_set_new(root, "seed", json_integer((json_int_t)explain->seed));
	json_object_set_new(root, "versions", json_pack("{s:s}", "sloglab", SL_VERSION));
	json_object_set_new(root, "conclusions", json_conclusions(explain));
	for (int i = 0; i < explain->n_cells; i++) {
		json_array_append_new(cells, json_cell(explain->scenario, &explain->cells[i]));
	}
	json_object_set_new(root, "cells", cells);
	rc = sl_json_write(root, out, err);
	json_decref(root);
	return rc;
}
