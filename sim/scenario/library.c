#include "sim/scenario/inner.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".yaml"
#define LISTED_MAX 8

/* Names of the folder's files without suffix, offered to `nearest` and, up to LISTED_MAX of them, to `list`.
 */
static void scan_folder(const char *root, const char *folder, struct sl_nearest *nearest, char *best,
			char *list, size_t size, int *listed)
{
	struct dirent **entries = NULL;
	char path[PATH_MAX];
	int n;

	if (!root || snprintf(path, sizeof(path), "%s/%s", root, folder) >= (int)sizeof(path)) {
		return;
	}
	n = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char *name = entries[i]->d_name;
		size_t len = strlen(name);

		if (len > strlen(SUFFIX) && strcmp(name + len - strlen(SUFFIX), SUFFIX) == 0) {
			name[len - strlen(SUFFIX)] = '\0';
			sl_nearest_offer(nearest, name);
			if (nearest->best == name) {
				(void)snprintf(best, SL_NAME_MAX, "%.63s", name);
				nearest->best = best;
			}
			if (sl_scenario_file_name_ok(name) && (*listed)++ < LISTED_MAX) {
				size_t at = strlen(list);

				(void)snprintf(list + at, size - at, "%s%s", at ? ", " : "", name);
			}
		}
		free(entries[i]);
	}
	free(entries);
}

static int fail_missing(const struct sl_scenario *sc, const char *folder, const char *name,
			const struct sl_yaml *yaml, const yaml_node_t *node, const char *key,
			struct sl_err *err)
{
	struct sl_nearest nearest = sl_nearest_to(name);
	char best[SL_NAME_MAX] = "", list[192] = "", hint[SL_NAME_MAX + 32];
	int listed = 0;

	scan_folder(sc->dir, folder, &nearest, best, list, sizeof(list), &listed);
	scan_folder(sc->data_dir, folder, &nearest, best, list, sizeof(list), &listed);
	return sl_yaml_fail(yaml, node, key, err, "'%s' is not in any %s folder; %s (known: %s%s)", name,
			    folder,
			    sl_nearest_hint(&nearest, "add a file or name a known one", hint, sizeof(hint)),
			    listed ? list : "none", listed > LISTED_MAX ? ", ..." : "");
}

int sl_scenario_library(const struct sl_scenario *sc, const char *folder, const char *name,
			struct sl_yaml *yaml, const yaml_node_t *node, const char *key, struct sl_yaml *ret,
			struct sl_err *err)
{
	const char *roots[2] = {sc->dir, sc->data_dir};

	if (!sl_scenario_file_name_ok(name)) {
		return sl_yaml_fail(yaml, node, key, err,
				    "'%.40s' is no valid name; use a-z, 0-9, '-' and '.', at most 63 bytes",
				    name);
	}
	for (int i = 0; i < 2; i++) {
		struct sl_err attempt = {0};
		char path[PATH_MAX];
		int rc;

		if (!roots[i]) {
			continue;
		}
		if (snprintf(path, sizeof(path), "%s/%s/%s" SUFFIX, roots[i], folder, name) >=
		    (int)sizeof(path)) {
			return sl_yaml_fail(yaml, node, key, err,
					    "the path of '%s' is too long; move the scenario", name);
		}
		rc = sl_yaml_load_file(ret, path, &attempt);
		if (rc == 0) {
			return 0;
		}
		if (rc != -ENOENT && rc != -ENOTDIR) {
			return sl_err_set(err, rc, "%s", attempt.msg);
		}
	}
	return fail_missing(sc, folder, name, yaml, node, key, err);
}
