/* sloglab: what a SLOG does to the transactions per second of an all-in-one NAS. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "sim/base/json.h"
#include "sim/base/signals.h"
#include "sim/base/suggest.h"
#include "sim/base/utf8.h"

static int usage_error(const char *what, const char *word)
{
	const char *names[SL_COMMANDS_MAX];
	const struct sl_command *c;
	char shown[64];
	const char *near;
	int n = 0;

	snprintf(shown, sizeof(shown), "%s", word);
	sl_utf8_clean(shown);
	for (c = sl_commands(); c->name; c++) {
		names[n++] = c->name;
	}
	near = sl_suggest(word, names, n);
	if (near) {
		fprintf(stderr, "sloglab: %.60s: unknown %s; did you mean %s?\n", shown, what, near);
	} else {
		fprintf(stderr, "sloglab: %.60s: unknown %s; see sloglab --help\n", shown, what);
	}
	return SL_EXIT_USAGE;
}

static const struct sl_command *command_find(const char *name)
{
	const struct sl_command *c;

	for (c = sl_commands(); c->name; c++) {
		if (strcmp(c->name, name) == 0) {
			return c;
		}
	}
	return NULL;
}

/* What was printed must have arrived: a full disk behind stdout is a failed run. */
static int output_check(int code)
{
	int failed = ferror(stdout);

	if (fflush(stdout) != 0 || failed) {
		int rc = errno;

		if (rc == EPIPE) {
			sl_signals_die_of_pipe();
		}
		if (code == SL_EXIT_OK) {
			fprintf(stderr, "sloglab: stdout: cannot write: %s\n", strerror(rc));
		}
		if (code == SL_EXIT_OK) {
			return SL_EXIT_FAILED;
		}
	}
	return code;
}

/* Who is out of memory, or whose disk or descriptors fail, has made no mistake in what was asked for. */
static int blame_check(int code, const struct sl_err *err)
{
	static const int machine[] = {ENOMEM, EIO, EMFILE, ENFILE, ENOSPC, EDQUOT, EROFS, EINTR, EAGAIN};

	for (size_t i = 0; i < sizeof(machine) / sizeof(machine[0]); i++) {
		if (code == SL_EXIT_USAGE && err->code == -machine[i]) {
			return SL_EXIT_FAILED;
		}
	}
	return code;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *word, *command;
	} options[] = {{"--help", "help"}, {"-h", "help"}, {"--version", "--version"}, {"-V", "--version"}};
	const char *name = argc > 1 ? argv[1] : "";
	const struct sl_command *command;
	struct sl_err err = {0};
	int code;

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (strcmp(name, options[i].word) == 0) {
			name = options[i].command;
		}
	}
	if (strcmp(name, "--version") == 0) {
		printf("sloglab %s\n", SL_VERSION);
		return output_check(SL_EXIT_OK);
	}
	if (name[0] == '\0') {
		fputs("sloglab: command missing; see sloglab --help\n", stderr);
		return SL_EXIT_USAGE;
	}
	command = command_find(name);
	if (!command) {
		return usage_error(name[0] == '-' ? "option" : "command", name);
	}
	sl_signals_install();
	sl_json_watch();
	code = command->run(command, argc - 1, argv + 1, &err);
	if (err.msg[0] != '\0') {
		sl_utf8_clean(err.msg); /* it may quote a file, a server or the command line */
		fflush(stdout);
		fprintf(stderr, "sloglab: %s\n", err.msg);
	}
	return output_check(blame_check(code, &err));
}
