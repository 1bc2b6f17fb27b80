/* fileio in a folder: system calls that block, a thread for each request in flight. Internal to loadgen. */
#ifndef SL_LOADGEN_FILEIO_PATH_H
#define SL_LOADGEN_FILEIO_PATH_H

#include "loadgen/fileio.h"

/* As sl_fileio_load_run, for a load with a path, whose figures were checked. */
int sl_fileio_path_run(const struct sl_fileio_load *load, struct sl_load_result *ret, struct sl_err *err);

#endif
