/* What a disk's image reads as, for tests. */
#ifndef SL_TESTS_NBD_CONTENTS_H
#define SL_TESTS_NBD_CONTENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/nbd/image.h"

/* The range holds this value, as a client sees it. */
bool contents_are(struct sl_disk_image *image, int64_t offset, int64_t bytes, int value);

#endif
