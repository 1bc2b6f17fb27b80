/*
 * Geometry of raidz (vdev_raidz_map_alloc, vdev_raidz_asize): data sectors in rows over width - parity disks,
 * each row with its parity sectors. A block shorter than a row still pays whole parity, and every block is
 * padded to a multiple of parity + 1 sectors so that no hole is too small to use: what small blocks cost.
 */
#ifndef SL_ZFS_RAIDZ_H
#define SL_ZFS_RAIDZ_H

#include <stdbool.h>
#include <stdint.h>

struct sl_raidz {
	int width;  /* disks */
	int parity; /* 1 to 3 */
	int ashift;
};

/* What one disk gets of a block. */
struct sl_column {
	int disk; /* within the vdev */
	int64_t offset, bytes;
};

/* Splits a block at `offset` into columns, parity first; a read leaves the parity out. columns has room for
 * `width`. Returns how many there are. */
int sl_raidz_columns(const struct sl_raidz *raidz, int64_t offset, int64_t bytes, bool read,
		     struct sl_column *columns);

/* Bytes that a block of `bytes` occupies, parity and padding included. */
int64_t sl_raidz_asize(const struct sl_raidz *raidz, int64_t bytes);

#endif
