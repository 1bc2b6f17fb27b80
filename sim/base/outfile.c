#include "sim/base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX 100

static int outfile_fail(const char *path, int code, struct sl_err *err)
{
	return sl_err_set(err, code, "%s: cannot write: %s", path, strerror(-code));
}

/* Opens a new file beside out->path. open() and not mkstemp(): the result shall have the user's usual mode.
 */
static int outfile_open_tmp(struct sl_outfile *out)
{
	size_t size = strlen(out->path) + 48;
	int fd = -1;

	out->tmp = malloc(size);
	if (out->tmp == NULL) {
		errno = ENOMEM;
		return -1;
	}
	for (int i = 0; i < NAMES_MAX; i++) {
		(void)snprintf(out->tmp, size, "%s.%ld-%d.tmp", out->path, (long)getpid(), i);
		fd = open(out->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0 || errno != EEXIST) {
			break;
		}
	}
	if (fd < 0) {
		int saved = errno;

		free(out->tmp);
		out->tmp = NULL;
		errno = saved;
	}
	return fd;
}

static int outfile_open_fd(struct sl_outfile *out, const char *path)
{
	struct stat st;
	char *real;

	if (stat(path, &st) != 0) {
		out->path = strdup(path);
		return out->path == NULL ? -1 : outfile_open_tmp(out);
	}
	real = realpath(path, NULL); /* through a symbolic link: the link shall stay */
	out->path = real != NULL ? real : strdup(path);
	if (out->path == NULL) {
		return -1;
	}
	if (S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return -1;
	}
	if (!S_ISREG(st.st_mode)) {
		return open(path, O_WRONLY | O_CLOEXEC);
	}
	if (access(path, W_OK) != 0) {
		return -1; /* a rename would get round the file's write protection */
	}
	return outfile_open_tmp(out);
}

int sl_outfile_open(struct sl_outfile *out, const char *path, struct sl_err *err)
{
	int fd, code;

	*out = (struct sl_outfile){0};
	fd = outfile_open_fd(out, path);
	out->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (out->file != NULL) {
		return 0;
	}
	code = -errno;
	if (fd >= 0) {
		(void)close(fd);
	}
	sl_outfile_discard(out);
	return outfile_fail(path, code, err);
}

int sl_outfile_commit(struct sl_outfile *out, struct sl_err *err)
{
	int code = 0;

	errno = 0;
	/* A rename may reach the disk before the bytes do: then a crash would leave an empty file in the old
	 * one's place. */
	if (fflush(out->file) != 0 || ferror(out->file) ||
	    (out->tmp != NULL && !out->passing && fsync(fileno(out->file)) != 0)) {
		code = errno != 0 ? -errno : -EIO;
	}
	if (fclose(out->file) != 0 && code == 0) {
		code = -errno;
	}
	out->file = NULL;
	if (code == 0 && out->tmp != NULL && rename(out->tmp, out->path) != 0) {
		code = -errno;
	}
	if (code != 0) {
		(void)outfile_fail(out->path, code, err);
	} else {
		free(out->tmp); /* it is the file now: nothing to remove */
		out->tmp = NULL;
	}
	sl_outfile_discard(out);
	return code;
}

int sl_outfile_abort(struct sl_outfile *out, int code, struct sl_err *err)
{
	if (ferror(out->file)) {
		(void)outfile_fail(out->path, code, err);
	}
	sl_outfile_discard(out);
	return code;
}

void sl_outfile_discard(struct sl_outfile *out)
{
	if (out->file != NULL) {
		(void)fclose(out->file);
	}
	if (out->tmp != NULL) {
		(void)unlink(out->tmp);
	}
	free(out->tmp);
	free(out->path);
	*out = (struct sl_outfile){0};
}
