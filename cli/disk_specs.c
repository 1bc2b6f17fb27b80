#include "cli/disk_specs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/units.h"

#define WORD_MAX 256
#define SIZE_MAX_BYTES 1e15

static int read_size(const char *word, const char *text, int64_t *ret, struct sl_err *err)
{
	double bytes;
	int rc = sl_units_parse(text, SL_UNIT_BYTES, &bytes, err);

	if (rc < 0) {
		return sl_err_wrap(err, "%s: size", word);
	}
	if (!(bytes >= 512 && bytes <= SIZE_MAX_BYTES)) {
		return sl_err_set(err, -EINVAL, "%s: size: must be from 512 bytes to 1 PB", word);
	}
	*ret = (int64_t)bytes;
	return 0;
}

/* The options behind the first comma. */
static int read_options(const char *word, char *options, struct sl_disks_disk *disk, struct sl_err *err)
{
	char *rest = NULL;

	for (char *option = strtok_r(options, ",", &rest); option; option = strtok_r(NULL, ",", &rest)) {
		int rc;

		if (strncmp(option, "size=", 5) != 0) {
			return sl_err_set(err, -EINVAL,
					  "%s: \"%.40s\" is not an option of a disk; use size=", word,
					  option);
		}
		rc = read_size(word, option + 5, &disk->size_bytes, err);
		if (rc < 0) {
			return rc;
		}
	}
	return 0;
}

int sl_disk_specs_add(struct sl_disk_specs *specs, const char *word, const char *data_dir, struct sl_err *err)
{
	struct sl_disks_disk *disk = &specs->disks[specs->n];
	char text[WORD_MAX];
	char *comma, *equals, *name = text;
	int rc = 0;

	if (specs->n == SL_DISKS_MAX) {
		return sl_err_set(err, -EINVAL, "%.60s: more than %d disks", word, SL_DISKS_MAX);
	}
	if (strlen(word) >= sizeof(text)) {
		return sl_err_set(err, -EINVAL, "%.60s...: too long", word);
	}
	(void)snprintf(text, sizeof(text), "%s", word);
	*disk = (struct sl_disks_disk){0};
	comma = strchr(text, ',');
	if (comma) {
		*comma = '\0';
		rc = read_options(word, comma + 1, disk, err);
	}
	equals = strchr(text, '=');
	if (equals) {
		*equals = '\0';
		name = equals + 1;
	}
	if (rc == 0 && strlen(name) >= sizeof(specs->names[0])) {
		rc = sl_err_set(err, -EINVAL, "%.60s: the name of a disk has at most 63 bytes", name);
	}
	if (rc == 0) {
		rc = sl_scenario_load_device(text, data_dir, &specs->owners[specs->n], &disk->spec, err);
	}
	if (rc < 0) {
		return rc;
	}
	(void)snprintf(specs->names[specs->n], sizeof(specs->names[0]), "%.63s", name);
	disk->name = specs->names[specs->n++];
	return 0;
}

void sl_disk_specs_free(struct sl_disk_specs *specs)
{
	for (int i = 0; i < specs->n; i++) {
		sl_scenario_free(specs->owners[i]);
	}
	specs->n = 0;
}
