#include "sim/disks/disk_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "sim/base/fdio.h"

int sl_disk_pread(int fd, void *buf, int64_t bytes, int64_t offset_bytes)
{
	int64_t got = sl_fd_pread(fd, buf, bytes, offset_bytes);

	if (got < 0) {
		return (int)got;
	}
	memset((uint8_t *)buf + got, 0, (size_t)(bytes - got));
	return 0;
}

int sl_disk_pwrite(int fd, const void *buf, int64_t bytes, int64_t offset_bytes)
{
	return sl_fd_pwrite(fd, buf, bytes, offset_bytes);
}

static int zeroes_write(int fd, int64_t offset_bytes, int64_t bytes)
{
	static const uint8_t zeroes[64 * 1024];
	int rc = 0;

	while (rc == 0 && bytes > 0) {
		int64_t piece = bytes < (int64_t)sizeof(zeroes) ? bytes : (int64_t)sizeof(zeroes);

		rc = sl_disk_pwrite(fd, zeroes, piece, offset_bytes);
		offset_bytes += piece;
		bytes -= piece;
	}
	return rc;
}

int sl_disk_punch(int fd, int64_t offset_bytes, int64_t bytes, bool keep)
{
	int mode = keep ? FALLOC_FL_ZERO_RANGE : FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
	int rc;

	do {
		rc = fallocate(fd, mode, offset_bytes, bytes);
	} while (rc < 0 && errno == EINTR);
	if (rc < 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) {
		return zeroes_write(fd, offset_bytes, bytes);
	}
	return rc < 0 ? -errno : 0;
}
