#include "sim/datastore/orphans.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/fdio.h"
#include "sim/datastore/filedata.h"

#define SAME_NAME_MAX 10000u

/* Lists a folder from its beginning; NULL and errno. */
static DIR *dir_list(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir && fd >= 0) {
		int saved = errno;

		close(fd);
		errno = saved;
	}
	return dir;
}

/* A folder without entries. */
static bool dir_empty(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	bool empty;

	if (!dir) {
		if (fd >= 0) {
			close(fd);
		}
		return false;
	}
	empty = sl_dir_next(dir, &entry) == 0;
	closedir(dir);
	return empty;
}

int sl_orphans_none(int datafd, struct sl_err *err)
{
	DIR *dir = dir_list(datafd);
	struct dirent *entry;
	uint32_t count = 0;
	int more;

	if (!dir) {
		return sl_err_set(err, -errno, "data: cannot list: %s", strerror(errno));
	}
	while ((more = sl_dir_next(dir, &entry)) > 0) {
		if (!(strcmp(entry->d_name, SL_LOST_FOUND) == 0 && dir_empty(datafd, entry->d_name))) {
			count++;
		}
	}
	closedir(dir);
	if (more < 0) {
		return sl_err_set(err, more, "data: cannot list: %s", strerror(-more));
	}
	return count == 0
		   ? 0
		   : sl_err_set(err, -EINVAL,
				"journal: missing, but data/ has %" PRIu32
				" files whose names it kept; copy it back, or see `sloglab store check'",
				count);
}

int sl_lost_found_open(int datafd)
{
	int fd;

	if (mkdirat(datafd, SL_LOST_FOUND, 0700) < 0 && errno != EEXIST) {
		return -errno;
	}
	fd = openat(datafd, SL_LOST_FOUND, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int sl_quarantine(int datafd, int fromfd, const char *name)
{
	char as[NAME_MAX + 1];
	int rc = -EEXIST, fd = sl_lost_found_open(datafd);

	if (fd < 0) {
		return fd;
	}
	for (unsigned i = 0; rc == -EEXIST && i < SAME_NAME_MAX; i++) {
		(void)snprintf(as, sizeof(as), i == 0 ? "%.200s" : "%.200s.%u", name, i);
		rc = renameat2(fromfd, name, fd, as, RENAME_NOREPLACE) < 0 ? -errno : 0;
	}
	close(fd);
	return rc;
}

struct clearing {
	int datafd;
	struct sl_names *names;
	uint32_t moved;
	char first[SL_FILEDATA_NAME_BYTES];
};

/* Does the file only tell of a call that a kill cut off, whose client was never answered? */
static bool kill_explains(const struct clearing *clearing, uint64_t number, const char *name)
{
	struct stat st;

	if (sl_names_removed(clearing->names, number) || number == UINT64_MAX) {
		return true;
	}
	return number >= clearing->names->next_number &&
	       fstatat(clearing->datafd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       st.st_size == 0;
}

static int orphan_clear(struct clearing *clearing, uint64_t number, const char *name)
{
	int rc;

	if (kill_explains(clearing, number, name)) {
		return unlinkat(clearing->datafd, name, 0) < 0 ? -errno : 0;
	}
	rc = sl_quarantine(clearing->datafd, clearing->datafd, name);
	/* Clients may hold handles with its number. */
	rc = rc ? rc : sl_names_reserve(clearing->names, number);
	if (rc == 0 && clearing->moved++ == 0) {
		sl_filedata_name(number, clearing->first);
	}
	return rc;
}

int sl_orphans_clear(int datafd, struct sl_names *names, struct sl_err *err)
{
	struct clearing clearing = {.datafd = datafd, .names = names};
	DIR *dir = dir_list(datafd);
	struct dirent *entry;
	int rc = 0, more = 0;

	if (!dir) {
		return sl_err_set(err, -errno, "data: cannot list: %s", strerror(errno));
	}
	while (rc == 0 && (more = sl_dir_next(dir, &entry)) > 0) {
		uint64_t number;
		struct sl_inode *inode;

		if (!sl_filedata_number(entry->d_name, &number)) {
			continue;
		}
		inode = sl_inodes_get(&names->inodes, number);
		if (!inode || inode->type == SL_FT_DIR) {
			rc = orphan_clear(&clearing, number, entry->d_name);
			if (rc) {
				(void)sl_err_set(err, rc, "data: %s: has no name and cannot be put aside: %s",
						 entry->d_name, strerror(-rc));
			}
		}
	}
	if (more < 0) {
		rc = sl_err_set(err, more, "data: cannot list: %s", strerror(-more));
	}
	closedir(dir);
	if (clearing.moved > 0) {
		sl_notice_say(names->notice,
			      "data: %" PRIu32 " files that no name leads to are in data/" SL_LOST_FOUND
			      " now (%s%s): the journal is older than they are, or damaged",
			      clearing.moved, clearing.first, clearing.moved > 1 ? ", ..." : "");
	}
	return rc;
}
