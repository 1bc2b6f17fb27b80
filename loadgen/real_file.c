/* Files and block devices: O_DIRECT where the file system has it, pwrite and fdatasync, one thread per
 * request outstanding. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/fs.h>

#include "loadgen/real_disk_inner.h"
#include "sim/base/clock.h"
#include "sim/base/loop.h"

#define FILL_BYTES (1 << 20)
#define NEW_FILE_BYTES (INT64_C(256) << 20)

struct real_file {
	struct sl_real_disk disk;
	int fd;
	bool created;
	char path[4096];
};

static struct real_file *file_of(struct sl_real_disk *disk)
{
	return sl_container_of(disk, struct real_file, disk);
}

static int failed(const struct real_file *file, const char *what, struct sl_err *err)
{
	int code = errno ? errno : EIO;

	return sl_err_set(err, -code, "%.200s: %s: %s", file->path, what, strerror(code));
}

static int file_sync(struct sl_real_disk *disk, int64_t offset, int64_t bytes, struct sl_err *err)
{
	struct real_file *file = file_of(disk);
	ssize_t n = pwrite(file->fd, disk->buffer, (size_t)bytes, offset);

	if (n != bytes) {
		errno = n < 0 ? errno : ENOSPC;
		return failed(file, "cannot write", err);
	}
	return fdatasync(file->fd) == 0 ? 0 : failed(file, "cannot flush", err);
}

/* One of the threads that keep a request outstanding each. */
struct worker {
	struct real_file *file;
	struct sl_rng rng;
	void *buffer;
	int64_t bytes, end_ns;
	uint64_t done;
	int error; /* errno of the first failure */
	bool write;
};

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct sl_real_disk *disk = &worker->file->disk;
	uint64_t blocks = (uint64_t)(disk->size_bytes / worker->bytes);

	while (sl_clock_ns() < worker->end_ns && !sl_real_disk_stopped(disk)) {
		int64_t offset = (int64_t)sl_rng_below(&worker->rng, blocks) * worker->bytes;
		ssize_t n = worker->write
				? pwrite(worker->file->fd, worker->buffer, (size_t)worker->bytes, offset)
				: pread(worker->file->fd, worker->buffer, (size_t)worker->bytes, offset);

		if (n != worker->bytes) {
			worker->error = n < 0 ? errno : EIO;
			break;
		}
		worker->done++;
	}
	return NULL;
}

static int worker_init(struct worker *worker, struct real_file *file, bool write, int64_t bytes, int number)
{
	char name[32];

	(void)snprintf(name, sizeof(name), "worker%d", number);
	*worker = (struct worker){.file = file, .write = write, .bytes = bytes};
	sl_rng_init(&worker->rng, 1, name);
	if (posix_memalign(&worker->buffer, 4096, (size_t)bytes) != 0) {
		worker->buffer = NULL;
		return -ENOMEM;
	}
	memcpy(worker->buffer, file->disk.buffer, (size_t)bytes);
	return 0;
}

static int run_workers(struct worker *workers, int depth, double *ret)
{
	pthread_t threads[SL_REAL_DEPTH_MAX];
	int64_t start_ns = sl_clock_ns();
	uint64_t done = 0;
	int started = 0, rc = 0;

	while (started < depth && rc == 0) {
		workers[started].end_ns = start_ns + workers[started].file->disk.options.time_ns;
		rc = -pthread_create(&threads[started], NULL, work, &workers[started]);
		started += rc == 0;
	}
	for (int i = 0; i < started; i++) {
		(void)pthread_join(threads[i], NULL);
		done += workers[i].done;
		rc = rc == 0 ? -workers[i].error : rc;
	}
	*ret = (double)done * 1e9 / (double)(sl_clock_ns() - start_ns);
	return rc;
}

static int file_iops(struct sl_real_disk *disk, bool write, int64_t bytes, int depth, double *ret,
		     struct sl_err *err)
{
	struct real_file *file = file_of(disk);
	struct worker workers[SL_REAL_DEPTH_MAX];
	int made = 0, rc = 0;

	while (made < depth && rc == 0) {
		rc = worker_init(&workers[made], file, write, bytes, made);
		made++;
	}
	rc = rc == 0 ? run_workers(workers, depth, ret) : rc;
	for (int i = 0; i < made; i++) {
		free(workers[i].buffer);
	}
	if (rc == 0 && write && fdatasync(file->fd) < 0) {
		rc = -errno;
	}
	if (rc == 0 && sl_real_disk_stopped(disk)) {
		return sl_err_set(err, -EINTR, "interrupted");
	}
	errno = -rc;
	return rc < 0 ? failed(file, write ? "cannot write" : "cannot read", err) : 0;
}

static void file_close(struct sl_real_disk *disk)
{
	struct real_file *file = file_of(disk);

	if (file->fd >= 0) {
		(void)close(file->fd);
	}
	if (file->created) {
		(void)unlink(file->path);
	}
	free(file);
}

static const struct sl_real_disk_ops file_ops = {.sync = file_sync, .iops = file_iops, .close = file_close};

/* Blocks that were never written would cost the file system more than the disk. */
static int fill(struct real_file *file, int64_t bytes, struct sl_err *err)
{
	for (int64_t at = 0; at < bytes; at += FILL_BYTES) {
		int64_t n = bytes - at < FILL_BYTES ? bytes - at : FILL_BYTES;

		if (sl_real_disk_stopped(&file->disk)) {
			return sl_err_set(err, -EINTR, "interrupted");
		}
		if (pwrite(file->fd, file->disk.buffer, (size_t)n, at) != n) {
			return failed(file, "cannot write", err);
		}
	}
	return fsync(file->fd) == 0 ? 0 : failed(file, "cannot flush", err);
}

/* The page cache is left out where the file system allows that. */
static void go_direct(struct real_file *file)
{
	int flags = fcntl(file->fd, F_GETFL);

	if (flags < 0 || fcntl(file->fd, F_SETFL, flags | O_DIRECT) < 0 ||
	    pread(file->fd, file->disk.buffer, 4096, 0) != 4096) {
		(void)fcntl(file->fd, F_SETFL, flags & ~O_DIRECT);
		(void)snprintf(file->disk.note, sizeof(file->disk.note),
			       "the file system has no O_DIRECT: reads and unflushed writes are those of the "
			       "page cache");
	}
}

static int create_file(struct real_file *file, const struct sl_real_disk_options *options, struct sl_err *err)
{
	int64_t bytes = options->size_bytes > 0 ? options->size_bytes : NEW_FILE_BYTES;
	int rc;

	file->fd = open(file->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file->fd < 0) {
		return failed(file, "cannot be created", err);
	}
	file->created = true;
	bytes = bytes / 4096 * 4096;
	rc = sl_real_disk_size(&file->disk, bytes, err);
	return rc == 0 ? fill(file, bytes, err) : rc;
}

static int open_existing(struct real_file *file, const struct sl_real_disk_options *options,
			 struct sl_err *err)
{
	struct stat st;
	uint64_t device_bytes = 0;

	if (!options->destroy_ok) {
		return sl_err_set(err, -EEXIST,
				  "%.200s: exists, and the test would overwrite it; name a new file, or add "
				  "--yes-destroy-data",
				  file->path);
	}
	/* O_EXCL: not a device that is mounted. */
	if (stat(file->path, &st) < 0) {
		return failed(file, "cannot be opened", err);
	}
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode)) {
		return sl_err_set(err, -EINVAL, "%.200s: is neither a file nor a block device", file->path);
	}
	file->fd = open(file->path, O_RDWR | O_CLOEXEC | (S_ISBLK(st.st_mode) ? O_EXCL : 0));
	if (file->fd < 0) {
		return failed(file, "cannot be opened", err);
	}
	if (S_ISBLK(st.st_mode) && ioctl(file->fd, BLKGETSIZE64, &device_bytes) < 0) {
		return failed(file, "size is unknown", err);
	}
	return sl_real_disk_size(&file->disk, S_ISBLK(st.st_mode) ? (int64_t)device_bytes : st.st_size, err);
}

int sl_real_file_open(const char *path, const struct sl_real_disk_options *options, struct sl_real_disk **ret,
		      struct sl_err *err)
{
	struct real_file *file = calloc(1, sizeof(*file));
	int rc;

	if (!file) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	file->fd = -1;
	rc = sl_real_disk_init(&file->disk, &file_ops, path, options, err);
	if (rc == 0 && snprintf(file->path, sizeof(file->path), "%s", path) >= (int)sizeof(file->path)) {
		rc = sl_err_set(err, -ENAMETOOLONG, "%.60s...: path is too long", path);
	}
	if (rc == 0) {
		rc = access(path, F_OK) == 0 ? open_existing(file, options, err)
					     : create_file(file, options, err);
	}
	if (rc < 0) {
		sl_real_disk_close(&file->disk);
		return rc;
	}
	go_direct(file);
	*ret = &file->disk;
	return 0;
}
