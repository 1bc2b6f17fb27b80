#include "guests/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/clock.h"

#define SLICE_MS 100 /* a signal just before poll() is seen that late */
#define READY_POLL_MS 5
#define KILLED_MS 10000
#define EXEC_FAILED 127

/* Child */

static void child_files(const char *log)
{
	int in = open("/dev/null", O_RDONLY);
	int out =
	    open(log && log[0] != '\0' ? log : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	if (in > STDERR_FILENO) {
		close(in);
	}
}

static void child_signals(void)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
	struct sigaction action = {.sa_handler = SIG_DFL};
	sigset_t none;

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(caught) / sizeof(caught[0]); i++) {
		sigaction(caught[i], &action, NULL);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void child_run(const struct sl_process_spec *spec, pid_t parent)
{
	char *const *words;
	pid_t now_parent;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* 0: the parent lives in the PID namespace above ours. */
	now_parent = getppid();
	if (now_parent != parent && now_parent != 0) {
		_exit(1);
	}
	child_signals();
	child_files(spec->log);
	if (spec->priority == SL_PRIORITY_NICE) {
		(void)setpriority(PRIO_PROCESS, 0, -20);
	} else if (spec->priority == SL_PRIORITY_REALTIME) {
		(void)sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK,
					 &(struct sched_param){.sched_priority = 1});
	}
	if (spec->main) {
		_exit(spec->main(spec->arg));
	}
	/* execvp changes neither the words nor their array: only its type cannot say so. */
	memcpy(&words, &spec->argv, sizeof(words));
	execvp(words[0], words);
	dprintf(STDERR_FILENO, "%s: %s\n", spec->argv[0], strerror(errno));
	_exit(EXEC_FAILED);
}

/* Parent */

int sl_process_start(const struct sl_process_spec *spec, struct sl_process *ret, struct sl_err *err)
{
	pid_t parent = getpid();
	pid_t pid;

	*ret = (struct sl_process){.name = spec->name};
	if (spec->log) {
		(void)snprintf(ret->log, sizeof(ret->log), "%s", spec->log);
	}
	pid = fork();
	if (pid < 0) {
		/* ENOMEM: the first process of our PID namespace is dead, so nobody can be born there. */
		return sl_err_set(err, -errno, "%s: cannot start: %s", spec->name, strerror(errno));
	}
	if (pid == 0) {
		child_run(spec, parent);
	}
	ret->pid = pid;
	return 0;
}

/* Fills `ret` with the last line of the log that has letters in it; "" without one. */
static void last_words(const struct sl_process *process, char *ret, size_t size)
{
	FILE *file = process->log[0] != '\0' ? fopen(process->log, "re") : NULL;
	char line[512];

	ret[0] = '\0';
	while (file && fgets(line, sizeof(line), file)) {
		size_t length = strcspn(line, "\r\n");

		if (length > 0) {
			(void)snprintf(ret, size, "%.*s", (int)length, line);
		}
	}
	if (file) {
		(void)fclose(file);
	}
}

static int ended_badly(const struct sl_process *process, int status, int code, struct sl_err *err)
{
	char words[256], how[48];

	last_words(process, words, sizeof(words));
	if (WIFSIGNALED(status)) {
		(void)snprintf(how, sizeof(how), "killed by signal %d", WTERMSIG(status));
	} else if (WEXITSTATUS(status) == EXEC_FAILED) {
		return sl_err_set(err, code, "%s: cannot be started: %s; sloglab doctor says what is missing",
				  process->name, words[0] != '\0' ? words : "exit code 127");
	} else {
		(void)snprintf(how, sizeof(how), "exit code %d", WEXITSTATUS(status));
	}
	return sl_err_set(err, code, "%s: died (%s)%s%s", process->name, how, words[0] != '\0' ? ": " : "",
			  words);
}

int sl_process_check(struct sl_process *process, struct sl_err *err)
{
	int status;
	pid_t pid = process->pid > 0 ? waitpid(process->pid, &status, WNOHANG | WUNTRACED) : 0;

	if (pid <= 0) {
		return 0;
	}
	if (WIFSTOPPED(status)) {
		sl_process_stop(process, SIGKILL, 0);
		return sl_err_set(err, -EPIPE, "%s: process %d was stopped (signal %d); run again",
				  process->name, (int)pid, WSTOPSIG(status));
	}
	process->pid = 0;
	return ended_badly(process, status, -EPIPE, err);
}

static void patience_end(const struct sl_patience *patience)
{
	if (patience->give_up) {
		patience->give_up(patience->arg);
	}
}

static int patience_over(const struct sl_process *process, const struct sl_patience *patience, int64_t end_ms,
			 struct sl_err *err)
{
	if (patience->stopped && patience->stopped()) {
		return sl_err_set(err, -EINTR, "interrupted");
	}
	if (sl_clock_ms() >= end_ms) {
		return sl_err_set(err, -ETIME,
				  "%s: not done after %d s; is the machine overloaded? run again",
				  process->name, patience->timeout_ms / 1000);
	}
	return patience->watch ? patience->watch(patience->arg, err) : 0;
}

int sl_process_wait(struct sl_process *process, const struct sl_patience *patience, struct sl_err *err)
{
	int64_t end_ms = sl_clock_ms() + patience->timeout_ms;
	int fd = pidfd_open(process->pid, 0);
	int status = 0, rc = 0;

	if (fd < 0) {
		rc = sl_err_set(err, -errno, "%s: %s", process->name, strerror(errno));
		sl_process_stop(process, SIGKILL, 0);
		return rc;
	}
	while (rc == 0 && waitpid(process->pid, &status, WNOHANG) == 0) {
		struct pollfd end = {.fd = fd, .events = POLLIN};

		if (poll(&end, 1, SLICE_MS) <= 0) {
			rc = patience_over(process, patience, end_ms, err);
		}
	}
	close(fd);
	if (rc < 0) {
		patience_end(patience);
		sl_process_stop(process, SIGKILL, 0);
		return rc;
	}
	process->pid = 0;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : ended_badly(process, status, -EIO, err);
}

int sl_process_run(const struct sl_process_spec *spec, const struct sl_patience *patience, struct sl_err *err)
{
	struct sl_process process;
	int rc = sl_process_start(spec, &process, err);

	return rc < 0 ? rc : sl_process_wait(&process, patience, err);
}

int sl_process_ready(struct sl_process *process, bool (*ready)(void *arg), void *arg,
		     const struct sl_patience *patience, struct sl_err *err)
{
	int64_t end_ms = sl_clock_ms() + patience->timeout_ms;
	int rc = 0;

	while (rc == 0 && !ready(arg)) {
		rc = sl_process_check(process, err);
		if (rc == 0) {
			rc = patience_over(process, patience, end_ms, err);
		}
		if (rc == 0) {
			(void)poll(NULL, 0, READY_POLL_MS);
		}
	}
	if (rc < 0) {
		patience_end(patience);
		sl_process_stop(process, SIGKILL, 0);
	}
	return rc;
}

/* Waits until it is dead, at most so long. */
static bool ends_within(int pidfd, int timeout_ms)
{
	int64_t end_ms = sl_clock_ms() + timeout_ms;
	struct pollfd end = {.fd = pidfd, .events = POLLIN};

	for (int64_t left_ms = timeout_ms; left_ms > 0; left_ms = end_ms - sl_clock_ms()) {
		if (poll(&end, 1, (int)left_ms) > 0) {
			return true;
		}
	}
	return false;
}

void sl_process_stop(struct sl_process *process, int signal, int grace_ms)
{
	int fd = process->pid > 0 ? pidfd_open(process->pid, 0) : -1;

	if (fd >= 0) {
		kill(process->pid, signal);
		if (signal == SIGKILL || !ends_within(fd, grace_ms)) {
			kill(process->pid, SIGKILL);
			(void)ends_within(fd, KILLED_MS);
		}
		close(fd);
	}
	if (process->pid > 0) {
		(void)waitpid(process->pid, NULL, WNOHANG);
		process->pid = 0;
	}
}

int64_t sl_process_cpu_ns(const struct sl_process *process)
{
	struct timespec used;
	clockid_t clock;

	if (process->pid <= 0 || clock_getcpuclockid(process->pid, &clock) != 0 ||
	    clock_gettime(clock, &used) < 0) {
		return 0;
	}
	return used.tv_sec * 1000000000LL + used.tv_nsec;
}
