/* A drive that `sloglab disk test` has measured, as a file of the user's own catalogue. */
#ifndef SL_CLI_DISK_SAVE_H
#define SL_CLI_DISK_SAVE_H

#include "sim/report/disk_figures.h"

/* Before anything is measured: is `name` a name, and is there no ./catalogue/NAME.yaml? -EINVAL, -EEXIST. */
int sl_disk_save_check(const char *name, struct sl_err *err);

/*
 * Writes ./catalogue/NAME.yaml from the figures of a real solid-state drive and loads it to check it. What
 * was not measured is not claimed: power-loss protection is "no", assumed. -EINVAL where the figures are
 * those of a hard disk, whose mechanics they do not tell; -EEXIST, errno of the file.
 */
int sl_disk_save(const struct sl_disk_figures *figures, const char *name, const char *data_dir,
		 struct sl_err *err);

#endif
