/* The durable tree: links and renames, snapshots, versions, a full pool, the host's disk, progress. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files_rig.h"

static void tree_names(struct sl_tree *tree, uint64_t dir, const char *want)
{
	struct listing listing;

	tree_list(tree, dir, &listing);
	cr_assert_str_eq(listing.text, want);
}

/* Links, renames and targets are in the journal (or the file) before the call returns. */
/* The host has less than the modelled pool: what it lacks is not taken for used. */
Test(files, an_empty_pool_on_a_small_disk_is_empty)
{
	char *dir = scratch_new();
	struct sl_files_options options = {
	    .dir = dir, .dirty_max_bytes = DIRTY_MAX, .capacity_bytes = 1ull << 60};
	struct sl_tree *tree;
	struct sl_fsstat stat;

	cr_assert_eq(sl_files_open(&options, &tree, NULL), 0);
	cr_assert_eq(tree->ops->fsstat(tree, &stat), 0);
	cr_assert(stat.total_bytes < 1ull << 60);
	cr_assert_eq(stat.total_bytes - stat.free_bytes, 0);
	tree_write(tree, tree_make(tree, SL_TREE_ROOT, "f", SL_FT_REG), 0, "four", SL_UNSTABLE);
	cr_assert_eq(tree->ops->fsstat(tree, &stat), 0);
	cr_assert_eq(stat.total_bytes - stat.free_bytes, 4096, "a page, as it will be written");
	tree->ops->free(tree);
	scratch_remove(dir);
}

Test(files, links_and_renames_survive_a_kill)
{
	char *dir = scratch_new();
	char target[SL_TREE_TARGET_MAX + 1];
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	uint64_t sub = tree_make(tree, SL_TREE_ROOT, "sub", SL_FT_DIR);
	uint64_t file = tree_make(tree, SL_TREE_ROOT, "file", SL_FT_REG), link, found;
	uint64_t victim = tree_make(tree, sub, "victim", SL_FT_REG);
	struct sl_attr attr;

	tree_write(tree, file, 0, "content", SL_FILE_SYNC);
	tree_write(tree, victim, 0, "doomed", SL_FILE_SYNC);
	cr_assert_eq(tree->ops->link(tree, file, sub, "other"), 0);
	cr_assert_eq(tree->ops->rename(tree, SL_TREE_ROOT, "file", sub, "victim"), 0);
	cr_assert_eq(tree->ops->symlink(tree, sub, "sym", "../elsewhere", NULL, &link), 0);
	cr_assert_eq(tree->ops->rename(tree, SL_TREE_ROOT, "sub", SL_TREE_ROOT, "dir"), 0);
	for (int round = 0; round < 2; round++) {
		tree->ops->free(tree);
		tree = tree_open(dir, DIRTY_MAX);
		tree_names(tree, SL_TREE_ROOT, "dir ");
		tree_names(tree, sub, "other victim sym ");
		cr_assert_eq(tree->ops->lookup(tree, sub, "victim", &found), 0);
		cr_assert_eq(found, file);
		tree_expect(tree, file, 0, "content");
		cr_assert_eq(tree->ops->getattr(tree, file, &attr), 0);
		cr_assert_eq(attr.nlink, 2);
		cr_assert_eq(tree->ops->getattr(tree, victim, &attr), -ESTALE);
		cr_assert_eq(tree->ops->readlink(tree, link, target), 0);
		cr_assert_str_eq(target, "../elsewhere");
		cr_assert_eq(tree->ops->getattr(tree, link, &attr), 0);
		cr_assert_eq(attr.size_bytes, 12);
	}
	/* The last name takes the bytes along. */
	cr_assert_eq(tree->ops->remove(tree, sub, "victim", SL_FT_REG), 0);
	tree_expect(tree, file, 0, "content");
	cr_assert_eq(tree->ops->remove(tree, sub, "other", SL_FT_REG), 0);
	cr_assert_eq(tree->ops->getattr(tree, file, &attr), -ESTALE);
	tree->ops->free(tree);
	scratch_remove(dir);
}

/* A snapshot keeps every name of a file, and the order of each folder. */
Test(files, a_snapshot_keeps_links_and_order)
{
	char *dir = scratch_new();
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	uint64_t a = tree_make(tree, SL_TREE_ROOT, "a", SL_FT_DIR);
	uint64_t b = tree_make(tree, SL_TREE_ROOT, "b", SL_FT_DIR);
	uint64_t file = tree_make(tree, b, "file", SL_FT_REG);
	struct sl_setattr set = {.mask = SL_SET_MODE, .mode = 0600};

	cr_assert_eq(tree->ops->link(tree, file, a, "first"), 0);
	cr_assert_eq(tree->ops->link(tree, file, b, "second"), 0);
	cr_assert_eq(tree->ops->rename(tree, b, "file", b, "third"), 0);
	cr_assert_eq(tree->ops->rename(tree, SL_TREE_ROOT, "a", b, "a"), 0);
	for (int i = 0; i < 10100; i++) { /* far more records than names: a snapshot */
		cr_assert_eq(tree->ops->setattr(tree, b, &set, NULL), 0);
	}
	tree->ops->free(tree);
	tree = tree_open(dir, DIRTY_MAX);
	tree_names(tree, SL_TREE_ROOT, "b ");
	tree_names(tree, b, "second third a ");
	tree_names(tree, a, "first ");
	tree->ops->free(tree);
	scratch_remove(dir);
}

#define LARGE_TREE 4100 /* names: more than are written anew while a client waits */

static void many_make(struct sl_tree *tree, uint64_t inos[LARGE_TREE])
{
	for (int i = 0; i < LARGE_TREE; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "file-%d", i);
		inos[i] = tree_make(tree, SL_TREE_ROOT, name, SL_FT_REG);
	}
}

static ino_t inode_of(const char *path)
{
	struct stat st = {0};

	cr_assert_eq(stat(path, &st), 0);
	return st.st_ino;
}

/* Every mode tells in which round the name was changed last. */
static void many_chmod(struct sl_tree *tree, const uint64_t inos[LARGE_TREE], uint32_t mode)
{
	struct sl_setattr set = {.mask = SL_SET_MODE, .mode = mode};

	for (int i = 0; i < LARGE_TREE; i++) {
		cr_assert_eq(tree->ops->setattr(tree, inos[i], &set, NULL), 0);
	}
}

/* A thread writes the journal anew while names come, go, move and change: what is there later is what a tree
 * would have that never compacted. */
Test(files, a_journal_of_many_names_is_compacted_while_the_calls_go_on)
{
	static uint64_t inos[LARGE_TREE];
	char *dir = scratch_new(), *journal = path_in(dir, "journal"), *fresh = path_in(dir, "journal.new");
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	struct sl_attr attr;
	uint64_t found;
	ino_t old = inode_of(journal);
	uint32_t round = 0;
	bool switched;

	many_make(tree, inos);
	for (int i = 0; i < 3; i++) { /* and now four records a name */
		many_chmod(tree, inos, 01);
	}
	do {
		char from[32], to[32];

		round++;
		(void)snprintf(from, sizeof(from), "file-%u", round);
		(void)snprintf(to, sizeof(to), "moved-%u", round);
		cr_assert_eq(tree->ops->rename(tree, SL_TREE_ROOT, from, SL_TREE_ROOT, to), 0);
		cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, to, SL_FT_REG), 0);
		inos[round] = tree_make(tree, SL_TREE_ROOT, from, SL_FT_REG);
		many_chmod(tree, inos, round);
		switched = inode_of(journal) != old;
	} while (!switched && round < LARGE_TREE - 1);
	cr_assert(switched, "not compacted in %u rounds", round);
	many_chmod(tree, inos, 0604);
	tree->ops->free(tree);
	cr_assert_neq(access(fresh, F_OK), 0);
	tree = tree_open(dir, DIRTY_MAX);
	for (uint32_t i = 0; i < LARGE_TREE; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "file-%u", i);
		cr_assert_eq(tree->ops->lookup(tree, SL_TREE_ROOT, name, &found), 0, "%s", name);
		cr_assert_eq(found, inos[i], "%s", name);
		cr_assert_eq(tree->ops->getattr(tree, found, &attr), 0);
		cr_assert_eq(attr.mode, 0604u, "%s", name);
	}
	cr_assert_eq(tree->ops->lookup(tree, SL_TREE_ROOT, "moved-1", &found), -ENOENT);
	tree->ops->free(tree);
	free(journal);
	free(fresh);
	scratch_remove(dir);
}

/* The server ends, or is killed, while the thread writes: the old journal has everything. */
Test(files, an_end_during_a_compaction_leaves_the_old_journal)
{
	static uint64_t inos[LARGE_TREE];
	char *dir = scratch_new(), *journal = path_in(dir, "journal"), *fresh = path_in(dir, "journal.new");
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	struct sl_attr attr;
	ino_t old = inode_of(journal);

	many_make(tree, inos);
	for (int i = 0; i < 3; i++) {
		many_chmod(tree, inos, 0600);
	}
	/* The second record beyond the limit has the thread begin, and nobody asks it how far it is. */
	for (int i = 0; i < 2; i++) {
		struct sl_setattr set = {.mask = SL_SET_MODE, .mode = 0640};

		cr_assert_eq(tree->ops->setattr(tree, inos[i], &set, NULL), 0);
	}
	tree->ops->free(tree);
	cr_assert_eq(inode_of(journal), old);
	cr_assert_neq(access(fresh, F_OK), 0);
	tree = tree_open(dir, DIRTY_MAX);
	cr_assert_eq(tree->ops->getattr(tree, inos[1], &attr), 0);
	cr_assert_eq(attr.mode, 0640u);
	cr_assert_eq(tree->ops->getattr(tree, inos[LARGE_TREE - 1], &attr), 0);
	cr_assert_eq(attr.mode, 0600u);
	tree->ops->free(tree);
	free(journal);
	free(fresh);
	scratch_remove(dir);
}

Test(files, a_folder_of_another_version_is_refused_in_one_line)
{
	char *dir = scratch_new(), *journal = path_in(dir, "journal");
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	struct sl_err err = {0};
	FILE *file;

	tree->ops->free(tree);
	file = fopen(journal, "r+b");
	cr_assert(file != NULL);
	fseek(file, (long)strlen("sloglab-tree/"), SEEK_SET);
	fputc('1', file);
	fclose(file);
	cr_assert_eq(files_open(dir, DIRTY_MAX, &tree, &err), -ENOTSUP);
	cr_assert(strstr(err.msg, "format 1, this one reads 4") != NULL, "%s", err.msg);
	cr_assert(strchr(err.msg, '\n') == NULL);
	free(journal);
	scratch_remove(dir);
}

/* The modelled pool is full before the host's disk is. */
Test(files, a_full_pool_refuses_more_and_lives_on)
{
	char *dir = scratch_new();
	struct sl_files_options options = {
	    .dir = dir, .dirty_max_bytes = DIRTY_MAX, .capacity_bytes = 1 << 20};
	static char block[1 << 16];
	struct sl_tree *tree;
	struct sl_fsstat stat;
	uint64_t file, offset = 0;
	int rc = 0;

	cr_assert_eq(sl_files_open(&options, &tree, NULL), 0);
	file = tree_make(tree, SL_TREE_ROOT, "f", SL_FT_REG);
	memset(block, 'x', sizeof(block));
	while (rc == 0 && offset < 4u << 20) {
		enum sl_stable stable = offset % (1 << 17) ? SL_UNSTABLE : SL_FILE_SYNC;

		rc = tree->ops->write(tree, file, offset, block, sizeof(block), stable);
		offset += rc == 0 ? sizeof(block) : 0;
	}
	cr_assert_eq(rc, -ENOSPC);
	cr_assert_eq(offset, 1 << 20);
	cr_assert_eq(tree_size(tree, file), offset);
	cr_assert_eq(tree->ops->fsstat(tree, &stat), 0);
	cr_assert_eq(stat.total_bytes, 1 << 20);
	cr_assert_eq(stat.free_bytes, 0);
	/* What is there can be overwritten, and removed. */
	tree_write(tree, file, 0, "again", SL_FILE_SYNC);
	tree_expect(tree, file, 0, "again");
	cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, "f", SL_FT_REG), 0);
	cr_assert_eq(tree->ops->fsstat(tree, &stat), 0);
	cr_assert_eq(stat.free_bytes, 1 << 20);
	tree->ops->free(tree);
	scratch_remove(dir);
}

static struct sl_tree *durable_open(const char *dir)
{
	struct sl_files_options options = {.dir = dir, .dirty_max_bytes = DIRTY_MAX, .host_durable = true};
	struct sl_tree *tree;

	cr_assert_eq(sl_files_open(&options, &tree, NULL), 0);
	cr_assert(tree->settles);
	return tree;
}

/* Durable on the host too, in one wait for whatever came together; counted, so that it can be told. */
/* The bytes of a file go when the journal says on the disk that they may: a crash of the host in between
 * would leave the name without them. */
Test(files, host_durable_waits_for_the_journal_before_a_file_goes)
{
	char *dir = scratch_new();
	struct sl_tree *tree = durable_open(dir);

	(void)tree_make(tree, SL_TREE_ROOT, "old", SL_FT_REG);
	(void)tree_make(tree, SL_TREE_ROOT, "new", SL_FT_REG);
	cr_assert_eq(tree->ops->settle(tree), 0);
	cr_assert_eq(sl_files_syncs(tree).count, 1);
	cr_assert_eq(tree->ops->rename(tree, SL_TREE_ROOT, "new", SL_TREE_ROOT, "old"), 0);
	cr_assert_eq(sl_files_syncs(tree).count, 2);
	cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, "old", SL_FT_REG), 0);
	cr_assert_eq(sl_files_syncs(tree).count, 3);
	tree->ops->free(tree);
	scratch_remove(dir);
}

/* More files than descriptors are kept open for: none leaves unsynced. */
Test(files, host_durable_with_many_files)
{
	enum {
		MANY = 600
	};
	char *dir = scratch_new(), name[16];
	struct sl_tree *tree = durable_open(dir);
	uint64_t file[MANY];

	for (int i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof(name), "%d", i);
		file[i] = tree_make(tree, SL_TREE_ROOT, name, SL_FT_REG);
		tree_write(tree, file[i], 0, name, SL_FILE_SYNC);
	}
	cr_assert_eq(tree->ops->settle(tree), 0);
	for (int i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof(name), "%d", i);
		tree_expect(tree, file[i], 0, name);
		cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, name, SL_FT_REG), 0);
	}
	tree->ops->free(tree);
	scratch_remove(dir);
}

static void progress_note(void *arg, uint64_t done, uint64_t total)
{
	uint64_t *last = arg;

	cr_assert(done >= last[0] && done <= total);
	last[0] = done;
	last[1] = total;
}

Test(files, recovery_shows_its_progress)
{
	char *dir = scratch_new(), *journal = path_in(dir, "journal");
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	uint64_t last[2] = {0, 0};
	struct sl_files_options options = {
	    .dir = dir, .dirty_max_bytes = DIRTY_MAX, .progress = progress_note, .progress_arg = last};

	tree_make(tree, SL_TREE_ROOT, "f", SL_FT_REG);
	tree->ops->free(tree);
	cr_assert_eq(sl_files_open(&options, &tree, NULL), 0);
	cr_assert_eq(last[0], file_bytes(journal));
	cr_assert_eq(last[1], last[0]);
	tree->ops->free(tree);
	free(journal);
	scratch_remove(dir);
}
