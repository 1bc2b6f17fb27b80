#include "guests/needs.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QEMU_FIX "apt-get install qemu-system-common qemu-utils qemu-block-extra"
#define MARIADB_FIX "apt-get install mariadb-server"

static const struct sl_need needs[] = {
    {"root", "mounts, network and priority of its own", NULL, "sudo -i", 0, false},
    {"/dev/fuse", "the virtual disk as a file", "/dev/fuse", "modprobe fuse", R_OK | W_OK, false},
    {"loop", "the file as a block device", "/dev/loop-control", "modprobe loop", R_OK | W_OK, false},
    {"qemu-img", "makes the virtual disk", "qemu-img", QEMU_FIX, X_OK, false},
    {"qemu-storage-daemon", "QEMU's block layer without a VM", "qemu-storage-daemon", QEMU_FIX, X_OK, false},
    {"QEMU's NFS driver", "its way to the datastore", "/usr/lib/*/qemu/block-nfs.so", QEMU_FIX, R_OK, false},
    {"mkfs.ext4", "file system of the guest", "mkfs.ext4", "apt-get install e2fsprogs", X_OK, false},
    {"mariadbd", "database of the guest", "mariadbd", MARIADB_FIX, X_OK, true},
    {"mariadb-install-db", "makes its tables", "mariadb-install-db", MARIADB_FIX, X_OK, true},
    {"mariadb", "fills its caches", "mariadb", MARIADB_FIX, X_OK, true},
};

/* As execvp() looks. */
static bool in_path(const char *program, char *where, size_t size)
{
	const char *at = getenv("PATH");
	char path[PATH_MAX];

	while (at && *at) {
		size_t length = strcspn(at, ":");

		if (snprintf(path, sizeof(path), "%.*s/%s", (int)length, at, program) < (int)sizeof(path) &&
		    access(path, X_OK) == 0) {
			(void)snprintf(where, size, "%s", path);
			return true;
		}
		at += length + (at[length] == ':');
	}
	(void)snprintf(where, size, "not in PATH");
	return false;
}

static bool by_pattern(const char *pattern, char *where, size_t size)
{
	glob_t found;
	bool met = glob(pattern, 0, NULL, &found) == 0;

	(void)snprintf(where, size, "%s", met ? found.gl_pathv[0] : "not found");
	if (met) {
		globfree(&found);
	}
	return met;
}

const struct sl_need *sl_needs(size_t *ret_n)
{
	*ret_n = sizeof(needs) / sizeof(needs[0]);
	return needs;
}

bool sl_need_met(const struct sl_need *need, char *where, size_t size)
{
	bool met;

	if (!need->path) {
		met = geteuid() == 0;
		(void)snprintf(where, size, "%s", met ? "yes" : "no");
		return met;
	}
	if (need->path[0] != '/') {
		return in_path(need->path, where, size);
	}
	if (strchr(need->path, '*')) {
		return by_pattern(need->path, where, size);
	}
	met = access(need->path, need->mode) == 0;
	(void)snprintf(where, size, "%s", met ? "usable" : strerror(errno));
	return met;
}

const struct sl_need *sl_needs_missing(bool database)
{
	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		char where[PATH_MAX];

		if ((database || !needs[i].database) && !sl_need_met(&needs[i], where, sizeof(where))) {
			return &needs[i];
		}
	}
	return NULL;
}
