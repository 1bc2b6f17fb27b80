#include "sim/scenario/inner.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".yaml"
#define LISTED_MAX 8

struct scan {
	struct sl_nearest nearest;
	char best[SL_NAME_MAX];
	char list[192]; /* "a, b" */
	int listed;
};

static void scan_name(struct scan *scan, const char *name)
{
	size_t at = strlen(scan->list);

	sl_nearest_offer(&scan->nearest, name);
	if (scan->nearest.best == name) {
		(void)snprintf(scan->best, sizeof(scan->best), "%.63s", name);
		scan->nearest.best = scan->best;
	}
	if (scan->listed++ < LISTED_MAX) {
		(void)snprintf(scan->list + at, sizeof(scan->list) - at, "%s%s", at ? ", " : "", name);
	}
}

/* Takes note of the folder's files, without suffix. */
static void scan_folder(struct scan *scan, const char *root, const char *folder)
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
			if (sl_scenario_file_name_ok(name)) {
				scan_name(scan, name);
			}
		}
		free(entries[i]);
	}
	free(entries);
}

static int fail_missing(const struct sl_reading *r, const yaml_node_t *node, const char *key,
			const char *folder, const char *name)
{
	struct scan scan = {.nearest = sl_nearest_to(name)};
	char hint[SL_NAME_MAX + 32];

	scan_folder(&scan, r->sc->dir, folder);
	scan_folder(&scan, r->sc->data_dir, folder);
	return sl_yaml_fail(
	    r->yaml, node, key, r->err, "'%s' is not in any %s folder; %s (known: %s%s)", name, folder,
	    sl_nearest_hint(&scan.nearest, "add a file or name a known one", hint, sizeof(hint)),
	    scan.listed ? scan.list : "none", scan.listed > LISTED_MAX ? ", ..." : "");
}

int sl_scenario_library(const struct sl_reading *r, const yaml_node_t *node, const char *key,
			const char *folder, const char *name, struct sl_yaml *ret)
{
	/* The present folder last: a drive of the user's own for a ready scenario, which shadows nothing. */
	const char *roots[3] = {r->sc->dir, r->sc->data_dir, "."};

	if (!sl_scenario_file_name_ok(name)) {
		return sl_yaml_fail(r->yaml, node, key, r->err,
				    "'%.40s' is no valid name; use a-z, 0-9, '-' and '.', at most 63 bytes",
				    name);
	}
	for (int i = 0; i < 3; i++) {
		struct sl_err attempt = {0};
		char path[PATH_MAX];
		int rc;

		if (!roots[i]) {
			continue;
		}
		if (snprintf(path, sizeof(path), "%s/%s/%s" SUFFIX, roots[i], folder, name) >=
		    (int)sizeof(path)) {
			return sl_yaml_fail(r->yaml, node, key, r->err,
					    "the path of '%s' is too long; move the scenario", name);
		}
		rc = sl_yaml_load_file(ret, path, &attempt);
		if (rc == 0) {
			return 0;
		}
		if (rc != -ENOENT && rc != -ENOTDIR) {
			return sl_err_set(r->err, rc, "%s", attempt.msg);
		}
	}
	return fail_missing(r, node, key, folder, name);
}
