/* `sloglab disk replay`: images that a power cut could have left, from a write log. */
#include <errno.h>
#include <string.h>

#include "cli/disk.h"
#include "sim/disks/writelog.h"

static int help_print(const struct sl_command *self, const struct sl_option *options)
{
	printf("usage: sloglab %s %s\n%s\n\n", self->name, self->args, self->summary);
	sl_options_print(options, stdout);
	return SL_EXIT_OK;
}

static void counts_print(const struct sl_writelog_counts *counts, const char *disk)
{
	printf("records %llu of all disks; %s: writes %llu, flushes %llu; stable %llu, loose %llu (units "
	       "kept %llu, lost "
	       "%llu)\n",
	       (unsigned long long)counts->records, disk, (unsigned long long)counts->writes,
	       (unsigned long long)counts->flushes, (unsigned long long)counts->stable,
	       (unsigned long long)counts->loose, (unsigned long long)counts->kept_units,
	       (unsigned long long)counts->lost_units);
}

int sl_cmd_disk_replay(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct sl_writelog_cut cut = {.at = UINT64_MAX, .seed = 1};
	const struct sl_option options[] = {
	    {"disk", "NAME", "the disk whose image is built", SL_OPT_TEXT, &cut.disk, 0, 0},
	    {"out", "FILE", "where the image goes; without it only the counts are printed", SL_OPT_TEXT,
	     &cut.image, 0, 0},
	    {"cut", "N", "cut the power after record N (default: the end)", SL_OPT_NUMBER, &cut.at, 0,
	     UINT64_MAX},
	    {"seed", "N", "which unflushed units survive (default 1)", SL_OPT_NUMBER, &cut.seed, 0,
	     UINT64_MAX},
	    {"base", "FILE", "the image as it was when the log began (default: zeroes)", SL_OPT_TEXT,
	     &cut.base, 0, 0},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	struct sl_writelog_counts counts;
	struct sl_words words;
	bool help;

	if (sl_options_parse(options, argc, argv, &words, &help, err) < 0) {
		return SL_EXIT_USAGE;
	}
	if (help) {
		return help_print(self, options);
	}
	if (words.n != 1 || !cut.disk) {
		(void)sl_err_set(err, -EINVAL, "%s: %s; usage: sloglab %s %s --disk NAME [--out FILE]",
				 self->name, words.n == 1 ? "--disk missing" : "one log must be named",
				 self->name, self->args);
		return SL_EXIT_USAGE;
	}
	if (cut.base && cut.image && strcmp(cut.base, cut.image) == 0) {
		(void)sl_err_set(err, -EINVAL, "--out: must not be the file of --base");
		return SL_EXIT_USAGE;
	}
	cut.path = words.word[0];
	if (sl_writelog_replay(&cut, &counts, err) < 0) {
		return err->code == -EINVAL || err->code == -ENOENT ? SL_EXIT_USAGE : SL_EXIT_FAILED;
	}
	counts_print(&counts, cut.disk);
	return SL_EXIT_OK;
}
