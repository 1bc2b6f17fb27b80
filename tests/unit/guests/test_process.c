/* Child processes: what they are asked for, what they say when they die, and that none outlives us. */
#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guests/process.h"

#define PATIENCE_MS 20000

static const struct sl_patience patient = {.timeout_ms = PATIENCE_MS};

static int shell(const char *script, const char *log, struct sl_err *err)
{
	const char *const argv[] = {"sh", "-c", script, NULL};

	return sl_process_run(&(struct sl_process_spec){.name = "shell", .argv = argv, .log = log}, &patient,
			      err);
}

static int for_ever(void *arg)
{
	(void)arg;
	for (;;) {
		pause();
	}
	return 0;
}

static struct sl_process sleeper(const char *name)
{
	struct sl_process process;
	struct sl_err err = {0};

	cr_assert_eq(
	    sl_process_start(&(struct sl_process_spec){.name = name, .main = for_ever}, &process, &err), 0,
	    "%s", err.msg);
	return process;
}

static bool gone(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

Test(process, a_program_that_fails_is_named_with_its_last_words)
{
	char log[] = "/tmp/sl-process-XXXXXX";
	struct sl_err err = {0};

	close(mkstemp(log));
	cr_assert_eq(shell("exit 0", log, &err), 0);
	cr_assert_eq(shell("echo first; echo 'no room left' >&2; exit 3", log, &err), -EIO);
	cr_assert_str_eq(err.msg, "shell: died (exit code 3): no room left");
	cr_assert_eq(shell("kill -9 $$", log, &err), -EIO);
	cr_assert_str_eq(err.msg, "shell: died (killed by signal 9)");
	unlink(log);
}

Test(process, a_program_that_is_not_there_is_named_with_the_remedy)
{
	const char *const argv[] = {"/nowhere/program", NULL};
	char log[] = "/tmp/sl-process-XXXXXX";
	struct sl_process_spec spec = {.name = "program", .argv = argv, .log = log};
	struct sl_patience patience = {.timeout_ms = 10000};
	struct sl_err err = {0};

	close(mkstemp(log));
	cr_assert_eq(sl_process_run(&spec, &patience, &err), -EIO);
	cr_assert_str_eq(err.msg,
			 "program: cannot be started: /nowhere/program: No such file or directory; sloglab "
			 "doctor says what is missing");
	unlink(log);
}

Test(process, a_program_that_does_not_exist_says_so)
{
	const char *const argv[] = {"sloglab-no-such-program", NULL};
	char log[] = "/tmp/sl-process-XXXXXX";
	struct sl_err err = {0};

	close(mkstemp(log));
	cr_assert_eq(sl_process_run(&(struct sl_process_spec){.name = "none", .argv = argv, .log = log},
				    &patient, &err),
		     -EIO);
	cr_assert(strstr(err.msg, "sloglab-no-such-program: No such file or directory"), "%s", err.msg);
	unlink(log);
}

static bool always(void)
{
	return true;
}

static void count(void *arg)
{
	(*(int *)arg)++;
}

static int part_is_dead(void *arg, struct sl_err *err)
{
	(void)arg;
	return sl_err_set(err, -EPIPE, "datastore: died");
}

Test(process, waiting_ends_with_patience_and_takes_the_process_along)
{
	int given_up = 0;
	const struct {
		struct sl_patience patience;
		int code;
	} cases[] = {
	    {{.timeout_ms = 1, .give_up = count, .arg = &given_up}, -ETIME},
	    {{.timeout_ms = PATIENCE_MS, .stopped = always, .give_up = count, .arg = &given_up}, -EINTR},
	    {{.timeout_ms = PATIENCE_MS, .watch = part_is_dead, .give_up = count, .arg = &given_up}, -EPIPE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sl_process process = sleeper("sleeper");
		pid_t pid = process.pid;
		struct sl_err err = {0};

		cr_assert_eq(sl_process_wait(&process, &cases[i].patience, &err), cases[i].code,
			     "case %zu: %s", i, err.msg);
		cr_assert_eq(given_up, (int)i + 1);
		cr_assert(gone(pid), "case %zu", i);
	}
}

Test(process, a_stopped_process_is_noticed_and_killed)
{
	struct sl_process process = sleeper("sleeper");
	pid_t pid = process.pid;
	siginfo_t info;
	struct sl_err err = {0};

	cr_assert_eq(sl_process_check(&process, &err), 0);
	kill(pid, SIGSTOP);
	cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOWAIT), 0);
	cr_assert_eq(sl_process_check(&process, &err), -EPIPE);
	cr_assert(strstr(err.msg, "was stopped"), "%s", err.msg);
	cr_assert(gone(pid));
	cr_assert_eq(sl_process_check(&process, &err), 0, "told once");
}

Test(process, a_dead_process_is_noticed_once_and_stopping_it_is_no_error)
{
	struct sl_process process = sleeper("sleeper");
	siginfo_t info;
	struct sl_err err = {0};

	kill(process.pid, SIGKILL);
	cr_assert_eq(waitid(P_PID, (id_t)process.pid, &info, WEXITED | WNOWAIT), 0);
	cr_assert_eq(sl_process_check(&process, &err), -EPIPE);
	cr_assert_str_eq(err.msg, "sleeper: died (killed by signal 9)");
	cr_assert_eq(sl_process_check(&process, &err), 0);
	sl_process_stop(&process, SIGTERM, PATIENCE_MS);
}

static int deaf(void *arg)
{
	(void)signal(SIGTERM, SIG_IGN);
	(void)write(*(int *)arg, "x", 1);
	return for_ever(NULL);
}

Test(process, who_does_not_hear_is_killed_after_the_grace)
{
	int ends[2];
	struct sl_process process;
	struct sl_err err = {0};
	pid_t pid;
	char byte;

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(
	    sl_process_start(&(struct sl_process_spec){.name = "deaf", .main = deaf, .arg = &ends[1]},
			     &process, &err),
	    0);
	cr_assert_eq(read(ends[0], &byte, 1), 1);
	pid = process.pid;
	sl_process_stop(&process, SIGTERM, 1);
	cr_assert(gone(pid));
	cr_assert_eq(process.pid, 0);
}

/* A parent that starts a sleeper, says its number and is killed. */
static int doomed_parent(void *arg)
{
	struct sl_process process = sleeper("orphan");

	(void)write(*(int *)arg, &process.pid, sizeof(process.pid));
	return for_ever(NULL);
}

Test(process, children_die_with_their_parent_even_when_that_is_killed)
{
	int ends[2], status;
	struct sl_process parent;
	struct sl_err err = {0};
	pid_t orphan;

	/* Orphans become ours, so that their end can be waited for. */
	cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(sl_process_start(
			 &(struct sl_process_spec){.name = "parent", .main = doomed_parent, .arg = &ends[1]},
			 &parent, &err),
		     0);
	cr_assert_eq(read(ends[0], &orphan, sizeof(orphan)), (ssize_t)sizeof(orphan));
	sl_process_stop(&parent, SIGKILL, 0);
	cr_assert_eq(waitpid(orphan, &status, 0), orphan);
	/* By the signal, or by itself: it was so young that it had not asked for the signal yet, and saw a
	 * stranger as its parent. */
	cr_assert((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ||
		  (WIFEXITED(status) && WEXITSTATUS(status) == 1));
}

static bool third_time(void *arg)
{
	return ++*(int *)arg == 3;
}

Test(process, ready_polls_while_the_process_lives)
{
	struct sl_process process = sleeper("server");
	struct sl_err err = {0};
	siginfo_t info;
	int asked = 0;

	cr_assert_eq(sl_process_ready(&process, third_time, &asked, &patient, &err), 0);
	cr_assert_eq(asked, 3);
	kill(process.pid, SIGKILL);
	cr_assert_eq(waitid(P_PID, (id_t)process.pid, &info, WEXITED | WNOWAIT), 0);
	cr_assert_eq(sl_process_ready(&process, third_time, &asked, &patient, &err), -EPIPE);
	cr_assert_str_eq(err.msg, "server: died (killed by signal 9)");
}
