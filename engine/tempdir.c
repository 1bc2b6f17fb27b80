#include "engine/tempdir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMP_PREFIX "sloglab-run."
#define TEMP_SUFFIX 6
#define TEMP_DEPTH 16

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (flag == FTW_DP) {
		rmdir(path);
	} else {
		unlink(path);
	}
	return 0;
}

void sl_tree_remove(const char *path)
{
	nftw(path, remove_entry, TEMP_DEPTH, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* Opens and locks the folder itself; -1 when somebody holds it, or it is not a folder of ours. */
static int folder_lock(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && (fstat(fd, &st) < 0 || st.st_uid != geteuid() || flock(fd, LOCK_EX | LOCK_NB) < 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void sweep(const char *base)
{
	DIR *dir = opendir(base);
	const struct dirent *entry;
	char path[PATH_MAX];

	if (!dir) {
		return;
	}
	while ((entry = readdir(dir)) != NULL) {
		size_t prefix = strlen(TEMP_PREFIX);
		int fd;

		if (strncmp(entry->d_name, TEMP_PREFIX, prefix) != 0 ||
		    strlen(entry->d_name) != prefix + TEMP_SUFFIX ||
		    snprintf(path, sizeof(path), "%s/%s", base, entry->d_name) >= (int)sizeof(path)) {
			continue;
		}
		fd = folder_lock(path);
		if (fd >= 0) {
			sl_tree_remove(path);
			close(fd);
		}
	}
	closedir(dir);
}

const char *sl_tempdir_base(void)
{
	static const char *const names[] = {"XDG_RUNTIME_DIR", "TMPDIR"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *dir = getenv(names[i]);

		if (dir && dir[0] == '/' && access(dir, W_OK | X_OK) == 0) {
			return dir;
		}
	}
	return "/tmp";
}

int sl_tempdir_make(struct sl_tempdir *ret, struct sl_err *err)
{
	const char *base = sl_tempdir_base();

	ret->lock = -1;
	sweep(base);
	if (snprintf(ret->path, sizeof(ret->path), "%s/" TEMP_PREFIX "XXXXXX", base) >=
	    (int)sizeof(ret->path)) {
		ret->path[0] = '\0';
		return sl_err_set(err, -ENAMETOOLONG, "TMPDIR: path too long");
	}
	if (!mkdtemp(ret->path)) {
		int code = -errno;

		ret->path[0] = '\0';
		return sl_err_set(err, code, "%.200s: cannot make a folder: %s; set TMPDIR", base,
				  strerror(-code));
	}
	ret->lock = folder_lock(ret->path);
	if (ret->lock < 0) {
		rmdir(ret->path);
		ret->path[0] = '\0';
		return sl_err_set(err, -EAGAIN, "%.200s: another run took the folder away; try again", base);
	}
	return 0;
}

void sl_tempdir_remove(struct sl_tempdir *dir)
{
	if (dir->path[0] != '\0') {
		sl_tree_remove(dir->path);
		close(dir->lock);
		dir->path[0] = '\0';
	}
}
