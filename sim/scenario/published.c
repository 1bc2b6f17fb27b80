/*
 * Published figures. A figure without a unit is in that of its workload's metric. One with a unit, or with a
 * metric of its own, says what all of its workload report: bytes per second, a latency; unless the workload
 * or another of its figures has said something else already.
 */
#include "sim/scenario/inner.h"

#include <errno.h>
#include <string.h>

#include "sim/scenario/metric.h"

/* In the unit written. */
#define FIGURE_MIN 1e-6
#define FIGURE_MAX 1e12

/* As written. */
struct figure {
	const yaml_node_t *node, *metric; /* metric: NULL = not said */
	const char *text;
	enum sl_unit kind; /* SL_UNIT_NONE: a plain number */
	const char *unit;
	double unit_size;
	double value; /* in `unit` */
};

static int figure_read(const struct sl_reading *r, const yaml_node_t *node, struct figure *ret)
{
	static const enum sl_unit kinds[] = {SL_UNIT_RATE, SL_UNIT_TIME, SL_UNIT_IOPS, SL_UNIT_NONE};
	double base;

	ret->node = node;
	ret->text = sl_yaml_scalar(r->yaml, node, "value", r->err);
	if (!ret->text) {
		return -EINVAL;
	}
	for (size_t i = 0; !ret->unit && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		ret->kind = kinds[i];
		ret->unit = sl_units_suffix(ret->text, kinds[i], &ret->unit_size);
	}
	if (sl_units_parse(ret->text, ret->kind, &base, r->err) < 0) {
		return ret->unit ? sl_yaml_wrap(r->yaml, node, "value", r->err)
				 : sl_yaml_fail(r->yaml, node, "value", r->err,
						"'%.40s' is no figure; write a number, such as 188, perhaps "
						"with its unit: 272MB/s, 3.1ms",
						ret->text);
	}
	ret->value = base / ret->unit_size;
	return ret->value >= FIGURE_MIN && ret->value <= FIGURE_MAX
		   ? 0
		   : sl_yaml_fail(r->yaml, node, "value", r->err,
				  "'%.40s': out of range; write a value from %g to %g", ret->text, FIGURE_MIN,
				  FIGURE_MAX);
}

/* The metric that the figure is of. */
static int figure_metric(const struct sl_reading *r, const struct figure *figure,
			 const struct sl_workload *workload, int *ret)
{
	struct sl_schema table = sl_schema_workload();
	int row = sl_schema_find(table, "metric", 1u << workload->kind);
	const char *text;
	double at;

	if (!figure->metric) {
		bool same = figure->kind == SL_UNIT_NONE || figure->kind == sl_metric_of(workload).kind;

		*ret = same ? sl_metric_at(workload) : sl_metric_of_kind(workload, figure->kind);
		return 0;
	}
	text = sl_yaml_scalar(r->yaml, figure->metric, "metric", r->err);
	if (!text) {
		return -EINVAL;
	}
	if (sl_schema_parse(&table.rows[row], text, &at, r->err) < 0) {
		return sl_yaml_wrap(r->yaml, figure->metric, "metric", r->err);
	}
	*ret = (int)at;
	return 0;
}

/* The workload reports what the figure is of, or is made to; `fixed`: others rely on what it reports. */
static int figure_fit(const struct sl_reading *r, const struct figure *figure, struct sl_workload *workload,
		      bool fixed)
{
	struct sl_workload other = *workload;
	int at = sl_metric_at(workload), rc = figure_metric(r, figure, workload, &at);

	if (rc < 0) {
		return rc;
	}
	sl_metric_set(&other, at);
	if (!sl_metric_fits(&other) ||
	    (figure->kind != SL_UNIT_NONE && figure->kind != sl_metric_of(&other).kind)) {
		return sl_yaml_fail(
		    r->yaml, figure->node, "value", r->err,
		    "'%.40s' is no figure of workload '%s'; write a number in %s, or a metric "
		    "that goes with the unit and its kind",
		    figure->text, workload->name, sl_metric_of(workload).unit);
	}
	if (at == sl_metric_at(workload)) {
		return 0;
	}
	if (fixed || sl_metric_at(workload) != 0) {
		return sl_yaml_fail(r->yaml, figure->node, "value", r->err,
				    "'%.40s' is of another metric than '%s' reports, which is in %s; add a "
				    "look at its run to workloads: {of: %s, metric: ...}",
				    figure->text, workload->name, sl_metric_of(workload).unit,
				    workload->name);
	}
	*workload = other;
	return 0;
}

static int read_cell_role(const struct sl_yaml *yaml, const yaml_node_t *node, struct sl_published *cell,
			  struct sl_err *err)
{
	const char *text = sl_yaml_scalar(yaml, node, "role", err);
	int at = text ? sl_schema_word("calibrate|predict", text) : -1;

	if (text && at < 0) {
		sl_yaml_fail(yaml, node, "role", err, "'%.40s' is not known; write calibrate or predict",
			     text);
	}
	if (at < 0) {
		return -EINVAL;
	}
	cell->role = at == 0 ? SL_ROLE_CALIBRATE : SL_ROLE_PREDICT;
	return 0;
}

static int read_cell(const struct sl_reading *r, struct sl_yaml_pair cell_pair, struct sl_workload *workload,
		     bool *fixed, struct sl_published *cell)
{
	struct figure figure = {0};
	int rc = sl_yaml_want_map(r->yaml, cell_pair.value, cell_pair.key, r->err);

	for (int i = 0; rc == 0 && i < sl_yaml_pairs(cell_pair.value); i++) {
		struct sl_yaml_pair pair = sl_yaml_pair(r->yaml, cell_pair.value, i);

		if (strcmp(pair.key, "value") == 0) {
			rc = figure_read(r, pair.value, &figure);
		} else if (strcmp(pair.key, "role") == 0) {
			rc = read_cell_role(r->yaml, pair.value, cell, r->err);
		} else if (strcmp(pair.key, "metric") == 0) {
			figure.metric = pair.value;
		} else {
			rc = sl_yaml_fail(
			    r->yaml, pair.key_node, NULL, r->err,
			    "unknown key '%.63s'; a published figure has value, metric and role", pair.key);
		}
	}
	if (rc == 0 && !figure.text) {
		rc = sl_yaml_fail(r->yaml, cell_pair.value, cell_pair.key, r->err,
				  "'value' is missing; write {value: 188, role: predict}");
	}
	rc = rc == 0 ? figure_fit(r, &figure, workload, *fixed) : rc;
	if (rc < 0) {
		return rc;
	}
	if (!*fixed && (figure.kind == SL_UNIT_RATE || figure.kind == SL_UNIT_TIME)) {
		workload->unit = figure.unit;
		workload->unit_size = figure.unit_size;
	}
	*fixed = true;
	cell->value = figure.kind == SL_UNIT_NONE
			  ? figure.value
			  : figure.value * figure.unit_size / sl_metric_of(workload).unit_size;
	return 0;
}

int sl_scenario_read_published(const struct sl_reading *r, const yaml_node_t *map)
{
	bool fixed[SL_WORKLOADS_MAX] = {false};
	int rc = sl_yaml_want_map(r->yaml, map, "published", r->err);

	for (int i = 0; rc == 0 && i < sl_yaml_pairs(map); i++) {
		struct sl_yaml_pair row = sl_yaml_pair(r->yaml, map, i);
		int variant = sl_scenario_find_variant(r->sc, row.key);

		if (variant < 0) {
			return sl_scenario_fail_variant(r, row.key_node, "published", row.key);
		}
		rc = sl_yaml_want_map(r->yaml, row.value, row.key, r->err);
		for (int j = 0; rc == 0 && j < sl_yaml_pairs(row.value); j++) {
			struct sl_yaml_pair pair = sl_yaml_pair(r->yaml, row.value, j);
			int workload = sl_scenario_find_workload(r->sc, pair.key);

			rc = workload < 0
				 ? sl_scenario_fail_workload(r, pair.key_node, "published", pair.key)
				 : read_cell(r, pair, &r->sc->workloads[workload], &fixed[workload],
					     &r->sc->published[variant * r->sc->n_workloads + workload]);
		}
	}
	return rc;
}
