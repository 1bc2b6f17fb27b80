#include "sim/scenario/inner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/units.h"

#define FORMAT "sloglab-device/1"
#define NESTING_MAX 4
#define KIND_WORDS "null|hdd|ssd|nvram|mirror|stripe|raid10"
#define KIND_LIST "null, hdd, ssd, nvram, mirror, stripe or raid10"

struct device_reader {
	struct sl_reading base; /* over the device's own file */
	struct sl_device *device;
	bool given[SL_N_FIGURES];
};

/* Appends a figure to the device's list and stores it in the spec. */
static int add_figure(struct device_reader *r, const struct sl_schema_row *row, const struct sl_param *param)
{
	struct sl_device *device = r->device;
	struct sl_param *figure = &device->figures[device->n_figures++];
	char key[2 * SL_NAME_MAX];

	(void)snprintf(key, sizeof(key), "%s.%s", device->spec.name, row->key);
	*figure = *param;
	figure->key = sl_arena_strdup(&r->base.sc->arena, key);
	figure->text = sl_arena_strdup(&r->base.sc->arena, param->text);
	figure->source = sl_arena_strdup(&r->base.sc->arena, param->source);
	figure->where = sl_arena_strdup(&r->base.sc->arena, param->where);
	figure->unit = row->unit;
	figure->min = row->min;
	figure->max = row->max;
	figure->help = row->help;
	sl_schema_store(row, figure->value, &device->spec);
	return figure->key && figure->text && figure->source && figure->where
		   ? 0
		   : sl_err_set(r->base.err, -ENOMEM, "out of memory");
}

static int read_figure(struct device_reader *r, const struct sl_schema_row *row, const yaml_node_t *node)
{
	struct sl_param param = {0};
	struct sl_stated stated;
	char where[SL_YAML_WHERE_MAX];
	int rc = sl_scenario_stated(r->base.yaml, node, row->key, false, &stated, r->base.err);

	if (rc == 0 && stated.kind == SL_PROV_FUDGE) {
		rc = sl_yaml_fail(r->base.yaml, node, row->key, r->base.err,
				  "a device has no fudge; write spec, measured, derived, fitted or assumed");
	}
	if (rc) {
		return rc;
	}
	rc = sl_schema_parse(row, stated.value, &param.value, r->base.err);
	if (rc) {
		sl_yaml_wrap(r->base.yaml, stated.value_node, row->key, r->base.err);
		return rc;
	}
	sl_yaml_where(r->base.yaml, stated.value_node, where, sizeof(where));
	param.text = stated.value;
	param.source = stated.source;
	param.kind = stated.kind;
	param.where = where;
	return add_figure(r, row, &param);
}

static int read_figures(struct device_reader *r, const yaml_node_t *map)
{
	struct sl_schema table = sl_schema_figures();
	unsigned mask = 1u << r->device->spec.kind;
	int rc = sl_yaml_want_map(r->base.yaml, map, "figures", r->base.err);

	for (int i = 0; rc == 0 && i < sl_yaml_pairs(map); i++) {
		struct sl_yaml_pair pair = sl_yaml_pair(r->base.yaml, map, i);
		int at = sl_schema_find(table, pair.key, mask);

		if (at >= 0) {
			r->given[at] = true;
			rc = read_figure(r, &table.rows[at], pair.value);
		} else if (sl_schema_find(table, pair.key, SL_ANY_KIND) >= 0) {
			rc = sl_yaml_fail(r->base.yaml, pair.key_node, NULL, r->base.err,
					  "figure '%s' does not belong to this kind of device; remove it",
					  pair.key);
		} else {
			rc = sl_scenario_unknown(&r->base, pair.key_node, table, pair.key,
						 "see sloglab-scenario(5)");
		}
	}
	return rc;
}

/* The link where the file says none: what its interface carries, or the drive's own fastest rate, which no
 * drive could show behind a slower one. PCIe 3.0 x4 with 128b/130b coding, SAS-3 and SATA 6 Gbit/s with
 * 8b/10b.
 */
static int default_link(struct sl_arena *arena, const struct sl_dev_spec *spec, struct sl_param *param)
{
	static const double carries[] = {[SL_IF_SATA] = 600e6, [SL_IF_SAS] = 1200e6, [SL_IF_NVME] = 3938e6};
	static const char *const names[] = {
	    [SL_IF_SATA] = "SATA 6 Gbit/s", [SL_IF_SAS] = "SAS-3", [SL_IF_NVME] = "PCIe 3.0 x4"};
	double own = spec->read_bps > spec->ssd_write_bps ? spec->read_bps : spec->ssd_write_bps;
	char text[32], source[128];

	own = own > spec->media_bps ? own : spec->media_bps;
	param->value = carries[spec->interface] > own ? carries[spec->interface] : own;
	sl_units_format(param->value, SL_UNIT_RATE, text, sizeof(text));
	(void)snprintf(source, sizeof(source), "not said; %s%s",
		       own < param->value ? names[spec->interface] : "",
		       own < param->value ? "" : "the drive's own fastest rate");
	param->text = sl_arena_strdup(arena, text);
	param->source = sl_arena_strdup(arena, source);
	param->kind = SL_PROV_DERIVED;
	return param->text && param->source ? 0 : -ENOMEM;
}

/* Fills what the file left out, or complains at `node`. */
static int fill_defaults(struct device_reader *r, const yaml_node_t *node)
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
			    r->base.yaml, node, NULL, r->base.err,
			    "figure '%s' is missing; add %s: {value: ..., kind: ..., source: ...}", row->key,
			    row->key);
		}
		rc = sl_schema_parse(row, row->dflt, &param.value, r->base.err);
		if (rc) {
			return sl_err_wrap(r->base.err, "default of %s", row->key);
		}
		if (strcmp(row->key, "link_rate") == 0 &&
		    default_link(&r->base.sc->arena, &r->device->spec, &param) < 0) {
			return sl_err_set(r->base.err, -ENOMEM, "out of memory");
		}
		rc = add_figure(r, row, &param);
		if (rc) {
			return rc;
		}
	}
	return 0;
}

static int read_kind(struct device_reader *r, const yaml_node_t *root)
{
	const yaml_node_t *node = sl_yaml_get(r->base.yaml, root, "kind");
	const char *text;
	int kind;

	if (!node) {
		return sl_yaml_fail(r->base.yaml, root, "kind", r->base.err,
				    "is missing; write kind: " KIND_LIST);
	}
	text = sl_yaml_scalar(r->base.yaml, node, "kind", r->base.err);
	if (!text) {
		return -EINVAL;
	}
	kind = sl_schema_word(KIND_WORDS, text);
	if (kind < 0) {
		return sl_yaml_fail(r->base.yaml, node, "kind", r->base.err,
				    "'%.40s' is not known; write " KIND_LIST, text);
	}
	r->device->spec.kind = (enum sl_dev_kind)kind;
	return 0;
}

static int read_part(struct device_reader *r, struct sl_yaml_pair pair)
{
	struct sl_device *device = r->device;

	if (sl_schema_word("format|kind|figures", pair.key) >= 0) {
		return 0;
	}
	if (strcmp(pair.key, "description") == 0) {
		const char *text = sl_yaml_scalar(r->base.yaml, pair.value, pair.key, r->base.err);

		device->description = text ? sl_arena_strdup(&r->base.sc->arena, text) : NULL;
		return device->description ? 0 : r->base.err->code;
	}
	if (strcmp(pair.key, "disks") == 0) {
		return sl_device_read_members(&r->base, device, pair.value);
	}
	if (strcmp(pair.key, "seek_curve") == 0) {
		return sl_device_read_curve(&r->base, device, pair.value);
	}
	return sl_yaml_fail(
	    r->base.yaml, pair.key_node, NULL, r->base.err,
	    "unknown key '%.63s'; a device has format, kind, description, figures, disks and seek_curve",
	    pair.key);
}

static int read_device(struct device_reader *r)
{
	const yaml_node_t *root = sl_yaml_root(r->base.yaml), *figures;
	int rc = sl_yaml_want_format(r->base.yaml, FORMAT, r->base.err);

	if (rc == 0) {
		rc = read_kind(r, root);
	}
	for (int i = 0; rc == 0 && i < sl_yaml_pairs(root); i++) {
		rc = read_part(r, sl_yaml_pair(r->base.yaml, root, i));
	}
	figures = rc == 0 ? sl_yaml_get(r->base.yaml, root, "figures") : NULL;
	if (figures) {
		rc = read_figures(r, figures);
	}
	if (rc == 0) {
		rc = fill_defaults(r, figures ? figures : root);
	}
	return rc ? rc : sl_device_check(&r->base, r->device, figures ? figures : root);
}

/* Reads the file of `name`; on success *ret is loaded, its members are devices of the scenario. */
static int load_device(const struct sl_reading *r, const yaml_node_t *node, const char *key, const char *name,
		       struct sl_device **ret)
{
	struct sl_yaml file;
	struct device_reader inner = {.base = {.sc = r->sc, .yaml = &file, .err = r->err}};
	char where[SL_YAML_WHERE_MAX];
	int rc = sl_scenario_library(r, node, key, "catalogue", name, &file);

	if (rc) {
		return rc;
	}
	sl_yaml_where(&file, sl_yaml_root(&file), where, sizeof(where));
	inner.device = sl_arena_alloc(&r->sc->arena, sizeof(*inner.device));
	if (inner.device && (inner.device->where = sl_arena_strdup(&r->sc->arena, where))) {
		inner.device->description = "";
		(void)snprintf(inner.device->spec.name, sizeof(inner.device->spec.name), "%s", name);
		r->sc->nesting++;
		rc = read_device(&inner);
		r->sc->nesting--;
	} else {
		rc = sl_err_set(r->err, -ENOMEM, "out of memory");
	}
	sl_yaml_free(&file);
	*ret = inner.device;
	return rc;
}

static int keep_device(const struct sl_reading *r, const yaml_node_t *node, const char *key,
		       struct sl_device *device)
{
	if (r->sc->n_devices == SL_DEVICES_MAX) {
		return sl_yaml_fail(r->yaml, node, key, r->err, "more than %d kinds of devices; use fewer",
				    SL_DEVICES_MAX);
	}
	device->used = true; /* until variants are resolved: for a look at devices alone */
	r->sc->devices[r->sc->n_devices] = device;
	return r->sc->n_devices++;
}

int sl_scenario_device(const struct sl_reading *r, const yaml_node_t *node, const char *key, const char *name)
{
	struct sl_scenario *sc = r->sc;
	struct sl_device *device;
	int rc;

	for (int i = 0; i < sc->n_devices; i++) {
		if (strcmp(sc->devices[i]->spec.name, name) == 0) {
			return i;
		}
	}
	if (sc->nesting >= NESTING_MAX) {
		return sl_yaml_fail(
		    r->yaml, node, key, r->err,
		    "disks made of disks, more than %d deep or in a circle; name a plain disk", NESTING_MAX);
	}
	rc = load_device(r, node, key, name, &device);
	return rc ? rc : keep_device(r, node, key, device);
}

int sl_scenario_mirror(const struct sl_reading *r, const yaml_node_t *node, const char *key,
		       const struct sl_disk_slots *sides)
{
	struct sl_device *device = sl_arena_alloc(&r->sc->arena, sizeof(*device));
	struct sl_dev_spec *spec;
	size_t at;
	int rc;

	if (!device) {
		return sl_err_set(r->err, -ENOMEM, "out of memory");
	}
	spec = &device->spec;
	spec->kind = SL_DEV_MIRROR;
	device->description = "";
	device->where = "";
	device->members = *sides;
	at = (size_t)snprintf(spec->name, sizeof(spec->name), "mirror");
	for (int i = 0; i < sides->n && at < sizeof(spec->name); i++) {
		at += (size_t)snprintf(spec->name + at, sizeof(spec->name) - at, "%c%s", i ? '+' : ':',
				       r->sc->devices[sides->device[i]]->spec.name);
	}
	rc = sl_device_check(r, device, node);
	return rc ? rc : keep_device(r, node, key, device);
}
