/*
 * The request stream of sysbench 0.4 fileio (sb_fileio.c): which file, which offset, when all files are
 * synced, when it ends. Pure: the model and the real load generator share it.
 *
 * A round is `fsync_every` counted requests, then one fsync for every file, written or not; fsyncs are not
 * counted. All data is zero bytes (0.4 never fills its buffer).
 */
#ifndef SL_WORKLOAD_FILEIO_H
#define SL_WORKLOAD_FILEIO_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/rng.h"

enum sl_fileio_mode { /* sysbench --file-test-mode, in the order of the scenario's words */
	SL_FILEIO_SEQWR,
	SL_FILEIO_SEQRD,
	SL_FILEIO_RNDRD,
	SL_FILEIO_RNDWR,
	SL_FILEIO_RNDRW /* 1.5 reads per write, in a fixed alternation */
};

enum sl_fileio_op {
	SL_FILEIO_READ,
	SL_FILEIO_WRITE,
	SL_FILEIO_FSYNC,
	SL_FILEIO_END
};

enum sl_fileio_end { /* when all files are synced at the end */
	SL_FILEIO_END_NEVER,
	SL_FILEIO_END_AFTER_REQUESTS, /* not when the caller ends it (0.4) */
	SL_FILEIO_END_ALWAYS          /* 1.0 */
};

struct sl_fileio_config {
	enum sl_fileio_mode mode;
	uint32_t files;
	uint64_t file_bytes; /* of each file; at least one block */
	uint32_t block_bytes;
	uint32_t fsync_every;  /* 0 = never */
	uint64_t max_requests; /* 0 = no limit */
	enum sl_fileio_end fsync_end;
};

struct sl_fileio_request {
	enum sl_fileio_op op;
	uint32_t file;
	uint64_t offset_bytes;
};

/* The state all client threads share, as sysbench's do. */
struct sl_fileio {
	struct sl_fileio_config config;
	struct sl_rng rng;
	uint64_t requests; /* counted so far */
	uint64_t reads, writes;
	uint64_t position; /* next block of the sequential modes */
	uint32_t syncing;  /* next file to fsync */
	bool dirty;        /* written since all files were last synced */
	bool ended;        /* by the caller */
};

void sl_fileio_init(struct sl_fileio *io, const struct sl_fileio_config *config, uint64_t seed);

/* Time is up: no new requests, only what fsync_end asks for. */
void sl_fileio_end(struct sl_fileio *io);

/* Draws the next request; SL_FILEIO_END when max_requests or, in the sequential modes, the last block is
 * done. */
void sl_fileio_next(struct sl_fileio *io, struct sl_fileio_request *ret);

#endif
