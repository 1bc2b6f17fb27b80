#include "sim/base/out.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/fdio.h"
#include "sim/base/outfile.h"
#include "sim/base/signals.h"

#define OUT_PLACE_MAX (2 * (size_t)PATH_MAX)

/* Folder part of `path` into `dir`. */
static void out_folder(const char *path, char dir[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0;

	if (!slash) {
		snprintf(dir, PATH_MAX, ".");
	} else if (length == 0) {
		snprintf(dir, PATH_MAX, "/");
	} else {
		snprintf(dir, PATH_MAX, "%.*s", (int)length, path);
	}
}

/* Links are followed, so that the file they name is replaced and not they. */
static int out_resolve(const char *path, char real[PATH_MAX], struct sl_err *err)
{
	if (strlen(path) >= PATH_MAX - 16) {
		return sl_err_set(err, -ENAMETOOLONG, "%.80s...: path too long", path);
	}
	if (!realpath(path, real)) {
		snprintf(real, PATH_MAX, "%s", path);
	}
	return 0;
}

/* Where `path` will be: its folder resolved, its name as given. */
static void out_place(const char *path, char place[OUT_PLACE_MAX])
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX], real[PATH_MAX];

	out_folder(path, dir);
	snprintf(place, OUT_PLACE_MAX, "%s/%s", realpath(dir, real) ? real : dir, slash ? slash + 1 : path);
}

int sl_out_check_distinct(const char *const *paths, int n, struct sl_err *err)
{
	for (int i = 0; i < n; i++) {
		for (int k = i + 1; k < n; k++) {
			char a[OUT_PLACE_MAX], b[OUT_PLACE_MAX];

			if (!paths[i] || !paths[k] || sl_out_is_stdout(paths[i])) {
				continue;
			}
			out_place(paths[i], a);
			out_place(paths[k], b);
			if (strcmp(a, b) == 0) {
				return sl_err_set(err, -EINVAL,
						  "%.200s: two outputs to one file; give each its own",
						  paths[k]);
			}
		}
	}
	return 0;
}

/* A whole document or none on stdout too: a render that fails half way prints nothing. */
static int out_stdout(int (*render)(void *arg, FILE *out, struct sl_err *err), void *arg, struct sl_err *err)
{
	char *data = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&data, &size);
	int rc;

	if (!out) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	rc = render(arg, out, err);
	if (fclose(out) != 0 && rc == 0) {
		rc = sl_err_set(err, -ENOMEM, "out of memory");
	}
	if (rc == 0) {
		rc = sl_fd_write(STDOUT_FILENO, data, (int64_t)size);
		if (rc == -EPIPE) {
			free(data);
			data = NULL;
			sl_signals_die_of_pipe();
		}
		if (rc < 0) {
			sl_err_set(err, rc, "stdout: cannot write: %s", strerror(-rc));
		}
	}
	free(data);
	return rc;
}

bool sl_out_is_stdout(const char *path)
{
	return strcmp(path, "-") == 0;
}

int sl_out_check(const char *path, struct sl_err *err)
{
	char real[PATH_MAX], dir[PATH_MAX];
	struct stat st;
	int rc;

	if (sl_out_is_stdout(path)) {
		return 0;
	}
	rc = out_resolve(path, real, err);
	if (rc < 0) {
		return rc;
	}
	if (stat(real, &st) == 0 && S_ISDIR(st.st_mode)) {
		return sl_err_set(err, -EISDIR, "%s: is a folder; name a file", path);
	}
	out_folder(real, dir);
	if (stat(dir, &st) < 0) {
		return sl_err_set(err, -errno, "%s: cannot write: folder %s: %s", path, dir, strerror(errno));
	}
	if (!S_ISDIR(st.st_mode)) {
		return sl_err_set(err, -ENOTDIR, "%s: cannot write: %s is not a folder", path, dir);
	}
	if (access(dir, W_OK | X_OK) < 0) {
		return sl_err_set(err, -errno, "%s: cannot write: folder %s: %s", path, dir, strerror(errno));
	}
	return 0;
}

static int out_write(const char *path, bool passing, int (*render)(void *arg, FILE *out, struct sl_err *err),
		     void *arg, struct sl_err *err)
{
	struct sl_outfile file;
	int rc;

	if (sl_out_is_stdout(path)) {
		return out_stdout(render, arg, err);
	}
	rc = sl_outfile_open(&file, path, err);
	if (rc < 0) {
		return rc;
	}
	file.passing = passing;
	rc = render(arg, file.file, err);
	return rc < 0 ? sl_outfile_abort(&file, rc, err) : sl_outfile_commit(&file, err);
}

int sl_out_write(const char *path, int (*render)(void *arg, FILE *out, struct sl_err *err), void *arg,
		 struct sl_err *err)
{
	return out_write(path, false, render, arg, err);
}

int sl_out_write_passing(const char *path, int (*render)(void *arg, FILE *out, struct sl_err *err), void *arg,
			 struct sl_err *err)
{
	return out_write(path, true, render, arg, err);
}
