#include "folder_rig.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void said_take(void *arg, const char *line)
{
	struct said *said = arg;

	snprintf(said->line, sizeof(said->line), "%s", line);
	said->count++;
}

struct sl_tree *folder_open_hearing(const char *dir, struct said *said)
{
	struct sl_files_options options = {
	    .dir = dir, .dirty_max_bytes = DIRTY_MAX, .notice = {.say = said_take, .arg = said}};
	struct sl_err err = {0};
	struct sl_tree *tree = NULL;

	*said = (struct said){0};
	cr_assert_eq(sl_files_open(&options, &tree, &err), 0, "%s", err.msg);
	return tree;
}

void folder_put(const char *dir, const char *name, const char *text)
{
	char *path = path_in(dir, name);
	FILE *file = fopen(path, "w");

	cr_assert(file != NULL);
	fputs(text, file);
	fclose(file);
	free(path);
}

bool folder_there(const char *dir, const char *name)
{
	char *path = path_in(dir, name);
	bool found = access(path, F_OK) == 0;

	free(path);
	return found;
}

uint64_t folder_size_in(const char *dir, const char *name)
{
	char *path = path_in(dir, name);
	uint64_t bytes = file_bytes(path);

	free(path);
	return bytes;
}

void folder_gone(const char *dir, const char *name)
{
	char *path = path_in(dir, name);

	cr_assert_eq(remove(path), 0);
	free(path);
}

/* A store with ten files of six bytes each: numbers 2 to 11. */
char *folder_ten_files(void)
{
	char *dir = scratch_new(), name[16];
	struct sl_tree *tree = tree_open(dir, DIRTY_MAX);

	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "file%d", i);
		tree_write(tree, tree_make(tree, SL_TREE_ROOT, name, SL_FT_REG), 0, "inside", SL_FILE_SYNC);
	}
	tree->ops->free(tree);
	return dir;
}
