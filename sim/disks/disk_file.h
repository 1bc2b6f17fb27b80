/* The file that is a disk's medium: reads and writes of everything, holes. Internal to sim/serve. */
#ifndef SL_DISKS_DISK_FILE_H
#define SL_DISKS_DISK_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* 0 or a negative errno. What lies beyond the end of the file reads as zeroes. */
int sl_disk_pread(int fd, void *buf, int64_t bytes, int64_t offset_bytes);
int sl_disk_pwrite(int fd, const void *buf, int64_t bytes, int64_t offset_bytes);
/* Makes a hole, or writes zeroes where the file system has none (or `keep`). */
int sl_disk_punch(int fd, int64_t offset_bytes, int64_t bytes, bool keep);

#endif
