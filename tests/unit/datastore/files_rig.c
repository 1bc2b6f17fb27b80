#include "files_rig.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int entry_remove(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void scratch_remove(char *dir)
{
	nftw(dir, entry_remove, 16, FTW_DEPTH | FTW_PHYS);
	free(dir);
}

char *scratch_new(void)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = NULL;

	cr_assert(asprintf(&dir, "%s/sloglab-files-XXXXXX", tmp ? tmp : "/tmp") > 0);
	cr_assert(mkdtemp(dir) != NULL);
	return dir;
}

char *path_in(const char *dir, const char *name)
{
	char *path = NULL;

	cr_assert(asprintf(&path, "%s/%s", dir, name) > 0);
	return path;
}

int files_open(const char *dir, uint64_t dirty_max, struct sl_tree **ret, struct sl_err *err)
{
	struct sl_files_options options = {.dir = dir, .dirty_max_bytes = dirty_max};

	return sl_files_open(&options, ret, err);
}

struct sl_tree *tree_open(const char *dir, uint64_t dirty_max)
{
	struct sl_err err = {0};
	struct sl_tree *tree = NULL;
	int rc = files_open(dir, dirty_max, &tree, &err);

	cr_assert_eq(rc, 0, "%s", err.msg);
	return tree;
}

uint64_t tree_make(struct sl_tree *tree, uint64_t dir, const char *name, enum sl_ftype type)
{
	struct sl_setattr set = {0};
	uint64_t ino = 0;

	cr_assert_eq(tree->ops->create(tree, dir, name, type, &set, &ino), 0);
	return ino;
}

void tree_write(struct sl_tree *tree, uint64_t ino, uint64_t offset, const char *text, enum sl_stable stable)
{
	cr_assert_eq(tree->ops->write(tree, ino, offset, text, (uint32_t)strlen(text), stable), 0);
}

void tree_expect(struct sl_tree *tree, uint64_t ino, uint64_t offset, const char *text)
{
	char buf[256] = {0};
	uint32_t got = 0;
	bool eof = false;

	cr_assert_eq(tree->ops->read(tree, ino, offset, buf, (uint32_t)strlen(text), &got, &eof), 0);
	cr_assert_eq(got, strlen(text));
	cr_assert_eq(memcmp(buf, text, got), 0, "got \"%s\", not \"%s\"", buf, text);
}

uint64_t tree_size(struct sl_tree *tree, uint64_t ino)
{
	struct sl_attr attr;

	cr_assert_eq(tree->ops->getattr(tree, ino, &attr), 0);
	return attr.size_bytes;
}

bool listing_add(void *arg, const char *name, uint64_t ino, uint64_t cookie)
{
	struct listing *listing = arg;
	size_t used = strlen(listing->text);

	(void)ino;
	if (listing->limit > 0 && listing->count == listing->limit) {
		return false;
	}
	snprintf(listing->text + used, sizeof(listing->text) - used, "%s ", name);
	listing->last_cookie = cookie;
	listing->count++;
	return true;
}

void tree_list(struct sl_tree *tree, uint64_t dir, struct listing *ret)
{
	*ret = (struct listing){0};
	cr_assert_eq(tree->ops->readdir(tree, dir, 0, listing_add, ret), 0);
}

int64_t fixed_clock(void *arg)
{
	return *(int64_t *)arg;
}

uint64_t file_bytes(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}
