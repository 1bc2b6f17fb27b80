/*
 * The block layer of the kernel before a disk: what becomes of flushes and of writes with FUA (Linux,
 * block/blk-flush.c). At most one flush is in flight at a disk; all that come meanwhile wait and are served
 * by the next one together. That of a SATA disk is no queued command: whatever comes while it is in flight is
 * held, and the next flush goes first. A disk that has no volatile cache gets none at all. FUA goes to disks
 * that know it; for the others it is a write and then a flush.
 *
 * ZFS sends one flush per disk and commit and leaves merging to this layer. FreeBSD and illumos do not merge;
 * with one writer of the log at a time, as theirs, there is nothing to merge.
 */
#ifndef SL_DEVICE_BLOCK_H
#define SL_DEVICE_BLOCK_H

#include "sim/device/device.h"

/* The layer of `dev`, a disk made after `spec`. NULL when out of memory. Free with sl_block_free. */
struct sl_block *sl_block_new(struct sl_dev *dev, const struct sl_dev_spec *spec);
void sl_block_free(struct sl_block *block);

/* Does a disk say that it has a volatile cache (WCE of SATA and SAS, VWC of NVMe), so that flushes are sent?
 * Of drives with power-loss protection those on SATA and SAS do, those on NVMe do not. */
bool sl_block_has_cache(const struct sl_dev_spec *spec);

#endif
