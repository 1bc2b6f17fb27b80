#include "sim/scenario/inner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int read_params(const struct sl_reading *r, const yaml_node_t *map, struct sl_assigned *layer)
{
	int rc = sl_yaml_want_map(r->yaml, map, "params", r->err);

	for (int i = 0; rc == 0 && i < sl_yaml_pairs(map); i++) {
		struct sl_yaml_pair pair = sl_yaml_pair(r->yaml, map, i);
		char key[2 * SL_NAME_MAX];
		int at;

		(void)snprintf(key, sizeof(key), "params.%s", pair.key);
		at = sl_schema_find(sl_schema_keys(), key, SL_ANY_KIND);
		rc = at < 0 ? sl_scenario_unknown(r, pair.key_node, sl_schema_keys(), key,
						  "see sloglab-scenario(5)")
			    : sl_scenario_assign(r, layer, at, pair, SL_SHAPE_PARAM);
	}
	return rc;
}

static int read_profile(const struct sl_reading *r, struct sl_assigned *layer)
{
	const yaml_node_t *root = sl_yaml_root(r->yaml);
	int rc = sl_yaml_want_format(r->yaml, "sloglab-host/1", r->err);

	for (int i = 0; rc == 0 && i < sl_yaml_pairs(root); i++) {
		struct sl_yaml_pair pair = sl_yaml_pair(r->yaml, root, i);

		if (strcmp(pair.key, "params") == 0) {
			rc = read_params(r, pair.value, layer);
		} else if (strcmp(pair.key, "description") == 0) {
			rc = sl_yaml_scalar(r->yaml, pair.value, pair.key, r->err) ? 0 : -EINVAL;
		} else if (strcmp(pair.key, "format") != 0) {
			rc = sl_yaml_fail(
			    r->yaml, pair.key_node, NULL, r->err,
			    "unknown key '%.63s'; a host profile has format, description and params",
			    pair.key);
		}
	}
	return rc;
}

int sl_scenario_profile(const struct sl_reading *r, const yaml_node_t *node, const char *name)
{
	struct sl_profile *profile;
	struct sl_yaml file;
	const struct sl_reading inner = {.sc = r->sc, .yaml = &file, .err = r->err};
	int rc;

	for (int i = 0; i < r->sc->n_profiles; i++) {
		if (strcmp(r->sc->profiles[i]->name, name) == 0) {
			return i;
		}
	}
	if (r->sc->n_profiles == SL_PROFILES_MAX) {
		return sl_yaml_fail(r->yaml, node, "host.profile", r->err, "more than %d profiles; use fewer",
				    SL_PROFILES_MAX);
	}
	rc = sl_scenario_library(r, node, "host.profile", "profiles", name, &file);
	if (rc) {
		return rc;
	}
	profile = sl_arena_alloc(&r->sc->arena, sizeof(*profile));
	if (profile) {
		(void)snprintf(profile->name, sizeof(profile->name), "%s", name);
		rc = read_profile(&inner, &profile->layer);
	} else {
		rc = sl_err_set(r->err, -ENOMEM, "out of memory");
	}
	sl_yaml_free(&file);
	if (rc) {
		return rc;
	}
	r->sc->profiles[r->sc->n_profiles] = profile;
	return r->sc->n_profiles++;
}

int sl_scenario_overlay(struct sl_scenario *sc, const char *path, struct sl_err *err)
{
	struct sl_assigned layer = {.by_key = {NULL}};
	struct sl_yaml file;
	struct sl_err local = {0};
	const struct sl_reading r = {.sc = sc, .yaml = &file, .err = err ? err : &local};
	int rc = sl_yaml_load_file(&file, path, r.err);

	if (rc) {
		return rc;
	}
	rc = read_profile(&r, &layer);
	sl_yaml_free(&file);
	for (int key = 0; rc == 0 && key < SL_N_ROWS; key++) {
		if (layer.by_key[key]) {
			sc->set.by_key[key] = layer.by_key[key];
			if (key < SL_N_KEYS) {
				sc->numbers[key].on = false;
			}
		}
	}
	return rc == 0 ? sl_scenario_resolve(sc, r.err) : rc;
}
