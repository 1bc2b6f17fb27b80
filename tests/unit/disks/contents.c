#include "contents.h"

#include <criterion/criterion.h>
#include <stdlib.h>

bool contents_are(struct sl_disk_image *image, int64_t offset, int64_t bytes, int value)
{
	uint8_t *buf = malloc((size_t)bytes);
	bool same = true;

	cr_assert_eq(image->ops->read(image, offset, buf, (size_t)bytes), 0);
	for (int64_t i = 0; i < bytes; i++) {
		same &= buf[i] == value;
	}
	free(buf);
	return same;
}
