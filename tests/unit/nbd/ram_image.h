/* A disk's contents in memory, for tests. */
#ifndef SL_TESTS_NBD_RAM_IMAGE_H
#define SL_TESTS_NBD_RAM_IMAGE_H

#include "sim/nbd/image.h"

struct ram_image {
	struct sl_disk_image base;
	uint8_t *bytes; /* owned */
	int64_t size_bytes;
	int64_t hole_bytes; /* what lies before it is reported as a hole */
	uint64_t arrivals, flushes, last_mark;
	bool last_fua, last_keep;
	struct sl_mark fate;             /* the one that every change gets */
	unsigned followed, done, forgot; /* how often it went out; came back with a change; without */
	int fail;                        /* negative errno that every operation returns; 0 = none */
};

/* Zeroed bytes; aborts without memory. Release with ram_image_fini. */
void ram_image_init(struct ram_image *ram, int64_t size_bytes);
void ram_image_fini(struct ram_image *ram);

#endif
