/*
 * A child process as a part of something larger: it dies with us however sudden our end is, has a process
 * group of its own (Ctrl-C on the terminal is ours to handle), and its death or stop is noticed and named.
 */
#ifndef SL_GUESTS_PROCESS_H
#define SL_GUESTS_PROCESS_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "sim/base/err.h"

/* Where we may (root). Who waits for a CPU because of other work on this machine looks like a slow disk. */
enum sl_priority {
	SL_PRIORITY_NORMAL,
	SL_PRIORITY_NICE,    /* before other programs: nice -20 */
	SL_PRIORITY_REALTIME /* before everything; for what only ever works for a moment */
};

struct sl_process_spec {
	const char *name; /* in messages; borrowed for the life of the process */
	const char *const
	    *argv; /* ends with NULL, argv[0] is looked up in PATH; or NULL, and instead of it: */
	int (*main)(void *arg); /* runs in the child, returns its exit code */
	void *arg;
	const char *log; /* file that takes stdout and stderr, "" or NULL = nowhere */
	enum sl_priority priority;
};

/* Zero-initialise. */
struct sl_process {
	const char *name;
	char log[PATH_MAX];
	pid_t pid; /* 0 = none */
};

/* How to wait: at most timeout_ms (-ETIME), as long as stopped() does not say true (-EINTR). Functions may be
 * NULL.
 */
struct sl_patience {
	int timeout_ms;
	bool (*stopped)(void);
	int (*watch)(void *arg, struct sl_err *err); /* asked every 100 ms; an error ends the waiting */
	/* Called when waiting ends without success, before the process is killed: to free it from a system
	 * call that nothing will answer, by killing what should. */
	void (*give_up)(void *arg);
	void *arg;
};

/* Starts it. A program that cannot be executed is told as its end: "NAME: cannot be started: ...". */
int sl_process_start(const struct sl_process_spec *spec, struct sl_process *ret, struct sl_err *err);

/* 0 while it runs; -EPIPE with one line when it ended (its last words from the log) or was stopped (SIGSTOP):
 * then it is killed, others wait for it. A process that was not started, or whose end was told: 0. */
int sl_process_check(struct sl_process *process, struct sl_err *err);

/* Until it ends: 0 when with exit code 0; -EIO with its last words when not. Kills it when patience ends. */
int sl_process_wait(struct sl_process *process, const struct sl_patience *patience, struct sl_err *err);

/* sl_process_start and sl_process_wait. */
int sl_process_run(const struct sl_process_spec *spec, const struct sl_patience *patience,
		   struct sl_err *err);

/* Polls ready(arg) every few milliseconds while the process runs: 0 as soon as it says true. Else kills it.
 */
int sl_process_ready(struct sl_process *process, bool (*ready)(void *arg), void *arg,
		     const struct sl_patience *patience, struct sl_err *err);

/* Asks it to end with `signal`, kills it after grace_ms, and reaps it; one that not even that ends (it waits
 * for a disk) is left to the kernel after ten seconds. A no-op when there is none. */
void sl_process_stop(struct sl_process *process, int signal, int grace_ms);

/* CPU time of all its threads, ns; 0 when unknown. */
int64_t sl_process_cpu_ns(const struct sl_process *process);

#endif
