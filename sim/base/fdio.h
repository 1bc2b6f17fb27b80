/* All the bytes of a descriptor's call: a signal does not end it, and what came short goes on. */
#ifndef SL_BASE_FDIO_H
#define SL_BASE_FDIO_H

#include <dirent.h>
#include <stdint.h>

/* Reads until `bytes` are there or the file ends. The count (less than `bytes` only at the end), or negative
 * errno. */
int64_t sl_fd_read(int fd, void *buf, int64_t bytes);
/* The same from offset_bytes, which leaves the file's position alone. */
int64_t sl_fd_pread(int fd, void *buf, int64_t bytes, int64_t offset_bytes);
/* Writes all of it. 0 or negative errno; how much of it is written then is unknown. */
int sl_fd_write(int fd, const void *buf, int64_t bytes);
int sl_fd_pwrite(int fd, const void *buf, int64_t bytes, int64_t offset_bytes);

/* The next entry of a folder without "." and "..". 1, 0 at the end, or negative errno: readdir() alone makes
 * an error look like the end. */
int sl_dir_next(DIR *dir, struct dirent **ret);

#endif
