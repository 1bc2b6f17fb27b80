#include "sim/base/fdio.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define AT_POSITION (-1)

static int64_t fill(int fd, uint8_t *buf, int64_t bytes, int64_t offset_bytes)
{
	int64_t done = 0;

	while (done < bytes) {
		size_t left = (size_t)(bytes - done);
		ssize_t got = offset_bytes == AT_POSITION ? read(fd, buf + done, left)
							  : pread(fd, buf + done, left, offset_bytes + done);

		if (got == 0) {
			break;
		}
		if (got < 0 && errno != EINTR) {
			return -errno;
		}
		done += got > 0 ? got : 0;
	}
	return done;
}

static int drain(int fd, const uint8_t *buf, int64_t bytes, int64_t offset_bytes)
{
	int64_t done = 0;

	while (done < bytes) {
		size_t left = (size_t)(bytes - done);
		ssize_t put = offset_bytes == AT_POSITION ? write(fd, buf + done, left)
							  : pwrite(fd, buf + done, left, offset_bytes + done);

		if (put == 0) {
			return -EIO; /* no error, and no end in sight */
		}
		if (put < 0 && errno != EINTR) {
			return -errno;
		}
		done += put > 0 ? put : 0;
	}
	return 0;
}

int64_t sl_fd_read(int fd, void *buf, int64_t bytes)
{
	return fill(fd, buf, bytes, AT_POSITION);
}

int64_t sl_fd_pread(int fd, void *buf, int64_t bytes, int64_t offset_bytes)
{
	return fill(fd, buf, bytes, offset_bytes);
}

int sl_fd_write(int fd, const void *buf, int64_t bytes)
{
	return drain(fd, buf, bytes, AT_POSITION);
}

int sl_fd_pwrite(int fd, const void *buf, int64_t bytes, int64_t offset_bytes)
{
	return drain(fd, buf, bytes, offset_bytes);
}

int sl_dir_next(DIR *dir, struct dirent **ret)
{
	do {
		errno = 0;
		*ret = readdir(dir);
	} while (*ret && (strcmp((*ret)->d_name, ".") == 0 || strcmp((*ret)->d_name, "..") == 0));
	return *ret ? 1 : -errno;
}
