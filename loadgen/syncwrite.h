/* Synchronous writes of one file: as a hypervisor's NFS client sends them, or as dd oflag=dsync does. */
#ifndef SL_LOADGEN_SYNCWRITE_H
#define SL_LOADGEN_SYNCWRITE_H

#include "loadgen/load.h"

struct sl_syncwrite_config {
	/* Either nfs://SERVER/EXPORT/FILE[?nfsport=N&mountport=N] or a file or block device. It is made when
	 * missing. */
	const char *url, *path;
	uint32_t block_bytes; /* 1 B .. 1 MiB */
	uint64_t file_bytes;  /* offsets stay below; at least one block */
	bool random;          /* else sequential, starting again at the end */
	/* Each WRITE is UNSTABLE and followed by a COMMIT (QEMU), else FILE_SYNC (ESXi); on a path fdatasync,
	 * else O_DSYNC. */
	bool unstable;
	bool direct;    /* on a path: O_DIRECT */
	double data;    /* what is written: 0 zero bytes, 1 random, N compresses to 1/N (data.h) */
	uint32_t depth; /* requests in flight, 1 .. 1024 */
	uint64_t seed;
	uint32_t null_calls; /* NULL calls measured before; 0 = 200 */
	struct sl_load_limits limits;
};

/* Runs the load. The latency of a request is that of its WRITE and COMMIT together. 0 or negative errno;
 * Ctrl-C is not an error (ret->interrupted). `ret` must be initialised. */
int sl_syncwrite_run(const struct sl_syncwrite_config *config, struct sl_load_result *ret,
		     struct sl_err *err);

#endif
