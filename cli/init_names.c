#include "cli/init_names.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sim/scenario/scenario.h"

#define SUFFIX ".yaml"

/* `names` is the first member: what is handed out and freed is the whole. */
struct kept {
	struct sl_init_names names;
	char drive[SL_INIT_NAMES_MAX - 1][SL_DEV_NAME_MAX];
	char profile[SL_INIT_NAMES_MAX][SL_DEV_NAME_MAX];
};

/* Lists of disks and null devices are no disk to buy, hard disks no log device. */
static void drive_add(struct kept *k, const char *name, enum sl_dev_kind kind)
{
	struct sl_init_names *names = &k->names;

	if (kind == SL_DEV_HDD || kind == SL_DEV_SSD || kind == SL_DEV_RAID10) {
		names->disk[names->n_disks++] = name;
	}
	if (kind == SL_DEV_SSD || kind == SL_DEV_NVRAM) {
		names->log[names->n_logs++] = name;
	}
}

static void drives_load(struct kept *k, const char *data_dir)
{
	int n = sl_scenario_device_names(data_dir, k->drive, SL_INIT_NAMES_MAX - 1);

	for (int i = 0; i < n; i++) {
		const struct sl_dev_spec *spec;
		struct sl_scenario *sc;

		if (sl_scenario_load_device(k->drive[i], data_dir, &sc, &spec, NULL) == 0) {
			drive_add(k, k->drive[i], spec->kind);
			sl_scenario_free(sc);
		}
	}
	k->names.log[k->names.n_logs++] = "none";
}

static void profiles_load(struct kept *k, const char *root)
{
	struct dirent **entries = NULL;
	char path[PATH_MAX];
	int n;

	if (snprintf(path, sizeof(path), "%s/profiles", root) >= (int)sizeof(path)) {
		return;
	}
	n = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		const char *file = entries[i]->d_name;
		size_t length = strlen(file), suffix = strlen(SUFFIX);
		int at = k->names.n_profiles;

		if (at < SL_INIT_NAMES_MAX && length > suffix && length - suffix < SL_DEV_NAME_MAX &&
		    strcmp(file + length - suffix, SUFFIX) == 0) {
			snprintf(k->profile[at], SL_DEV_NAME_MAX, "%.*s", (int)(length - suffix), file);
			k->names.profile[at] = k->profile[at];
			k->names.n_profiles++;
		}
		free(entries[i]);
	}
	free(entries);
}

int sl_init_names_load(const char *data_dir, struct sl_init_names **ret, struct sl_err *err)
{
	struct kept *k = calloc(1, sizeof(*k));

	if (!k) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	drives_load(k, data_dir);
	profiles_load(k, ".");
	profiles_load(k, data_dir);
	*ret = &k->names;
	return 0;
}

void sl_init_names_free(struct sl_init_names *names)
{
	free((struct kept *)(void *)names);
}
