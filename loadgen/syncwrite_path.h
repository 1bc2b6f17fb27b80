/* syncwrite of a file or block device, by system calls. Internal to loadgen. */
#ifndef SL_LOADGEN_SYNCWRITE_PATH_H
#define SL_LOADGEN_SYNCWRITE_PATH_H

#include "loadgen/syncwrite.h"

/* As sl_syncwrite_run, for a load with a path, whose figures were checked. */
int sl_syncwrite_path_run(const struct sl_syncwrite_config *config, struct sl_load_result *ret,
			  struct sl_err *err);

#endif
