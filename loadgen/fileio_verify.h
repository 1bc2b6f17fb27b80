/* Verify mode of fileio: a block that was written holds the record of its place, and must hold it when it is
 * read. Internal to loadgen; the caller locks. */
#ifndef SL_LOADGEN_FILEIO_VERIFY_H
#define SL_LOADGEN_FILEIO_VERIFY_H

#include "sim/base/err.h"
#include "sim/workload/fileio.h"

/* Zero-initialised it is off: nothing is expected, and blocks are zero bytes. */
struct sl_fileio_verify {
	uint64_t seed, blocks; /* of one file */
	uint32_t block_bytes;
	uint8_t *written; /* a bit for each block; owned; NULL = off */
};

/* -EINVAL: blocks too small for a record or no multiple of 8. -ENOMEM. */
int sl_fileio_verify_init(struct sl_fileio_verify *verify, const struct sl_fileio_config *config,
			  uint64_t seed, struct sl_err *err);
void sl_fileio_verify_fini(struct sl_fileio_verify *verify);

/* Fills the block that a write sends; left as it is when off. */
void sl_fileio_verify_fill(const struct sl_fileio_verify *verify, const struct sl_fileio_request *request,
			   void *buf);
/* A write was acknowledged. */
void sl_fileio_verify_wrote(struct sl_fileio_verify *verify, const struct sl_fileio_request *request);
/* Whether a read that starts now must find the record. */
bool sl_fileio_verify_expects(const struct sl_fileio_verify *verify, const struct sl_fileio_request *request);
/* 0, or -EILSEQ with file and offset. */
int sl_fileio_verify_check(const struct sl_fileio_verify *verify, const struct sl_fileio_request *request,
			   const void *buf, struct sl_err *err);

#endif
