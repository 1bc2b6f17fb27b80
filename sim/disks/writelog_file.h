/* What the writer and the reader of a write log share. Internal to sim/serve. */
#ifndef SL_DISKS_WRITELOG_FILE_H
#define SL_DISKS_WRITELOG_FILE_H

#include <stdint.h>

#define SL_WRITELOG_MAGIC "SLWLOG1\n"
#define SL_WRITELOG_DISK_BYTES 14 /* of a disk, behind its name */
#define SL_WRITELOG_RECORD_MAGIC 0x534c5752u
#define SL_WRITELOG_RECORD_BYTES 40

uint64_t sl_writelog_hash(const uint8_t *bytes, int64_t size);

#endif
