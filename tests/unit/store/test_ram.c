#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/store/tree.h"

#define MIB (UINT64_C(1) << 20)

static int64_t ticking_wall(void *arg)
{
	return ++*(int64_t *)arg;
}

static uint64_t make(struct sl_tree *tree, uint64_t dir, const char *name, enum sl_ftype type)
{
	uint64_t ino = 0;

	cr_assert_eq(tree->ops->create(tree, dir, name, type, NULL, &ino), 0, "%s", name);
	return ino;
}

Test(store_ram, names)
{
	struct sl_tree *tree = sl_tree_new_ram(MIB);
	uint64_t dir = make(tree, SL_TREE_ROOT, "dir", SL_FT_DIR);
	uint64_t file = make(tree, dir, "file", SL_FT_REG);
	uint64_t ino;
	char name[300];

	cr_assert_eq(tree->ops->lookup(tree, dir, "file", &ino), 0);
	cr_assert_eq(ino, file);
	cr_assert_eq(tree->ops->lookup(tree, dir, "..", &ino), 0);
	cr_assert_eq(ino, SL_TREE_ROOT);
	cr_assert_eq(tree->ops->lookup(tree, SL_TREE_ROOT, "..", &ino), 0);
	cr_assert_eq(ino, SL_TREE_ROOT);
	cr_assert_eq(tree->ops->lookup(tree, dir, ".", &ino), 0);
	cr_assert_eq(ino, dir);
	cr_assert_eq(tree->ops->lookup(tree, dir, "none", &ino), -ENOENT);
	cr_assert_eq(tree->ops->lookup(tree, file, "x", &ino), -ENOTDIR);
	cr_assert_eq(tree->ops->lookup(tree, 99, "x", &ino), -ESTALE);
	cr_assert_eq(tree->ops->lookup(tree, 0, "x", &ino), -ESTALE);
	cr_assert_eq(tree->ops->create(tree, dir, "file", SL_FT_DIR, NULL, &ino), -EEXIST);
	cr_assert_eq(tree->ops->create(tree, dir, "..", SL_FT_DIR, NULL, &ino), -EEXIST);
	memset(name, 'n', sizeof(name));
	name[256] = '\0';
	cr_assert_eq(tree->ops->create(tree, dir, name, SL_FT_REG, NULL, &ino), -ENAMETOOLONG);
	cr_assert_eq(tree->ops->remove(tree, dir, name, SL_FT_REG), -ENAMETOOLONG);
	name[255] = '\0';
	cr_assert_eq(tree->ops->create(tree, dir, name, SL_FT_REG, NULL, &ino), 0);
	cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, "dir", SL_FT_DIR), -ENOTEMPTY);
	cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, "dir", SL_FT_REG), -EISDIR);
	cr_assert_eq(tree->ops->remove(tree, dir, "file", SL_FT_DIR), -ENOTDIR);
	cr_assert_eq(tree->ops->remove(tree, dir, "none", SL_FT_REG), -ENOENT);
	cr_assert_eq(tree->ops->remove(tree, dir, "file", SL_FT_REG), 0);
	cr_assert_eq(tree->ops->remove(tree, dir, name, SL_FT_REG), 0);
	cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, "dir", SL_FT_DIR), 0);
	cr_assert_eq(tree->ops->lookup(tree, dir, "file", &ino), -ESTALE);
	/* Numbers are never used twice: an old handle must not name a new file. */
	cr_assert(make(tree, SL_TREE_ROOT, "new", SL_FT_REG) > file);
	tree->ops->free(tree);
}

Test(store_ram, data_and_sizes)
{
	struct sl_tree *tree = sl_tree_new_ram(MIB);
	uint64_t ino = make(tree, SL_TREE_ROOT, "f", SL_FT_REG);
	struct sl_setattr set = {.mask = SL_SET_SIZE, .size_bytes = 3};
	struct sl_attr attr;
	uint32_t bytes;
	char buf[16];
	bool eof;

	cr_assert_eq(tree->ops->write(tree, ino, 2, "hello", 5, SL_UNSTABLE), 0);
	cr_assert_eq(tree->ops->commit(tree, ino), 0);
	cr_assert_eq(tree->ops->commit(tree, SL_TREE_ROOT), -EISDIR);
	cr_assert_eq(tree->ops->sync_all(tree), 0);
	cr_assert_eq(tree->ops->read(tree, ino, 0, buf, 6, &bytes, &eof), 0);
	cr_assert_eq(bytes, 6);
	cr_assert_eq(eof, false);
	cr_assert_eq(memcmp(buf, "\0\0hell", 6), 0);
	cr_assert_eq(tree->ops->read(tree, ino, 4, buf, 16, &bytes, &eof), 0);
	cr_assert_eq(bytes, 3);
	cr_assert_eq(eof, true);
	cr_assert_eq(tree->ops->read(tree, ino, 900, buf, 16, &bytes, &eof), 0);
	cr_assert_eq(bytes, 0);
	cr_assert_eq(eof, true);
	/* Cut, then grow: what was cut off must read as zero. */
	cr_assert_eq(tree->ops->setattr(tree, ino, &set, &attr), 0);
	cr_assert_eq(attr.size_bytes, 3);
	set.size_bytes = 7;
	cr_assert_eq(tree->ops->setattr(tree, ino, &set, NULL), 0);
	cr_assert_eq(tree->ops->read(tree, ino, 2, buf, 16, &bytes, &eof), 0);
	cr_assert_eq(bytes, 5);
	cr_assert_eq(memcmp(buf, "h\0\0\0\0", 5), 0);
	set.size_bytes = (uint64_t)INT64_MAX + 1;
	cr_assert_eq(tree->ops->setattr(tree, ino, &set, NULL), -EFBIG);
	cr_assert_eq(tree->ops->setattr(tree, SL_TREE_ROOT, &set, NULL), -EISDIR);
	cr_assert_eq(tree->ops->write(tree, ino, INT64_MAX, "xx", 2, SL_FILE_SYNC), -EFBIG);
	cr_assert_eq(tree->ops->write(tree, SL_TREE_ROOT, 0, "x", 1, SL_FILE_SYNC), -EISDIR);
	cr_assert_eq(tree->ops->read(tree, SL_TREE_ROOT, 0, buf, 1, &bytes, &eof), -EISDIR);
	cr_assert_eq(tree->ops->write(tree, 77, 0, "x", 1, SL_FILE_SYNC), -ESTALE);
	tree->ops->free(tree);
}

Test(store_ram, attributes_and_times)
{
	struct sl_tree *tree = sl_tree_new_ram(MIB);
	struct sl_setattr set = {.mask = SL_SET_MODE | SL_SET_UID | SL_SET_GID | SL_SET_ATIME | SL_SET_MTIME,
				 .mode = 0100640,
				 .uid = 5,
				 .gid = 6,
				 .atime_ns = 70,
				 .mtime_ns = 80};
	struct sl_attr attr, root;
	int64_t wall = 100;
	uint64_t ino;

	tree->wall_ns = ticking_wall;
	tree->wall_arg = &wall;
	cr_assert_eq(tree->ops->create(tree, SL_TREE_ROOT, "f", SL_FT_REG, &set, &ino), 0);
	cr_assert_eq(tree->ops->getattr(tree, ino, &attr), 0);
	cr_assert_eq(attr.type, SL_FT_REG);
	cr_assert_eq(attr.mode, 0640);
	cr_assert_eq(attr.uid, 5);
	cr_assert_eq(attr.gid, 6);
	cr_assert_eq(attr.atime_ns, 70);
	cr_assert_eq(attr.mtime_ns, 80);
	cr_assert(attr.ctime_ns > 100);
	cr_assert_eq(tree->ops->write(tree, ino, 0, "abc", 3, SL_FILE_SYNC), 0);
	cr_assert_eq(tree->ops->getattr(tree, ino, &attr), 0);
	cr_assert(attr.mtime_ns > 100);
	cr_assert_eq(attr.size_bytes, 3);
	cr_assert_eq(attr.used_bytes, 4096);
	cr_assert_eq(tree->ops->getattr(tree, SL_TREE_ROOT, &root), 0);
	cr_assert_eq(root.nlink, 2);
	(void)make(tree, SL_TREE_ROOT, "d", SL_FT_DIR);
	cr_assert_eq(tree->ops->getattr(tree, SL_TREE_ROOT, &attr), 0);
	cr_assert_eq(attr.nlink, 3);
	cr_assert(attr.mtime_ns > root.mtime_ns);
	tree->ops->free(tree);
}

struct listing {
	uint64_t cookies[3000];
	int count, limit;
};

static bool list_entry(void *arg, const char *name, uint64_t ino, uint64_t cookie)
{
	struct listing *list = arg;

	if (list->count == list->limit) {
		return false;
	}
	cr_assert(name[0] == 'n' && ino > SL_TREE_ROOT);
	list->cookies[list->count++] = cookie;
	return true;
}

Test(store_ram, directories_list_once_while_they_change)
{
	static struct listing list;
	struct sl_tree *tree = sl_tree_new_ram(16 * MIB);
	uint64_t ino;
	char name[32];

	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		(void)make(tree, SL_TREE_ROOT, name, SL_FT_REG);
	}
	list.limit = 500;
	cr_assert_eq(tree->ops->readdir(tree, SL_TREE_ROOT, 0, list_entry, &list), 0);
	cr_assert_eq(list.count, 500);
	/* The entry the cookie came from goes, and others come: the rest is still
	 * seen exactly once. */
	cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, "n499", SL_FT_REG), 0);
	cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, "n500", SL_FT_REG), 0);
	(void)make(tree, SL_TREE_ROOT, "nlate", SL_FT_REG);
	list.limit = 3000;
	cr_assert_eq(tree->ops->readdir(tree, SL_TREE_ROOT, list.cookies[499], list_entry, &list), 0);
	cr_assert_eq(list.count, 2000);
	for (int i = 1; i < list.count; i++) {
		cr_assert(list.cookies[i] > list.cookies[i - 1]);
	}
	for (int i = 0; i < 2000; i += 7) {
		snprintf(name, sizeof(name), "n%d", i);
		cr_assert_eq(tree->ops->lookup(tree, SL_TREE_ROOT, name, &ino), 0, "%s", name);
	}
	cr_assert_eq(tree->ops->readdir(tree, ino, 0, list_entry, &list), -ENOTDIR);
	tree->ops->free(tree);
}

Test(store_ram, is_bounded)
{
	struct sl_tree *tree = sl_tree_new_ram(256u << 10);
	uint64_t ino = make(tree, SL_TREE_ROOT, "big", SL_FT_REG), other;
	struct sl_fsstat before, after;
	static char block[65536];
	struct sl_attr attr;
	char name[32];
	int rc = 0, made = 0;

	memset(block, 1, sizeof(block));
	cr_assert_eq(tree->ops->fsstat(tree, &before), 0);
	cr_assert_eq(before.total_bytes, 256u << 10);
	for (uint64_t offset = 0; rc == 0 && offset < MIB; offset += sizeof(block)) {
		rc = tree->ops->write(tree, ino, offset, block, sizeof(block), SL_FILE_SYNC);
	}
	cr_assert_eq(rc, -ENOSPC);
	/* What did not fit left no trace. */
	cr_assert_eq(tree->ops->getattr(tree, ino, &attr), 0);
	cr_assert_eq(attr.size_bytes % sizeof(block), 0);
	cr_assert_eq(attr.used_bytes, attr.size_bytes);
	for (rc = 0; rc == 0 && made < 10000; made++) {
		snprintf(name, sizeof(name), "n%d", made);
		rc = tree->ops->create(tree, SL_TREE_ROOT, name, SL_FT_REG, NULL, &other);
	}
	cr_assert_eq(rc, -ENOSPC);
	cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, "big", SL_FT_REG), 0);
	cr_assert_eq(tree->ops->fsstat(tree, &after), 0);
	cr_assert(after.free_bytes > 128u << 10);
	cr_assert_eq(sl_tree_new_ram(100), NULL);
	tree->ops->free(tree);
}
