#include "sim/base/runwait.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int sl_runwait_add(struct sl_runwait *sum, const char *schedstat)
{
	uint64_t ran_ns, wait_ns, slices;

	/* NOLINTNEXTLINE(cert-err34-c): numbers of the kernel */
	if (sscanf(schedstat, "%" SCNu64 " %" SCNu64 " %" SCNu64, &ran_ns, &wait_ns, &slices) != 3) {
		return -EINVAL;
	}
	sum->wait_ns += (int64_t)wait_ns;
	sum->slices += slices;
	return 0;
}

/* The process's number where /proc counts: a pidfd's fdinfo is written in the numbers of the /proc that it is
 * read from. 0 when it has none there. */
static int pid_in_proc(pid_t pid, pid_t *ret)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), found = 0;
	char line[128];
	FILE *file;

	if (fd < 0) {
		return -errno;
	}
	(void)snprintf(line, sizeof(line), "/proc/self/fdinfo/%d", fd);
	file = fopen(line, "re");
	while (file && found <= 0 && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "Pid:", 4) == 0) {
			found = (int)strtol(line + 4, NULL, 10);
		}
	}
	if (file) {
		(void)fclose(file);
	}
	close(fd);
	*ret = found;
	return found > 0 ? 0 : -ESRCH;
}

/* A thread that ended since the folder was listed has no file any more: it is not there. */
static int thread_add(const char *tasks, const char *tid, struct sl_runwait *sum)
{
	char path[128], text[128] = "";
	FILE *file;
	int rc = 0;

	(void)snprintf(path, sizeof(path), "%s/%.20s/schedstat", tasks, tid);
	file = fopen(path, "re");
	if (!file) {
		return errno == ENOENT || errno == ESRCH ? 0 : -errno;
	}
	if (fgets(text, sizeof(text), file)) {
		rc = sl_runwait_add(sum, text);
	}
	(void)fclose(file);
	return rc;
}

int sl_runwait_ns(pid_t pid, int64_t *ret_ns)
{
	struct sl_runwait sum = {0};
	char tasks[64] = "/proc/self/task";
	const struct dirent *entry;
	DIR *dir;
	int rc = 0;

	*ret_ns = 0;
	if (pid > 0) {
		pid_t seen = 0;

		rc = pid_in_proc(pid, &seen);
		if (rc < 0) {
			return rc;
		}
		(void)snprintf(tasks, sizeof(tasks), "/proc/%d/task", (int)seen);
	}
	dir = opendir(tasks);
	if (!dir) {
		return -errno;
	}
	while (rc == 0 && (entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] != '.') {
			rc = thread_add(tasks, entry->d_name, &sum);
		}
	}
	(void)closedir(dir);
	if (rc == 0 && sum.slices == 0) {
		rc = -ENODATA;
	}
	*ret_ns = rc == 0 ? sum.wait_ns : 0;
	return rc;
}
