/* "DEVICE[=NAME][,size=SIZE]" of `disk serve`: devices of the catalogue, loaded. */
#ifndef SL_CLI_DISK_SPECS_H
#define SL_CLI_DISK_SPECS_H

#include "sim/base/err.h"
#include "sim/disks/disks.h"
#include "sim/scenario/scenario.h"

struct sl_disk_specs {
	int n;
	struct sl_disks_disk disks[SL_DISKS_MAX];
	char names[SL_DISKS_MAX][64];
	struct sl_scenario *owners[SL_DISKS_MAX]; /* of the figures */
};

/* Appends a disk; `data_dir` holds the catalogue, ./catalogue comes first. -EINVAL names the word. */
int sl_disk_specs_add(struct sl_disk_specs *specs, const char *word, const char *data_dir,
		      struct sl_err *err);
void sl_disk_specs_free(struct sl_disk_specs *specs);

#endif
