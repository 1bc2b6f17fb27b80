#include "sim/scenario/inner.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int read_params(struct sl_scenario *sc, struct sl_yaml *yaml, const yaml_node_t *map,
		       struct sl_layer *layer, struct sl_err *err)
{
	int rc = sl_yaml_want_map(yaml, map, "params", err);

	for (int i = 0; rc == 0 && i < sl_yaml_pairs(map); i++) {
		struct sl_yaml_pair pair = sl_yaml_pair(yaml, map, i);
		char key[2 * SL_NAME_MAX];
		int at;

		(void)snprintf(key, sizeof(key), "params.%s", pair.key);
		at = sl_schema_find(sl_schema_keys(), key, SL_ANY_KIND);
		rc = at < 0 ? sl_scenario_unknown(yaml, pair.key_node, sl_schema_keys(), key,
						  "see sloglab-scenario(5)", err)
			    : sl_scenario_assign(sc, yaml, layer, at, pair, SL_SHAPE_PARAM, err);
	}
	return rc;
}

static int read_profile(struct sl_scenario *sc, struct sl_yaml *yaml, struct sl_layer *layer,
			struct sl_err *err)
{
	const yaml_node_t *root = sl_yaml_root(yaml);
	int rc = sl_yaml_want_format(yaml, "sloglab-host/1", err);

	for (int i = 0; rc == 0 && i < sl_yaml_pairs(root); i++) {
		struct sl_yaml_pair pair = sl_yaml_pair(yaml, root, i);

		if (strcmp(pair.key, "params") == 0) {
			rc = read_params(sc, yaml, pair.value, layer, err);
		} else if (strcmp(pair.key, "description") == 0) {
			rc = sl_yaml_scalar(yaml, pair.value, pair.key, err) ? 0 : -EINVAL;
		} else if (strcmp(pair.key, "format") != 0) {
			rc = sl_yaml_fail(
			    yaml, pair.key_node, NULL, err,
			    "unknown key '%.63s'; a host profile has format, description and params",
			    pair.key);
		}
	}
	return rc;
}

int sl_scenario_profile(struct sl_scenario *sc, struct sl_yaml *yaml, const yaml_node_t *node,
			const char *name, struct sl_err *err)
{
	struct sl_profile *profile;
	struct sl_yaml file;
	int rc;

	for (int i = 0; i < sc->n_profiles; i++) {
		if (strcmp(sc->profiles[i]->name, name) == 0) {
			return i;
		}
	}
	if (sc->n_profiles == SL_PROFILES_MAX) {
		return sl_yaml_fail(yaml, node, "host.profile", err, "more than %d profiles; use fewer",
				    SL_PROFILES_MAX);
	}
	rc = sl_scenario_library(sc, "profiles", name, yaml, node, "host.profile", &file, err);
	if (rc) {
		return rc;
	}
	profile = sl_arena_alloc(&sc->arena, sizeof(*profile));
	if (profile) {
		(void)snprintf(profile->name, sizeof(profile->name), "%s", name);
		rc = read_profile(sc, &file, &profile->layer, err);
	} else {
		rc = sl_err_set(err, -ENOMEM, "out of memory");
	}
	sl_yaml_free(&file);
	if (rc) {
		return rc;
	}
	sc->profiles[sc->n_profiles] = profile;
	return sc->n_profiles++;
}
