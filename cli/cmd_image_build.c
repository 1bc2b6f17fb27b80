/*
 * `sloglab image build`: runs images/build.sh and shows its progress. The script works in namespaces that die
 * with it, and it dies with us, so that there is nothing to clean after Ctrl-C or kill -9; what is half-built
 * stays in the cache and the next build goes on with it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/image.h"
#include "cli/progress.h"
#include "engine/image_cache.h"
#include "sim/base/signals.h"
#include "sim/scenario/paths.h"

#define NAMES_MAX 16
#define PROGRESS_FD 3

struct build {
	char script[PATH_MAX + 16], load[PATH_MAX + 16], cache[PATH_MAX];
	char names[NAMES_MAX][64];
	char *argv[NAMES_MAX + 3];
	const char *zfs, *mirror;
	bool update;
	pid_t pid;
	FILE *lines; /* what the script says */
	struct sl_progress progress;
	char error[sizeof(
	    ((struct sl_err *)0)->msg)]; /* its "error" line, else the last line it should not have said */
	bool explained;
};

static void child(const struct build *build, int out, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || null < 0) {
		_exit(127);
	}
	setpgid(0, 0); /* Ctrl-C is for us; we end the child */
	sl_signals_reset();
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	if (out == PROGRESS_FD) {
		fcntl(out, F_SETFD, 0);
	} else {
		dup2(out, PROGRESS_FD);
	}
	unsetenv("SL_INSIDE");
	setenv("SL_CACHE", build->cache, 1);
	setenv("SL_ZFS", build->zfs, 1);
	setenv("SL_LOAD", build->load, 1);
	setenv("SL_MIRROR", build->mirror ? build->mirror : "", 1);
	setenv("SL_UPDATE", build->update ? "1" : "", 1);
	execvp("sh", build->argv);
	_exit(127);
}

static int script_start(struct build *build, struct sl_err *err)
{
	pid_t self = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0) {
		return sl_err_set(err, -errno, "image build: pipe: %s", strerror(errno));
	}
	build->pid = fork();
	if (build->pid == 0) {
		child(build, ends[1], self);
	}
	close(ends[1]);
	build->lines = fdopen(ends[0], "r");
	if (build->pid < 0 || !build->lines) {
		return sl_err_set(err, -EAGAIN, "image build: cannot start %.200s", build->script);
	}
	return 0;
}

/* One line of the protocol that images/build.sh describes. */
static void line_take(struct build *build, char *line)
{
	char *rest;
	long done, total;

	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "at ", 3) == 0) {
		done = strtol(line + 3, &rest, 10);
		total = strtol(rest, &rest, 10);
		sl_progress_work(&build->progress, *rest ? rest + 1 : rest, (int)done, (int)total);
	} else if (strncmp(line, "image ", 6) == 0 || strncmp(line, "note ", 5) == 0) {
		sl_progress_end(&build->progress);
		printf("%s\n", line + (line[0] == 'i' ? 6 : 5));
		fflush(stdout);
	} else if (strncmp(line, "error ", 6) == 0) {
		(void)snprintf(build->error, sizeof(build->error), "%s", line + 6);
		build->explained = true;
	} else if (!build->explained && line[0] != '\0') {
		(void)snprintf(build->error, sizeof(build->error), "%s", line);
	}
}

/* Until the last process of the build is gone: each holds the other end of the pipe. */
static void script_follow(struct build *build)
{
	struct pollfd said = {.fd = fileno(build->lines), .events = POLLIN};
	char *line = NULL;
	size_t size = 0;
	bool killed = false;

	/* A line in a buffer of ours would not be seen by poll. */
	(void)setvbuf(build->lines, NULL, _IONBF, 0);
	for (;;) {
		if (!killed && sl_signals_poll(&said, 1) == -EINTR) {
			kill(build->pid, SIGKILL);
			killed = true;
		}
		if (getline(&line, &size, build->lines) >= 0) {
			line_take(build, line);
		} else if (errno == EINTR && ferror(build->lines)) {
			clearerr(build->lines);
		} else {
			break;
		}
	}
	free(line);
	sl_progress_end(&build->progress);
}

static int script_run(struct build *build, struct sl_err *err)
{
	int status = 0;

	if (script_start(build, err) < 0) {
		return SL_EXIT_FAILED;
	}
	sl_progress_start(&build->progress, stderr, "seconds");
	script_follow(build);
	(void)fclose(build->lines);
	while (waitpid(build->pid, &status, 0) < 0 && errno == EINTR) {
	}
	if (sl_signals_stopped()) {
		(void)sl_err_set(err, -EINTR, "interrupted; sloglab image build goes on where it was");
		return SL_EXIT_INTERRUPTED;
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		(void)sl_err_set(err, -EIO, "%s",
				 build->error[0]
				     ? build->error
				     : "image build: ended without a word; run it again, it goes on");
		return SL_EXIT_FAILED;
	}
	return SL_EXIT_OK;
}

/* Where things are, and the script's arguments. */
static int build_prepare(struct build *build, const struct sl_words *names, struct sl_err *err)
{
	static char shell[] = "sh";
	struct sl_paths paths;
	int n = 0;

	if (sl_paths_find(&paths, err) < 0 || sl_image_cache_path(build->cache, err) < 0) {
		return err->code;
	}
	(void)snprintf(build->script, sizeof(build->script), "%s/build.sh", paths.images);
	(void)snprintf(build->load, sizeof(build->load), "%s/sloglab-load", paths.bin);
	if (access(build->script, R_OK) < 0) {
		return sl_err_set(err, -errno, "%.200s: %s; install sloglab again", build->script,
				  strerror(errno));
	}
	if (names->n > NAMES_MAX) {
		return sl_err_set(err, -EINVAL, "image build: too many names");
	}
	build->argv[n++] = shell;
	build->argv[n++] = build->script;
	for (int i = 0; i < names->n; i++) {
		(void)snprintf(build->names[i], sizeof(build->names[i]), "%s", names->word[i]);
		build->argv[n++] = build->names[i];
	}
	return 0;
}

int sl_cmd_image_build(const struct sl_command *self, int argc, char **argv, struct sl_err *err)
{
	static const char *const versions[] = {"2.1", "2.3"};
	struct build build = {.mirror = NULL};
	unsigned zfs = 0;
	const struct sl_option options[] = {
	    {"zfs", "2.1|2.3", "line of OpenZFS in the storage image; default 2.1", SL_OPT_CHOICE, &zfs, 0,
	     0},
	    {"update", NULL, "fetch new package lists first; else those of the first build stay", SL_OPT_FLAG,
	     &build.update, 0, 0},
	    {"mirror", "URI", "a Debian mirror instead of those that this machine uses", SL_OPT_TEXT,
	     &build.mirror, 0, 0},
	    {NULL, NULL, NULL, SL_OPT_FLAG, NULL, 0, 0}};
	struct sl_words names;
	bool help;

	if (sl_options_parse(options, argc, argv, &names, &help, err) < 0) {
		return SL_EXIT_USAGE;
	}
	if (help) {
		printf("usage: sloglab %s [OPTION]... %s\n%s\n\n", self->name, self->args, self->summary);
		sl_options_print(options, stdout);
		return SL_EXIT_OK;
	}
	if (names.n == 0) {
		names = (struct sl_words){.n = 2, .word = {"storage", "guest"}};
	}
	build.zfs = versions[zfs];
	if (build_prepare(&build, &names, err) < 0) {
		return SL_EXIT_FAILED;
	}
	return script_run(&build, err);
}
