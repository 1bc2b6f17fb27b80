/* Images of the virtual machines on disk: $XDG_CACHE_HOME/sloglab. images/build.sh fills it.
 *   images/LABEL-KEY    a finished image with manifest.json; images/LABEL links to the current one
 *   work/               what is half-built     apt/  package lists and downloads     lock  held by a build
 */
#ifndef SL_ENGINE_IMAGE_CACHE_H
#define SL_ENGINE_IMAGE_CACHE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

#define SL_IMAGES_MAX 64

struct sl_image {
	char label[48], key[24]; /* "storage-2.1", digest of its inputs */
	char path[PATH_MAX];
	char kernel[48], zfs[48], mariadb[48]; /* versions, "" = not in it */
	char built[32];                        /* UTC, ISO 8601 */
	uint64_t bytes;                        /* on disk */
	bool current;
};

/* Errors: -ENOENT when neither XDG_CACHE_HOME nor HOME is set; -ENAMETOOLONG. */
int sl_image_cache_path(char ret_path[PATH_MAX], struct sl_err *err);

/* Finished images in order of their names; returns their number, 0 when there is no cache. Caller frees. */
int sl_images(const char *cache, struct sl_image **ret, struct sl_err *err);

/* Bytes on disk below `path`; a file with several names counts in part for each. */
uint64_t sl_tree_bytes(const char *path);

/* The lock that a build holds. *ret_fd is -1 when there is no cache. Errors: -EBUSY. */
int sl_image_cache_lock(const char *cache, int *ret_fd, struct sl_err *err);

#endif
