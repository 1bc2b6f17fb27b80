#include "sim/serve/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

static void fd_drop(int fd)
{
	if (fd >= 0) {
		close(fd);
	}
}

/* Only an empty folder may become a datastore: its files would be cleared away as orphans. */
static int dir_check_empty(int dirfd, struct sl_err *err)
{
	static const char *const ours[] = {".", "..", "lock", "key", "key.new", "data", "journal.new"};
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	int rc = 0;

	if (!dir) {
		rc = -errno;
		fd_drop(fd);
		return sl_err_set(err, rc, "cannot list: %s", strerror(-rc));
	}
	while (rc == 0 && (entry = readdir(dir))) {
		bool known = false;

		for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
			known = known || strcmp(entry->d_name, ours[i]) == 0;
		}
		if (!known) {
			rc = sl_err_set(
			    err, -ENOTEMPTY,
			    "not empty (\"%.60s\") and not a datastore; name a new or an empty folder",
			    entry->d_name);
		}
	}
	closedir(dir);
	return rc;
}

static int dir_open(struct sl_folder *folder, const char *path, struct sl_err *err)
{
	if (mkdir(path, 0700) < 0 && errno != EEXIST) {
		return sl_err_set(err, -errno, "cannot create the folder: %s", strerror(errno));
	}
	folder->dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->dirfd < 0) {
		return sl_err_set(err, -errno, "cannot open the folder: %s", strerror(errno));
	}
	/* Before anything is written into a folder that may be somebody else's. */
	if (faccessat(folder->dirfd, "journal", F_OK, 0) < 0) {
		int rc = dir_check_empty(folder->dirfd, err);

		if (rc) {
			return rc;
		}
	}
	folder->lockfd = openat(folder->dirfd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (folder->lockfd < 0) {
		return sl_err_set(err, -errno, "lock: cannot open: %s", strerror(errno));
	}
	if (flock(folder->lockfd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK) {
			return sl_err_set(err, -errno, "lock: %s", strerror(errno));
		}
		return sl_err_set(err, -EBUSY,
				  "already in use by another server; stop that one or name another folder");
	}
	if (mkdirat(folder->dirfd, "data", 0700) < 0 && errno != EEXIST) {
		return sl_err_set(err, -errno, "data: cannot create: %s", strerror(errno));
	}
	folder->datafd = openat(folder->dirfd, "data", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder->datafd < 0) {
		return sl_err_set(err, -errno, "data: cannot open: %s", strerror(errno));
	}
	return 0;
}

/* Reads the key, or draws one. It gets its name when it is whole, so a kill leaves no short key. */
static int key_open(struct sl_folder *folder, struct sl_err *err)
{
	int fd = openat(folder->dirfd, "key", O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd >= 0) {
		got = read(fd, folder->key, sizeof(folder->key));
		close(fd);
		return got == (ssize_t)sizeof(folder->key)
			   ? 0
			   : sl_err_set(err, -EINVAL, "key: not 16 bytes; restore the folder from a copy");
	}
	if (errno != ENOENT) {
		return sl_err_set(err, -errno, "key: cannot open: %s", strerror(errno));
	}
	if (getrandom(folder->key, sizeof(folder->key), 0) != (ssize_t)sizeof(folder->key)) {
		return sl_err_set(err, -EIO, "no random numbers");
	}
	fd = openat(folder->dirfd, "key.new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	got = fd < 0 ? -1 : write(fd, folder->key, sizeof(folder->key));
	fd_drop(fd);
	if (got != (ssize_t)sizeof(folder->key) ||
	    renameat(folder->dirfd, "key.new", folder->dirfd, "key") < 0) {
		return sl_err_set(err, -EIO, "key: cannot write: %s", strerror(errno));
	}
	return 0;
}

int sl_folder_open(struct sl_folder *folder, const char *path, struct sl_err *err)
{
	int rc;

	folder->dirfd = folder->datafd = folder->lockfd = -1;
	rc = dir_open(folder, path, err);
	return rc ? rc : key_open(folder, err);
}

void sl_folder_close(struct sl_folder *folder)
{
	fd_drop(folder->datafd);
	fd_drop(folder->dirfd);
	fd_drop(folder->lockfd); /* last: it guards all the others */
}
