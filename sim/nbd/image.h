/*
 * The contents of a disk, beside its timing (device.h): what a request changes, it changes when it completes.
 * Implementations decide what of it survives a power cut.
 */
#ifndef SL_NBD_IMAGE_H
#define SL_NBD_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sl_disk_change {
	int64_t offset_bytes, bytes; /* within the disk; bytes > 0 */
	bool fua;                    /* stable when the call returns */
	uint64_t mark;               /* what `arrive` returned when the request came */
};

struct sl_disk_extent {
	int64_t bytes;
	bool hole; /* not allocated, reads as zeroes */
};

struct sl_disk_image;

/* Results are 0 (or a count) or a negative errno; after a failure the range may hold old, new or mixed bytes.
 */
struct sl_disk_image_ops {
	/* A request that changes or flushes the disk has arrived. */
	uint64_t (*arrive)(struct sl_disk_image *image);
	int (*read)(struct sl_disk_image *image, int64_t offset_bytes, void *buf, size_t bytes);
	int (*write)(struct sl_disk_image *image, const struct sl_disk_change *change, const void *buf);
	/* The range reads as zeroes; `keep`: it stays allocated. */
	int (*zero)(struct sl_disk_image *image, const struct sl_disk_change *change, bool keep);
	/* Everything that completed before is stable when the call returns. */
	int (*flush)(struct sl_disk_image *image, uint64_t mark);
	/* What lies from offset_bytes on, at most `max` extents and `bytes` bytes. Returns their number >= 1.
	 */
	int (*extents)(struct sl_disk_image *image, int64_t offset_bytes, int64_t bytes,
		       struct sl_disk_extent *ret, int max);
};

struct sl_disk_image {
	const struct sl_disk_image_ops *ops;
};

#endif
