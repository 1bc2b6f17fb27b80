#include "engine/image_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 32

int sl_image_cache_path(char ret_path[PATH_MAX], struct sl_err *err)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	if (base && base[0] == '/') {
		n = snprintf(ret_path, PATH_MAX, "%s/sloglab", base);
	} else if (home && home[0] == '/') {
		n = snprintf(ret_path, PATH_MAX, "%s/.cache/sloglab", home);
	} else {
		return sl_err_set(err, -ENOENT,
				  "no folder for images: set XDG_CACHE_HOME to an absolute path");
	}
	return n < PATH_MAX ? 0 : sl_err_set(err, -ENAMETOOLONG, "XDG_CACHE_HOME is too long");
}

static uint64_t tree_bytes(const char *path, int depth)
{
	struct dirent *entry;
	char below[PATH_MAX];
	struct stat st;
	uint64_t bytes;
	DIR *dir;

	if (lstat(path, &st) < 0) {
		return 0;
	}
	bytes = (uint64_t)st.st_blocks * 512;
	if (!S_ISDIR(st.st_mode)) {
		return bytes / st.st_nlink;
	}
	dir = depth < DEPTH_MAX ? opendir(path) : NULL;
	while (dir && (entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    snprintf(below, sizeof(below), "%s/%s", path, entry->d_name) < PATH_MAX) {
			bytes += tree_bytes(below, depth + 1);
		}
	}
	if (dir) {
		closedir(dir);
	}
	return bytes;
}

uint64_t sl_tree_bytes(const char *path)
{
	return tree_bytes(path, 0);
}

static void fact(const json_t *manifest, const char *name, char *ret, size_t size)
{
	const char *value = json_string_value(json_object_get(manifest, name));

	(void)snprintf(ret, size, "%s", value ? value : "");
}

/* Whether `name` below `images` is a finished image; fills it in. A link is another name for one. */
static bool image_read(const char *images, const char *name, struct sl_image *image)
{
	char path[PATH_MAX], target[PATH_MAX];
	struct stat st;
	json_t *manifest;
	ssize_t n;

	if (snprintf(image->path, PATH_MAX, "%s/%s", images, name) >= PATH_MAX ||
	    lstat(image->path, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    snprintf(path, PATH_MAX, "%s/manifest.json", image->path) >= PATH_MAX) {
		return false;
	}
	manifest = json_load_file(path, 0, NULL);
	if (!manifest) {
		return false;
	}
	fact(manifest, "label", image->label, sizeof(image->label));
	fact(manifest, "key", image->key, sizeof(image->key));
	fact(manifest, "kernel", image->kernel, sizeof(image->kernel));
	fact(manifest, "zfs", image->zfs, sizeof(image->zfs));
	fact(manifest, "mariadb", image->mariadb, sizeof(image->mariadb));
	fact(manifest, "built", image->built, sizeof(image->built));
	json_decref(manifest);
	image->bytes = sl_tree_bytes(image->path);
	n = snprintf(path, PATH_MAX, "%s/%s", images, image->label) < PATH_MAX
		? readlink(path, target, sizeof(target) - 1)
		: -1;
	image->current = n > 0 && strlen(name) == (size_t)n && memcmp(target, name, (size_t)n) == 0;
	return true;
}

int sl_images(const char *cache, struct sl_image **ret, struct sl_err *err)
{
	struct dirent **entries;
	char images[PATH_MAX];
	int count = 0, n;

	if (snprintf(images, PATH_MAX, "%s/images", cache) >= PATH_MAX) {
		return sl_err_set(err, -ENAMETOOLONG, "%.200s: path too long", cache);
	}
	*ret = calloc(SL_IMAGES_MAX, sizeof(**ret));
	if (!*ret) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	n = scandir(images, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		if (count < SL_IMAGES_MAX && entries[i]->d_name[0] != '.') {
			count += image_read(images, entries[i]->d_name, &(*ret)[count]);
		}
		free(entries[i]);
	}
	if (n >= 0) {
		free(entries);
	}
	return count;
}

int sl_image_cache_lock(const char *cache, int *ret_fd, struct sl_err *err)
{
	char path[PATH_MAX];

	*ret_fd = -1;
	if (snprintf(path, PATH_MAX, "%s/lock", cache) >= PATH_MAX) {
		return sl_err_set(err, -ENAMETOOLONG, "%.200s: path too long", cache);
	}
	*ret_fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (*ret_fd < 0) {
		return errno == ENOENT ? 0 : sl_err_set(err, -errno, "%.200s: %s", path, strerror(errno));
	}
	if (flock(*ret_fd, LOCK_EX | LOCK_NB) < 0) {
		close(*ret_fd);
		*ret_fd = -1;
		return sl_err_set(err, -EBUSY, "an image build is running in %.200s; wait for it", cache);
	}
	return 0;
}
