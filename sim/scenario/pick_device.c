/* One device of the catalogue without a scenario around it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/scenario/inner.h"

/* Stands for the file in which the name was written. */
#define LABEL "catalogue"

static int pick(struct sl_scenario *sc, const char *name, const char *data_dir, struct sl_err *err)
{
	char text[SL_NAME_MAX + 16];
	struct sl_yaml yaml;
	const struct sl_reading r = {.sc = sc, .yaml = &yaml, .err = err};
	int length = snprintf(text, sizeof(text), "device: %s\n", name);
	int rc;

	sc->dir = ".";
	sc->data_dir = sl_arena_strdup(&sc->arena, data_dir);
	if (!sc->data_dir) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	rc = sl_yaml_load_buffer(&yaml, text, (size_t)length, LABEL, false, err);
	if (rc) {
		return rc;
	}
	rc = sl_scenario_device(&r, sl_yaml_get(&yaml, sl_yaml_root(&yaml), "device"), NULL, name);
	sl_yaml_free(&yaml);
	return rc;
}

int sl_scenario_load_device(const char *name, const char *data_dir, struct sl_scenario **ret,
			    const struct sl_dev_spec **ret_spec, struct sl_err *err)
{
	struct sl_scenario *sc;
	struct sl_err local = {0};
	int rc;

	err = err ? err : &local;
	if (!sl_scenario_file_name_ok(name)) {
		return sl_err_set(
		    err, -EINVAL,
		    "device \"%.60s\": no valid name; use a-z, 0-9, '-' and '.', at most 63 bytes", name);
	}
	sc = calloc(1, sizeof(*sc));
	if (!sc) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	rc = pick(sc, name, data_dir, err);
	if (rc < 0) {
		sl_scenario_free(sc);
		return rc;
	}
	*ret = sc;
	*ret_spec = &sc->devices[rc]->spec;
	return 0;
}
