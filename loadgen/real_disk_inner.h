/* Private to the two kinds of real disks. */
#ifndef SL_LOADGEN_REAL_DISK_INNER_H
#define SL_LOADGEN_REAL_DISK_INNER_H

#include "loadgen/real_disk.h"
#include "sim/base/rng.h"

#define SL_REAL_BYTES_MAX (8 << 20)
#define SL_REAL_DEPTH_MAX 64
#define SL_REAL_SIZE_MAX (INT64_C(1) << 30)

struct sl_real_disk_ops {
	/* One write and its flush. 0, -EINVAL (size not possible), errno. */
	int (*sync)(struct sl_real_disk *disk, int64_t offset, int64_t bytes, struct sl_err *err);
	int (*iops)(struct sl_real_disk *disk, bool write, int64_t bytes, int depth, double *ret,
		    struct sl_err *err);
	void (*close)(struct sl_real_disk *disk);
};

struct sl_real_disk {
	const struct sl_real_disk_ops *ops;
	struct sl_real_disk_options options;
	int64_t size_bytes; /* of the range */
	int64_t has_bytes;  /* of the disk */
	struct sl_rng rng;
	void *buffer; /* SL_REAL_BYTES_MAX of it, aligned; owned */
	char name[256], note[160];
};

/* Buffer and random numbers. -ENOMEM. */
int sl_real_disk_init(struct sl_real_disk *disk, const struct sl_real_disk_ops *ops, const char *name,
		      const struct sl_real_disk_options *options, struct sl_err *err);
/* Takes the range from the options and what the disk has. -EINVAL: less than the largest request. */
int sl_real_disk_size(struct sl_real_disk *disk, int64_t has_bytes, struct sl_err *err);
/* A random place for a request. */
int64_t sl_real_disk_place(struct sl_real_disk *disk, int64_t bytes);
bool sl_real_disk_stopped(const struct sl_real_disk *disk);

#endif
