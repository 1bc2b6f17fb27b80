#include "sim/scenario/drives.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".yaml"

int sl_drives_add(struct sl_drives *d, const char *name, size_t length, struct sl_err *err)
{
	for (int i = 0; i < d->n; i++) {
		if (strlen(d->list[i]) == length && strncmp(d->list[i], name, length) == 0) {
			return 0;
		}
	}
	if (d->n == SL_DRIVES_MAX) {
		return sl_err_set(err, -EINVAL, "--catalogue: more than %d drives; name some", SL_DRIVES_MAX);
	}
	snprintf(d->names[d->n], SL_DRIVE_NAME_MAX, "%.*s",
		 (int)(length < SL_DRIVE_NAME_MAX ? length : SL_DRIVE_NAME_MAX), name);
	d->list[d->n] = d->names[d->n];
	d->n++;
	return 0;
}

/* Every drive of the folder ROOT/catalogue, by name; a missing folder holds none. */
static int drives_scan(struct sl_drives *d, const char *root, struct sl_err *err)
{
	char path[PATH_MAX];
	struct dirent **entries = NULL;
	int rc = 0, n;

	if (snprintf(path, sizeof(path), "%s/catalogue", root) >= (int)sizeof(path)) {
		return 0;
	}
	n = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		size_t length = strlen(entries[i]->d_name);
		size_t suffix = strlen(SUFFIX);

		if (rc == 0 && length > suffix && strcmp(entries[i]->d_name + length - suffix, SUFFIX) == 0) {
			rc = sl_drives_add(d, entries[i]->d_name, length - suffix, err);
		}
		free(entries[i]);
	}
	free(entries);
	return rc;
}

int sl_drives_all(struct sl_drives *d, const struct sl_paths *paths, const char *scenario, struct sl_err *err)
{
	char path[PATH_MAX];
	char *slash;
	int rc = sl_paths_scenario(paths, scenario, path, err);

	if (rc < 0) {
		return rc;
	}
	slash = strrchr(path, '/');
	if (slash) {
		*slash = '\0';
	}
	rc = drives_scan(d, slash ? path : ".", err);
	return rc < 0 ? rc : drives_scan(d, paths->data, err);
}
