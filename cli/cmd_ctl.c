/* `sloglab ctl`: says a line to the control socket of a running server. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "sim/serve/control.h"

#define REPLY_BYTES ((size_t)2 * SL_CONTROL_REPLY_MAX)

static int help_print(const struct sl_command *self, const struct sl_option *options)
{
	printf("usage: sloglab %s %s\n%s\n\n", self->name, self->args, self->summary);
	sl_options_print(options, stdout);
	return SL_EXIT_OK;
}

/* Joins the words of a command with blanks. */
static int command_join(const struct sl_words *words, char *line, size_t size, struct sl_err *err)
{
	size_t used = 0;

	line[0] = '\0';
	for (int i = 1; i < words->n; i++) {
		int n = snprintf(line + used, size - used, "%s%s", i > 1 ? " " : "", words->word[i]);

		used += (size_t)n;
		if (used >= size) {
			return sl_err_set(err, -EINVAL, "command too long");
		}
	}
	return 0;
}

int sl_cmd_ctl(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	static const struct sl_option none[] = {{NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	char line[SL_CONTROL_LINE_MAX - 2];
	struct sl_words words;
	char *reply;
	bool help;
	int rc;

	if (sl_options_parse(none, argc, argv, &words, &help, err) < 0) {
		return SL_EXIT_USAGE;
	}
	if (help) {
		return help_print(self, none);
	}
	if (words.n < 2) {
		(void)sl_err_set(err, -EINVAL, "%s: %s missing; usage: sloglab %s %s", self->name,
				 words.n ? "command" : "socket", self->name, self->args);
		return SL_EXIT_USAGE;
	}
	if (command_join(&words, line, sizeof(line), err) < 0) {
		return SL_EXIT_USAGE;
	}
	reply = malloc(REPLY_BYTES);
	if (!reply) {
		(void)sl_err_set(err, -ENOMEM, "out of memory");
		return SL_EXIT_FAILED;
	}
	rc = sl_control_ask(words.word[0], line, reply, REPLY_BYTES, err);
	if (rc == 0) {
		fputs(reply, stdout);
	}
	free(reply);
	return rc == 0 ? SL_EXIT_OK : SL_EXIT_FAILED;
}
