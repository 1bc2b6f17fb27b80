#include "sim/datastore/filedata.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define FILEDATA_OPEN_MAX 256u

static int64_t timespec_ns(const struct timespec *ts)
{
	return (int64_t)ts->tv_sec * 1000000000 + ts->tv_nsec;
}

static void lru_unlink(struct sl_filedata *data, struct sl_file *file)
{
	*(file->lru_prev ? &file->lru_prev->lru_next : &data->lru_first) = file->lru_next;
	*(file->lru_next ? &file->lru_next->lru_prev : &data->lru_last) = file->lru_prev;
}

static void lru_append(struct sl_filedata *data, struct sl_file *file)
{
	file->lru_prev = data->lru_last;
	file->lru_next = NULL;
	*(data->lru_last ? &data->lru_last->lru_next : &data->lru_first) = file;
	data->lru_last = file;
}

static void fd_close(struct sl_filedata *data, struct sl_file *file)
{
	if (file->open) {
		lru_unlink(data, file);
		close(file->fd);
		file->open = false;
		data->open_count--;
	}
}

/* What was written to the open file has to be on the host's disk before anybody hears that it is stable. */
static void unsynced_add(struct sl_filedata *data, struct sl_file *file)
{
	if (!data->durable || file->unsynced) {
		return;
	}
	file->unsynced = true;
	file->unsynced_prev = NULL;
	file->unsynced_next = data->unsynced_first;
	if (file->unsynced_next) {
		file->unsynced_next->unsynced_prev = file;
	}
	data->unsynced_first = file;
}

static void unsynced_drop(struct sl_filedata *data, struct sl_file *file)
{
	if (!file->unsynced) {
		return;
	}
	file->unsynced = false;
	*(file->unsynced_prev ? &file->unsynced_prev->unsynced_next : &data->unsynced_first) =
	    file->unsynced_next;
	if (file->unsynced_next) {
		file->unsynced_next->unsynced_prev = file->unsynced_prev;
	}
}

/* Closes the descriptor that was used longest ago. */
static int fd_give_up(struct sl_filedata *data)
{
	int rc = data->lru_first->unsynced ? sl_filedata_sync(data) : 0;

	if (rc == 0) {
		fd_close(data, data->lru_first);
	}
	return rc;
}

/* The descriptor of the file's file, opened (and created) when needed, or negative errno. */
static int fd_get(struct sl_filedata *data, struct sl_file *file)
{
	char name[SL_FILEDATA_NAME_BYTES];
	int rc;

	if (file->open) {
		if (data->lru_last != file) {
			lru_unlink(data, file);
			lru_append(data, file);
		}
		return file->fd;
	}
	rc = data->open_count >= FILEDATA_OPEN_MAX ? fd_give_up(data) : 0;
	if (rc < 0) {
		return rc;
	}
	sl_filedata_name(file->base.ino, name);
	/* Where the process may have no more descriptors, those that were used longest ago make room. */
	do {
		file->fd =
		    openat(data->dirfd, name,
			   O_RDWR | O_CLOEXEC | O_NOFOLLOW | (file->named ? 0 : O_CREAT | O_EXCL), 0600);
		rc = file->fd < 0 ? -errno : 0;
	} while ((rc == -EMFILE || rc == -ENFILE) && data->lru_first && fd_give_up(data) == 0);
	if (rc < 0) {
		return rc == -ENOENT || rc == -EEXIST ? -EIO : rc; /* none of the client's names */
	}
	/* A new file's name in the folder must last as long as its bytes. */
	data->unsynced_names = data->unsynced_names || (!file->named && data->durable);
	file->named = true;
	file->open = true;
	lru_append(data, file);
	data->open_count++;
	return file->fd;
}

/* Keeps the account of the room that all files take. */
static void used_set(struct sl_filedata *data, struct sl_file *file, uint64_t used_bytes)
{
	data->used_bytes = data->used_bytes - file->used_bytes + used_bytes;
	file->used_bytes = used_bytes;
}

static void used_ask(struct sl_filedata *data, struct sl_file *file)
{
	struct stat st;

	if (file->open && fstat(file->fd, &st) == 0) {
		used_set(data, file, (uint64_t)st.st_blocks * 512);
	}
}

static void dirty_add(struct sl_filedata *data, struct sl_file *file)
{
	if (file->dirty) {
		return;
	}
	file->dirty = true;
	file->dirty_prev = data->dirty_last;
	file->dirty_next = NULL;
	*(data->dirty_last ? &data->dirty_last->dirty_next : &data->dirty_first) = file;
	data->dirty_last = file;
}

static void dirty_drop(struct sl_filedata *data, struct sl_file *file)
{
	if (!file->dirty) {
		return;
	}
	file->dirty = false;
	*(file->dirty_prev ? &file->dirty_prev->dirty_next : &data->dirty_first) = file->dirty_next;
	*(file->dirty_next ? &file->dirty_next->dirty_prev : &data->dirty_last) = file->dirty_prev;
	data->dirty_bytes -= (uint64_t)file->overlay.count * SL_OVERLAY_PAGE;
	sl_overlay_clear(&file->overlay);
}

/* Fills buf from the file; what lies beyond its end is zero. */
static int file_read(struct sl_filedata *data, struct sl_file *file, uint64_t offset, uint8_t *buf,
		     uint32_t bytes)
{
	int fd = fd_get(data, file);
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
static void overlay_patch(struct sl_file *file, uint64_t offset, const uint8_t *buf, uint32_t bytes)
{
	for (uint32_t done = 0; done < bytes;) {
		struct slice slice = slice_at(offset + done, bytes - done);
		uint8_t *page = sl_overlay_find(&file->overlay, slice.index);

		if (page) {
			memcpy(page + slice.in_page, buf + done, slice.bytes);
		}
		done += slice.bytes;
	}
}

/* All of it is in the file, or the file is as long as before. */
static int file_write(struct sl_filedata *data, struct sl_file *file, uint64_t offset, const uint8_t *buf,
		      uint32_t bytes)
{
	int fd = fd_get(data, file), rc;
	uint32_t done = 0;

	while (fd >= 0 && done < bytes) {
		ssize_t got = pwrite(fd, buf + done, bytes - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got <= 0) {
			rc = got < 0 ? -errno : -EIO;
			if (offset + done > file->size_bytes) {
				(void)!ftruncate(fd, (off_t)file->size_bytes);
			}
			return rc;
		}
		done += (uint32_t)got;
	}
	return fd < 0 ? fd : 0;
}

static int undo_read(void *arg, struct sl_undo_file *undo, uint64_t offset, uint8_t *buf, uint32_t bytes)
{
	return file_read(arg, sl_container_of(undo, struct sl_file, undo), offset, buf, bytes);
}

static int undo_note(struct sl_filedata *data, struct sl_file *file, uint64_t offset, uint32_t bytes,
		     bool stable)
{
	return data->undo ? sl_undo_note(data->undo, &file->undo, file->size_bytes, offset, bytes,
					 stable ? undo_read : NULL, data)
			  : 0;
}

static int write_stable(struct sl_filedata *data, struct sl_file *file, uint64_t offset, const uint8_t *buf,
			uint32_t bytes)
{
	int rc = file_write(data, file, offset, buf, bytes);

	if (rc) {
		return rc;
	}
	unsynced_add(data, file);
	if (file->overlay.count > 0) {
		overlay_patch(file, offset, buf, bytes);
	}
	return 0;
}

static int write_unstable(struct sl_filedata *data, struct sl_file *file, uint64_t offset, const uint8_t *buf,
			  uint32_t bytes)
{
	for (uint32_t done = 0; done < bytes;) {
		struct slice slice = slice_at(offset + done, bytes - done);
		uint8_t *page = sl_overlay_find(&file->overlay, slice.index);

		if (!page) {
			uint8_t below[SL_OVERLAY_PAGE];
			bool whole = slice.bytes == SL_OVERLAY_PAGE;
			int rc = whole ? 0
				       : file_read(data, file, slice.index * SL_OVERLAY_PAGE, below,
						   sizeof(below));

			if (rc) {
				return rc;
			}
			page = sl_overlay_add(&file->overlay, slice.index);
			if (!page) {
				return -ENOMEM;
			}
			dirty_add(data, file);
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

bool sl_filedata_number(const char *name, uint64_t *ret)
{
	char same[SL_FILEDATA_NAME_BYTES];

	*ret = strtoull(name, NULL, 16);
	sl_filedata_name(*ret, same);
	return strcmp(name, same) == 0;
}

int sl_filedata_make(struct sl_filedata *data, struct sl_file *file)
{
	int fd = fd_get(data, file);

	return fd < 0 ? fd : 0;
}

int sl_filedata_load(struct sl_filedata *data, struct sl_file *file)
{
	char name[SL_FILEDATA_NAME_BYTES];
	struct stat st;

	sl_filedata_name(file->base.ino, name);
	if (fstatat(data->dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		return -errno;
	}
	if (!S_ISREG(st.st_mode)) {
		return -EINVAL;
	}
	file->size_bytes = (uint64_t)st.st_size;
	file->named = true;
	used_set(data, file, (uint64_t)st.st_blocks * 512);
	file->base.mtime_ns = timespec_ns(&st.st_mtim);
	if (file->base.ctime_ns < file->base.mtime_ns) {
		file->base.ctime_ns = file->base.mtime_ns;
	}
	return 0;
}

int sl_filedata_read(struct sl_filedata *data, struct sl_file *file, uint64_t offset, void *buf,
		     uint32_t bytes, uint32_t *ret_bytes)
{
	uint8_t *to = buf;
	int rc;

	*ret_bytes = 0;
	if (offset >= file->size_bytes) {
		return 0;
	}
	if (bytes > file->size_bytes - offset) {
		bytes = (uint32_t)(file->size_bytes - offset);
	}
	rc = file_read(data, file, offset, to, bytes);
	if (rc) {
		return rc;
	}
	for (uint32_t done = 0; file->overlay.count > 0 && done < bytes;) {
		struct slice slice = slice_at(offset + done, bytes - done);
		const uint8_t *page = sl_overlay_find(&file->overlay, slice.index);

		if (page) {
			memcpy(to + done, page + slice.in_page, slice.bytes);
		}
		done += slice.bytes;
	}
	*ret_bytes = bytes;
	return 0;
}

int sl_filedata_write(struct sl_filedata *data, struct sl_file *file, uint64_t offset, const void *buf,
		      uint32_t bytes, bool stable)
{
	bool grows;
	int rc;

	if (offset > INT64_MAX - (uint64_t)bytes) {
		return -EFBIG;
	}
	if (bytes == 0) {
		return 0;
	}
	/* Bytes written inside a file without holes need no further room. */
	grows = offset + bytes > file->size_bytes || sl_filedata_used(file) < file->size_bytes;
	if (grows && ((data->capacity_bytes > 0 && sl_filedata_free(data) < bytes) ||
		      (!stable && !sl_filedata_host_has_room(data, bytes)))) {
		return -ENOSPC;
	}
	rc = undo_note(data, file, offset, bytes, stable);
	if (rc) {
		return rc;
	}
	rc = stable ? write_stable(data, file, offset, buf, bytes)
		    : write_unstable(data, file, offset, buf, bytes);
	if (grows && stable) {
		used_ask(data, file);
	}
	if (rc) {
		sl_undo_cancel(data->undo);
		return rc;
	}
	if (file->size_bytes < offset + bytes) {
		file->size_bytes = offset + bytes;
	}
	while (data->dirty_bytes > data->dirty_max_bytes) {
		rc = sl_filedata_commit(data, data->dirty_first);
		if (rc) {
			return rc;
		}
	}
	return 0;
}

int sl_filedata_commit(struct sl_filedata *data, struct sl_file *file)
{
	int fd, rc;

	if (!file->dirty) {
		return 0;
	}
	fd = fd_get(data, file);
	if (fd < 0) {
		return fd;
	}
	rc = data->undo ? sl_undo_flush(data->undo, &file->undo, undo_read, data) : 0;
	rc = rc ? rc : sl_overlay_write(&file->overlay, fd, file->size_bytes);
	if (rc == 0) {
		unsynced_add(data, file);
		dirty_drop(data, file);
	}
	used_ask(data, file);
	return rc;
}

int sl_filedata_commit_all(struct sl_filedata *data)
{
	int rc = 0;

	for (struct sl_file *file = data->dirty_first, *next; file; file = next) {
		int one;

		next = file->dirty_next;
		one = sl_filedata_commit(data, file);
		rc = rc ? rc : one;
	}
	return rc;
}

bool sl_filedata_unsynced(const struct sl_filedata *data)
{
	return data->unsynced_first || data->unsynced_names;
}

int sl_filedata_sync_names(struct sl_filedata *data)
{
	if (data->broken == 0 && data->unsynced_names && fsync(data->dirfd) < 0) {
		data->broken = -errno;
	}
	data->unsynced_names = data->unsynced_names && data->broken != 0;
	return data->broken;
}

int sl_filedata_sync(struct sl_filedata *data)
{
	(void)sl_filedata_sync_names(data);
	while (data->broken == 0 && data->unsynced_first) {
		if (fdatasync(data->unsynced_first->fd) < 0) {
			data->broken = -errno;
		} else {
			unsynced_drop(data, data->unsynced_first);
		}
	}
	return data->broken;
}

int sl_filedata_truncate(struct sl_filedata *data, struct sl_file *file, uint64_t size_bytes)
{
	int fd;

	if (size_bytes > INT64_MAX) {
		return -EFBIG;
	}
	fd = fd_get(data, file);
	if (fd < 0) {
		return fd;
	}
	if (ftruncate(fd, (off_t)size_bytes) < 0) {
		return -errno;
	}
	if (file->dirty && size_bytes < file->size_bytes) {
		data->dirty_bytes -=
		    (uint64_t)sl_overlay_truncate(&file->overlay, size_bytes) * SL_OVERLAY_PAGE;
		if (file->overlay.count == 0) {
			dirty_drop(data, file);
		}
	}
	file->size_bytes = size_bytes;
	used_ask(data, file);
	unsynced_add(data, file);
	if (data->undo) {
		sl_undo_resize(data->undo, &file->undo, size_bytes);
	}
	return 0;
}

int sl_filedata_set_mtime(struct sl_filedata *data, struct sl_file *file)
{
	struct timespec times[2] = {
	    {.tv_nsec = UTIME_OMIT},
	    {.tv_sec = file->base.mtime_ns / 1000000000, .tv_nsec = file->base.mtime_ns % 1000000000},
	};
	int fd = fd_get(data, file);

	if (fd < 0) {
		return fd;
	}
	if (times[1].tv_nsec < 0) {
		times[1].tv_nsec += 1000000000;
		times[1].tv_sec--;
	}
	return futimens(fd, times) < 0 ? -errno : 0;
}

static int roll_back_write(void *arg, struct sl_undo_file *undo, uint64_t offset, const uint8_t *buf,
			   uint32_t bytes)
{
	struct sl_filedata *data = arg;
	struct sl_file *file = sl_container_of(undo, struct sl_file, undo);

	unsynced_add(data, file);
	return file_write(data, file, offset, buf, bytes);
}

static int roll_back_resize(void *arg, struct sl_undo_file *undo, uint64_t size_bytes)
{
	int fd = fd_get(arg, sl_container_of(undo, struct sl_file, undo));
	struct stat st;

	if (fd < 0) {
		return fd;
	}
	if (fstat(fd, &st) == 0 && (uint64_t)st.st_size == size_bytes) {
		return 0;
	}
	return ftruncate(fd, (off_t)size_bytes) < 0 ? -errno : 0;
}

int sl_filedata_roll_back(struct sl_filedata *data, bool (*is_gone)(void *arg, uint32_t id), void *arg)
{
	struct sl_undo_sink sink = {.write = roll_back_write, .resize = roll_back_resize, .arg = data};

	return data->undo ? sl_undo_roll_back(data->undo, is_gone, arg, &sink) : 0;
}

uint64_t sl_filedata_used(const struct sl_file *file)
{
	return file->used_bytes + (uint64_t)file->overlay.count * SL_OVERLAY_PAGE;
}

void sl_filedata_forget(struct sl_filedata *data, struct sl_file *file, bool remove_file)
{
	char name[SL_FILEDATA_NAME_BYTES];

	if (file->unsynced && !remove_file) {
		(void)sl_filedata_sync(data);
	}
	unsynced_drop(data, file);
	dirty_drop(data, file);
	if (data->undo) {
		sl_undo_forget(data->undo, &file->undo);
	}
	fd_close(data, file);
	if (remove_file && file->named) {
		used_set(data, file, 0);
		sl_filedata_name(file->base.ino, name);
		/* A file that stays is an orphan: the next open clears it away. */
		(void)unlinkat(data->dirfd, name, 0);
	}
}
