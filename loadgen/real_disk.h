/* A real disk under the test of `sloglab disk test`: a file, a block device or an NBD export. */
#ifndef SL_LOADGEN_REAL_DISK_H
#define SL_LOADGEN_REAL_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

struct sl_real_disk;

struct sl_real_disk_options {
	int64_t size_bytes;    /* of the range used; 0 = the disk's, at most 1 GiB */
	bool destroy_ok;       /* the content may be overwritten */
	int64_t time_ns;       /* of each measurement */
	bool (*stopped)(void); /* asked between requests; NULL = never */
};

/*
 * Opens `path`. A file that does not exist is created, filled, and removed at the end. -EEXIST: there is
 * something and destroy_ok is not set; -EINVAL (size), errno of open, -ENOSPC ...
 */
int sl_real_file_open(const char *path, const struct sl_real_disk_options *options, struct sl_real_disk **ret,
		      struct sl_err *err);

/* Connects to an NBD URI (libnbd); every wait ends after 10 s. -EPERM: destroy_ok is not set; -ETIMEDOUT,
 * -ECONNREFUSED, -EROFS ... */
int sl_real_nbd_open(const char *uri, const struct sl_real_disk_options *options, struct sl_real_disk **ret,
		     struct sl_err *err);

/* Accepts NULL. */
void sl_real_disk_close(struct sl_real_disk *disk);

/* What the reader of the figures must know ("page cache is in between"), "" = nothing. */
const char *sl_real_disk_note(const struct sl_real_disk *disk);

/* Size of the whole disk or file, of which the range is a part. */
int64_t sl_real_disk_bytes(const struct sl_real_disk *disk);

/* Mean time of a random write of `bytes` and the flush that makes it stable, one after the other, for the
 * time of the options. *ret = 0 when the disk does not take requests of this size. -EINTR when stopped. */
int sl_real_disk_sync(struct sl_real_disk *disk, int64_t bytes, double *ret_ns, struct sl_err *err);

/* Random requests of `bytes` per second with `depth` (at most 64) outstanding. */
int sl_real_disk_iops(struct sl_real_disk *disk, bool write, int64_t bytes, int depth, double *ret,
		      struct sl_err *err);

#endif
