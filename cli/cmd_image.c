/* `sloglab image COMMAND`: hands over to the command; list and clean. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/group.h"
#include "cli/image.h"
#include "engine/image_cache.h"
#include "engine/tempdir.h"
#include "sim/report/table.h"

#define HALF_BUILT "build" /* the folder of the cache where images/build.sh works */
#define MIB 1048576

#define GO_ON (-1)

/* Options, and the folder of the cache: GO_ON, or the exit code to leave with. */
static int command_start(const struct sl_command *self, const struct sl_option *options, int argc,
			 char **argv, char cache[PATH_MAX], struct sl_err *err)
{
	struct sl_words operands;
	bool help;

	if (sl_options_parse(options, argc, argv, &operands, &help, err) < 0) {
		return SL_EXIT_USAGE;
	}
	if (help) {
		printf("usage: sloglab %s [OPTION]...\n%s\n\n", self->name, self->summary);
		sl_options_print(options, stdout);
		return SL_EXIT_OK;
	}
	if (operands.n > 0) {
		(void)sl_err_set(err, -EINVAL, "%s: %.60s: takes no argument; see sloglab %s --help",
				 self->name, operands.word[0], self->name);
		return SL_EXIT_USAGE;
	}
	return sl_image_cache_path(cache, err) < 0 ? SL_EXIT_FAILED : GO_ON;
}

static void list_row(struct sl_table *table, const struct sl_image *image)
{
	if (!sl_table_row(table)) {
		return;
	}
	sl_table_put(table, SL_TINT_NONE, "%s", image->label);
	sl_table_put(table, SL_TINT_DIM, "%s", image->key);
	sl_table_put(table, SL_TINT_NONE, "%s", image->kernel[0] ? image->kernel : "-");
	sl_table_put(table, SL_TINT_NONE, "%s", image->zfs[0] ? image->zfs : "-");
	sl_table_put(table, SL_TINT_NONE, "%s", image->mariadb[0] ? image->mariadb : "-");
	sl_table_put(table, SL_TINT_NONE, "%llu MiB", (unsigned long long)image->bytes / MIB);
	sl_table_put(table, SL_TINT_NONE, "%s", image->built);
	sl_table_put(table, image->current ? SL_TINT_GOOD : SL_TINT_DIM, "%s",
		     image->current ? "current" : "superseded");
}

static int cmd_list(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	static const struct sl_option none[] = {{NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	static const char *const headings[] = {"<image",   "<key", "<kernel", "<OpenZFS",
					       "<MariaDB", "size", "<built",  "<state"};
	char cache[PATH_MAX], half_built[PATH_MAX + 8];
	struct sl_table *table;
	struct sl_image *images;
	int code = command_start(self, none, argc, argv, cache, err);
	int n;

	if (code != GO_ON) {
		return code;
	}
	n = sl_images(cache, &images, err);
	if (n < 0) {
		return SL_EXIT_FAILED;
	}
	if (n == 0) {
		printf("no images in %s; make them: sloglab image build\n", cache);
	} else if ((table = sl_table_new(headings, (int)(sizeof(headings) / sizeof(headings[0])))) != NULL) {
		for (int i = 0; i < n; i++) {
			list_row(table, &images[i]);
		}
		sl_table_print(table, stdout);
		sl_table_free(table);
		(void)snprintf(half_built, sizeof(half_built), "%s/" HALF_BUILT, cache);
		printf("in %s; half-built: %llu MiB\n", cache,
		       (unsigned long long)sl_tree_bytes(half_built) / MIB);
	}
	free(images);
	return SL_EXIT_OK;
}

/* Removes a folder of the cache; returns what that freed. */
static uint64_t folder_remove(const char *cache, const char *name)
{
	char path[PATH_MAX + 16];
	uint64_t bytes;

	(void)snprintf(path, sizeof(path), "%s/%s", cache, name);
	bytes = sl_tree_bytes(path);
	sl_tree_remove(path);
	return bytes;
}

static int cmd_clean(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	bool all = false;
	const struct sl_option options[] = {
	    {"all", NULL, "the current images, package lists and downloads too", SL_OPT_FLAG, &all, 0, 0},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	struct sl_image *images = NULL;
	char cache[PATH_MAX];
	uint64_t freed;
	int code = command_start(self, options, argc, argv, cache, err);
	int n, lock;

	if (code != GO_ON) {
		return code;
	}
	if (sl_image_cache_lock(cache, &lock, err) < 0) {
		return SL_EXIT_FAILED;
	}
	n = sl_images(cache, &images, err);
	freed = folder_remove(cache, HALF_BUILT);
	for (int i = 0; i < n; i++) {
		if (!images[i].current && !all) {
			freed += images[i].bytes;
			sl_tree_remove(images[i].path);
		}
	}
	if (all) {
		freed += folder_remove(cache, "images") + folder_remove(cache, "apt");
	}
	free(images);
	if (lock >= 0) {
		close(lock);
	}
	printf("%llu MiB freed in %s\n", (unsigned long long)freed / MIB, cache);
	return n < 0 ? SL_EXIT_FAILED : SL_EXIT_OK;
}

int sl_cmd_image(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	static const struct sl_command commands[] = {
	    {"image build", "[storage|guest]...", "make the images that are missing or whose inputs changed",
	     sl_cmd_image_build},
	    {"image list", "", "the images in the cache: versions, size, age", cmd_list},
	    {"image clean", "[--all]", "remove what is half-built or superseded", cmd_clean},
	    {NULL, NULL, NULL, NULL}};

	return sl_group_run(self, commands, argc, argv, err);
}
