#include "sim/scenario/inner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FORMAT "sloglab-device/1"
#define KIND_WORDS "null|hdd|ssd"

struct reader {
	struct sl_scenario *sc;
	struct sl_yaml *yaml;
	struct sl_device *device;
	bool given[SL_N_FIGURES];
	struct sl_err *err;
};

/* Appends a figure to the device's list and stores it in the spec. */
static int add_figure(struct reader *r, const struct sl_schema_row *row, const struct sl_param *param)
{
	struct sl_device *device = r->device;
	struct sl_param *figure = &device->figures[device->n_figures++];
	char key[2 * SL_NAME_MAX];

	(void)snprintf(key, sizeof(key), "%s.%s", device->spec.name, row->key);
	*figure = *param;
	figure->key = sl_arena_strdup(&r->sc->arena, key);
	figure->text = sl_arena_strdup(&r->sc->arena, param->text);
	figure->source = sl_arena_strdup(&r->sc->arena, param->source);
	figure->where = sl_arena_strdup(&r->sc->arena, param->where);
	figure->unit = row->unit;
	figure->min = row->min;
	figure->max = row->max;
	figure->help = row->help;
	sl_schema_store(row, figure->value, &device->spec);
	/* A figure nobody stated is an assumption as well. */
	device->spec.assumed |= figure->kind == SL_PROV_ASSUMED || figure->kind == SL_PROV_DEFAULT;
	return figure->key && figure->text && figure->source && figure->where
		   ? 0
		   : sl_err_set(r->err, -ENOMEM, "out of memory");
}

static int read_figure(struct reader *r, const struct sl_schema_row *row, const yaml_node_t *node)
{
	struct sl_param param = {0};
	struct sl_stated stated;
	char where[SL_YAML_WHERE_MAX];
	int rc = sl_scenario_stated(r->yaml, node, row->key, false, &stated, r->err);

	if (rc == 0 && stated.kind == SL_PROV_FITTED) {
		rc =
		    sl_yaml_fail(r->yaml, node, row->key, r->err,
				 "a device's figure is not fitted; write spec, measured, derived or assumed");
	}
	if (rc) {
		return rc;
	}
	rc = sl_schema_parse(row, stated.value, &param.value, r->err);
	if (rc) {
		sl_yaml_wrap(r->yaml, stated.value_node, row->key, r->err);
		return rc;
	}
	sl_yaml_where(r->yaml, stated.value_node, where, sizeof(where));
	param.text = stated.value;
	param.source = stated.source;
	param.kind = stated.kind;
	param.where = where;
	return add_figure(r, row, &param);
}

static int read_figures(struct reader *r, const yaml_node_t *map)
{
	struct sl_schema table = sl_schema_figures();
	unsigned mask = 1u << r->device->spec.kind;
	int rc = sl_yaml_want_map(r->yaml, map, "figures", r->err);

	for (int i = 0; rc == 0 && i < sl_yaml_pairs(map); i++) {
		struct sl_yaml_pair pair = sl_yaml_pair(r->yaml, map, i);
		int at = sl_schema_find(table, pair.key, mask);

		if (at >= 0) {
			r->given[at] = true;
			rc = read_figure(r, &table.rows[at], pair.value);
		} else if (sl_schema_find(table, pair.key, SL_ANY_KIND) >= 0) {
			rc = sl_yaml_fail(r->yaml, pair.key_node, NULL, r->err,
					  "figure '%s' does not belong to this kind of device; remove it",
					  pair.key);
		} else {
			rc = sl_scenario_unknown(r->yaml, pair.key_node, table, pair.key,
						 "see sloglab-scenario(5)", r->err);
		}
	}
	return rc;
}

/* Fills what the file left out, or complains at `node`. */
static int fill_defaults(struct reader *r, const yaml_node_t *node)
{
	struct sl_schema table = sl_schema_figures();
	unsigned mask = 1u << r->device->spec.kind;

	for (int i = 0; i < table.n; i++) {
		const struct sl_schema_row *row = &table.rows[i];
		struct sl_param param = {
		    .text = row->dflt, .source = "", .where = "default", .kind = SL_PROV_DEFAULT};
		int rc;

		if (r->given[i] || (row->kinds & mask) == 0) {
			continue;
		}
		if (row->dflt[0] == '\0') {
			return sl_yaml_fail(
			    r->yaml, node, NULL, r->err,
			    "figure '%s' is missing; add %s: {value: ..., kind: ..., source: ...}", row->key,
			    row->key);
		}
		rc = sl_schema_parse(row, row->dflt, &param.value, r->err);
		if (rc) {
			return sl_err_wrap(r->err, "default of %s", row->key);
		}
		rc = add_figure(r, row, &param);
		if (rc) {
			return rc;
		}
	}
	return 0;
}

/* Figures that contradict each other. */
static int check_figures(struct reader *r, const yaml_node_t *node)
{
	const struct sl_dev_spec *spec = &r->device->spec;

	if (spec->kind == SL_DEV_HDD &&
	    !(spec->seek_track_ns <= spec->seek_avg_ns && spec->seek_avg_ns <= spec->seek_full_ns)) {
		return sl_yaml_fail(
		    r->yaml, node, NULL, r->err,
		    "seek_track, seek_average and seek_full must rise in this order; correct them");
	}
	return 0;
}

static int read_kind(struct reader *r, const yaml_node_t *root)
{
	const yaml_node_t *node = sl_yaml_get(r->yaml, root, "kind");
	const char *text;
	int kind;

	if (!node) {
		return sl_yaml_fail(r->yaml, root, "kind", r->err,
				    "is missing; write kind: null, hdd or ssd");
	}
	text = sl_yaml_scalar(r->yaml, node, "kind", r->err);
	if (!text) {
		return -EINVAL;
	}
	kind = sl_schema_word(KIND_WORDS, text);
	if (kind < 0) {
		return sl_yaml_fail(r->yaml, node, "kind", r->err,
				    "'%.40s' is not known; write null, hdd or ssd", text);
	}
	r->device->spec.kind = (enum sl_dev_kind)kind;
	return 0;
}

static int read_device(struct reader *r)
{
	const yaml_node_t *root = sl_yaml_root(r->yaml), *figures;
	int rc = sl_yaml_want_format(r->yaml, FORMAT, r->err);

	if (rc == 0) {
		rc = read_kind(r, root);
	}
	for (int i = 0; rc == 0 && i < sl_yaml_pairs(root); i++) {
		struct sl_yaml_pair pair = sl_yaml_pair(r->yaml, root, i);

		if (sl_schema_word("format|kind|description|figures", pair.key) < 0) {
			rc = sl_yaml_fail(
			    r->yaml, pair.key_node, NULL, r->err,
			    "unknown key '%.63s'; a device has format, kind, description and figures",
			    pair.key);
		} else if (strcmp(pair.key, "description") == 0) {
			rc = sl_yaml_scalar(r->yaml, pair.value, pair.key, r->err) ? 0 : -EINVAL;
		}
	}
	figures = rc == 0 ? sl_yaml_get(r->yaml, root, "figures") : NULL;
	if (figures) {
		rc = read_figures(r, figures);
	}
	if (rc == 0) {
		rc = fill_defaults(r, figures ? figures : root);
	}
	return rc ? rc : check_figures(r, figures ? figures : root);
}

int sl_scenario_device(struct sl_scenario *sc, struct sl_yaml *yaml, const yaml_node_t *node, const char *key,
		       const char *name, struct sl_err *err)
{
	struct reader r = {.sc = sc, .err = err};
	struct sl_yaml file;
	int rc;

	for (int i = 0; i < sc->n_devices; i++) {
		if (strcmp(sc->devices[i]->spec.name, name) == 0) {
			return i;
		}
	}
	if (sc->n_devices == SL_DEVICES_MAX) {
		return sl_yaml_fail(yaml, node, key, err, "more than %d kinds of devices; use fewer",
				    SL_DEVICES_MAX);
	}
	rc = sl_scenario_library(sc, "catalogue", name, yaml, node, key, &file, err);
	if (rc) {
		return rc;
	}
	r.yaml = &file;
	r.device = sl_arena_alloc(&sc->arena, sizeof(*r.device));
	if (r.device) {
		(void)snprintf(r.device->spec.name, sizeof(r.device->spec.name), "%s", name);
		rc = read_device(&r);
	} else {
		rc = sl_err_set(err, -ENOMEM, "out of memory");
	}
	sl_yaml_free(&file);
	if (rc) {
		return rc;
	}
	sc->devices[sc->n_devices] = r.device;
	return sc->n_devices++;
}
