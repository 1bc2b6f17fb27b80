/*
 * faults_drive LIBRARY RESULT KINDS CYCLES COMMAND...: runs COMMAND with one fault after another
 * (libsl_faults.so).
 *
 * Whatever fails, the program says so (a message, exit code 1), or the result is the same to the byte as
 * without a fault, the file RESULT and what goes to stdout. An exit code of 2 blames the user, a signal
 * nobody; a RESULT of before stays as it is until the new one is whole ("-": there is none; "+FILE": FILE is
 * written in place). KINDS is a list "eio,nomem,eintr+" with "+" for a fault that lasts. CYCLES bounds the
 * runs: where there are more places, they are spread evenly. Exits 1 and lists what went wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/faults/faults.h"

#define KINDS_MAX 16
#define RUN_SECONDS 120
#define OLD_RESULT "what was there before\n"

struct text {
	char *bytes;
	size_t size;
};

struct drive {
	const char *library;
	const char *result; /* NULL: none */
	bool in_place;
	char **command;
	struct sl_faults_state *state;
	char state_path[64], out_path[64], err_path[64];
	struct text want_out, want_result;
	int wrong, cycles;
};

static void die(const char *what)
{
	(void)fprintf(stderr, "faults_drive: %s: %s\n", what, strerror(errno));
	exit(2);
}

static struct text file_read(const char *path)
{
	struct text text = {0};
	FILE *file = fopen(path, "re");
	struct stat st;

	if (!file || fstat(fileno(file), &st) != 0) {
		return text;
	}
	text.bytes = malloc((size_t)st.st_size + 1);
	if (!text.bytes) {
		die("memory");
	}
	text.size = fread(text.bytes, 1, (size_t)st.st_size, file);
	text.bytes[text.size] = '\0';
	(void)fclose(file);
	return text;
}

static bool text_is(struct text text, struct text want)
{
	return text.bytes && text.size == want.size && memcmp(text.bytes, want.bytes, want.size) == 0;
}

static void old_result_write(const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file || fputs(OLD_RESULT, file) == EOF || fclose(file) != 0) {
		die(path);
	}
}

static void child(const struct drive *drive, const char *fault)
{
	int out = open(drive->out_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int err = open(drive->err_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	int in = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (out < 0 || err < 0 || in < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) {
		_exit(98);
	}
	close(out);
	close(err);
	alarm(RUN_SECONDS);
	if (setenv("SL_FAULT", fault, 1) != 0 || setenv("SL_FAULT_STATE", drive->state_path, 1) != 0 ||
	    setenv("LD_PRELOAD", drive->library, 1) != 0) {
		_exit(98);
	}
	execv(drive->command[0], drive->command);
	_exit(98);
}

/* Exit code, or 1000 + the signal. */
static int command_run(const struct drive *drive, const char *fault)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		child(drive, fault);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		die("cannot run");
	}
	return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void wrong(struct drive *drive, const char *fault, const char *what, const char *more)
{
	(void)fprintf(stderr, "%s: %s: %s: %.300s\n", fault, drive->state->what, what, more);
	drive->wrong++;
}

/* What is left after a run with a fault that ended with `code`. */
static void result_check(struct drive *drive, const char *fault, int code)
{
	static char old[] = OLD_RESULT;
	struct text before = {old, sizeof(old) - 1};
	struct text out = file_read(drive->out_path), err = file_read(drive->err_path);
	struct text result = drive->result ? file_read(drive->result) : (struct text){0};
	char number[32];

	(void)snprintf(number, sizeof(number), "%d", code);
	if (code == 0 && !text_is(out, drive->want_out)) {
		wrong(drive, fault, "exit code 0, but stdout differs", err.bytes);
	} else if (code == 0 && drive->result && !text_is(result, drive->want_result)) {
		wrong(drive, fault, "exit code 0, but the result differs", err.bytes);
	} else if (code == 0) {
		/* Nothing was lost. */
	} else if (code != 1) {
		wrong(drive, fault, "neither 0 nor 1", err.bytes && err.size > 0 ? err.bytes : number);
	} else if (!err.bytes || err.size == 0) {
		wrong(drive, fault, "failed without a word", "");
	} else if (drive->result && !drive->in_place && !text_is(result, before) &&
		   !text_is(result, drive->want_result)) {
		wrong(drive, fault, "the result is neither old nor new", err.bytes);
	}
	free(out.bytes);
	free(err.bytes);
	free(result.bytes);
}

/* False when the run met no fault. */
static bool cycle(struct drive *drive, const char *kind, uint64_t at)
{
	size_t length = strcspn(kind, "+,");
	char fault[48];
	int code;

	(void)snprintf(fault, sizeof(fault), "%.*s:%llu%s", (int)length, kind, (unsigned long long)at,
		       kind[length] == '+' ? "+" : "");
	if (drive->result) {
		(void)unlink(drive->result);
		old_result_write(drive->result);
	}
	memset(drive->state, 0, sizeof(*drive->state));
	code = command_run(drive, fault);
	if (at == 0) {
		if (code != 0) {
			struct text err = file_read(drive->err_path);

			(void)fprintf(stderr, "faults_drive: without a fault: %d: %s\n", code, err.bytes);
			exit(2);
		}
		return false;
	}
	drive->cycles++;
	result_check(drive, fault, code);
	return drive->state->injected != 0;
}

static void kind_drive(struct drive *drive, const char *kind, int budget)
{
	uint64_t calls, step, hit = 0;

	(void)cycle(drive, kind, 0);
	calls = drive->state->calls;
	if (calls == 0) {
		(void)fprintf(stderr, "faults_drive: %.8s hits nothing\n", kind);
		drive->wrong++;
		return;
	}
	step = calls / (uint64_t)budget + 1;
	/* Not always the same ones of a long list, and yet the same every time: each kind begins elsewhere.
	 */
	for (uint64_t at = 1 + (uint64_t)kind[1] % step; at <= calls; at += step) {
		hit += cycle(drive, kind, at);
	}
	(void)printf("%.*s: %llu of %llu calls failed\n", (int)strcspn(kind, ","), kind,
		     (unsigned long long)hit, (unsigned long long)calls);
	(void)fflush(stdout);
}

static void paths_make(struct drive *drive)
{
	char dir[] = "/dev/shm/sloglab-drive-XXXXXX";
	int fd;

	if (!mkdtemp(dir)) {
		die("temporary folder");
	}
	(void)snprintf(drive->state_path, sizeof(drive->state_path), "%s/state", dir);
	(void)snprintf(drive->out_path, sizeof(drive->out_path), "%s/out", dir);
	(void)snprintf(drive->err_path, sizeof(drive->err_path), "%s/err", dir);
	fd = open(drive->state_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*drive->state)) != 0) {
		die(drive->state_path);
	}
	drive->state = mmap(NULL, sizeof(*drive->state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (drive->state == MAP_FAILED) {
		die(drive->state_path);
	}
	close(fd);
}

static void paths_remove(struct drive *drive)
{
	(void)unlink(drive->state_path);
	(void)unlink(drive->out_path);
	(void)unlink(drive->err_path);
	*strrchr(drive->state_path, '/') = '\0';
	(void)rmdir(drive->state_path);
}

int main(int argc, char **argv)
{
	struct drive drive = {0};
	char *kinds[KINDS_MAX], *next;
	int count = 0, cycles;

	if (argc < 6) {
		(void)fputs("usage: faults_drive LIBRARY RESULT KINDS CYCLES COMMAND...\n", stderr);
		return 2;
	}
	drive.library = argv[1];
	drive.in_place = argv[2][0] == '+';
	drive.result = strcmp(argv[2], "-") == 0 ? NULL : argv[2] + drive.in_place;
	drive.command = argv + 5;
	cycles = atoi(argv[4]);
	for (char *kind = strtok_r(argv[3], ",", &next); kind && count < KINDS_MAX;
	     kind = strtok_r(NULL, ",", &next)) {
		kinds[count++] = kind;
	}
	paths_make(&drive);
	(void)cycle(&drive, kinds[0], 0);
	drive.want_out = file_read(drive.out_path);
	drive.want_result = drive.result ? file_read(drive.result) : drive.want_result;
	for (int i = 0; i < count; i++) {
		kind_drive(&drive, kinds[i], cycles / count > 0 ? cycles / count : 1);
	}
	paths_remove(&drive);
	(void)printf("%d cycles, %d went wrong\n", drive.cycles, drive.wrong);
	free(drive.want_out.bytes);
	free(drive.want_result.bytes);
	return drive.wrong ? 1 : 0;
}
