/* What stands between reading the journal of a durable tree and its first call. */
#ifndef SL_DATASTORE_RECOVER_H
#define SL_DATASTORE_RECOVER_H

#include "sim/datastore/filedata.h"
#include "sim/datastore/folder.h"
#include "sim/datastore/names.h"

/* Clears away what a kill explains and puts other orphans aside (orphans.h), then looks at the file of each
 * inode. With data->durable all of it, and what earlier servers left to the kernel, is on the host's disk
 * when it returns 0. -EINVAL: the contents of files are missing; or another negative errno. */
int sl_recover(struct sl_folder *folder, struct sl_names *names, struct sl_filedata *data,
	       struct sl_err *err);

#endif
