#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/tempdir.h"
#include "sim/base/out.h"
#include "sim/scenario/paths.h"

static char *fresh_dir(char buf[64])
{
	snprintf(buf, 64, "/tmp/sl-cli-test.XXXXXX");
	cr_assert_not_null(mkdtemp(buf));
	return buf;
}

static int entries(const char *path)
{
	DIR *dir = opendir(path);
	int n = -2; /* . and .. */

	cr_assert_not_null(dir);
	while (readdir(dir)) {
		n++;
	}
	closedir(dir);
	return n;
}

static int render_ok(void *arg, FILE *out, struct sl_err *err)
{
	(void)err;
	fputs(arg, out);
	return 0;
}

static int render_fails(void *arg, FILE *out, struct sl_err *err)
{
	fputs(arg, out);
	return sl_err_set(err, -EIO, "no");
}

Test(out, a_failed_document_changes_nothing)
{
	char dir[64], path[96], text[16] = "";
	char first[] = "first", half[] = "half";
	struct sl_err err = {0};
	FILE *f;

	snprintf(path, sizeof(path), "%s/a", fresh_dir(dir));
	cr_assert_eq(sl_out_write(path, render_ok, first, &err), 0, "%s", err.msg);
	cr_assert_eq(sl_out_write(path, render_fails, half, &err), -EIO);
	f = fopen(path, "r");
	cr_assert_not_null(f);
	cr_assert_not_null(fgets(text, sizeof(text), f));
	fclose(f);
	cr_assert_str_eq(text, "first");
	cr_assert_eq(entries(dir), 1);
	unlink(path);
	rmdir(dir);
}

Test(out, says_beforehand_what_cannot_be_written)
{
	static const struct {
		const char *path;
		int code;
	} cases[] = {{"/nowhere/at/all/x.json", -ENOENT},
		     {"/dev/null/x.json", -ENOTDIR},
		     {"/tmp", -EISDIR},
		     {"-", 0},
		     {"/dev/null", 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_err err = {0};
		int rc = sl_out_check(cases[i].path, &err);

		cr_assert_eq(rc, cases[i].code, "%s: %s", cases[i].path, err.msg);
		cr_assert_null(strchr(err.msg, '\n'));
	}
}

Test(tempdir, sweeps_what_a_killed_run_left_and_nothing_else)
{
	char base[64], dead[96], held[96], other[96], file[128];
	struct sl_tempdir temp;
	struct sl_err err = {0};
	int lock;

	setenv("XDG_RUNTIME_DIR", fresh_dir(base), 1);
	snprintf(dead, sizeof(dead), "%s/sloglab-run.dead00", base);
	snprintf(held, sizeof(held), "%s/sloglab-run.held00", base);
	snprintf(other, sizeof(other), "%s/sloglab-run.longername", base);
	cr_assert_eq(mkdir(dead, 0700) + mkdir(held, 0700) + mkdir(other, 0700), 0);
	snprintf(file, sizeof(file), "%s/inner", dead);
	cr_assert_eq(mkdir(file, 0700), 0);
	lock = open(held, O_RDONLY | O_DIRECTORY);
	cr_assert_eq(flock(lock, LOCK_EX | LOCK_NB), 0);

	cr_assert_eq(sl_tempdir_make(&temp, &err), 0, "%s", err.msg);
	cr_assert_eq(access(dead, F_OK), -1);
	cr_assert_eq(access(held, F_OK) + access(other, F_OK) + access(temp.path, F_OK), 0);

	snprintf(file, sizeof(file), "%.80s/state", temp.path);
	cr_assert_eq(mkdir(file, 0700), 0);
	sl_tempdir_remove(&temp);
	cr_assert_eq(entries(base), 2);
	sl_tempdir_remove(&temp);
	close(lock);
	rmdir(held);
	rmdir(other);
	rmdir(base);
}

/* A link with the name of a run's folder must not lead the sweep out of its base. */
Test(tempdir, does_not_follow_links)
{
	char base[64], victim[64], link[96], precious[96];
	struct sl_tempdir temp;
	struct sl_err err = {0};

	setenv("XDG_RUNTIME_DIR", fresh_dir(base), 1);
	snprintf(precious, sizeof(precious), "%s/precious", fresh_dir(victim));
	cr_assert_eq(mkdir(precious, 0700), 0);
	snprintf(link, sizeof(link), "%s/sloglab-run.link00", base);
	cr_assert_eq(symlink(victim, link), 0);
	cr_assert_eq(sl_tempdir_make(&temp, &err), 0, "%s", err.msg);
	cr_assert_eq(access(precious, F_OK), 0);
	sl_tempdir_remove(&temp);
	unlink(link);
	rmdir(precious);
	rmdir(victim);
	rmdir(base);
}

Test(paths, source_tree_is_found_from_the_program)
{
	struct sl_paths paths;
	struct sl_err err = {0};
	char path[PATH_MAX];

	unsetenv("SLOGLAB_DATA");
	cr_assert_eq(sl_paths_find(&paths, &err), 0, "%s", err.msg);
	cr_assert_str_eq(paths.data, SL_SOURCE_DIR "/sim/scenario");
	cr_assert_eq(chdir("/"), 0);
	cr_assert_eq(sl_paths_scenario(&paths, "b3n-2014", path, &err), 0, "%s", err.msg);
	cr_assert_str_eq(path, SL_SOURCE_DIR "/scenarios/b3n-2014.yaml");
	cr_assert_eq(sl_paths_scenario(&paths, "b3n-2104", path, &err), -ENOENT);
	cr_assert_str_eq(err.msg, "b3n-2104: no such scenario; did you mean b3n-2014?");
	setenv("SLOGLAB_DATA", "/nowhere", 1);
	cr_assert_eq(sl_paths_find(&paths, &err), -ENOENT);
	cr_assert_not_null(strstr(err.msg, "SLOGLAB_DATA=/nowhere"));
}
