/* sysbench 0.4 fileio: its files, request order and sync rules; over NFS from a client without a page cache,
 * or in a folder. */
#ifndef SL_LOADGEN_FILEIO_H
#define SL_LOADGEN_FILEIO_H

#include "loadgen/load.h"
#include "sim/workload/fileio.h"

struct sl_fileio_load {
	/* Folder: either nfs://SERVER/EXPORT[?nfsport=N&mountport=N] or a path. Files are called test_file.N.
	 */
	const char *url, *path;
	unsigned stages; /* SL_LOAD_PREPARE | SL_LOAD_RUN | SL_LOAD_CLEANUP, done in this order */
	/* Block, files, sizes, sync rule. max_requests is sysbench's: it ends the run, warm-up included. */
	struct sl_fileio_config source;
	uint32_t threads, depth; /* together 1 .. 1024 requests in flight */
	/* WRITEs are UNSTABLE and a sync is a COMMIT of the file; else they are FILE_SYNC and a sync costs
	 * nothing, since nothing is unstable. On a path: fsync, else O_DSYNC. */
	bool unstable;
	bool direct; /* on a path: O_DIRECT */
	/* Blocks carry a record of their place; a read that does not find what was written fails (-EILSEQ).
	 */
	bool verify;
	double data;    /* what is written else: 0 zero bytes, 1 random, N compresses to 1/N (data.h) */
	bool fsync_end; /* sync all files at the end too (sysbench's default) */
	uint64_t seed;
	uint32_t null_calls;          /* NULL calls measured before; 0 = 200 */
	struct sl_load_limits limits; /* max_requests unused */
};

/*
 * Runs the stages. Prepared files hold data of the same kind; on NFS they are not written, but get their
 * size. After a failure or Ctrl-C the files are removed all the same when SL_LOAD_CLEANUP is among the
 * stages. Reads and writes count; syncs are counted apart. `ret` must be initialised. 0 or negative errno.
 */
int sl_fileio_load_run(const struct sl_fileio_load *load, struct sl_load_result *ret, struct sl_err *err);

#endif
