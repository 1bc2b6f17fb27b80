/* How long a process waited for a CPU: starvation as the kernel's scheduler counts it. */
#ifndef SL_BASE_RUNWAIT_H
#define SL_BASE_RUNWAIT_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Time that the present threads of process `pid` (0 = this one) have spent on run queues since they started:
 * second field of /proc/PID/task/TID/schedstat (ns), summed. Threads that have ended are not in it. The pid
 * is one of the caller's PID namespace, also where /proc is of the one around it. Negative errno: -ENODATA
 * where the kernel does not count (all fields 0), -ENOENT where there is no such file, -ESRCH where there is
 * no such process.
 */
int sl_runwait_ns(pid_t pid, int64_t *ret_ns);

/* Part of it, for tests: adds one file's text. 0, or -EINVAL when it is none. */
struct sl_runwait {
	int64_t wait_ns;
	uint64_t slices; /* times that it got a CPU */
};
int sl_runwait_add(struct sl_runwait *sum, const char *schedstat);

#endif
