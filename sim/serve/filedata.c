#include "sim/serve/filedata.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILEDATA_OPEN_MAX 256u

static int64_t timespec_ns(const struct timespec *ts)
{
	return (int64_t)ts->tv_sec * 1000000000 + ts->tv_nsec;
}

static void lru_unlink(struct sl_filedata *data, struct sl_inode *inode)
{
	*(inode->lru_prev ? &inode->lru_prev->lru_next : &data->lru_first) = inode->lru_next;
	*(inode->lru_next ? &inode->lru_next->lru_prev : &data->lru_last) = inode->lru_prev;
}

static void lru_append(struct sl_filedata *data, struct sl_inode *inode)
{
	inode->lru_prev = data->lru_last;
	inode->lru_next = NULL;
	*(data->lru_last ? &data->lru_last->lru_next : &data->lru_first) = inode;
	data->lru_last = inode;
}

static void fd_close(struct sl_filedata *data, struct sl_inode *inode)
{
	if (inode->fd >= 0) {
		lru_unlink(data, inode);
		close(inode->fd);
		inode->fd = -1;
		data->open_count--;
	}
}

/* The descriptor of the inode's file, opened (and created) when needed, or negative errno. */
static int fd_get(struct sl_filedata *data, struct sl_inode *inode)
{
	char name[SL_FILEDATA_NAME_BYTES];

	if (inode->fd >= 0) {
		if (data->lru_last != inode) {
			lru_unlink(data, inode);
			lru_append(data, inode);
		}
		return inode->fd;
	}
	while (data->open_count >= FILEDATA_OPEN_MAX) {
		fd_close(data, data->lru_first);
	}
	sl_filedata_name(inode->ino, name);
	inode->fd = openat(data->dirfd, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (inode->fd < 0) {
		inode->fd = -1;
		return -errno;
	}
	lru_append(data, inode);
	data->open_count++;
	return inode->fd;
}

static void dirty_add(struct sl_filedata *data, struct sl_inode *inode)
{
	if (inode->dirty) {
		return;
	}
	inode->dirty = true;
	inode->dirty_prev = data->dirty_last;
	inode->dirty_next = NULL;
	*(data->dirty_last ? &data->dirty_last->dirty_next : &data->dirty_first) = inode;
	data->dirty_last = inode;
}

static void dirty_drop(struct sl_filedata *data, struct sl_inode *inode)
{
	if (!inode->dirty) {
		return;
	}
	inode->dirty = false;
	*(inode->dirty_prev ? &inode->dirty_prev->dirty_next : &data->dirty_first) = inode->dirty_next;
	*(inode->dirty_next ? &inode->dirty_next->dirty_prev : &data->dirty_last) = inode->dirty_prev;
	data->dirty_bytes -= (uint64_t)inode->overlay.count * SL_OVERLAY_PAGE;
	sl_overlay_clear(&inode->overlay);
}

/* Fills buf from the file; what lies beyond its end is zero. */
static int file_read(struct sl_filedata *data, struct sl_inode *inode, uint64_t offset, uint8_t *buf,
		     uint32_t bytes)
{
	int fd = fd_get(data, inode);
	uint32_t done = 0;

	if (fd < 0) {
		return fd;
	}
	while (done < bytes) {
		ssize_t got = pread(fd, buf + done, bytes - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got < 0) {
			return -errno;
		}
		if (got == 0) {
			memset(buf + done, 0, bytes - done);
			break;
		}
		done += (uint32_t)got;
	}
	return 0;
}

/* The part of [offset, offset + bytes) that lies in one page. */
struct slice {
	uint64_t index;
	uint32_t in_page, bytes;
};

static struct slice slice_at(uint64_t offset, uint32_t bytes)
{
	struct slice slice = {.index = offset / SL_OVERLAY_PAGE,
			      .in_page = (uint32_t)(offset % SL_OVERLAY_PAGE)};
	uint32_t room = SL_OVERLAY_PAGE - slice.in_page;

	slice.bytes = bytes < room ? bytes : room;
	return slice;
}

/* Stable data must show through the unstable pages above it, and must not be undone when these are written.
 */
static void overlay_patch(struct sl_inode *inode, uint64_t offset, const uint8_t *buf, uint32_t bytes)
{
	for (uint32_t done = 0; done < bytes;) {
		struct slice slice = slice_at(offset + done, bytes - done);
		uint8_t *page = sl_overlay_find(&inode->overlay, slice.index);

		if (page) {
			memcpy(page + slice.in_page, buf + done, slice.bytes);
		}
		done += slice.bytes;
	}
}

static int write_stable(struct sl_filedata *data, struct sl_inode *inode, uint64_t offset, const uint8_t *buf,
			uint32_t bytes)
{
	int fd = fd_get(data, inode);
	uint32_t done = 0;

	if (fd < 0) {
		return fd;
	}
	while (done < bytes) {
		ssize_t got = pwrite(fd, buf + done, bytes - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got <= 0) {
			return got < 0 ? -errno : -EIO;
		}
		done += (uint32_t)got;
	}
	overlay_patch(inode, offset, buf, bytes);
	return 0;
}

static int write_unstable(struct sl_filedata *data, struct sl_inode *inode, uint64_t offset,
			  const uint8_t *buf, uint32_t bytes)
{
	for (uint32_t done = 0; done < bytes;) {
		struct slice slice = slice_at(offset + done, bytes - done);
		uint8_t *page = sl_overlay_find(&inode->overlay, slice.index);

		if (!page) {
			uint8_t below[SL_OVERLAY_PAGE];
			bool whole = slice.bytes == SL_OVERLAY_PAGE;
			int rc = whole ? 0
				       : file_read(data, inode, slice.index * SL_OVERLAY_PAGE, below,
						   sizeof(below));

			if (rc) {
				return rc;
			}
			page = sl_overlay_add(&inode->overlay, slice.index);
			if (!page) {
				return -ENOMEM;
			}
			dirty_add(data, inode);
			data->dirty_bytes += SL_OVERLAY_PAGE;
			if (!whole) {
				memcpy(page, below, sizeof(below));
			}
		}
		memcpy(page + slice.in_page, buf + done, slice.bytes);
		done += slice.bytes;
	}
	return 0;
}

void sl_filedata_name(uint64_t ino, char ret[SL_FILEDATA_NAME_BYTES])
{
	(void)snprintf(ret, SL_FILEDATA_NAME_BYTES, "%016" PRIx64, ino);
}

int sl_filedata_load(const struct sl_filedata *data, struct sl_inode *inode)
{
	char name[SL_FILEDATA_NAME_BYTES];
	struct stat st;

	sl_filedata_name(inode->ino, name);
	if (fstatat(data->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		return errno == ENOENT ? 0 : -errno;
	}
	if (!S_ISREG(st.st_mode)) {
		return -EINVAL;
	}
	inode->size_bytes = (uint64_t)st.st_size;
	inode->used_bytes = (uint64_t)st.st_blocks * 512;
	inode->mtime_ns = timespec_ns(&st.st_mtim);
	if (inode->ctime_ns < inode->mtime_ns) {
		inode->ctime_ns = inode->mtime_ns;
	}
	return 0;
}

int sl_filedata_read(struct sl_filedata *data, struct sl_inode *inode, uint64_t offset, void *buf,
		     uint32_t bytes, uint32_t *ret_bytes)
{
	uint8_t *to = buf;
	int rc;

	*ret_bytes = 0;
	if (offset >= inode->size_bytes) {
		return 0;
	}
	if (bytes > inode->size_bytes - offset) {
		bytes = (uint32_t)(inode->size_bytes - offset);
	}
	rc = file_read(data, inode, offset, to, bytes);
	if (rc) {
		return rc;
	}
	for (uint32_t done = 0; inode->overlay.count > 0 && done < bytes;) {
		struct slice slice = slice_at(offset + done, bytes - done);
		const uint8_t *page = sl_overlay_find(&inode->overlay, slice.index);

		if (page) {
			memcpy(to + done, page + slice.in_page, slice.bytes);
		}
		done += slice.bytes;
	}
	*ret_bytes = bytes;
	return 0;
}

int sl_filedata_write(struct sl_filedata *data, struct sl_inode *inode, uint64_t offset, const void *buf,
		      uint32_t bytes, bool stable)
{
	int rc;

	if (offset > INT64_MAX - (uint64_t)bytes) {
		return -EFBIG;
	}
	if (bytes == 0) {
		return 0;
	}
	/* Bytes written inside a file without holes need no further room. */
	inode->used_stale =
	    inode->used_stale || offset + bytes > inode->size_bytes || inode->used_bytes < inode->size_bytes;
	rc = stable ? write_stable(data, inode, offset, buf, bytes)
		    : write_unstable(data, inode, offset, buf, bytes);
	if (rc) {
		return rc;
	}
	if (inode->size_bytes < offset + bytes) {
		inode->size_bytes = offset + bytes;
	}
	while (data->dirty_bytes > data->dirty_max_bytes) {
		rc = sl_filedata_commit(data, data->dirty_first);
		if (rc) {
			return rc;
		}
	}
	return 0;
}

int sl_filedata_commit(struct sl_filedata *data, struct sl_inode *inode)
{
	int fd, rc;

	if (!inode->dirty) {
		return 0;
	}
	fd = fd_get(data, inode);
	if (fd < 0) {
		return fd;
	}
	rc = sl_overlay_write(&inode->overlay, fd, inode->size_bytes);
	if (rc == 0) {
		dirty_drop(data, inode);
		inode->used_stale = true;
	}
	return rc;
}

int sl_filedata_commit_all(struct sl_filedata *data)
{
	int rc = 0;

	for (struct sl_inode *inode = data->dirty_first, *next; inode; inode = next) {
		int one;

		next = inode->dirty_next;
		one = sl_filedata_commit(data, inode);
		rc = rc ? rc : one;
	}
	return rc;
}

int sl_filedata_truncate(struct sl_filedata *data, struct sl_inode *inode, uint64_t size_bytes)
{
	int fd;

	if (size_bytes > INT64_MAX) {
		return -EFBIG;
	}
	fd = fd_get(data, inode);
	if (fd < 0) {
		return fd;
	}
	if (ftruncate(fd, (off_t)size_bytes) < 0) {
		return -errno;
	}
	if (inode->dirty && size_bytes < inode->size_bytes) {
		data->dirty_bytes -=
		    (uint64_t)sl_overlay_truncate(&inode->overlay, size_bytes) * SL_OVERLAY_PAGE;
		if (inode->overlay.count == 0) {
			dirty_drop(data, inode);
		}
	}
	inode->size_bytes = size_bytes;
	inode->used_stale = true;
	return 0;
}

int sl_filedata_set_mtime(struct sl_filedata *data, struct sl_inode *inode)
{
	struct timespec times[2] = {
	    {.tv_nsec = UTIME_OMIT},
	    {.tv_sec = inode->mtime_ns / 1000000000, .tv_nsec = inode->mtime_ns % 1000000000},
	};
	int fd = fd_get(data, inode);

	if (fd < 0) {
		return fd;
	}
	if (times[1].tv_nsec < 0) {
		times[1].tv_nsec += 1000000000;
		times[1].tv_sec--;
	}
	return futimens(fd, times) < 0 ? -errno : 0;
}

uint64_t sl_filedata_used(struct sl_inode *inode)
{
	struct stat st;

	if (inode->used_stale && inode->fd >= 0 && fstat(inode->fd, &st) == 0) {
		inode->used_bytes = (uint64_t)st.st_blocks * 512;
		inode->used_stale = false;
	}
	return inode->used_bytes + (uint64_t)inode->overlay.count * SL_OVERLAY_PAGE;
}

void sl_filedata_forget(struct sl_filedata *data, struct sl_inode *inode, bool remove_file)
{
	char name[SL_FILEDATA_NAME_BYTES];

	dirty_drop(data, inode);
	fd_close(data, inode);
	if (remove_file && inode->type == SL_FT_REG) {
		sl_filedata_name(inode->ino, name);
		/* A file that stays is an orphan: the next open clears it away. */
		(void)unlinkat(data->dirfd, name, 0);
	}
}
