/* Verdicts as JSON: schema sloglab-powercut/1, the same bytes for the same input. */
#include <jansson.h>

#include "sim/base/json.h"
#include "sim/report/report_powercut.h"

static json_t *seconds(int64_t ns)
{
	return sl_json_figure((double)ns / 1e9);
}

static json_t *integer(uint64_t n)
{
	return json_integer((json_int_t)n);
}

/* What a real box does not tell is null. */
static json_t *json_worst(const struct sl_outcome *cut, bool real)
{
	const struct sl_imported *in = &cut->imported;
	bool txg = !real || in->txg > 0;
	json_t *object = json_object();

	json_object_set_new(object, "at_s", seconds(cut->at_ns));
	json_object_set_new(object, "acknowledged_writes", integer(cut->acknowledged));
	json_object_set_new(object, "lost_writes", integer(cut->lost));
	json_object_set_new(object, "lost_bytes", json_integer(cut->lost_bytes));
	json_object_set_new(object, "window_s", seconds(cut->window_ns));
	json_object_set_new(object, "imported_txg", txg ? integer(in->txg) : json_null());
	json_object_set_new(object, "rolled_back_txgs", txg ? integer(in->believed - in->txg) : json_null());
	json_object_set_new(object, "replayed_blocks", real ? json_null() : integer(in->stop - in->first));
	json_object_set_new(object, "replayed_records", real ? json_null() : integer(in->records));
	json_object_set_new(object, "resent_writes", real ? json_null() : integer(cut->resent));
	return object;
}

static json_t *json_causes(const struct sl_verdict *v)
{
	json_t *object = json_object();

	for (int i = 1; i < SL_CAUSES; i++) {
		if (v->causes[i] > 0) {
			json_object_set_new(object, sl_cause_name((enum sl_cause)i), integer(v->causes[i]));
		}
	}
	return object;
}

static json_t *json_verdict(const struct sl_powercut *powercut, const struct sl_verdict *v)
{
	const struct sl_workload *workload = sl_scenario_workload(powercut->scenario, v->workload);
	json_t *object = json_object();

	json_object_set_new(object, "variant",
			    sl_json_text(sl_scenario_variant_name(powercut->scenario, v->variant)));
	json_object_set_new(object, "workload", sl_json_text(workload->name));
	json_object_set_new(object, "value", sl_json_figure(v->rate));
	json_object_set_new(object, "unit", json_string(sl_workload_unit(workload)));
	json_object_set_new(object, "client", json_string(sl_nfs_client_name(v->client)));
	json_object_set_new(object, "end_s", seconds(v->end_ns));
	json_object_set_new(object, "acknowledged_writes", integer(v->acknowledged));
	json_object_set_new(object, "cuts", integer(v->n_cuts));
	json_object_set_new(object, "cuts_with_loss", integer(v->lossy));
	json_object_set_new(object, "mean_lost_writes", sl_json_figure(v->mean_lost));
	json_object_set_new(object, "window_s", seconds(v->window_ns));
	json_object_set_new(object, "at_least", json_boolean(v->at_least));
	json_object_set_new(object, "longest_answer_s",
			    v->longest_answer_ns == SL_NEVER ? json_null() : seconds(v->longest_answer_ns));
	json_object_set_new(object, "worst", json_worst(&v->worst, powercut->real));
	json_object_set_new(object, "causes", json_causes(v));
	json_object_set_new(object, "why", v->worst.lost > 0 ? sl_json_text(v->why) : json_null());
	return object;
}

int sl_powercut_json(void *arg, FILE *out, struct sl_err *err)
{
	const struct sl_powercut *powercut = arg;
	const struct sl_powercut_options *o = &powercut->options;
	json_t *root = json_object(), *notes = json_array(), *verdicts = json_array();
	int rc;

	json_object_set_new(root, "schema", json_string("sloglab-powercut/1"));
	json_object_set_new(root, "scenario", sl_json_text(sl_scenario_name(powercut->scenario)));
	json_object_set_new(root, "title", sl_json_text(sl_scenario_title(powercut->scenario)));
	json_object_set_new(root, "versions", json_pack("{s:s}", "sloglab", SL_VERSION));
	json_object_set_new(root, "engine", json_string(powercut->real ? "vm" : "model"));
	json_object_set_new(root, "seed", integer(o->seed));
	json_object_set_new(root, "radius", json_string(sl_radius_name(o->radius)));
	json_object_set_new(root, "fault", json_string(sl_fault_name(o->fault)));
	json_object_set_new(root, "broken_rule", json_string(sl_zil_broken_name(o->broken)));
	for (int i = 0; i < powercut->n_verdicts; i++) {
		json_array_append_new(verdicts, json_verdict(powercut, &powercut->verdicts[i]));
	}
	json_object_set_new(root, "verdicts", verdicts);
	for (int i = 0; i < powercut->n_notes; i++) {
		json_array_append_new(notes, sl_json_text(powercut->notes[i]));
	}
	json_object_set_new(root, "notes", notes);
	rc = sl_json_write(root, out, err);
	json_decref(root);
	return rc;
}
