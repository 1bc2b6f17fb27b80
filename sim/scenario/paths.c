#include "sim/scenario/paths.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/fuzzy.h"

static bool paths_join(char out[PATH_MAX], const char *dir, const char *name)
{
	return snprintf(out, PATH_MAX, "%s/%s", dir, name) < PATH_MAX;
}

static bool paths_is_dir(const char *dir, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	return paths_join(path, dir, name) && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Cuts the last component; false at the root. */
static bool paths_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || path[1] == '\0') {
		return false;
	}
	slash[slash == path ? 1 : 0] = '\0';
	return true;
}

static bool paths_try(struct sl_paths *p, const char *root, const char *data)
{
	return paths_join(p->data, root, data) && paths_is_dir(p->data, "catalogue") &&
	       paths_join(p->scenarios, root, "scenarios") && paths_join(p->images, root, "images");
}

static bool paths_above(struct sl_paths *p)
{
	char dir[PATH_MAX], share[PATH_MAX];

	memcpy(dir, p->bin, sizeof(dir));
	while (paths_up(dir)) {
		if (paths_join(share, dir, "share/sloglab") && paths_try(p, share, ".")) {
			return paths_join(p->data, dir, "share/sloglab");
		}
		if (paths_try(p, dir, "sim/scenario")) {
			return true;
		}
	}
	return false;
}

int sl_paths_find(struct sl_paths *ret, struct sl_err *err)
{
	const char *given = getenv("SLOGLAB_DATA");
	ssize_t n = readlink("/proc/self/exe", ret->bin, sizeof(ret->bin) - 1);

	if (n < 0) {
		return sl_err_set(err, -errno, "/proc/self/exe: %s; mount /proc", strerror(errno));
	}
	ret->bin[n] = '\0';
	paths_up(ret->bin);
	if (given && given[0] != '\0') {
		if (paths_try(ret, given, ".") && paths_join(ret->data, given, ".")) {
			snprintf(ret->data, sizeof(ret->data), "%s", given);
			return 0;
		}
		if (paths_try(ret, given, "sim/scenario")) {
			return 0;
		}
		return sl_err_set(err, -ENOENT,
				  "SLOGLAB_DATA=%.200s: no folder \"catalogue\" there; unset or correct it",
				  given);
	}
	if (!paths_above(ret)) {
		return sl_err_set(
		    err, -ENOENT,
		    "no share/sloglab and no source tree above %.200s; reinstall, or set SLOGLAB_DATA to the "
		    "folder with \"catalogue\"",
		    ret->bin);
	}
	return 0;
}

int sl_paths_scenarios(const struct sl_paths *paths, char ret_names[][SL_PATHS_NAME_MAX])
{
	struct dirent **entries;
	int n = scandir(paths->scenarios, &entries, NULL, alphasort);
	int count = 0;

	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;
		size_t length = strlen(name);

		if (count < SL_PATHS_SCENARIOS_MAX && length > 5 && length < SL_PATHS_NAME_MAX &&
		    strcmp(name + length - 5, ".yaml") == 0) {
			snprintf(ret_names[count++], SL_PATHS_NAME_MAX, "%.*s", (int)(length - 5), name);
		}
		free(entries[i]);
	}
	if (n >= 0) {
		free(entries);
	}
	return count;
}

static int scenario_unknown(const struct sl_paths *paths, const char *name, struct sl_err *err)
{
	char names[SL_PATHS_SCENARIOS_MAX][SL_PATHS_NAME_MAX];
	const char *words[SL_PATHS_SCENARIOS_MAX];
	int n = sl_paths_scenarios(paths, names);
	struct sl_fuzzy found;

	for (int i = 0; i < n; i++) {
		words[i] = names[i];
	}
	sl_fuzzy_find(name, words, n, &found);
	if (found.n > 0) {
		return sl_err_set(err, -ENOENT, "%.200s: no such scenario; did you mean %s%s%s?", name,
				  words[found.hit[0]], found.n > 1 ? " or " : "",
				  found.n > 1 ? words[found.hit[1]] : "");
	}
	return sl_err_set(
	    err, -ENOENT,
	    "%.200s: no such file and no ready scenario of that name; see sloglab help scenarios", name);
}

int sl_paths_scenario(const struct sl_paths *paths, const char *name, char ret_path[PATH_MAX],
		      struct sl_err *err)
{
	char file[PATH_MAX];

	if (name[0] == '\0') {
		return sl_err_set(err, -EINVAL,
				  "scenario: empty name; give a file, or one of sloglab help scenarios");
	}
	if (strlen(name) >= PATH_MAX) {
		return sl_err_set(err, -ENAMETOOLONG, "%.80s...: path too long", name);
	}
	snprintf(ret_path, PATH_MAX, "%s", name);
	if (access(name, F_OK) == 0) {
		return 0;
	}
	if (errno != ENOENT && errno != ENOTDIR) {
		return sl_err_set(err, -errno, "%.200s: %s", name, strerror(errno));
	}
	if (strchr(name, '/') || strchr(name, '.')) {
		return sl_err_set(err, -ENOENT, "%.200s: no such file", name);
	}
	errno = ENOENT;
	if (snprintf(file, sizeof(file), "%s.yaml", name) < PATH_MAX &&
	    paths_join(ret_path, paths->scenarios, file) && access(ret_path, F_OK) == 0) {
		return 0;
	}
	return errno == ENOENT || errno == ENOTDIR
		   ? scenario_unknown(paths, name, err)
		   : sl_err_set(err, -errno, "%.200s: %s", ret_path, strerror(errno));
}

int sl_paths_profile(char ret_path[PATH_MAX], struct sl_err *err)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int n;

	if (config && config[0] == '/') {
		n = snprintf(ret_path, PATH_MAX, "%s/sloglab/host.yaml", config);
	} else if (home && home[0] == '/') {
		n = snprintf(ret_path, PATH_MAX, "%s/.config/sloglab/host.yaml", home);
	} else {
		return sl_err_set(err, -ENOENT, "HOME: not set; set it or XDG_CONFIG_HOME");
	}
	return n < PATH_MAX ? 0 : sl_err_set(err, -ENAMETOOLONG, "XDG_CONFIG_HOME: path too long");
}
