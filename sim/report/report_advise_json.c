/* Advice as JSON: schema sloglab-advice/1, the same bytes for the same input. */
#include <jansson.h>

#include "sim/base/json.h"
#include "sim/report/report_advise.h"
#include "sim/report/report_costs.h"

static json_t *figure_or_null(double value)
{
	return value > 0 ? sl_json_figure(value) : json_null();
}

static json_t *json_paired(const struct sl_paired *p)
{
	json_t *ratio = json_pack("{s:o, s:o, s:o}", "mean", sl_json_figure(p->ratio), "low",
				  sl_json_figure(p->ratio_low), "high", sl_json_figure(p->ratio_high));

	return json_pack("{s:i, s:o, s:o, s:o}", "pairs", p->n, "ratio", ratio, "difference",
			 sl_json_figure(p->difference), "difference_ci95",
			 p->n > 1 ? sl_json_figure(p->difference_ci95) : json_null());
}

static json_t *json_row(const struct sl_advice *advice, const struct sl_advice_row *row, int at)
{
	const struct sl_candidate *c = &advice->candidates[row->candidate];
	json_t *object = json_object(), *resources = json_array(), *samples = json_array();

	json_object_set_new(object, "rank", json_integer(at + 1));
	json_object_set_new(object, "change", sl_json_text(c->name));
	json_object_set_new(object, "kind", json_string(sl_change_name(c->change)));
	json_object_set_new(object, "value", sl_json_figure(row->paired.other));
	for (int i = 0; i < row->n_samples; i++) {
		json_array_append_new(samples, sl_json_figure(row->samples[i]));
	}
	json_object_set_new(object, "samples", samples);
	json_object_set_new(object, "gain", json_paired(&row->paired));
	json_object_set_new(object, "price_usd", c->has_price ? sl_json_figure(c->price_usd) : json_null());
	json_object_set_new(object, "usd_per_operation", figure_or_null(row->usd_per_op));
	json_object_set_new(object, "usd_per_operation_gained", figure_or_null(row->usd_per_gained));
	json_object_set_new(object, "endurance", sl_costs_json_endurance(&row->endurance));
	json_object_set_new(object, "loss", sl_costs_json_loss(&row->measure.loss));
	json_object_set_new(object, "helps", json_boolean(row->helps));
	json_object_set_new(object, "unsafe", json_boolean(row->unsafe));
	json_object_set_new(object, "wears_out", json_boolean(row->life == SL_LIFE_SHORT));
	json_object_set_new(object, "life", json_string(sl_life_name(row->life)));
	json_object_set_new(object, "assumed", json_boolean(c->assumed));
	json_object_set_new(object, "dominated_by",
			    row->dominated_by >= 0 ? json_integer(row->dominated_by + 1) : json_null());
	json_object_set_new(object, "remark", json_string(c->remark));
	for (int i = 0; i < row->measure.n_resources; i++) {
		const struct sl_resource *r = &row->measure.resources[i];

		json_array_append_new(resources, json_pack("{s:s, s:o}", "name", r->name, "utilisation",
							   sl_json_figure(r->utilisation)));
	}
	json_object_set_new(object, "resources", resources);
	return object;
}

static json_t *rank_or_null(int at)
{
	return at >= 0 ? json_integer(at + 1) : json_null();
}

static json_t *json_table(const struct sl_advice *advice, const struct sl_advice_table *table)
{
	const struct sl_workload *workload = sl_scenario_workload(advice->scenario, table->workload);
	json_t *object = json_object(), *rows = json_array();

	json_object_set_new(object, "workload", sl_json_text(workload->name));
	json_object_set_new(object, "unit", json_string(sl_metric_unit(workload->kind)));
	json_object_set_new(object, "verdict", sl_json_text(table->verdict));
	json_object_set_new(object, "limit", sl_json_text(table->limit));
	json_object_set_new(object, "base", rank_or_null(table->base));
	json_object_set_new(object, "best_purchase", rank_or_null(table->best_purchase));
	json_object_set_new(object, "best_free", rank_or_null(table->best_free));
	json_object_set_new(object, "replacement", rank_or_null(table->replacement));
	json_object_set_new(object, "advised", rank_or_null(table->advised));
	for (int i = 0; i < table->n_rows; i++) {
		json_array_append_new(rows, json_row(advice, &table->rows[i], i));
	}
	json_object_set_new(object, "rows", rows);
	return object;
}

static json_t *json_drives(const struct sl_advice *advice)
{
	json_t *array = json_array();

	for (int i = 0; i < advice->n_drives; i++) {
		const struct sl_advice_drive *d = &advice->drives[i];

		json_array_append_new(array,
				      json_pack("{s:s, s:o, s:o, s:b, s:i}", "name", d->spec.name,
						"price_usd", figure_or_null(d->spec.price_usd),
						"price_source", sl_json_text(d->price_source), "assumed",
						d->assumed, "figures_assumed", d->figures_assumed));
	}
	return array;
}

int sl_report_advise_json(void *arg, FILE *out, struct sl_err *err)
{
	const struct sl_advise_report *report = arg;
	const struct sl_advice *advice = report->advice;
	json_t *root = json_object(), *notes = json_array(), *tables = json_array();
	char rule[512];
	int rc;

	json_object_set_new(root, "schema", json_string("sloglab-advice/1"));
	json_object_set_new(root, "scenario", sl_json_text(sl_scenario_name(advice->scenario)));
	json_object_set_new(root, "title", sl_json_text(sl_scenario_title(advice->scenario)));
	json_object_set_new(root, "versions", json_pack("{s:s}", "sloglab", SL_VERSION));
	json_object_set_new(root, "base",
			    sl_json_text(sl_scenario_variant_name(advice->scenario, advice->base_variant)));
	json_object_set_new(root, "seed", json_integer((json_int_t)advice->seed));
	json_object_set_new(root, "repeat", json_integer(advice->repeat));
	json_object_set_new(root, "years", sl_json_figure(advice->years));
	json_object_set_new(root, "mirrored", json_boolean(advice->mirrored));
	sl_advice_rule(advice, rule, sizeof(rule));
	json_object_set_new(root, "rule", json_string(rule));
	json_object_set_new(root, "drives", json_drives(advice));
	for (int i = 0; i < advice->n_notes; i++) {
		json_array_append_new(notes, sl_json_text(advice->notes[i]));
	}
	json_object_set_new(root, "notes", notes);
	for (int i = 0; i < advice->n_tables; i++) {
		json_array_append_new(tables, json_table(advice, &advice->tables[i]));
	}
	json_object_set_new(root, "tables", tables);
	rc = sl_json_write(root, out, err);
	json_decref(root);
	return rc;
}
