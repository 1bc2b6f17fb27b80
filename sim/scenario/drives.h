/* Names of drives of the catalogue, each once: what advise is to try. */
#ifndef SL_SCENARIO_DRIVES_H
#define SL_SCENARIO_DRIVES_H

#include <stddef.h>

#include "sim/base/err.h"
#include "sim/scenario/paths.h"

#define SL_DRIVES_MAX 256
#define SL_DRIVE_NAME_MAX 80 /* longer ones are no names: the catalogue says so */

/* Start with {0}; may not be copied or moved once a name is in. */
struct sl_drives {
	int n;
	char names[SL_DRIVES_MAX][SL_DRIVE_NAME_MAX];
	const char *list[SL_DRIVES_MAX]; /* into names */
};

/* -EINVAL when there are more than SL_DRIVES_MAX. */
int sl_drives_add(struct sl_drives *d, const char *name, size_t length, struct sl_err *err);

/* Every drive of the catalogue beside `scenario` (as sl_paths_scenario takes it), then of the program's. */
int sl_drives_all(struct sl_drives *d, const struct sl_paths *paths, const char *scenario,
		  struct sl_err *err);

#endif
