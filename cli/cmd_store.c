/* `sloglab store`: what is damaged in the folder of a datastore, and what can be brought back. */
#include <errno.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/group.h"
#include "sim/datastore/fsck.h"

static void line_print(void *arg, enum sl_fsck_word word, const char *line)
{
	static const char *const words[] = {
	    [SL_FSCK_NOTE] = "note    ", [SL_FSCK_DAMAGE] = "damage  ", [SL_FSCK_MEND] = "  mend  "};

	(void)arg;
	printf("%s%s\n", words[word], line);
}

/* Parses the options of both commands: 1 = help was printed. */
static int parse(const struct sl_command *self, int argc, char **argv, bool *write, const char **ret_dir,
		 struct sl_err *err)
{
	struct sl_words operands = {0};
	const struct sl_option options[] = {
	    {"write", NULL, "do it; without, it only says what it would do", SL_OPT_FLAG, write, 0, 0},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	const struct sl_option *taken = write ? options : options + 1;
	bool help;
	int rc = sl_options_parse(taken, argc, argv, &operands, &help, err);

	if (rc == 0 && help) {
		printf("usage: sloglab %s %s%s\n%s\n\n", self->name, self->args, write ? " [--write]" : "",
		       self->summary);
		sl_options_print(taken, stdout);
		return 1;
	}
	if (rc == 0 && operands.n != 1) {
		return sl_err_set(err, -EINVAL, "%s: %s; usage: sloglab %s %s", self->name,
				  operands.n ? "more than one folder" : "folder missing", self->name,
				  self->args);
	}
	*ret_dir = rc == 0 ? operands.word[0] : NULL;
	return rc;
}

static int check_run(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct sl_fsck_options options = {.say = line_print};
	struct sl_fsck_found found;
	int rc = parse(self, argc, argv, NULL, &options.dir, err);

	if (rc) {
		return rc > 0 ? SL_EXIT_OK : SL_EXIT_USAGE;
	}
	if (sl_fsck(&options, &found, err) < 0) {
		return SL_EXIT_USAGE;
	}
	if (found.damages == 0) {
		printf("%s: sound, %u names%s\n", options.dir, found.names - found.returned,
		       found.returned > 0 ? "; `sloglab store repair' names what lies in data/lost+found"
					  : "");
		return SL_EXIT_OK;
	}
	printf("%s: %u damages; `sloglab store repair %s' says what can be brought back\n", options.dir,
	       found.damages, options.dir);
	return SL_EXIT_FAILED;
}

static int repair_run(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	struct sl_fsck_options options = {.say = line_print, .repair = true};
	struct sl_fsck_found found;
	int rc = parse(self, argc, argv, &options.write, &options.dir, err);

	if (rc) {
		return rc > 0 ? SL_EXIT_OK : SL_EXIT_USAGE;
	}
	rc = sl_fsck(&options, &found, err);
	if (rc < 0) {
		return rc == -EBUSY || rc == -EINVAL || rc == -ENOENT || rc == -ENOTDIR || rc == -ENOTSUP
			   ? SL_EXIT_USAGE
			   : SL_EXIT_FAILED;
	}
	if (found.damages == 0 && found.returned == 0) {
		printf("%s: sound, %u names: nothing to repair\n", options.dir, found.names);
		return SL_EXIT_OK;
	}
	printf("%s: %s: %u names, %u of them below /lost+found; %u names dropped, nothing unlinked%s\n",
	       options.dir, options.write ? "repaired" : "would be repaired", found.names, found.returned,
	       found.dropped, options.write ? "" : "; --write does it");
	return options.write ? SL_EXIT_OK : SL_EXIT_FAILED;
}

static const struct sl_command commands[] = {
    {"store check", "DIR", "name each damage in the folder of a datastore; changes nothing", check_run},
    {"store repair", "DIR", "what can be brought back; with --write, bring it back", repair_run},
    {NULL, NULL, NULL, NULL}};

int sl_cmd_store(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	return sl_group_run(self, commands, argc, argv, err);
}
