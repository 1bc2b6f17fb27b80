/* What an examination names, and what a repair brings back: every file whose data is there. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "folder_rig.h"
#include "sim/datastore/fsck.h"

struct heard {
	char text[8192];
};

static void hear(void *arg, enum sl_fsck_word word, const char *line)
{
	static const char *const words[] = {"note ", "damage ", "mend "};
	struct heard *heard = arg;
	size_t used = strlen(heard->text);

	snprintf(heard->text + used, sizeof(heard->text) - used, "%s%s\n", words[word], line);
}

static struct sl_fsck_found examine(const char *dir, bool repair, bool write, struct heard *heard)
{
	struct sl_fsck_options options = {
	    .dir = dir, .repair = repair, .write = write, .say = hear, .arg = heard};
	struct sl_fsck_found found;
	struct sl_err err = {0};

	*heard = (struct heard){0};
	cr_assert_eq(sl_fsck(&options, &found, &err), 0, "%s", err.msg);
	return found;
}

/* Names every damage in `words` and changes nothing, then repairs it, and is content. */
static struct sl_fsck_found mended(const char *dir, const char *words)
{
	struct heard heard;
	struct sl_fsck_found found = examine(dir, false, false, &heard), again;

	cr_assert(found.damages > 0);
	cr_assert(strstr(heard.text, words) != NULL, "%s", heard.text);
	cr_assert(strstr(heard.text, "mend") == NULL, "%s", heard.text);
	found = examine(dir, true, false, &heard);
	cr_assert(strstr(heard.text, words) != NULL, "a dry run has changed it: %s", heard.text);
	cr_assert(strstr(heard.text, "mend") != NULL, "%s", heard.text);
	found = examine(dir, true, true, &heard);
	again = examine(dir, false, false, &heard);
	cr_assert_eq(again.damages, 0, "%s", heard.text);
	cr_assert_eq(again.names, found.names);
	return found;
}

/* How many files of the ten have their contents under their own name, or below /lost+found. */
static int contents_count(const char *dir)
{
	struct said said;
	struct sl_tree *tree = folder_open_hearing(dir, &said);
	uint64_t ino, lost = 0;
	int count = 0;

	cr_assert_eq(said.count, 0, "%s", said.line);
	(void)tree->ops->lookup(tree, SL_TREE_ROOT, "lost+found", &lost);
	for (int i = 0; i < 10; i++) {
		char name[32], number[32];

		snprintf(name, sizeof(name), "file%d", i);
		snprintf(number, sizeof(number), "%016x", i + 2);
		if (tree->ops->lookup(tree, SL_TREE_ROOT, name, &ino) == 0 ||
		    (lost && tree->ops->lookup(tree, lost, number, &ino) == 0)) {
			tree_expect(tree, ino, 0, "inside");
			count++;
		}
	}
	tree->ops->free(tree);
	return count;
}

Test(fsck, a_sound_store_is_sound_and_left_alone)
{
	char *dir = folder_ten_files();
	struct heard heard;
	struct sl_fsck_found found = examine(dir, true, true, &heard);

	cr_assert_eq(found.damages, 0);
	cr_assert_eq(found.names, 10);
	cr_assert_str_eq(heard.text, "");
	cr_assert(!folder_there(dir, "data/lost+found"));
	scratch_remove(dir);
}

Test(fsck, a_store_in_use_and_a_foreign_folder_are_refused)
{
	char *dir = folder_ten_files();
	struct sl_fsck_options options = {.dir = dir};
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	struct sl_fsck_found found;
	struct sl_err err = {0};

	cr_assert_eq(sl_fsck(&options, &found, &err), -EBUSY);
	tree->ops->free(tree);
	options.dir = "/usr";
	options.write = true;
	cr_assert_eq(sl_fsck(&options, &found, &err), -EINVAL);
	cr_assert(strstr(err.msg, "/usr: not a datastore") != NULL, "%s", err.msg);
	cr_assert_neq(access("/usr/lock", F_OK), 0);
	options.dir = "/nonexistent";
	cr_assert_eq(sl_fsck(&options, &found, &err), -ENOENT);
	scratch_remove(dir);
}

Test(fsck, without_a_journal_every_file_comes_back_below_lost_and_found)
{
	char *dir = folder_ten_files();
	struct sl_fsck_found found;

	folder_gone(dir, "journal");
	found = mended(dir, "damage journal: missing, and with it all names");
	cr_assert_eq(found.returned, 10);
	cr_assert_eq(found.names, 11); /* and the folder that they are in */
	cr_assert_eq(contents_count(dir), 10);
	scratch_remove(dir);
}

Test(fsck, names_without_contents_are_dropped_and_named)
{
	char *dir = folder_ten_files(), *data = path_in(dir, "data"), *aside = path_in(dir, "aside");
	struct sl_fsck_found found;

	folder_gone(dir, "data/0000000000000003");
	found = mended(dir, "damage data: the contents of /file1 (0000000000000003) are missing");
	cr_assert_eq(found.dropped, 1);
	cr_assert_eq(contents_count(dir), 9);
	/* The journal with all names is kept. */
	cr_assert(folder_there(dir, "data/lost+found/journal"));
	cr_assert_eq(rename(data, aside), 0);
	found = mended(dir, "damage data: missing, and with it all contents");
	cr_assert_eq(found.dropped, 9);
	cr_assert_eq(found.names, 0);
	free(data);
	free(aside);
	scratch_remove(dir);
}

Test(fsck, a_short_key_is_replaced_and_kept)
{
	char *dir = folder_ten_files();

	folder_put(dir, "key", "short");
	(void)mended(dir, "damage key: has 5 bytes, not 16");
	cr_assert_eq(folder_size_in(dir, "data/lost+found/key"), 5);
	cr_assert_eq(folder_size_in(dir, "key"), 16);
	cr_assert_eq(contents_count(dir), 10);
	scratch_remove(dir);
}

/* What a start put aside gets a name, too. */
Test(fsck, what_lies_in_lost_and_found_is_named)
{
	char *dir = folder_ten_files();
	struct heard heard;
	struct said said;
	struct sl_fsck_found found;
	struct sl_tree *tree;
	uint64_t ino;

	folder_put(dir, "data/00000000000000aa", "later");
	tree = folder_open_hearing(dir, &said);
	tree->ops->free(tree);
	found = examine(dir, true, false, &heard);
	cr_assert_eq(found.damages, 0, "%s", heard.text);
	cr_assert_eq(found.returned, 1, "%s", heard.text);
	(void)examine(dir, true, true, &heard);
	tree = folder_open_hearing(dir, &said);
	cr_assert_eq(said.count, 0, "%s", said.line);
	cr_assert_eq(tree->ops->lookup(tree, SL_TREE_ROOT, "lost+found", &ino), 0);
	cr_assert_eq(tree->ops->lookup(tree, ino, "00000000000000aa", &ino), 0);
	tree_expect(tree, ino, 0, "later");
	tree->ops->free(tree);
	scratch_remove(dir);
}

/* A folder whose record is lost keeps what is in it, and the same number. */
Test(fsck, a_folder_without_its_record_comes_back_with_its_files)
{
	char *dir = scratch_new(), *path = path_in(dir, "journal");
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);
	uint64_t before = file_bytes(path), sub, file, found;
	struct said said;
	FILE *journal;

	sub = tree_make(tree, SL_TREE_ROOT, "sub", SL_FT_DIR);
	file = tree_make(tree, sub, "file", SL_FT_REG);
	tree_write(tree, file, 0, "inside", SL_FILE_SYNC);
	tree->ops->free(tree);
	journal = fopen(path, "r+b");
	cr_assert(journal != NULL);
	fseek(journal, (long)before + 20, SEEK_SET);
	fputs("damage", journal);
	fclose(journal);
	(void)mended(dir, "are no record, whole ones follow");
	tree = folder_open_hearing(dir, &said);
	cr_assert_eq(tree->ops->lookup(tree, SL_TREE_ROOT, "lost+found", &found), 0);
	cr_assert_eq(tree->ops->lookup(tree, found, "0000000000000002", &found), 0);
	cr_assert_eq(found, sub);
	cr_assert_eq(tree->ops->lookup(tree, sub, "file", &found), 0);
	cr_assert_eq(found, file);
	tree_expect(tree, file, 0, "inside");
	tree->ops->free(tree);
	free(path);
	scratch_remove(dir);
}

/* In every seventh byte of the journal a bit is flipped: the store is mended, and none of the ten is lost. */
Test(fsck, one_flipped_bit_anywhere_in_the_journal_costs_no_contents)
{
	char *dir = folder_ten_files(), *path = path_in(dir, "journal");
	size_t bytes = (size_t)file_bytes(path);
	uint8_t *journal = malloc(bytes);
	struct heard heard;
	FILE *file = fopen(path, "rb");

	cr_assert(file && journal);
	cr_assert_eq(fread(journal, 1, bytes, file), bytes);
	fclose(file);
	for (size_t at = 0; at < bytes; at += 7) {
		journal[at] ^= (uint8_t)(1u << at % 8);
		file = fopen(path, "wb");
		cr_assert(file != NULL);
		cr_assert_eq(fwrite(journal, 1, bytes, file), bytes);
		fclose(file);
		journal[at] ^= (uint8_t)(1u << at % 8);
		cr_assert(examine(dir, true, true, &heard).damages > 0, "byte %zu", at);
		cr_assert_eq(contents_count(dir), 10, "byte %zu: %s", at, heard.text);
	}
	free(journal);
	free(path);
	scratch_remove(dir);
}
