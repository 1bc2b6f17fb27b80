#include "sim/nfs3/mounts.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void mount_drop(struct sl_mounts *mounts, uint32_t i)
{
	free(mounts->list[i].path);
	mounts->count--;
	memmove(&mounts->list[i], &mounts->list[i + 1], (mounts->count - i) * sizeof(mounts->list[0]));
}

static bool mount_matches(const struct sl_mount *mount, const char *address, const char *path)
{
	return strcmp(mount->address, address) == 0 && (!path || strcmp(mount->path, path) == 0);
}

void sl_mounts_add(struct sl_mounts *mounts, const char *address, const char *path)
{
	char *copy;
	struct sl_mount *mount;

	sl_mounts_remove(mounts, address, path);
	copy = strdup(path);
	if (!copy) {
		return;
	}
	if (mounts->count == SL_MOUNTS_MAX) {
		mount_drop(mounts, 0);
	}
	mount = &mounts->list[mounts->count++];
	memset(mount->address, 0, sizeof(mount->address));
	memcpy(mount->address, address, strnlen(address, SL_MOUNTS_ADDRESS_MAX));
	mount->path = copy;
}

void sl_mounts_remove(struct sl_mounts *mounts, const char *address, const char *path)
{
	for (uint32_t i = mounts->count; i > 0; i--) {
		if (mount_matches(&mounts->list[i - 1], address, path)) {
			mount_drop(mounts, i - 1);
		}
	}
}

void sl_mounts_clear(struct sl_mounts *mounts)
{
	while (mounts->count > 0) {
		mount_drop(mounts, mounts->count - 1);
	}
}
