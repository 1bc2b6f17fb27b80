/* The folder of a durable tree when a part of it is gone, or is not what it was: nothing is ever deleted. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files_rig.h"
#include "folder_rig.h"

static int data_files(const char *dir)
{
	int count = 0;

	for (int i = 2; i <= 11; i++) {
		char name[64];

		snprintf(name, sizeof(name), "data/%016x", i);
		count += folder_there(dir, name);
	}
	return count;
}

static void refused(const char *dir, int code, const char *words)
{
	struct sl_tree *tree = NULL;
	struct sl_err err = {0};

	cr_assert_eq(files_open(dir, DIRTY_MAX, &tree, &err), code, "%s", err.msg);
	cr_assert(strstr(err.msg, words) != NULL, "%s", err.msg);
	cr_assert(strstr(err.msg, dir) == err.msg, "%s", err.msg);
}

Test(folder, a_store_without_its_journal_is_refused_and_keeps_every_file)
{
	char *dir = folder_ten_files();

	folder_gone(dir, "journal");
	refused(dir, -EINVAL, "journal: missing");
	cr_assert_eq(data_files(dir), 10);
	/* A copy that was interrupted has neither journal nor key. */
	folder_gone(dir, "key");
	refused(dir, -EINVAL, "data/ has 10 files");
	cr_assert_eq(data_files(dir), 10);
	cr_assert(!folder_there(dir, "journal"));
	scratch_remove(dir);
}

Test(folder, a_store_without_its_data_is_refused_and_not_begun_anew)
{
	char *dir = folder_ten_files(), *data = path_in(dir, "data"), *aside = path_in(dir, "aside");
	struct sl_tree *tree;

	cr_assert_eq(rename(data, aside), 0);
	refused(dir, -EINVAL, "data: missing");
	cr_assert(!folder_there(dir, "data"));
	cr_assert_eq(rename(aside, data), 0);
	tree = tree_open(dir, DIRTY_MAX);
	tree->ops->free(tree);
	free(data);
	free(aside);
	scratch_remove(dir);
}

/* An older journal: files that came later have no name, and none of them may go. */
Test(folder, files_that_no_kill_explains_are_put_aside_and_counted)
{
	char *dir = folder_ten_files();
	struct said said;
	struct sl_tree *tree;
	uint64_t ino;

	folder_put(dir, "data/00000000000000aa", "later");
	folder_put(dir, "data/00000000000000ab", "later still");
	tree = folder_open_hearing(dir, &said);
	cr_assert_eq(said.count, 1);
	cr_assert(strstr(said.line, "2 files") != NULL, "%s", said.line);
	cr_assert(strstr(said.line, "data/lost+found") != NULL, "%s", said.line);
	cr_assert(folder_there(dir, "data/lost+found/00000000000000aa"));
	cr_assert(folder_there(dir, "data/lost+found/00000000000000ab"));
	cr_assert(!folder_there(dir, "data/00000000000000aa"));
	/* A client may still hold a handle with that number: no other file gets it. */
	ino = tree_make(tree, SL_TREE_ROOT, "next", SL_FT_REG);
	cr_assert(ino > 0xab, "%lx", (unsigned long)ino);
	tree->ops->free(tree);
	tree = folder_open_hearing(dir, &said);
	cr_assert_eq(said.count, 0, "%s", said.line);
	cr_assert(tree_make(tree, SL_TREE_ROOT, "after", SL_FT_REG) > ino);
	tree->ops->free(tree);
	scratch_remove(dir);
}

/* Twice the same number: both are kept. */
Test(folder, what_is_put_aside_never_replaces_what_lies_there)
{
	char *dir = folder_ten_files();
	struct said said;
	struct sl_tree *tree;

	for (int i = 0; i < 2; i++) {
		folder_put(dir, "data/00000000000000aa", i == 0 ? "first" : "second one");
		tree = folder_open_hearing(dir, &said);
		tree->ops->free(tree);
	}
	cr_assert_eq(said.count, 1);
	cr_assert_eq(folder_size_in(dir, "data/lost+found/00000000000000aa"), 5);
	cr_assert_eq(folder_size_in(dir, "data/lost+found/00000000000000aa.1"), 10);
	scratch_remove(dir);
}

/* Killed between the journal's record and the file: the client asked for it to go, or never heard of it. */
Test(folder, what_a_kill_explains_is_cleared_away_in_silence)
{
	char *dir = folder_ten_files();
	struct said said;
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);

	cr_assert_eq(tree->ops->remove(tree, SL_TREE_ROOT, "file0", SL_FT_REG), 0);
	tree->ops->free(tree);
	folder_put(dir, "data/0000000000000002", "inside"); /* removed, but not yet unlinked */
	folder_put(dir, "data/000000000000000c", "");       /* made, but not yet named */
	tree = folder_open_hearing(dir, &said);
	cr_assert_eq(said.count, 0, "%s", said.line);
	cr_assert(!folder_there(dir, "data/0000000000000002"));
	cr_assert(!folder_there(dir, "data/000000000000000c"));
	cr_assert(!folder_there(dir, "data/lost+found"));
	tree->ops->free(tree);
	scratch_remove(dir);
}

/* The key only guards handles: without it, clients mount again and find everything. */
Test(folder, a_short_or_missing_key_costs_the_handles_and_says_so)
{
	char *dir = folder_ten_files();
	struct said said;
	struct sl_tree *tree;
	uint8_t drawn[16], again[16];
	uint64_t ino;

	folder_put(dir, "key", "short");
	tree = folder_open_hearing(dir, &said);
	cr_assert_eq(said.count, 1);
	cr_assert(strstr(said.line, "key: not 16 bytes") != NULL, "%s", said.line);
	cr_assert(strstr(said.line, "mount again") != NULL, "%s", said.line);
	cr_assert(folder_there(dir, "data/lost+found/key"));
	cr_assert_eq(tree->ops->lookup(tree, SL_TREE_ROOT, "file9", &ino), 0);
	tree_expect(tree, ino, 0, "inside");
	sl_files_key(tree, drawn);
	tree->ops->free(tree);

	tree = folder_open_hearing(dir, &said);
	cr_assert_eq(said.count, 0, "%s", said.line);
	sl_files_key(tree, again);
	cr_assert_eq(memcmp(drawn, again, sizeof(drawn)), 0);
	tree->ops->free(tree);

	folder_gone(dir, "key");
	tree = folder_open_hearing(dir, &said);
	cr_assert_eq(said.count, 1);
	cr_assert(strstr(said.line, "key: missing") != NULL, "%s", said.line);
	tree->ops->free(tree);
	scratch_remove(dir);
}

/* Killed in its first start: whatever is there already, the next one goes on. */
Test(folder, a_first_start_that_was_killed_is_no_damage)
{
	char *dir = scratch_new(), *data = path_in(dir, "data");
	struct said said;
	struct sl_tree *tree;

	folder_put(dir, "lock", "");
	cr_assert_eq(mkdir(data, 0700), 0);
	folder_put(dir, "journal.new", "sloglab-tree");
	tree = folder_open_hearing(dir, &said);
	cr_assert_eq(said.count, 0, "%s", said.line);
	tree->ops->free(tree);
	folder_gone(dir, "key");
	folder_put(dir, "key.new", "half");
	tree = folder_open_hearing(dir, &said);
	cr_assert_eq(said.count, 0, "%s", said.line);
	tree->ops->free(tree);
	free(data);
	scratch_remove(dir);
}

/* The bits of the whole journal, one by one in turn: none may cost a name in silence. Byte 13 is the
 * version's digit, where another one may be another version's. */
Test(folder, one_flipped_bit_anywhere_in_the_journal_is_refused)
{
	char *dir = folder_ten_files(), *path = path_in(dir, "journal");
	uint64_t bytes = file_bytes(path);
	FILE *file = fopen(path, "r+b");
	struct sl_tree *tree = NULL;

	cr_assert(file != NULL);
	setbuf(file, NULL);
	for (uint64_t at = 0; at < bytes; at++) {
		struct sl_err err = {0};
		int byte, rc;

		fseek(file, (long)at, SEEK_SET);
		byte = fgetc(file);
		fseek(file, (long)at, SEEK_SET);
		fputc(byte ^ 1 << at % 8, file);
		rc = files_open(dir, DIRTY_MAX, &tree, &err);
		cr_assert(rc == -EINVAL, "byte %d: %d", (int)at, rc);
		cr_assert(strstr(err.msg, "sloglab store check") != NULL, "%d: %s", (int)at, err.msg);
		fseek(file, (long)at, SEEK_SET);
		fputc(byte, file);
	}
	fclose(file);
	cr_assert_eq(file_bytes(path), bytes, "nothing was cut off");
	tree = tree_open(dir, DIRTY_MAX);
	tree->ops->free(tree);
	free(path);
	scratch_remove(dir);
}

/* A crash of the host: the last record's end never reached the disk and reads as zeros. */
Test(folder, a_last_record_that_ends_in_zeros_was_never_acknowledged)
{
	char *dir = folder_ten_files(), *path = path_in(dir, "journal");
	uint64_t bytes = file_bytes(path);
	struct said said;
	struct sl_tree *tree;
	struct listing listing;

	cr_assert_eq(truncate(path, (off_t)bytes - 20), 0);
	cr_assert_eq(truncate(path, (off_t)bytes), 0);
	folder_gone(dir, "data/000000000000000b");
	tree = folder_open_hearing(dir, &said);
	cr_assert_eq(said.count, 1);
	cr_assert(strstr(said.line, "journal: the server died while it wrote a record") != NULL, "%s",
		  said.line);
	tree_list(tree, SL_TREE_ROOT, &listing);
	cr_assert_str_eq(listing.text, "file0 file1 file2 file3 file4 file5 file6 file7 file8 ");
	tree->ops->free(tree);
	free(path);
	scratch_remove(dir);
}

Test(folder, contents_that_are_missing_are_named_and_not_called_empty)
{
	char *dir = folder_ten_files();

	folder_gone(dir, "data/0000000000000004");
	refused(dir, -EINVAL, "the contents of 1 files are missing (/file2)");
	folder_gone(dir, "data/0000000000000007");
	refused(dir, -EINVAL, "the contents of 2 files are missing (/file2, ...)");
	scratch_remove(dir);
}

/* Format 2 made the file of an inode at its first use only: what is missing there is an empty file. */
Test(folder, a_store_of_format_2_gets_the_files_that_it_never_needed)
{
	char *dir = folder_ten_files(), *path = path_in(dir, "journal");
	FILE *file = fopen(path, "r+b");
	struct said said;
	struct sl_tree *tree;
	uint64_t ino;

	cr_assert(file != NULL);
	fseek(file, 13, SEEK_SET);
	fputc('2', file);
	fclose(file);
	folder_gone(dir, "data/0000000000000004");
	tree = folder_open_hearing(dir, &said);
	cr_assert_eq(said.count, 0, "%s", said.line);
	cr_assert_eq(tree->ops->lookup(tree, SL_TREE_ROOT, "file2", &ino), 0);
	cr_assert_eq(tree_size(tree, ino), 0);
	tree->ops->free(tree);
	/* From then on it is one of format 4. */
	folder_gone(dir, "data/0000000000000004");
	refused(dir, -EINVAL, "the contents of 1 files are missing (/file2)");
	free(path);
	scratch_remove(dir);
}

/* Who can write to the folder could put a link where the server makes its files. */
Test(folder, one_that_others_may_write_to_is_refused_with_the_remedy)
{
	char *dir = folder_ten_files(), *made = path_in(dir, "made");
	struct said said;
	struct sl_tree *tree;

	cr_assert_eq(chmod(dir, 0777), 0);
	refused(dir, -EPERM, "others may write to it (mode 0777)");
	refused(dir, -EPERM, "chmod go-w");
	cr_assert_eq(chmod(dir, 0770), 0);
	refused(dir, -EPERM, "others may write to it (mode 0770)");
	cr_assert_eq(chmod(dir, 0755), 0);
	tree = folder_open_hearing(dir, &said);
	tree->ops->free(tree);
	/* What it makes itself, it trusts, whatever the umask. */
	(void)umask(0);
	tree = tree_open(made, DIRTY_MAX);
	tree->ops->free(tree);
	free(made);
	scratch_remove(dir);
}

Test(folder, one_of_another_user_is_refused_and_nothing_is_written)
{
	char *dir = scratch_new(), *link = path_in(dir, "link"), *real = path_in(dir, "real");

	if (geteuid() != 0) {
		cr_skip_test("only root can give a folder away");
	}
	cr_assert_eq(mkdir(real, 0755), 0);
	cr_assert_eq(chown(real, 12345, 12345), 0);
	refused(real, -EPERM, "belongs to user 12345");
	cr_assert(!folder_there(real, "lock"));
	cr_assert_eq(chown(real, 0, 0), 0);
	cr_assert_eq(symlink(real, link), 0);
	cr_assert_eq(lchown(link, 12345, 12345), 0);
	refused(link, -EPERM, "is a symbolic link of user 12345");
	cr_assert(!folder_there(real, "lock"));
	free(link);
	free(real);
	scratch_remove(dir);
}

/* Links that were put there before: their targets stay as they are. */
Test(folder, no_file_is_written_through_a_link)
{
	static const char *const names[] = {"lock", "key.new", "journal.new", "key", "journal"};
	char *dir = scratch_new(), *target = path_in(dir, "target");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *store = path_in(dir, "store"), *link = path_in(dir, "link");
		struct sl_tree *tree = NULL;

		cr_assert_eq(mkdir(store, 0700), 0);
		folder_put(dir, "target", "precious");
		free(link);
		link = path_in(store, names[i]);
		cr_assert_eq(symlink(target, link), 0);
		if (files_open(store, DIRTY_MAX, &tree, NULL) == 0) {
			tree->ops->free(tree);
		}
		cr_assert_eq(file_bytes(target), strlen("precious"), "%s", names[i]);
		free(link);
		scratch_remove(store);
	}
	free(target);
	scratch_remove(dir);
}
