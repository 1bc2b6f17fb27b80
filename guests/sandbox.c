#include "guests/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

/* Process 1. Orphans become its children, and the kernel buries those of who ignores SIGCHLD. */
_Noreturn static int first_main(void *arg)
{
	(void)arg;
	(void)signal(SIGCHLD, SIG_IGN);
	for (;;) {
		pause();
	}
}

static int loopback_up(struct sl_err *err)
{
	struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int rc = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &lo) == 0 ? 0 : -errno;

	if (fd >= 0) {
		close(fd);
	}
	return rc == 0 ? 0 : sl_err_set(err, rc, "loopback of the private network: %s", strerror(-rc));
}

int sl_sandbox_enter(struct sl_sandbox *sandbox, struct sl_err *err)
{
	const struct sl_process_spec first = {.name = "first process of the sandbox", .main = first_main};
	int rc;

	memset(sandbox, 0, sizeof(*sandbox));
	sandbox->own_pids = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
	if (sandbox->own_pids < 0) {
		return sl_err_set(err, -errno, "/proc/self/ns/pid: %s", strerror(errno));
	}
	if (unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID) < 0) {
		rc = sl_err_set(err, -errno, "namespaces for mounts, network and processes: %s%s",
				strerror(errno), errno == EPERM ? "; run as root" : "");
		close(sandbox->own_pids);
		return rc;
	}
	rc = sl_process_start(&first, &sandbox->first, err);
	if (rc < 0) {
		close(sandbox->own_pids);
		return rc;
	}
	/* The network first: who goes on without a sandbox, because of the mounts, still needs loopback. */
	rc = loopback_up(err);
	if (rc == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		rc = sl_err_set(err, -errno, "mounts cannot be made private: %s", strerror(errno));
	}
	if (rc < 0) {
		sl_sandbox_leave(sandbox);
	}
	return rc;
}

void sl_sandbox_leave(struct sl_sandbox *sandbox)
{
	if (sandbox->first.pid > 0) {
		sl_process_stop(&sandbox->first, SIGKILL, 0);
		(void)setns(sandbox->own_pids, CLONE_NEWPID);
		close(sandbox->own_pids);
	}
}
