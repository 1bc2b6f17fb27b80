/* Where the data of the program is: catalogue, host profiles, ready scenarios. */
#ifndef SL_SCENARIO_PATHS_H
#define SL_SCENARIO_PATHS_H

#include <limits.h>

#include "sim/base/err.h"

#define SL_PATHS_SCENARIOS_MAX 64
#define SL_PATHS_NAME_MAX 64

struct sl_paths {
	char data[PATH_MAX];      /* holds "catalogue" and "profiles" */
	char scenarios[PATH_MAX]; /* ready scenarios */
	char images[PATH_MAX];    /* recipes of the images */
	char bin[PATH_MAX];       /* folder of this program: its companions are there */
};

/*
 * SLOGLAB_DATA when set; else share/sloglab beside the program's bin folder; else the nearest folder above
 * the program that is a source tree. Errors: -ENOENT names what was looked for and the remedy.
 */
int sl_paths_find(struct sl_paths *ret, struct sl_err *err);

/* The file a user means by `name`: itself, or a ready scenario when it has neither slash nor suffix. */
int sl_paths_scenario(const struct sl_paths *paths, const char *name, char ret_path[PATH_MAX],
		      struct sl_err *err);

/* Names of the ready scenarios in alphabetical order, at most SL_PATHS_SCENARIOS_MAX; returns their number.
 */
int sl_paths_scenarios(const struct sl_paths *paths, char ret_names[][SL_PATHS_NAME_MAX]);

/* Where the figures of this host are kept: sloglab/host.yaml in XDG_CONFIG_HOME or ~/.config. It need not
 * exist. -ENOENT without a home. */
int sl_paths_profile(char ret_path[PATH_MAX], struct sl_err *err);

#endif
