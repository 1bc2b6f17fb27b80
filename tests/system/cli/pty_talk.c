/*
 * Talks to a program on a terminal of its own: pty_talk SCRIPT PROGRAM [ARG]...
 *
 * Lines of SCRIPT: "> TEXT" waits until TEXT is shown, behind what was waited for before; "< TEXT" types it
 * and Enter; "~ TEXT" types it alone, "\t" in it is Tab; "^C" and "^D" type these. Prints what was shown;
 * exits as the program does, with 99 when a text was not shown.
 */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHOWN_MAX ((size_t)1 << 20)
#define PATIENCE_MS 120000 /* for a busy machine; nothing waits that long by design */

struct talk {
	int fd;
	char *shown;
	size_t n, seen;
	bool ended;
};

/* Reads what is there within `patience`; false when nothing came or the program has ended. */
static bool listen_once(struct talk *t, int patience)
{
	struct pollfd fd = {.fd = t->fd, .events = POLLIN};
	ssize_t got;

	if (t->ended || t->n == SHOWN_MAX - 1 || poll(&fd, 1, patience) <= 0) {
		return false;
	}
	got = read(t->fd, t->shown + t->n, SHOWN_MAX - 1 - t->n);
	t->ended = got <= 0 && errno != EINTR;
	/* NULs pad for slow terminals; they show nothing. */
	for (char *at = t->shown + t->n; got > 0; at++, got--) {
		if (*at != '\0') {
			t->shown[t->n++] = *at;
		}
	}
	t->shown[t->n] = '\0';
	return !t->ended;
}

static bool wait_for(struct talk *t, const char *text)
{
	char *found;

	while (!(found = strstr(t->shown + t->seen, text))) {
		if (!listen_once(t, PATIENCE_MS)) {
			return false;
		}
	}
	t->seen = (size_t)(found - t->shown) + strlen(text);
	return true;
}

static void type(const struct talk *t, const char *text, bool enter)
{
	for (; *text; text++) {
		bool tab = strncmp(text, "\\t", 2) == 0;

		if (write(t->fd, tab ? "\t" : text, 1) != 1) {
			return;
		}
		text += tab;
	}
	if (enter && write(t->fd, "\r", 1) != 1) {
		return;
	}
}

static bool line_do(struct talk *t, const char *line)
{
	if (strncmp(line, "> ", 2) == 0) {
		return wait_for(t, line + 2);
	}
	if (strcmp(line, "^C") == 0) {
		type(t, "\003", false);
	} else if (strcmp(line, "^D") == 0) {
		type(t, "\004", false);
	} else if (line[0] == '<' || line[0] == '~') {
		type(t, line[1] ? line + 2 : "", line[0] == '<');
	}
	return true;
}

static bool script_do(struct talk *t, FILE *script)
{
	char line[1024];

	while (fgets(line, sizeof(line), script)) {
		line[strcspn(line, "\n")] = '\0';
		if (!line_do(t, line)) {
			printf("pty_talk: not shown: %s\n", line);
			return false;
		}
	}
	return true;
}

int main(int argc, char **argv)
{
	static char shown[SHOWN_MAX];
	struct talk t = {.shown = shown};
	struct winsize size = {.ws_row = 50, .ws_col = 200};
	FILE *script = argc > 2 ? fopen(argv[1], "r") : NULL;
	int status = 0;
	bool right;
	pid_t pid;

	if (!script) {
		fputs("usage: pty_talk SCRIPT PROGRAM [ARG]...\n", stderr);
		return 2;
	}
	pid = forkpty(&t.fd, NULL, NULL, &size);
	if (pid == 0) {
		(void)setenv("TERM", "vt100", 1);
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	right = pid > 0 && script_do(&t, script);
	(void)fclose(script);
	while (right && listen_once(&t, PATIENCE_MS)) {
	}
	if (pid > 0 && !t.ended) {
		(void)kill(pid, SIGKILL);
	}
	fputs(t.shown, stdout);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !right) {
		return 99;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
