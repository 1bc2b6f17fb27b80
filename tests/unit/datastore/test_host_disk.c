/* The host's disk fails under a durable tree, at a call chosen by the test: nothing acknowledged is lost. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files_rig.h"
#include "sim/datastore/fsck.h"
#include "sim/disks/writelog.h"

/* The linker sends the tree's fsync and fdatasync here. */
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);

/* Of folders, and of other files: 0 = as the system does, else errno. */
static int folder_fsync_errno, file_fsync_errno;
static int next_fdatasync_errno; /* of the next one alone */

/* What was synced, the last ones. */
static struct {
	ino_t inodes[64];
	unsigned count;
} synced;

static void synced_note(const struct stat *st)
{
	synced.inodes[synced.count++ % 64] = st->st_ino;
}

static bool synced_was(const char *path)
{
	struct stat st;

	cr_assert_eq(stat(path, &st), 0, "%s", path);
	for (unsigned i = 0; i < synced.count && i < 64; i++) {
		if (synced.inodes[i] == st.st_ino) {
			return true;
		}
	}
	return false;
}

static bool synced_was_in(const char *dir, const char *name)
{
	char *path = path_in(dir, name);
	bool was = synced_was(path);

	free(path);
	return was;
}

int __wrap_fdatasync(int fd)
{
	struct stat st;
	int fail = next_fdatasync_errno;

	next_fdatasync_errno = 0;
	if (fail != 0) {
		errno = fail;
		return -1;
	}
	if (fstat(fd, &st) == 0) {
		synced_note(&st);
	}
	return __real_fdatasync(fd);
}

int __wrap_fsync(int fd)
{
	struct stat st = {0};
	int fail = fstat(fd, &st) < 0 ? 0 : S_ISDIR(st.st_mode) ? folder_fsync_errno : file_fsync_errno;

	synced_note(&st);
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

/* A name that the kernel has and the disk has not takes everything below it along. */
Test(host_disk, host_durable_begins_with_the_names_of_the_folder_and_of_all_in_it)
{
	char *dir = scratch_new(), *store = path_in(dir, "store");
	struct said said = {0};
	struct sl_tree *tree = open_hearing(store, true, &said);

	cr_assert(synced_was(dir), "where the folder has its name");
	cr_assert(synced_was(store));
	cr_assert(synced_was_in(store, "data"));
	cr_assert(synced_was_in(store, "journal"));
	cr_assert(synced_was_in(store, "key"));
	tree->ops->free(tree);
	/* And again at each start: a server without --host-durable may have been there. */
	synced.count = 0;
	tree = open_hearing(store, true, &said);
	cr_assert(synced_was(dir));
	cr_assert(synced_was(store));
	cr_assert(synced_was_in(store, "data"));
	cr_assert(synced_was_in(store, "journal"));
	cr_assert(synced_was_in(store, "key"));
	tree->ops->free(tree);
	free(store);
	scratch_remove(dir);
}

/* There is no room for a new journal: the old one is synced instead. */
Test(host_disk, host_durable_syncs_the_old_journal_when_a_full_disk_takes_no_new_one)
{
	char *dir = scratch_new();
	struct said said = {0};
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);

	tree_make(tree, SL_TREE_ROOT, "kept", SL_FT_DIR);
	tree->ops->free(tree);
	synced.count = 0;
	next_fdatasync_errno = ENOSPC; /* the new journal's */
	tree = open_hearing(dir, true, &said);
	cr_assert(synced_was_in(dir, "journal"));
	cr_assert_eq(tree->ops->lookup(tree, SL_TREE_ROOT, "kept", &(uint64_t){0}), 0);
	tree->ops->free(tree);
	scratch_remove(dir);
}

static void fsck_hear(void *arg, enum sl_fsck_word word, const char *line)
{
	(void)arg;
	(void)word;
	(void)line;
}

/* A file lacks its data. */
Test(host_disk, a_repair_is_on_the_disk_when_it_says_that_it_is_done)
{
	char *dir = scratch_new(), *data = path_in(dir, "data/0000000000000002");
	struct sl_fsck_options options = {.dir = dir, .repair = true, .write = true, .say = fsck_hear};
	struct sl_fsck_found found;
	struct sl_err err = {0};
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);

	tree_write(tree, tree_make(tree, SL_TREE_ROOT, "f", SL_FT_REG), 0, "text", SL_FILE_SYNC);
	tree->ops->free(tree);
	cr_assert_eq(remove(data), 0);
	synced.count = 0;
	cr_assert_eq(sl_fsck(&options, &found, &err), 0, "%s", err.msg);
	cr_assert(found.damages > 0);
	cr_assert(synced_was_in(dir, "data"));
	cr_assert(synced_was_in(dir, "journal"));
	cr_assert(synced_was(dir));
	free(data);
	scratch_remove(dir);
}

/* What replays a log of writes later must find all of it. */
Test(host_disk, a_log_of_writes_is_on_the_disk_when_it_is_closed)
{
	char *dir = scratch_new(), *path = path_in(dir, "log");
	struct sl_writelog_disk disk = {.name = "disk", .size_bytes = 1 << 20, .unit_bytes = 4096};
	struct sl_writelog *log = NULL;
	struct sl_err err = {0};

	cr_assert_eq(sl_writelog_create(path, &disk, 1, &log, &err), 0, "%s", err.msg);
	synced.count = 0;
	cr_assert_eq(sl_writelog_close(log), 0);
	cr_assert(synced_was(path));
	cr_assert_eq(sl_writelog_create(path, &disk, 1, &log, &err), 0, "%s", err.msg);
	file_fsync_errno = EIO;
	cr_assert_eq(sl_writelog_close(log), -EIO);
	file_fsync_errno = 0;
	free(path);
	scratch_remove(dir);
}
