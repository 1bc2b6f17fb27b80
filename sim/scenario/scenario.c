#include "sim/scenario/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/scenario/inner.h"

#define FORMAT "sloglab-scenario/1"
#define TITLE_MAX 200

/* Does some key of the table lie below `section`? */
static bool is_section(const char *section)
{
	struct sl_schema table = sl_schema_keys();
	size_t len = strlen(section);

	for (int i = 0; i < table.n; i++) {
		if (strncmp(table.rows[i].key, section, len) == 0 && table.rows[i].key[len] == '.') {
			return true;
		}
	}
	return false;
}

/* Reads a map of the box: `prefix` + "." + key is a key of the table, or again a section. */
static int read_section(const struct sl_reading *r, const char *prefix, const yaml_node_t *map,
			enum sl_shape shape)
{
	struct sl_schema table = sl_schema_keys();
	int rc = sl_yaml_want_map(r->yaml, map, prefix, r->err);

	for (int i = 0; rc == 0 && i < sl_yaml_pairs(map); i++) {
		struct sl_yaml_pair pair = sl_yaml_pair(r->yaml, map, i);
		char key[2 * SL_NAME_MAX];
		int at;

		(void)snprintf(key, sizeof(key), "%s.%.63s", prefix, pair.key);
		at = sl_schema_find(table, key, SL_ANY_KIND);
		if (at >= 0) {
			rc = sl_scenario_assign(r, &r->sc->base, at, pair, shape);
		} else if (shape == SL_SHAPE_PLAIN && is_section(key)) {
			rc = read_section(r, key, pair.value, shape);
		} else {
			rc = sl_scenario_unknown(r, pair.key_node, table, key,
						 "see sloglab-scenario(5) for the keys");
		}
	}
	return rc;
}

static int read_host(const struct sl_reading *r, const yaml_node_t *node)
{
	return read_section(r, "host", node, SL_SHAPE_PLAIN);
}

static int read_nas(const struct sl_reading *r, const yaml_node_t *node)
{
	return read_section(r, "nas", node, SL_SHAPE_PLAIN);
}

static int read_pool(const struct sl_reading *r, const yaml_node_t *node)
{
	return read_section(r, "pool", node, SL_SHAPE_PLAIN);
}

static int read_params(const struct sl_reading *r, const yaml_node_t *node)
{
	return read_section(r, "params", node, SL_SHAPE_PARAM);
}

static int read_guests(const struct sl_reading *r, const yaml_node_t *node)
{
	int rc = sl_yaml_want_list(r->yaml, node, "guests", r->err);

	if (rc) {
		return rc;
	}
	if (sl_yaml_items(node) != 1) {
		return sl_yaml_fail(r->yaml, node, "guests", r->err,
				    "%d guests given; exactly one guest is supported so far",
				    sl_yaml_items(node));
	}
	return read_section(r, "guests", sl_yaml_item(r->yaml, node, 0), SL_SHAPE_PLAIN);
}

static int read_title(const struct sl_reading *r, const yaml_node_t *node)
{
	const char *text = sl_yaml_scalar(r->yaml, node, "title", r->err);

	if (!text) {
		return -EINVAL;
	}
	if (strlen(text) > TITLE_MAX || strpbrk(text, "\n\t")) {
		return sl_yaml_fail(r->yaml, node, "title", r->err,
				    "must be one line of at most %d bytes; shorten it", TITLE_MAX);
	}
	r->sc->title = sl_arena_strdup(&r->sc->arena, text);
	return r->sc->title ? 0 : sl_err_set(r->err, -ENOMEM, "out of memory");
}

/* A text of any length. */
static int read_prose(const struct sl_reading *r, const yaml_node_t *node, const char *key, const char **ret)
{
	const char *text = sl_yaml_scalar(r->yaml, node, key, r->err);

	if (!text) {
		return -EINVAL;
	}
	*ret = sl_arena_strdup(&r->sc->arena, text);
	return *ret ? 0 : sl_err_set(r->err, -ENOMEM, "out of memory");
}

static int read_description(const struct sl_reading *r, const yaml_node_t *node)
{
	return read_prose(r, node, "description", &r->sc->description);
}

static int read_teaches(const struct sl_reading *r, const yaml_node_t *node)
{
	return read_prose(r, node, "teaches", &r->sc->teaches);
}

/* Storage whose size is known once variants and workloads are. */
static int allocate_cells(const struct sl_reading *r)
{
	struct sl_scenario *sc = r->sc;

	if (!sc->variants) {
		sc->variants = sl_arena_alloc(&sc->arena, sizeof(*sc->variants));
		if (!sc->variants) {
			return sl_err_set(r->err, -ENOMEM, "out of memory");
		}
		(void)snprintf(sc->variants[0].name, sizeof(sc->variants[0].name), "base");
		sc->variants[0].parent = -1;
		sc->n_variants = 1;
	}
	sc->published = sl_arena_alloc(&sc->arena, (size_t)sc->n_variants * (size_t)sc->n_workloads *
						       sizeof(*sc->published));
	sc->resolved = sl_arena_alloc(&sc->arena, (size_t)sc->n_variants * sizeof(*sc->resolved));
	sc->links = sl_arena_alloc(&sc->arena, (size_t)sc->n_variants * sizeof(*sc->links));
	return sc->published && sc->resolved && sc->links ? 0 : sl_err_set(r->err, -ENOMEM, "out of memory");
}

struct section {
	const char *key;
	int (*read)(const struct sl_reading *r, const yaml_node_t *node); /* NULL: seen to already */
	bool required;
};

/* In the order of reading, whatever the order in the file: later ones refer to earlier ones. */
static const struct section sections[] = {
    {"format", NULL, true},
    {"title", read_title, true},
    {"description", read_description, false},
    {"teaches", read_teaches, false},
    {"host", read_host, false},
    {"nas", read_nas, false},
    {"pool", read_pool, true},
    {"guests", read_guests, false},
    {"params", read_params, false},
    {"workloads", sl_scenario_read_workloads, true},
    {"variants", sl_scenario_read_variants, false},
    {"published", NULL, false},
    {"questions", NULL, false},
};
#define N_SECTIONS ((int)(sizeof(sections) / sizeof(sections[0])))

static int check_section_names(const struct sl_reading *r, const yaml_node_t *root)
{
	for (int i = 0; i < sl_yaml_pairs(root); i++) {
		struct sl_yaml_pair pair = sl_yaml_pair(r->yaml, root, i);
		struct sl_nearest nearest = sl_nearest_to(pair.key);
		char hint[160];
		bool known = false;

		for (int k = 0; k < N_SECTIONS; k++) {
			known |= strcmp(sections[k].key, pair.key) == 0;
			sl_nearest_offer(&nearest, sections[k].key);
		}
		if (!known) {
			return sl_yaml_fail(
			    r->yaml, pair.key_node, NULL, r->err, "unknown key '%.63s'; %s", pair.key,
			    sl_nearest_hint(&nearest, "see sloglab-scenario(5) for the sections", hint,
					    sizeof(hint)));
		}
	}
	return 0;
}

static int read_scenario(const struct sl_reading *r)
{
	const yaml_node_t *root = sl_yaml_root(r->yaml), *published, *questions;
	int rc = sl_yaml_want_format(r->yaml, FORMAT, r->err);

	if (rc == 0) {
		rc = check_section_names(r, root);
	}
	for (int i = 0; rc == 0 && i < N_SECTIONS; i++) {
		const yaml_node_t *node = sl_yaml_get(r->yaml, root, sections[i].key);

		if (!node && sections[i].required) {
			return sl_yaml_fail(r->yaml, root, sections[i].key, r->err,
					    "is missing; add it, see sloglab-scenario(5)");
		}
		rc = node && sections[i].read ? sections[i].read(r, node) : 0;
	}
	if (rc == 0) {
		rc = allocate_cells(r);
	}
	if (rc) {
		return rc;
	}
	published = sl_yaml_get(r->yaml, root, "published");
	rc = published ? sl_scenario_read_published(r, published) : 0;
	questions = sl_yaml_get(r->yaml, root, "questions");
	return rc == 0 && questions ? sl_scenario_read_questions(r, questions) : rc;
}

/* File name without folder and suffix, and the folder. */
static int split_path(struct sl_scenario *sc, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	char *name = sl_arena_strdup(&sc->arena, base);
	char *dir = sl_arena_strdup(&sc->arena, slash ? path : ".");
	char *dot = name ? strrchr(name, '.') : NULL;

	if (!name || !dir) {
		return -ENOMEM;
	}
	if (dot && dot != name && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0)) {
		*dot = '\0';
	}
	if (slash) {
		dir[slash == path ? 1 : slash - path] = '\0';
	}
	sc->name = name;
	sc->dir = dir;
	return 0;
}

/* Builds the scenario from a loaded document and frees the document. */
static int from_document(struct sl_yaml *yaml, const char *path, const char *data_dir,
			 struct sl_scenario **ret, struct sl_err *err)
{
	struct sl_scenario *sc = calloc(1, sizeof(*sc));
	const struct sl_reading r = {.sc = sc, .yaml = yaml, .err = err};
	char where[SL_YAML_WHERE_MAX];
	int rc;

	sl_yaml_where(yaml, sl_yaml_root(yaml), where, sizeof(where));
	if (!sc || split_path(sc, path) || !(sc->where = sl_arena_strdup(&sc->arena, where)) ||
	    (data_dir && !(sc->data_dir = sl_arena_strdup(&sc->arena, data_dir)))) {
		rc = sl_err_set(err, -ENOMEM, "out of memory");
	} else {
		rc = sl_scenario_assign_defaults(sc, err);
	}
	if (rc == 0) {
		rc = read_scenario(&r);
	}
	if (rc == 0) {
		rc = sl_scenario_resolve(sc, err);
	}
	sl_yaml_free(yaml);
	if (rc) {
		sl_scenario_free(sc);
		return rc;
	}
	*ret = sc;
	return 0;
}

int sl_scenario_load_buffer(const char *bytes, size_t size, const char *label, const char *data_dir,
			    struct sl_scenario **ret, struct sl_err *err)
{
	struct sl_err local = {0};
	struct sl_yaml yaml;
	int rc;

	err = err ? err : &local;
	rc = sl_yaml_load_buffer(&yaml, bytes, size, label, true, err);
	return rc ? rc : from_document(&yaml, label, data_dir, ret, err);
}

int sl_scenario_load(const char *path, const char *data_dir, struct sl_scenario **ret, struct sl_err *err)
{
	struct sl_err local = {0};
	struct sl_yaml yaml;
	int rc;

	err = err ? err : &local;
	rc = sl_yaml_load_file(&yaml, path, err);
	return rc ? rc : from_document(&yaml, path, data_dir, ret, err);
}

void sl_scenario_free(struct sl_scenario *sc)
{
	if (sc) {
		sl_arena_free(&sc->arena);
		free(sc);
	}
}

const char *sl_scenario_name(const struct sl_scenario *sc)
{
	return sc->name;
}

const char *sl_scenario_title(const struct sl_scenario *sc)
{
	return sc->title;
}

const char *sl_scenario_description(const struct sl_scenario *sc)
{
	return sc->description ? sc->description : "";
}

const char *sl_scenario_teaches(const struct sl_scenario *sc)
{
	return sc->teaches ? sc->teaches : "";
}

int sl_scenario_variants(const struct sl_scenario *sc)
{
	return sc->n_variants;
}

const char *sl_scenario_variant_name(const struct sl_scenario *sc, int variant)
{
	return sc->variants[variant].name;
}

int sl_scenario_workloads(const struct sl_scenario *sc)
{
	return sc->n_workloads;
}

const struct sl_workload *sl_scenario_workload(const struct sl_scenario *sc, int workload)
{
	return &sc->workloads[workload];
}

int sl_scenario_find_variant(const struct sl_scenario *sc, const char *name)
{
	for (int i = 0; i < sc->n_variants; i++) {
		if (strcmp(sc->variants[i].name, name) == 0) {
			return i;
		}
	}
	return -1;
}

int sl_scenario_find_workload(const struct sl_scenario *sc, const char *name)
{
	for (int i = 0; i < sc->n_workloads; i++) {
		if (strcmp(sc->workloads[i].name, name) == 0) {
			return i;
		}
	}
	return -1;
}

int sl_scenario_workload_add(struct sl_scenario *sc, const struct sl_workload *workload, struct sl_err *err)
{
	int old = sc->n_workloads;
	size_t n = (size_t)sc->n_variants * (size_t)(old + 1);
	struct sl_published *published;

	if (old == SL_WORKLOADS_MAX) {
		return sl_err_set(err, -E2BIG, "%s: more than %d workloads", workload->name,
				  SL_WORKLOADS_MAX);
	}
	published = sl_arena_alloc(&sc->arena, n * sizeof(*published));
	if (!published) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	for (int i = 0; i < sc->n_variants * old; i++) {
		published[i / old * (old + 1) + i % old] = sc->published[i];
	}
	sc->published = published;
	sc->workloads[old] = *workload;
	sc->workloads[old].run = old;
	return sc->n_workloads++;
}

const struct sl_published *sl_scenario_published(const struct sl_scenario *sc, int variant, int workload)
{
	const struct sl_published *cell = &sc->published[variant * sc->n_workloads + workload];

	return cell->value > 0 ? cell : NULL;
}
