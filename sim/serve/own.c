#include "sim/serve/own.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_ours(const struct stat *st)
{
	return st->st_uid == geteuid() || st->st_uid == 0;
}

int sl_own_folder(int fd, const char *path, struct sl_err *err)
{
	struct stat st;

	if (lstat(path, &st) < 0) {
		return sl_err_set(err, -errno, "cannot be looked at: %s", strerror(errno));
	}
	if (S_ISLNK(st.st_mode) && !is_ours(&st)) {
		return sl_err_set(err, -EPERM, "is a symbolic link of user %u; name the folder itself",
				  (unsigned)st.st_uid);
	}
	if (fstat(fd, &st) < 0) {
		return sl_err_set(err, -errno, "cannot be looked at: %s", strerror(errno));
	}
	if (!is_ours(&st)) {
		return sl_err_set(
		    err, -EPERM,
		    "belongs to user %u, who could change what is served; name a folder of your own",
		    (unsigned)st.st_uid);
	}
	if (st.st_mode & (S_IWGRP | S_IWOTH)) {
		return sl_err_set(
		    err, -EPERM,
		    "others may write to it (mode %04o), and change what is served; chmod go-w it, or "
		    "name another folder",
		    (unsigned)st.st_mode & 07777u);
	}
	return 0;
}
