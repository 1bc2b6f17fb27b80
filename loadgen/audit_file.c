/* Records in a file or on a block device. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loadgen/audit_place.h"
#include "loadgen/record.h"

struct file {
	struct sl_audit_place place;
	const char *path;
	int fd;
};

static int file_put(struct sl_audit_place *place, uint64_t number, const void *buf, size_t bytes,
		    struct sl_err *err)
{
	const struct file *file = (const struct file *)place;
	ssize_t done = pwrite(file->fd, buf, bytes, (off_t)(number * bytes));

	if (done < 0 || (size_t)done < bytes) {
		int rc = done < 0 ? -errno : -ENOSPC;

		return sl_err_set(err, rc, "%.200s: write: %s", file->path, strerror(-rc));
	}
	return 0;
}

static int file_read(struct sl_audit_place *place, uint64_t offset, void *buf, size_t bytes,
		     struct sl_err *err)
{
	const struct file *file = (const struct file *)place;
	ssize_t got = pread(file->fd, buf, bytes, (off_t)offset);

	if (got < 0) {
		return sl_err_set(err, -errno, "%.200s: read: %s", file->path, strerror(errno));
	}
	return (int)got;
}

static int file_scan(struct sl_audit_place *place, uint64_t run, size_t bytes, sl_audit_found_fn found,
		     void *arg, struct sl_err *err)
{
	(void)run;
	return sl_audit_scan_blocks(place, bytes, file_read, found, arg, err);
}

/* The system calls of a file cannot be cut off. */
static void file_abort(struct sl_audit_place *place)
{
	(void)place;
}

static void file_close(struct sl_audit_place *place)
{
	struct file *file = (struct file *)place;

	(void)close(file->fd);
	free(file);
}

int sl_audit_file_open(const char *path, bool make, struct sl_audit_place **ret, struct sl_err *err)
{
	static const struct sl_audit_place_ops ops = {file_put, file_scan, file_abort, file_close};
	struct file *file = calloc(1, sizeof(*file));
	uint8_t first[8];
	int rc = 0, got;

	if (!file) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	file->place.ops = &ops;
	file->path = path;
	file->fd = open(path, make ? O_RDWR | O_CREAT | O_DSYNC | O_CLOEXEC : O_RDONLY | O_CLOEXEC, 0666);
	if (file->fd < 0) {
		rc = sl_err_set(err, -errno, "%.200s: %s", path, strerror(errno));
		free(file);
		return rc;
	}
	got = make ? file_read(&file->place, 0, first, sizeof(first), err) : 0;
	if (got < 0 || !sl_record_harmless(first, (size_t)got)) {
		rc = got < 0
			 ? got
			 : sl_err_set(err, -EEXIST,
				      "%.200s: holds something else than an audit; give another file", path);
		file_close(&file->place);
		return rc;
	}
	*ret = &file->place;
	return 0;
}
