#include "sim/datastore/folder.h"

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

#include "sim/base/fdio.h"
#include "sim/datastore/orphans.h"
#include "sim/serve/own.h"

static void fd_drop(int fd)
{
	if (fd >= 0) {
		close(fd);
	}
}

static bool has(int dirfd, const char *name)
{
	return faccessat(dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Only an empty folder may become a datastore: what is in it is somebody else's. */
static int dir_check_empty(int dirfd, struct sl_err *err)
{
	static const char *const ours[] = {"lock", "key.new", "data", "journal.new"};
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	int rc = 0, more = 0;

	if (!dir) {
		rc = -errno;
		fd_drop(fd);
		return sl_err_set(err, rc, "cannot list: %s", strerror(-rc));
	}
	while (rc == 0 && (more = sl_dir_next(dir, &entry)) > 0) {
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
	return more < 0 ? sl_err_set(err, more, "cannot list: %s", strerror(-more)) : rc;
}

/* 0: there is a journal, or nothing that would need one. */
static int journal_expect(int dirfd, struct sl_err *err)
{
	bool key = has(dirfd, "key"); /* asked first: it is made last */

	if (has(dirfd, "journal")) {
		return 0;
	}
	return key ? sl_err_set(err, -EINVAL,
				"journal: missing, but there is a key to it; copy it back, or see "
				"`sloglab store check'")
		   : dir_check_empty(dirfd, err);
}

static int dir_open(struct sl_folder *folder, const char *path, struct sl_err *err)
{
	int rc;

	folder->made = mkdir(path, 0700) == 0;
	if (!folder->made && errno != EEXIST) {
		return sl_err_set(err, -errno, "cannot create the folder: %s", strerror(errno));
	}
	folder->dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->dirfd < 0) {
		return sl_err_set(err, -errno, "cannot open the folder: %s", strerror(errno));
	}
	/* Before anything is written into a folder that may be somebody else's. */
	rc = sl_own_folder(folder->dirfd, path, err);
	rc = rc ? rc : journal_expect(folder->dirfd, err);
	if (rc) {
		return rc;
	}
	folder->lockfd = openat(folder->dirfd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
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
	return 0;
}

/* The journal is made after data/, and the key after the journal: what is there without what was made before
 * it has lost that. Under the lock. */
static int data_open(struct sl_folder *folder, struct sl_err *err)
{
	bool journal = has(folder->dirfd, "journal");

	if (!journal && mkdirat(folder->dirfd, "data", 0700) < 0 && errno != EEXIST) {
		return sl_err_set(err, -errno, "data: cannot create: %s", strerror(errno));
	}
	folder->datafd = openat(folder->dirfd, "data", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder->datafd < 0) {
		return errno == ENOENT
			   ? sl_err_set(err, -EINVAL,
					"data: missing, the contents of all files; copy it back, or see "
					"`sloglab store check'")
			   : sl_err_set(err, -errno, "data: cannot open: %s", strerror(errno));
	}
	/* Here too the order must be the disk's own: a journal without data/ would be refused. */
	if (!journal && fsync(folder->dirfd) < 0) {
		return sl_err_set(err, -errno, "data: cannot be made durable: %s", strerror(errno));
	}
	return journal ? 0 : sl_orphans_none(folder->datafd, err);
}

/* 1: there is none; 2: it is not one; 0 or negative errno. */
static int key_read(struct sl_folder *folder, bool durable)
{
	int fd = openat(folder->dirfd, "key", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	uint8_t bytes[sizeof(folder->key) + 1];
	int64_t got;
	int rc;

	if (fd < 0) {
		return errno == ENOENT ? 1 : errno == ELOOP ? 2 : -errno;
	}
	got = sl_fd_read(fd, bytes, sizeof(bytes));
	if (got < 0) {
		rc = got == -EISDIR ? 2 : (int)got;
	} else if (got != (int64_t)sizeof(folder->key)) {
		rc = 2;
	} else {
		memcpy(folder->key, bytes, sizeof(folder->key));
		rc = durable && fsync(fd) < 0 ? -errno : 0;
	}
	close(fd);
	return rc;
}

/* It gets its name when it is whole and on the disk, so neither a kill nor a crash leaves a short key. */
static int key_draw(struct sl_folder *folder)
{
	int fd, rc;

	if (getrandom(folder->key, sizeof(folder->key), 0) != (ssize_t)sizeof(folder->key)) {
		return -EIO;
	}
	(void)unlinkat(folder->dirfd, "key.new", 0);
	fd = openat(folder->dirfd, "key.new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0) {
		return -errno;
	}
	rc = sl_fd_write(fd, folder->key, sizeof(folder->key));
	if (rc == 0 && fsync(fd) < 0) {
		rc = -errno;
	}
	if (close(fd) < 0 && rc == 0) {
		rc = -errno;
	}
	if (rc == 0 && renameat(folder->dirfd, "key.new", folder->dirfd, "key") < 0) {
		rc = -errno;
	}
	return rc;
}

int sl_folder_key(struct sl_folder *folder, bool fresh, bool durable, const struct sl_notice *notice,
		  struct sl_err *err)
{
	int found = key_read(folder, durable), rc = found;

	if (found == 2) {
		rc = sl_quarantine(folder->datafd, folder->dirfd, "key");
		if (rc) {
			return sl_err_set(err, rc, "key: not 16 bytes and cannot be put aside: %s",
					  strerror(-rc));
		}
	}
	if (found > 0) {
		rc = key_draw(folder);
	}
	if (rc) {
		return sl_err_set(err, rc, "key: cannot %s: %s", found > 0 ? "write" : "read", strerror(-rc));
	}
	if (found > 0 && !fresh) {
		sl_notice_say(notice,
			      "key: %s; a new one is drawn: files are as they were, but handles that clients "
			      "hold are stale, so mount again",
			      found == 1 ? "missing" : "not 16 bytes (it is in data/" SL_LOST_FOUND " now)");
	}
	return 0;
}

int sl_folder_open(struct sl_folder *folder, const char *path, struct sl_err *err)
{
	int rc;

	folder->dirfd = folder->datafd = folder->lockfd = -1;
	rc = dir_open(folder, path, err);
	return rc ? rc : data_open(folder, err);
}

int sl_folder_sync(const struct sl_folder *folder)
{
	int above, rc;

	if (fsync(folder->datafd) < 0 || fsync(folder->dirfd) < 0) {
		return -errno;
	}
	/* The folder's own name, too: the server that made it may not have been asked for this. */
	above = openat(folder->dirfd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (above < 0 && errno == EACCES && !folder->made) {
		return 0; /* somebody else has made it, in a folder of theirs */
	}
	rc = above < 0 || fsync(above) < 0 ? -errno : 0;
	fd_drop(above);
	return rc;
}

void sl_folder_close(struct sl_folder *folder)
{
	fd_drop(folder->datafd);
	fd_drop(folder->dirfd);
	fd_drop(folder->lockfd); /* last: it guards all the others */
}
