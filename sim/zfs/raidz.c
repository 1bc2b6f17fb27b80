#include "sim/zfs/raidz.h"

#include <assert.h>

int sl_raidz_columns(const struct sl_raidz *raidz, int64_t offset, int64_t bytes, bool read,
		     struct sl_column *columns)
{
	int64_t sector = INT64_C(1) << raidz->ashift, sectors = (bytes + sector - 1) / sector;
	int64_t rows = sectors / (raidz->width - raidz->parity),
		extra = sectors % (raidz->width - raidz->parity);
	/* So many columns, parity first, are one sector longer: the last row is not full. */
	int64_t longer = extra > 0 ? extra + raidz->parity : 0;
	int64_t first = offset / sector % raidz->width, row = offset / sector / raidz->width;
	int n = 0;

	assert(raidz->width > raidz->parity);
	for (int64_t i = read ? raidz->parity : 0; i < raidz->width; i++) {
		int64_t length = rows + (i < longer ? 1 : 0);

		if (length > 0) {
			columns[n++] =
			    (struct sl_column){(int)((first + i) % raidz->width),
					       (row + (first + i) / raidz->width) * sector, length * sector};
		}
	}
	return n;
}

int64_t sl_raidz_asize(const struct sl_raidz *raidz, int64_t bytes)
{
	int64_t sector = INT64_C(1) << raidz->ashift, sectors = (bytes + sector - 1) / sector;
	int64_t data = raidz->width - raidz->parity, unit = raidz->parity + 1;

	sectors += raidz->parity * ((sectors + data - 1) / data);
	return (sectors + unit - 1) / unit * unit * sector;
}
