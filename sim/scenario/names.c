/* The names of all devices that a scenario could use. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/scenario/inner.h"

#define SUFFIX ".yaml"

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int add_name(char (*names)[SL_DEV_NAME_MAX], int n, int max, const char *file)
{
	size_t length = strlen(file);
	char name[SL_DEV_NAME_MAX];

	if (length <= strlen(SUFFIX) || length - strlen(SUFFIX) >= sizeof(name) ||
	    strcmp(file + length - strlen(SUFFIX), SUFFIX) != 0) {
		return n;
	}
	(void)snprintf(name, sizeof(name), "%.*s", (int)(length - strlen(SUFFIX)), file);
	for (int i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0) {
			return n;
		}
	}
	if (n == max || !sl_scenario_file_name_ok(name)) {
		return n;
	}
	memcpy(names[n], name, sizeof(name));
	return n + 1;
}

int sl_scenario_device_names(const char *data_dir, char (*ret)[SL_DEV_NAME_MAX], int max)
{
	const char *roots[] = {".", data_dir};
	int n = 0;

	for (int i = 0; i < 2; i++) {
		char path[PATH_MAX];
		struct dirent *entry;
		DIR *folder;

		if (snprintf(path, sizeof(path), "%s/catalogue", roots[i]) >= (int)sizeof(path)) {
			continue;
		}
		folder = opendir(path);
		while (folder && (entry = readdir(folder))) {
			n = add_name(ret, n, max, entry->d_name);
		}
		if (folder) {
			(void)closedir(folder);
		}
	}
	qsort(ret, (size_t)n, sizeof(ret[0]), by_name);
	return n;
}
