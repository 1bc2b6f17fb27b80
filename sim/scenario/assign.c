#include "sim/scenario/inner.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PARAMS_PREFIX "params."

static int no_memory(struct sl_err *err)
{
	return sl_err_set(err, -ENOMEM, "out of memory");
}

int sl_scenario_unknown(const struct sl_reading *r, const yaml_node_t *node, struct sl_schema table,
			const char *key, const char *otherwise)
{
	char hint[160];

	return sl_yaml_fail(r->yaml, node, NULL, r->err, "unknown key '%.63s'; %s", key,
			    sl_schema_hint(table, key, otherwise, hint, sizeof(hint)));
}

static int stated_kind(struct sl_yaml *yaml, const yaml_node_t *node, const char *key, struct sl_stated *ret,
		       struct sl_err *err)
{
	const char *text = sl_yaml_scalar(yaml, node, key, err);
	int kind = text ? sl_schema_provenance(text) : -1;

	if (text && kind < 0) {
		sl_yaml_fail(
		    yaml, node, key, err,
		    "kind '%.40s' is not known; write spec, measured, derived, fitted, assumed or fudge",
		    text);
	}
	if (kind < 0) {
		return -EINVAL;
	}
	ret->kind = (enum sl_provenance)kind;
	return 0;
}

static int stated_source(struct sl_yaml *yaml, const yaml_node_t *node, const char *key,
			 struct sl_stated *ret, struct sl_err *err)
{
	ret->source = sl_yaml_scalar(yaml, node, key, err);
	if (!ret->source) {
		return -EINVAL;
	}
	if (strpbrk(ret->source, "\n\t")) {
		return sl_yaml_fail(yaml, node, key, err, "source must be one line of text");
	}
	return 0;
}

static int stated_entry(struct sl_yaml *yaml, struct sl_yaml_pair pair, const char *key, bool ranges,
			struct sl_stated *ret, struct sl_err *err)
{
	if (strcmp(pair.key, "value") == 0) {
		ret->value_node = pair.value;
		ret->value = sl_yaml_scalar(yaml, pair.value, key, err);
		return ret->value ? 0 : -EINVAL;
	}
	if (strcmp(pair.key, "kind") == 0) {
		return stated_kind(yaml, pair.value, key, ret, err);
	}
	if (strcmp(pair.key, "source") == 0) {
		return stated_source(yaml, pair.value, key, ret, err);
	}
	if (ranges && strcmp(pair.key, "min") == 0) {
		ret->min_node = pair.value;
		return 0;
	}
	if (ranges && strcmp(pair.key, "max") == 0) {
		ret->max_node = pair.value;
		return 0;
	}
	return sl_yaml_fail(yaml, pair.key_node, key, err, "unknown key '%.40s'; write value, kind, source%s",
			    pair.key, ranges ? ", min or max" : "");
}

int sl_scenario_stated(struct sl_yaml *yaml, const yaml_node_t *node, const char *key, bool ranges,
		       struct sl_stated *ret, struct sl_err *err)
{
	int rc = 0;

	*ret = (struct sl_stated){0};
	if (node->type != YAML_MAPPING_NODE) {
		return sl_yaml_fail(yaml, node, key, err,
				    "needs its origin; write {value: ..., kind: ..., source: ...}");
	}
	for (int i = 0; i < sl_yaml_pairs(node) && rc == 0; i++) {
		rc = stated_entry(yaml, sl_yaml_pair(yaml, node, i), key, ranges, ret, err);
	}
	if (rc) {
		return rc;
	}
	if (!ret->value || !ret->source || ret->kind == SL_PROV_DEFAULT) {
		return sl_yaml_fail(yaml, node, key, err,
				    "'%s' is missing; write {value: ..., kind: ..., source: ...}",
				    !ret->value    ? "value"
				    : !ret->source ? "source"
						   : "kind");
	}
	return 0;
}

static bool is_power_of_two(double value)
{
	uint64_t whole = (uint64_t)value;

	return (double)whole == value && whole != 0 && (whole & (whole - 1)) == 0;
}

/* Parses the scalar at `node` for `row`, with place and key in the message. */
static int parse_value(const struct sl_reading *r, const yaml_node_t *node, const struct sl_schema_row *row,
		       double *ret)
{
	const char *text = sl_yaml_scalar(r->yaml, node, row->key, r->err);
	int rc;

	if (!text) {
		return -EINVAL;
	}
	if (row == &sl_schema_keys().rows[SL_AT_zil]) {
		const char *word = sl_zfs_generation(text);

		if (!word) {
			return sl_yaml_fail(
			    r->yaml, node, row->key, r->err,
			    "'%.40s' is not known; write a release of OpenZFS from 0.6 to 2.4 "
			    "(2014 is 0.6), or a product such as TrueNAS SCALE 24.04, see "
			    "sloglab-scenario(5)",
			    text);
		}
		text = word;
	}
	rc = sl_schema_parse(row, text, ret, r->err);
	if (rc == 0 && row == &sl_schema_keys().rows[SL_AT_recordsize_bytes] && !is_power_of_two(*ret)) {
		rc = sl_err_set(r->err, -EINVAL, "'%.40s' is not a power of two; write 16KiB, 128KiB ...",
				text);
	}
	if (rc) {
		sl_yaml_wrap(r->yaml, node, row->key, r->err);
	}
	return rc;
}

static int assign_param(const struct sl_reading *r, const struct sl_schema_row *row, const yaml_node_t *node,
			struct sl_assign *assign)
{
	struct sl_stated stated;
	int rc = sl_scenario_stated(r->yaml, node, row->key, true, &stated, r->err);

	if (rc == 0) {
		rc = parse_value(r, stated.value_node, row, &assign->value);
	}
	if (rc == 0 && !stated.min_node != !stated.max_node) {
		rc = sl_yaml_fail(r->yaml, node, row->key, r->err, "min and max belong together; write both");
	}
	if (rc == 0 && (stated.kind == SL_PROV_FITTED || stated.kind == SL_PROV_FUDGE) && !stated.min_node) {
		rc = sl_yaml_fail(r->yaml, node, row->key, r->err,
				  "a fitted value needs its range; add min and max");
	}
	if (rc == 0 && stated.min_node) {
		rc = parse_value(r, stated.min_node, row, &assign->min);
	}
	if (rc == 0 && stated.max_node) {
		rc = parse_value(r, stated.max_node, row, &assign->max);
	}
	if (rc) {
		return rc;
	}
	if (stated.min_node && !(assign->min <= assign->value && assign->value <= assign->max)) {
		return sl_yaml_fail(r->yaml, node, row->key, r->err,
				    "the value is outside of its own min and max");
	}
	assign->kind = stated.kind;
	assign->text = sl_arena_strdup(&r->sc->arena, stated.value);
	assign->source = sl_arena_strdup(&r->sc->arena, stated.source);
	return assign->text && assign->source ? 0 : no_memory(r->err);
}

static int assign_value(const struct sl_reading *r, const struct sl_schema_row *row, const yaml_node_t *node,
			enum sl_shape shape, struct sl_assign *assign)
{
	bool param = strncmp(row->key, PARAMS_PREFIX, strlen(PARAMS_PREFIX)) == 0;
	int rc;

	assign->min = row->min;
	assign->max = row->max;
	if (shape == SL_SHAPE_PARAM ||
	    (shape == SL_SHAPE_EITHER && param && node->type == YAML_MAPPING_NODE)) {
		return assign_param(r, row, node, assign);
	}
	rc = parse_value(r, node, row, &assign->value);
	if (rc) {
		return rc;
	}
	assign->text = sl_arena_strdup(&r->sc->arena, (const char *)node->data.scalar.value);
	return assign->text ? 0 : no_memory(r->err);
}

/* "NAME" or "NAME x COUNT"; 0 when it is neither. */
static int split_disk(const char *text, char name[SL_NAME_MAX])
{
	size_t len = strcspn(text, " ");
	const char *rest = text + len;
	char *end;
	long count;

	if (len == 0 || len >= SL_NAME_MAX) {
		return 0;
	}
	memcpy(name, text, len);
	name[len] = '\0';
	rest += strspn(rest, " ");
	if (*rest == '\0') {
		return 1;
	}
	if (rest[0] != 'x' || rest[1] != ' ') {
		return 0;
	}
	rest += 1 + strspn(rest + 1, " ");
	if (*rest < '1' || *rest > '9') {
		return 0;
	}
	count = strtol(rest, &end, 10);
	return *end == '\0' && count <= 1000000 ? (int)count : 0;
}

static int add_named(const struct sl_reading *r, const yaml_node_t *node, const char *key, int max,
		     struct sl_disk_slots *disks)
{
	const char *text = sl_yaml_scalar(r->yaml, node, key, r->err);
	char name[SL_NAME_MAX] = "";
	int count, device;

	if (!text) {
		return -EINVAL;
	}
	count = split_disk(text, name);
	if (count == 0) {
		return sl_yaml_fail(r->yaml, node, key, r->err,
				    "'%.40s' is no disk; write NAME or NAME x COUNT", text);
	}
	if (count > max - disks->n) {
		return sl_yaml_fail(r->yaml, node, key, r->err, "more than %d disks; use fewer", max);
	}
	device = sl_scenario_device(r, node, key, name);
	if (device < 0) {
		return device;
	}
	while (count-- > 0) {
		disks->device[disks->n++] = device;
	}
	return 0;
}

/* Of {mirror: [NAME, NAME], vdevs: COUNT}: the disks and how many mirrors are said, 0 = nothing is. */
static int read_mirror(const struct sl_reading *r, const yaml_node_t *node, const struct sl_disk_words *list,
		       const yaml_node_t **ret_disks, int *ret_vdevs)
{
	static const struct sl_schema_row row = {
	    .key = "vdevs", .type = SL_ROW_INT, .min = 1, .max = SL_DEV_MEMBERS_MAX / 2};
	const yaml_node_t *vdevs = sl_yaml_get(r->yaml, node, "vdevs");
	double value = 0;

	*ret_disks = sl_yaml_get(r->yaml, node, "mirror");
	if (!*ret_disks || sl_yaml_pairs(node) != (vdevs ? 2 : 1)) {
		return sl_yaml_fail(r->yaml, node, list->key, r->err,
				    "is no disk; write NAME, NAME x COUNT or {mirror: [NAME, NAME]}");
	}
	if (vdevs && parse_value(r, vdevs, &row, &value)) {
		return -EINVAL;
	}
	*ret_vdevs = (int)value;
	return 0;
}

/* How many mirrors the disks make. */
static int count_mirrors(const struct sl_reading *r, const yaml_node_t *node,
			 const struct sl_disk_words *list, int n, int *vdevs)
{
	bool said = *vdevs > 0, clear = said || sl_layout_mirrors(n, vdevs);

	if (n < 2) {
		return sl_yaml_fail(r->yaml, node, list->key, r->err,
				    "a mirror needs at least 2 disks; add one");
	}
	if (!clear) {
		return sl_yaml_fail(r->yaml, node, list->key, r->err,
				    "%d disks in mirrors: write vdevs: 1 beside mirror for one %d-way "
				    "mirror, or name %d or %d disks for pairs",
				    n, n, n - 1, n + 1);
	}
	if (n % *vdevs != 0 || n / *vdevs < 2) {
		return sl_yaml_fail(r->yaml, node, list->key, r->err,
				    "%d disks do not make %d mirrors alike; change vdevs", n, *vdevs);
	}
	if (*vdevs > list->max - list->disks->n) {
		return sl_yaml_fail(r->yaml, node, list->key, r->err, "more than %d disks; use fewer",
				    list->max);
	}
	list->disks->three_by_default |= n == 3 && !said;
	return 0;
}

/* {mirror: [NAME, NAME]}: a mirror of two or three, or pairs side by side; as many mirrors as vdevs says. */
static int add_mirror(const struct sl_reading *r, const yaml_node_t *node, const struct sl_disk_words *list,
		      const char **ret_text)
{
	struct sl_disk_slots all = {0};
	struct sl_disk_words side_list = {list->key, SL_DEV_MEMBERS_MAX, false, &all};
	const yaml_node_t *disks;
	int vdevs, rc = read_mirror(r, node, list, &disks, &vdevs);

	rc = rc == 0 ? sl_scenario_disks(r, disks, &side_list, ret_text) : rc;
	rc = rc == 0 ? count_mirrors(r, disks, list, all.n, &vdevs) : rc;
	for (int i = 0; rc >= 0 && i < vdevs; i++) {
		struct sl_disk_slots sides = {.n = all.n / vdevs};

		memcpy(sides.device, &all.device[i * sides.n], (size_t)sides.n * sizeof(sides.device[0]));
		rc = sl_scenario_mirror(r, node, list->key, &sides);
		if (rc >= 0) {
			list->disks->device[list->disks->n++] = rc;
		}
	}
	return rc < 0 ? rc : 0;
}

/* One entry of a list; appends it to `text`, "a, b x 2". */
static int add_disk(const struct sl_reading *r, const yaml_node_t *node, const struct sl_disk_words *list,
		    char *text, size_t size)
{
	size_t at = strlen(text);
	const char *sides = "";
	int rc;

	if (list->mirrors && node->type == YAML_MAPPING_NODE) {
		rc = add_mirror(r, node, list, &sides);
		if (rc == 0) {
			(void)snprintf(text + at, size - at, "%smirror(%s)", at ? ", " : "", sides);
		}
		return rc;
	}
	rc = add_named(r, node, list->key, list->max, list->disks);
	if (rc == 0) {
		(void)snprintf(text + at, size - at, "%s%s", at ? ", " : "",
			       (const char *)node->data.scalar.value);
	}
	return rc;
}

int sl_scenario_disks(const struct sl_reading *r, const yaml_node_t *node, const struct sl_disk_words *list,
		      const char **ret_text)
{
	char text[SL_BOX_DATA_MAX * (SL_NAME_MAX + 8)] = "";
	int rc = 0;

	if (node->type == YAML_SEQUENCE_NODE) {
		for (int i = 0; i < sl_yaml_items(node) && rc == 0; i++) {
			rc = add_disk(r, sl_yaml_item(r->yaml, node, i), list, text, sizeof(text));
		}
	} else {
		rc = add_disk(r, node, list, text, sizeof(text));
	}
	if (rc == 0 && ret_text) {
		*ret_text = sl_arena_strdup(&r->sc->arena, text);
		rc = *ret_text ? 0 : no_memory(r->err);
	}
	return rc;
}

static int assign_disks(const struct sl_reading *r, const struct sl_schema_row *row, const yaml_node_t *node,
			struct sl_assign *assign)
{
	struct sl_disk_slots *disks = sl_arena_alloc(&r->sc->arena, sizeof(*disks));
	bool optional = row->min < 1;
	int rc = 0;

	if (!disks) {
		return no_memory(r->err);
	}
	if (node->type == YAML_SEQUENCE_NODE && sl_yaml_items(node) == 0) {
		return sl_yaml_fail(r->yaml, node, row->key, r->err, "is an empty list; name a device%s",
				    optional ? ", or write none" : "");
	}
	if (optional && node->type == YAML_SCALAR_NODE &&
	    strcmp((const char *)node->data.scalar.value, "none") == 0) {
		assign->text = "none";
	} else {
		/* Mirrors are for the optional vdevs: the data disks have their layout. */
		struct sl_disk_words list = {row->key, (int)row->max, optional, disks};

		rc = sl_scenario_disks(r, node, &list, &assign->text);
	}
	assign->value = disks->n;
	assign->disks = disks;
	return rc;
}

/* host.profile: a word that is no field of the box. */
static int assign_profile(const struct sl_reading *r, const struct sl_schema_row *row,
			  const yaml_node_t *node, struct sl_assign *assign)
{
	const char *text = sl_yaml_scalar(r->yaml, node, row->key, r->err);

	if (!text) {
		return -EINVAL;
	}
	if (strcmp(text, "none") != 0) {
		assign->profile = sl_scenario_profile(r, node, text);
		if (assign->profile < 0) {
			return assign->profile;
		}
	}
	assign->text = sl_arena_strdup(&r->sc->arena, text);
	return assign->text ? 0 : no_memory(r->err);
}

int sl_scenario_assign(const struct sl_reading *r, struct sl_assigned *layer, int at,
		       struct sl_yaml_pair pair, enum sl_shape shape)
{
	const struct sl_schema_row *row = &sl_schema_keys().rows[at];
	struct sl_assign *assign;
	char where[SL_YAML_WHERE_MAX];
	int rc;

	if (layer->by_key[at]) {
		return sl_yaml_fail(r->yaml, pair.key_node, row->key, r->err,
				    "given twice, first at %s; remove one of them", layer->by_key[at]->where);
	}
	assign = sl_arena_alloc(&r->sc->arena, sizeof(*assign));
	if (!assign) {
		return no_memory(r->err);
	}
	sl_yaml_where(r->yaml, pair.value, where, sizeof(where));
	assign->where = sl_arena_strdup(&r->sc->arena, where);
	if (!assign->where) {
		return no_memory(r->err);
	}
	assign->kind = SL_PROV_GIVEN;
	assign->source = "";
	assign->profile = -1;
	if (row->type == SL_ROW_DISKS) {
		rc = assign_disks(r, row, pair.value, assign);
	} else if (row->type == SL_ROW_PROFILE) {
		rc = assign_profile(r, row, pair.value, assign);
	} else {
		rc = assign_value(r, row, pair.value, shape, assign);
	}
	if (rc == 0) {
		layer->by_key[at] = assign;
	}
	return rc;
}

/* What a box has because of its hypervisor. */
struct hypervisor_row {
	int hypervisor, at;
	enum sl_provenance kind;
	const char *text, *source;
};

static int assign_hypervisors(struct sl_scenario *sc, struct sl_err *err)
{
	static const struct hypervisor_row rows[] = {
#define SL_OF_HYPERVISOR(hypervisor, field, text, kind, source) \
	{hypervisor, SL_AT_##field, kind, text, source},
#include "sim/scenario/hypervisors.def"
#undef SL_OF_HYPERVISOR
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct sl_schema_row *row = &sl_schema_keys().rows[rows[i].at];
		struct sl_assign *assign = sl_arena_alloc(&sc->arena, sizeof(*assign));

		if (!assign) {
			return no_memory(err);
		}
		*assign = (struct sl_assign){.text = rows[i].text,
					     .source = rows[i].source,
					     .where = "host.hypervisor",
					     .kind = rows[i].kind,
					     .min = row->min,
					     .max = row->max,
					     .profile = -1};
		if (sl_schema_parse(row, assign->text, &assign->value, err)) {
			return sl_err_wrap(err, "%s of a hypervisor", row->key);
		}
		sc->hypervisors[rows[i].hypervisor].by_key[rows[i].at] = assign;
	}
	return 0;
}

int sl_scenario_assign_defaults(struct sl_scenario *sc, struct sl_err *err)
{
	static const struct sl_disk_slots no_disks = {0};
	struct sl_schema table = sl_schema_keys();

	for (int i = 0; i < table.n; i++) {
		const struct sl_schema_row *row = &table.rows[i];
		struct sl_assign *assign = &sc->defaults[i];

		*assign = (struct sl_assign){.text = row->dflt,
					     .source = "",
					     .where = "default",
					     .kind = SL_PROV_DEFAULT,
					     .min = row->min,
					     .max = row->max,
					     .disks = row->type == SL_ROW_DISKS ? &no_disks : NULL,
					     .profile = -1};
		if (i < SL_N_KEYS && sl_schema_parse(row, row->dflt, &assign->value, err)) {
			return sl_err_wrap(err, "default of %s", row->key);
		}
	}
	return assign_hypervisors(sc, err);
}
