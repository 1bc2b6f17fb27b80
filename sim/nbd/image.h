/*
 * The contents of a disk, beside its timing (device.h): what a request changes, it changes when it completes.
 * Implementations decide what of it survives a power cut.
 */
#ifndef SL_NBD_IMAGE_H
#define SL_NBD_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/device/mark.h"

struct sl_disk_change {
	int64_t offset_bytes, bytes; /* within the disk; bytes > 0 */
	bool fua;                    /* stable when the call returns */
	uint64_t mark;               /* what `arrive` returned when the request came */
	struct sl_mark *fate;        /* what `follow` returned, by now noted in by the model */
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
	/* A mark for a change that arrives now, in which the model notes when it is on the medium; goes back
	 * with `write` or `zero`, done or failed, or with `forget`. NULL, also as a function: nobody asks. */
	struct sl_mark *(*follow)(struct sl_disk_image *image);
	/* The change came to nothing: the power was cut before it was done, or the disk had failed. */
	void (*forget)(struct sl_disk_image *image, struct sl_mark *fate);
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
