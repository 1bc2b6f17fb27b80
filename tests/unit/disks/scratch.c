#include "scratch.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void scratch_init(struct scratch *scratch)
{
	const char *base = getenv("TMPDIR");

	memset(scratch, 0, sizeof(*scratch));
	(void)snprintf(scratch->dir, sizeof(scratch->dir), "%.40s/sl-disk-XXXXXX", base ? base : "/tmp");
	cr_assert(mkdtemp(scratch->dir) != NULL);
}

const char *scratch_path(struct scratch *scratch, const char *name)
{
	char *path = scratch->path[scratch->next++ % 8];
	size_t length = strlen(scratch->dir);

	memcpy(path, scratch->dir, length);
	(void)snprintf(path + length, sizeof(scratch->path[0]) - length, "/%.40s", name);
	return path;
}

void scratch_fini(struct scratch *scratch)
{
	DIR *dir = opendir(scratch->dir);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL) {
		(void)unlink(scratch_path(scratch, entry->d_name));
	}
	if (dir) {
		(void)closedir(dir);
	}
	(void)rmdir(scratch->dir);
}
