/* Geometry of raidz: what blocks occupy and which disk gets what; expectations by hand from vdev_raidz_asize.
 */
#include "sim/zfs/raidz.h"
#include "tests/unit/zfs/lib.h"

#define SECTOR (4 * KIB)

/* data + parity x rows, rounded up to a multiple of parity + 1 sectors. */
Test(raidz, a_block_occupies_data_parity_and_padding)
{
	static const struct {
		int width, parity;
		int64_t bytes, sectors;
	} rows[] = {
	    {3, 1, 4 * KIB, 2},      /* 1 + 1 */
	    {3, 1, 8 * KIB, 4},      /* 2 + 1 = 3 */
	    {3, 1, 16 * KIB, 6},     /* 4 + 2 */
	    {3, 1, 128 * KIB, 48},   /* 32 + 16 */
	    {6, 2, 4 * KIB, 3},      /* 1 + 2: as three copies */
	    {6, 2, 8 * KIB, 6},      /* 2 + 2 = 4 */
	    {6, 2, 16 * KIB, 6},     /* 4 + 2: one full row */
	    {6, 2, 20 * KIB, 9},     /* 5 + 2 x 2 = 9 */
	    {6, 2, 128 * KIB, 48},   /* 32 + 2 x 8 */
	    {10, 2, 128 * KIB, 42},  /* 32 + 2 x 4 = 40 */
	    {8, 3, 4 * KIB, 4},      /* 1 + 3 */
	    {8, 3, 16 * KIB, 8},     /* 4 + 3 = 7 */
	    {8, 3, 128 * KIB, 56},   /* 32 + 3 x 7 = 53 */
	    {11, 3, 128 * KIB, 44},  /* 32 + 3 x 4 = 44 */
	    {11, 3, 1024 * KIB, 352} /* 256 + 3 x 32 */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct sl_raidz raidz = {rows[i].width, rows[i].parity, 12};

		cr_assert_eq(sl_raidz_asize(&raidz, rows[i].bytes), rows[i].sectors * SECTOR, "row %zu: %lld",
			     i, (long long)(sl_raidz_asize(&raidz, rows[i].bytes) / SECTOR));
	}
}

/* "disk:sectors@row" of each column. */
static void expect_columns(const struct sl_raidz *raidz, int64_t offset, int64_t bytes, bool read,
			   const char *expected)
{
	struct sl_column columns[16];
	char text[256] = "";
	int n = sl_raidz_columns(raidz, offset * SECTOR, bytes, read, columns);

	for (int i = 0; i < n; i++) {
		size_t at = strlen(text);

		snprintf(text + at, sizeof(text) - at, "%s%d:%lld@%lld", i ? " " : "", columns[i].disk,
			 (long long)(columns[i].bytes / SECTOR), (long long)(columns[i].offset / SECTOR));
	}
	cr_assert_str_eq(text, expected);
}

Test(raidz, columns_begin_with_the_parity_and_wrap_to_the_next_row)
{
	const struct sl_raidz z2 = {6, 2, 12}, z3 = {5, 3, 12};

	/* One sector: two parity sectors and itself. */
	expect_columns(&z2, 0, 4 * KIB, false, "0:1@0 1:1@0 2:1@0");
	/* Five sectors: one row of four and one sector, the parity as long as the longest column. */
	expect_columns(&z2, 0, 20 * KIB, false, "0:2@0 1:2@0 2:2@0 3:1@0 4:1@0 5:1@0");
	/* From sector 10 = disk 4 of row 1. */
	expect_columns(&z2, 10, 16 * KIB, false, "4:1@1 5:1@1 0:1@2 1:1@2 2:1@2 3:1@2");
	expect_columns(&z2, 10, 16 * KIB, true, "0:1@2 1:1@2 2:1@2 3:1@2");
	expect_columns(&z3, 0, 12 * KIB, false, "0:2@0 1:2@0 2:2@0 3:2@0 4:1@0");
}
