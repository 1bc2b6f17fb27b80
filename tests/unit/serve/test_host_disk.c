/* The host's disk fails under a durable tree, at a call chosen by the test: nothing acknowledged is lost. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files_rig.h"

/* The linker sends the tree's fsync here. */
int __real_fsync(int fd);
int __wrap_fsync(int fd);

/* Of folders, and of other files: 0 = as the system does, else errno. */
static int folder_fsync_errno, file_fsync_errno;

int __wrap_fsync(int fd)
{
	struct stat st;
	int fail = fstat(fd, &st) < 0 ? 0 : S_ISDIR(st.st_mode) ? folder_fsync_errno : file_fsync_errno;

	if (fail != 0) {
		errno = fail;
		return -1;
	}
	return __real_fsync(fd);
}

struct said {
	char text[2048];
};

static void said_add(void *arg, const char *line)
{
	struct said *said = arg;
	size_t used = strlen(said->text);

	snprintf(said->text + used, sizeof(said->text) - used, "%s\n", line);
}

static struct sl_tree *open_hearing(const char *dir, bool durable, struct said *said)
{
	struct sl_files_options options = {.dir = dir,
					   .dirty_max_bytes = DIRTY_MAX,
					   .host_durable = durable,
					   .notice = {.say = said_add, .arg = said}};
	struct sl_err err = {0};
	struct sl_tree *tree = NULL;

	cr_assert_eq(sl_files_open(&options, &tree, &err), 0, "%s", err.msg);
	return tree;
}

/* Far more records than names: the tree writes a new journal, once. */
static void journal_compact(struct sl_tree *tree, uint64_t ino)
{
	struct sl_setattr set = {.mask = SL_SET_MODE, .mode = 0600};

	for (int i = 0; i < 10100; i++) {
		cr_assert_eq(tree->ops->setattr(tree, ino, &set, NULL), 0);
	}
}

/* What was created after a folder's fsync failed went to a journal without a name: 500 files were gone. */
Test(host_disk, a_new_journal_is_the_journal_even_when_its_folder_cannot_be_synced)
{
	char *dir = scratch_new(), name[16];
	struct said said = {0};
	struct sl_tree *tree = open_hearing(dir, false, &said);
	uint64_t sub = tree_make(tree, SL_TREE_ROOT, "sub", SL_FT_DIR), ino;

	folder_fsync_errno = EIO;
	journal_compact(tree, sub);
	cr_assert(strstr(said.text, "journal: its new name cannot be made durable") != NULL, "%s", said.text);
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		ino = tree_make(tree, sub, name, SL_FT_REG);
		tree_write(tree, ino, 0, name, SL_FILE_SYNC);
	}
	folder_fsync_errno = 0;
	tree->ops->free(tree);

	tree = tree_open(dir, DIRTY_MAX);
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		cr_assert_eq(tree->ops->lookup(tree, sub, name, &ino), 0, "%s", name);
		tree_expect(tree, ino, 0, name);
	}
	tree->ops->free(tree);
	scratch_remove(dir);
}

/* Clients only get errors: who runs the server must hear of it, once, and its end must tell. */
Test(host_disk, a_disk_that_fails_is_told_to_the_operator)
{
	char *dir = scratch_new();
	struct said said = {0};
	struct sl_tree *tree = open_hearing(dir, true, &said);
	const char *first;
	uint64_t ino;

	cr_assert_eq(sl_files_failure(tree), 0);
	folder_fsync_errno = EIO;
	cr_assert_eq(tree->ops->create(tree, SL_TREE_ROOT, "f", SL_FT_REG, NULL, &ino), -EIO);
	cr_assert_eq(tree->ops->settle(tree), -EIO);
	cr_assert_eq(tree->ops->settle(tree), -EIO);
	folder_fsync_errno = 0;
	first = strstr(said.text, "the disk below fails");
	cr_assert_not_null(first, "%s", said.text);
	cr_assert_null(strstr(first + 1, "the disk below fails"), "once: %s", said.text);
	cr_assert_eq(sl_files_failure(tree), -EIO);
	tree->ops->free(tree);
	scratch_remove(dir);
}

/* A crash of the host may now bring the old journal back: nothing more is called stable, for good. */
Test(host_disk, host_durable_acknowledges_nothing_behind_a_name_that_is_not_durable)
{
	char *dir = scratch_new();
	struct said said = {0};
	struct sl_tree *tree = open_hearing(dir, true, &said);
	uint64_t sub = tree_make(tree, SL_TREE_ROOT, "sub", SL_FT_DIR);

	cr_assert_eq(tree->ops->settle(tree), 0);
	folder_fsync_errno = EIO;
	journal_compact(tree, sub);
	cr_assert_eq(tree->ops->settle(tree), -EIO);
	folder_fsync_errno = 0;
	(void)tree_make(tree, sub, "later", SL_FT_REG);
	cr_assert_eq(tree->ops->settle(tree), -EIO, "the kernel tells of a failure only once");
	journal_compact(tree, sub);
	cr_assert_eq(tree->ops->settle(tree), -EIO, "another new journal does not undo it");
	tree->ops->free(tree);
	/* A new start writes all of it anew, and only then answers. */
	tree = open_hearing(dir, true, &said);
	cr_assert_eq(tree->ops->settle(tree), 0);
	tree->ops->free(tree);
	scratch_remove(dir);
}

Test(host_disk, host_durable_does_not_start_on_a_folder_that_cannot_be_synced)
{
	char *dir = scratch_new();
	struct sl_files_options options = {.dir = dir, .dirty_max_bytes = DIRTY_MAX, .host_durable = true};
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	struct sl_err err = {0};

	tree_make(tree, SL_TREE_ROOT, "kept", SL_FT_DIR);
	tree->ops->free(tree);
	folder_fsync_errno = EIO;
	cr_assert_eq(sl_files_open(&options, &tree, &err), -EIO);
	cr_assert(strstr(err.msg, "cannot be made durable on the host") != NULL, "%s", err.msg);
	folder_fsync_errno = 0;
	cr_assert_eq(sl_files_open(&options, &tree, &err), 0);
	cr_assert_eq(tree->ops->lookup(tree, SL_TREE_ROOT, "kept", &(uint64_t){0}), 0);
	tree->ops->free(tree);
	scratch_remove(dir);
}

/* Handles outlive a crash of the host as the files do: the key is on the disk before the first one is given
 * out. */
Test(host_disk, a_key_that_is_not_on_the_disk_is_not_used)
{
	char *dir = scratch_new(), *key = path_in(dir, "key");
	struct sl_files_options options = {.dir = dir, .dirty_max_bytes = DIRTY_MAX};
	struct sl_err err = {0};
	struct sl_tree *tree = NULL;

	file_fsync_errno = EIO;
	cr_assert_eq(sl_files_open(&options, &tree, &err), -EIO);
	cr_assert(strstr(err.msg, "key: cannot write") != NULL, "%s", err.msg);
	cr_assert_eq(file_bytes(key), 0);
	file_fsync_errno = 0;
	cr_assert_eq(sl_files_open(&options, &tree, &err), 0);
	tree->ops->free(tree);
	/* One that a server without --host-durable, or of an earlier version, has left to the kernel. */
	options.host_durable = true;
	file_fsync_errno = EIO;
	cr_assert_eq(sl_files_open(&options, &tree, &err), -EIO);
	cr_assert(strstr(err.msg, "key: cannot read") != NULL, "%s", err.msg);
	free(key);
	scratch_remove(dir);
}
