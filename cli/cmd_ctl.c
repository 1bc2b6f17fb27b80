/* `sloglab ctl`: says a line to the control socket of a running server. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "sim/base/clock.h"
#include "sim/base/utf8.h"
#include "sim/serve/control.h"

#define WAIT_MAX_NS (INT64_C(3600) * 1000000000)
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

/* Until the box of a datastore is as the command wants it: its power is back, and a change of it has its txg.
 */
static int wait_for_box(const char *socket, int64_t limit_ns, struct sl_err *err)
{
	static const struct timespec pause = {.tv_nsec = 20000000};
	int64_t end_ns = sl_clock_ns() + limit_ns;
	char *reply = malloc(REPLY_BYTES);
	int rc = reply ? -EAGAIN : sl_err_set(err, -ENOMEM, "out of memory");

	while (rc == -EAGAIN) {
		rc = sl_control_ask(socket, "status", reply, REPLY_BYTES, err);
		if (rc < 0 ||
		    (strncmp(reply, "power on ", 9) == 0 && strstr(reply, " change waiting ") == NULL)) {
			break;
		}
		rc = sl_clock_ns() < end_ns
			 ? -EAGAIN
			 : sl_err_set(err, -ETIMEDOUT, "%s: not done yet; a longer --wait waits for it",
				      socket);
		(void)nanosleep(&pause, NULL);
	}
	free(reply);
	return rc;
}

int sl_cmd_ctl(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	int64_t wait_ns = 0;
	const struct sl_option options[] = {
	    {"wait", "TIME", "until a datastore's box is as the command wants it; at most so long",
	     SL_OPT_TIME, &wait_ns, 0, WAIT_MAX_NS},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	/* A disk server's commands are done when they are answered. */
	const struct sl_option *offered = strncmp(self->name, "disk", 4) == 0 ? &options[1] : options;
	char line[SL_CONTROL_LINE_MAX - 2];
	struct sl_words words;
	char *reply;
	bool help;
	int rc;

	if (sl_options_parse(offered, argc, argv, &words, &help, err) < 0) {
		return SL_EXIT_USAGE;
	}
	if (help) {
		return help_print(self, offered);
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
		sl_utf8_clean(reply); /* names in it are the clients' */
		fputs(reply, stdout);
	}
	if (rc == 0 && wait_ns > 0) {
		rc = wait_for_box(words.word[0], wait_ns, err);
	}
	free(reply);
	return rc == 0 ? SL_EXIT_OK : rc == -EINVAL ? SL_EXIT_USAGE : SL_EXIT_FAILED;
}
