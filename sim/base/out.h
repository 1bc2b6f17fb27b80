/* Output files: whole or not at all. */
#ifndef SL_BASE_OUT_H
#define SL_BASE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "sim/base/err.h"

/* "-" */
bool sl_out_is_stdout(const char *path);

/* Says before a long run that `path` cannot be written: folder missing, read-only, path is a folder. */
int sl_out_check(const char *path, struct sl_err *err);

/* Would two of the `n` paths (NULL: not asked for) be one file? -EINVAL names it. stdout is not looked at. */
int sl_out_check_distinct(const char *const *paths, int n, struct sl_err *err);

/* Writes the document that `render` makes to `path` ("-" is stdout): into a temporary file beside it, then
 * renamed once it is on the disk. Devices and pipes are written directly. On failure nothing is left. */
int sl_out_write(const char *path, int (*render)(void *arg, FILE *out, struct sl_err *err), void *arg,
		 struct sl_err *err);
/* The same without the wait for the disk, for what is written again and again. */
int sl_out_write_passing(const char *path, int (*render)(void *arg, FILE *out, struct sl_err *err), void *arg,
			 struct sl_err *err);

#endif
