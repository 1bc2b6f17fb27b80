/* `disk test --saturate`: runs drives until garbage collection has set in, prints and writes what came out.
 */
#ifndef SL_CLI_DISK_SATURATE_H
#define SL_CLI_DISK_SATURATE_H

#include "sim/base/err.h"
#include "sim/base/options.h"

struct sl_disk_curve_options {
	uint64_t minutes, seed;
	const char *state;            /* NULL = fresh */
	const char *csv, *json, *svg; /* files, NULL = none */
	const char *data_dir;
};

/* Runs, prints and writes. -EINVAL: no such device, or its file says nothing of its NAND; -EINTR after
 * Ctrl-C. */
int sl_disk_curves_run(const struct sl_words *names, const struct sl_disk_curve_options *options,
		       struct sl_err *err);

#endif
