/* A host disk that is full to the last block: it can still be emptied. On a small file system of its own. */
#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "files_rig.h"

#define DISK "size=8m"

/* An empty disk at a new path, seen by this test only; NULL where the system allows none. */
static char *disk_new(void)
{
	char *dir = scratch_new();

	if (unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", dir, "tmpfs", 0, DISK) < 0) {
		scratch_remove(dir);
		return NULL;
	}
	return dir;
}

static void disk_remove(char *dir)
{
	cr_assert_eq(umount(dir), 0);
	scratch_remove(dir);
}

/* Writes until nothing more goes in, a byte at a time in the end. */
static void disk_fill(const char *dir)
{
	static char block[1 << 16];
	char *path = path_in(dir, "filler");
	FILE *file = fopen(path, "w");

	cr_assert(file != NULL);
	setbuf(file, NULL);
	for (size_t bytes = sizeof(block); bytes > 0; bytes /= 2) {
		while (fwrite(block, 1, bytes, file) == bytes) {
		}
		clearerr(file);
	}
	fclose(file);
	free(path);
}

/* New files until there is no room for another name: what the journal has ahead of its reserve is used up
 * too. */
static int files_create_all(struct sl_tree *tree)
{
	char name[32];
	uint64_t ino;
	int rc = 0;

	for (int i = 0; rc == 0 && i < 10000; i++) {
		snprintf(name, sizeof(name), "more%d", i);
		rc = tree->ops->create(tree, SL_TREE_ROOT, name, SL_FT_REG, NULL, &ino);
		rc = rc == -EEXIST ? 0 : rc;
	}
	return rc;
}

static void full_disk_is_emptied(bool durable)
{
	char *dir = disk_new(), *store, name[32];
	struct sl_files_options options = {.dirty_max_bytes = DIRTY_MAX, .host_durable = durable};
	struct sl_setattr cut = {.mask = SL_SET_SIZE};
	struct sl_tree *tree;
	struct sl_err err = {0};
	uint64_t ino, sub;

	if (!dir) {
		cr_skip_test("no mount namespace here");
	}
	store = path_in(dir, "store");
	options.dir = store;
	cr_assert_eq(sl_files_open(&options, &tree, &err), 0, "%s", err.msg);
	sub = tree_make(tree, SL_TREE_ROOT, "sub", SL_FT_DIR);
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		tree_write(tree, tree_make(tree, SL_TREE_ROOT, name, SL_FT_REG), 0, "inside", SL_FILE_SYNC);
	}
	disk_fill(dir);
	/* Across a restart on the full disk, too. */
	for (int round = 0; round < 2; round++) {
		cr_assert_eq(files_create_all(tree), -ENOSPC);
		for (int i = 0; i < 3; i++) {
			snprintf(name, sizeof(name), "f%d", round * 10 + i);
			cr_assert_eq(tree->ops->rename(tree, SL_TREE_ROOT, name, sub, name), 0, "%s", name);
			cr_assert_eq(tree->ops->lookup(tree, sub, name, &ino), 0);
			tree_expect(tree, ino, 0, "inside");
			cr_assert_eq(tree->ops->setattr(tree, ino, &cut, NULL), 0, "%s", name);
			disk_fill(dir); /* somebody else takes what has become free */
			cr_assert_eq(tree->ops->remove(tree, sub, name, SL_FT_REG), 0, "%s", name);
			disk_fill(dir);
		}
		if (durable) {
			cr_assert_eq(tree->ops->settle(tree), 0);
		}
		tree->ops->free(tree);
		cr_assert_eq(sl_files_open(&options, &tree, &err), 0, "%s", err.msg);
	}
	cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, "sub", SL_FT_DIR), 0);
	/* With room again everything goes on. */
	free(store);
	store = path_in(dir, "filler");
	cr_assert_eq(unlink(store), 0);
	tree_write(tree, tree_make(tree, SL_TREE_ROOT, "again", SL_FT_REG), 0, "again", SL_FILE_SYNC);
	tree->ops->free(tree);
	free(store);
	disk_remove(dir);
}

Test(full_disk, names_are_removed_and_moved_and_files_cut_off)
{
	full_disk_is_emptied(false);
}

Test(full_disk, host_durable_too)
{
	full_disk_is_emptied(true);
}

/* Only removals take the last of the room that is kept: 512 KiB of it are out of the reach of all others. */
Test(full_disk, moving_names_for_ever_leaves_room_for_removals)
{
	char *dir = disk_new(), *store;
	struct sl_files_options options = {.dirty_max_bytes = DIRTY_MAX};
	struct sl_tree *tree;
	int rc = 0, moved = 0;

	if (!dir) {
		cr_skip_test("no mount namespace here");
	}
	store = path_in(dir, "store");
	options.dir = store;
	cr_assert_eq(sl_files_open(&options, &tree, NULL), 0);
	tree_make(tree, SL_TREE_ROOT, "a", SL_FT_REG);
	disk_fill(dir);
	while (rc == 0 && moved < 20000) {
		rc = tree->ops->rename(tree, SL_TREE_ROOT, moved % 2 ? "b" : "a", SL_TREE_ROOT,
				       moved % 2 ? "a" : "b");
		moved += rc == 0;
	}
	/* A record of 90 bytes; between 512 KiB and 768 KiB of them. */
	cr_assert_eq(rc, -ENOSPC);
	cr_assert(moved > 5000 && moved < 9000, "%d", moved);
	cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, moved % 2 ? "b" : "a", SL_FT_REG), 0);
	tree->ops->free(tree);
	free(store);
	disk_remove(dir);
}
