#include "engine/lab_host.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/lab_control.h"
#include "engine/serving.h"
#include "engine/tempdir.h"
#include "guests/process.h"
#include "sim/base/fdio.h"
#include "sim/base/signals.h"
#include "sim/disks/disks.h"
#include "sim/serve/control.h"

#define STOP_MS 90000
#define READY_MS 30000
#define LINE_MS 100
/* What libvirt's QEMU driver looks up as root, whatever user it then runs machines as; Debian's numbers. */
#define DRIVER_USER "libvirt-qemu"
#define DRIVER_ID 64055

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ssize_t size = (ssize_t)strlen(text);
	int rc = fd < 0 || write(fd, text, (size_t)size) != size ? -errno : 0;

	if (fd >= 0) {
		close(fd);
	}
	return rc;
}

static int folder_make(const char *dir)
{
	char path[SL_LAB_PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s", dir);
	for (char *slash = path + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
	return mkdir(path, 0700) < 0 && errno != EEXIST ? -errno : 0;
}

/* Is that descriptor still the file at `path`, and not one that `vm down` has removed meanwhile? */
static bool same_file(int fd, const char *path)
{
	struct stat ours, there;

	return fstat(fd, &ours) == 0 && stat(path, &there) == 0 && ours.st_dev == there.st_dev &&
	       ours.st_ino == there.st_ino;
}

int sl_lab_lock(const char *dir, int *ret_fd, struct sl_err *err)
{
	char path[SL_LAB_PATH_MAX];
	int rc = folder_make(dir);

	if (rc < 0) {
		return sl_err_set(err, rc, "%s: %s", dir, strerror(-rc));
	}
	(void)snprintf(path, sizeof(path), "%s/lock", dir);
	*ret_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (*ret_fd < 0) {
		return sl_err_set(err, -errno, "%s: %s", path, strerror(errno));
	}
	if (flock(*ret_fd, LOCK_EX | LOCK_NB) < 0 || !same_file(*ret_fd, path)) {
		close(*ret_fd);
		return sl_err_set(err, -EBUSY,
				  "lab %s: it is being brought up or taken down; see sloglab vm status",
				  strrchr(dir, '/') + 1);
	}
	return 0;
}

/* What an earlier lab left, apart from the lock: its disks are not those of the next. */
static void folder_clear(const char *path)
{
	char entry_path[SL_LAB_PATH_MAX + NAME_MAX];
	DIR *dir = opendir(path);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    strcmp(entry->d_name, "lock") != 0) {
			(void)snprintf(entry_path, sizeof(entry_path), "%s/%s", path, entry->d_name);
			sl_tree_remove(entry_path);
		}
	}
	if (dir) {
		(void)closedir(dir);
	}
}

/* Inside: process 1 */

struct host {
	const struct sl_lab_plan *plan;
	int progress; /* -1 once the lab is up */
	char nbd[SL_LAB_PATH_MAX], disks_control[SL_LAB_PATH_MAX], disks_dir[SL_LAB_PATH_MAX];
	struct sl_process disks;
	struct sl_serving serving;
	struct sl_lab *lab;
};

/* Whoever started us has gone away before the lab was up: nobody waits for it. */
static bool abandoned_fd(int fd)
{
	struct pollfd end = {.fd = fd};

	return poll(&end, 1, 0) > 0 && (end.revents & (POLLERR | POLLHUP)) != 0;
}

/* sl_lab_config.stopped has no argument; the descriptor has a fixed number in this process. */
#define PROGRESS_FD 3

static bool abandoned(void)
{
	return sl_signals_stopped() || abandoned_fd(PROGRESS_FD);
}

static void progress_say(void *arg, const char *what)
{
	struct host *host = arg;

	if (host->progress >= 0) {
		dprintf(host->progress, "%s\n", what);
	}
}

static int disks_main(void *arg)
{
	const struct host *host = arg;
	const struct sl_lab_plan *plan = host->plan;
	struct sl_disks_disk list[SL_DISKS_MAX];
	struct sl_disks_config config = {.disks = list,
					 .n_disks = plan->n_disks,
					 .dir = host->disks_dir,
					 .socket = host->nbd,
					 .control = host->disks_control,
					 .dilate = plan->dilate,
					 .credit_cap_ns = SL_SERVING_CREDIT_NS,
					 .seed = 1};
	char off[] = "latency off", none[8];
	struct sl_serving serving;
	struct sl_disks *disks = NULL;
	struct sl_err err = {0};
	int rc = sl_serving_init(&serving, &err);

	for (int i = 0; i < plan->n_disks; i++) {
		list[i] = (struct sl_disks_disk){.name = plan->disks[i].serial, .spec = plan->disks[i].spec};
	}
	config.loop = serving.loop;
	rc = rc < 0 ? rc : sl_disks_new(&config, &disks, &err);
	rc = rc < 0 ? rc : sl_disks_command(disks, off, none, sizeof(none), &err);
	rc = rc < 0 ? rc : sl_loop_run(serving.loop, &err);
	if (rc < 0) {
		dprintf(STDERR_FILENO, "%s\n", err.msg);
	}
	(void)sl_disks_free(disks, NULL);
	sl_serving_fini(&serving);
	return rc < 0;
}

static bool disks_answer(void *arg)
{
	const struct host *host = arg;
	char reply[SL_CONTROL_REPLY_MAX];

	return sl_control_ask(host->disks_control, "status", reply, sizeof(reply), NULL) == 0;
}

static int disks_up(struct host *host, struct sl_err *err)
{
	char log[SL_LAB_PATH_MAX];
	const struct sl_process_spec spec = {.name = "disk server",
					     .main = disks_main,
					     .arg = host,
					     .log = log,
					     .priority = SL_PRIORITY_REALTIME};
	const struct sl_patience patience = {.timeout_ms = READY_MS, .stopped = abandoned};
	int rc;

	progress_say(host, "disks");
	(void)snprintf(log, sizeof(log), "%s/disks.log", host->plan->dir);
	rc = sl_process_start(&spec, &host->disks, err);
	return rc < 0 ? rc : sl_process_ready(&host->disks, disks_answer, host, &patience, err);
}

static int command(void *arg, char *line, char *reply, size_t size, struct sl_err *err)
{
	struct host *host = arg;
	const struct sl_lab_control control = {.lab = host->lab,
					       .plan = host->plan,
					       .loop = host->serving.loop,
					       .disks_control = host->disks_control};

	return sl_lab_command(&control, line, reply, size, err);
}

static int host_serve(struct host *host, struct sl_err *err)
{
	char path[SL_LAB_PATH_MAX];
	struct sl_control *control = NULL;
	int rc = sl_serving_init(&host->serving, err);

	(void)snprintf(path, sizeof(path), "%s/control.sock", host->plan->dir);
	if (rc == 0) {
		rc = sl_control_new(host->serving.loop, path, command, host, &control, err);
	}
	if (rc == 0) {
		progress_say(host, "up");
		/* The number stays taken, by what never hangs up: abandoned() goes on looking at it. */
		(void)dup3(STDIN_FILENO, PROGRESS_FD, O_CLOEXEC);
		host->progress = -1;
		rc = sl_loop_run(host->serving.loop, err);
	}
	sl_control_free(control);
	sl_serving_fini(&host->serving);
	return rc;
}

static int host_main(const struct sl_lab_plan *plan)
{
	struct host host = {.plan = plan, .progress = PROGRESS_FD};
	struct sl_lab_config config = sl_lab_plan_config(plan, host.nbd);
	struct sl_err err = {0};
	int rc;

	(void)snprintf(host.disks_control, sizeof(host.disks_control), "%s/disks.sock", plan->dir);
	(void)snprintf(host.disks_dir, sizeof(host.disks_dir), "%s/disks", plan->dir);
	config.progress = progress_say;
	config.stopped = abandoned;
	config.arg = &host;
	sl_signals_install();
	rc = disks_up(&host, &err);
	if (rc == 0) {
		rc = sl_lab_up(&config, &host.lab, &err);
	}
	if (rc == 0) {
		rc = host_serve(&host, &err);
	}
	sl_lab_down(host.lab);
	sl_process_stop(&host.disks, SIGTERM, READY_MS);
	if (rc < 0 && host.progress >= 0) {
		dprintf(host.progress, "error %d %s\n", rc, err.msg);
	}
	return rc < 0;
}

/* Namespaces */

/* A copy of `path` with a line more, put in its place for us alone. */
static int line_bind(const char *path, const char *copy, const char *line)
{
	char text[65536];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int64_t n = fd < 0 ? -errno : sl_fd_read(fd, text, (int64_t)(sizeof(text) - strlen(line) - 1));

	if (fd >= 0) {
		close(fd);
	}
	if (n < 0 && n != -ENOENT) {
		return (int)n; /* half a file would be in the whole one's place */
	}
	n = n < 0 ? 0 : n;
	memcpy(text + n, line, strlen(line) + 1);
	return write_text(copy, text) == 0 && mount(copy, path, NULL, MS_BIND, NULL) == 0 ? 0 : -errno;
}

static int driver_user_bind(const char *dir, struct sl_err *err)
{
	char copy[SL_LAB_PATH_MAX], line[200];
	int rc = 0;

	if (!getpwnam(DRIVER_USER)) {
		(void)snprintf(copy, sizeof(copy), "%s/passwd", dir);
		(void)snprintf(line, sizeof(line), DRIVER_USER ":x:%d:%d::/nonexistent:/usr/sbin/nologin\n",
			       DRIVER_ID, DRIVER_ID);
		rc = line_bind("/etc/passwd", copy, line);
	}
	if (rc == 0 && !getgrnam(DRIVER_USER)) {
		(void)snprintf(copy, sizeof(copy), "%s/group", dir);
		(void)snprintf(line, sizeof(line), DRIVER_USER ":x:%d:\n", DRIVER_ID);
		rc = line_bind("/etc/group", copy, line);
	}
	return rc < 0 ? sl_err_set(err, rc, "user " DRIVER_USER " for libvirt: %s", strerror(-rc)) : 0;
}

static int unshared(const char *dir, struct sl_err *err)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) {
		return sl_err_set(err, -errno, "mounts of the lab: %s", strerror(errno));
	}
	/* libvirt keeps something elsewhere whatever its root is: as root in /run, which is not for this
	 * machine to keep; as a user in his cache. */
	if (setenv("XDG_CACHE_HOME", dir, 1) < 0 || setenv("XDG_RUNTIME_DIR", dir, 1) < 0) {
		return sl_err_set(err, -ENOMEM, "lab: out of memory");
	}
	if (strncmp(dir, "/run/", strlen("/run/")) != 0 &&
	    mount("run", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0) {
		return sl_err_set(err, -errno, "/run of the lab: %s", strerror(errno));
	}
	return driver_user_bind(dir, err);
}

/* As a user: all rights in a user namespace, where only our own number means anything. It stays what it is:
 * as number 0, libvirt would want to set the groups of its processes, which nobody may there. */
static int user_namespace(struct sl_err *err)
{
	char map[64];
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (uid == 0) {
		return 0;
	}
	if (unshare(CLONE_NEWUSER) < 0) {
		return sl_err_set(err, -errno, "lab: no user namespace (%s); run as root", strerror(errno));
	}
	(void)snprintf(map, sizeof(map), "%u %u 1\n", uid, uid);
	if (write_text("/proc/self/setgroups", "deny") < 0 || write_text("/proc/self/uid_map", map) < 0) {
		return sl_err_set(err, -errno, "lab: no user namespace (%s); run as root", strerror(errno));
	}
	(void)snprintf(map, sizeof(map), "%u %u 1\n", gid, gid);
	return write_text("/proc/self/gid_map", map) < 0
		   ? sl_err_set(err, -errno, "lab: no user namespace (%s); run as root", strerror(errno))
		   : 0;
}

/* Process 1: buries orphans (libvirt waits until a machine's process is gone), and ends with the host. */
_Noreturn static void first_process(const struct sl_lab_plan *plan)
{
	struct sl_err err = {0};
	int rc = unshared(plan->dir, &err);
	pid_t host = rc < 0 ? -1 : fork();
	int status = 0;
	pid_t ended;

	if (host < 0) {
		dprintf(PROGRESS_FD, "error %d %s\n", rc < 0 ? rc : -errno,
			rc < 0 ? err.msg : "lab: fork failed");
		_exit(1);
	}
	if (host == 0) {
		_exit(host_main(plan));
	}
	close(PROGRESS_FD);
	do {
		ended = wait(&status);
	} while (ended != host && (ended > 0 || errno == EINTR));
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* For `vm down` of a host that does not answer. */
static void pid_write(const char *dir, pid_t pid)
{
	char path[SL_LAB_PATH_MAX], text[24];

	(void)snprintf(path, sizeof(path), "%s/host.pid", dir);
	(void)snprintf(text, sizeof(text), "%d\n", (int)pid);
	(void)write_text(path, text);
}

/* Between us and process 1: moves into the namespaces, tells its number, and goes. */
_Noreturn static void middle_process(const struct sl_lab_plan *plan, int progress, int lock)
{
	struct sl_err err = {0};
	int null = open("/dev/null", O_RDWR);
	int rc;
	pid_t pid;

	(void)setsid();
	sl_signals_reset();
	(void)signal(SIGPIPE, SIG_IGN);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	/* A fixed number, out of the way of the lock. */
	lock = fcntl(lock, F_DUPFD, PROGRESS_FD + 1);
	(void)lock;
	if (progress != PROGRESS_FD) {
		dup2(progress, PROGRESS_FD);
		close(progress);
	}
	(void)fcntl(PROGRESS_FD, F_SETFD, FD_CLOEXEC);
	rc = user_namespace(&err);
	if (rc == 0 && unshare(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID) < 0) {
		rc = sl_err_set(&err, -errno, "lab: no namespaces (%s); run as root", strerror(errno));
	}
	pid = rc < 0 ? -1 : fork();
	if (pid == 0) {
		first_process(plan);
	}
	if (pid < 0) {
		dprintf(PROGRESS_FD, "error %d %s\n", rc < 0 ? rc : -errno,
			rc < 0 ? err.msg : "lab: fork failed");
		_exit(1);
	}
	pid_write(plan->dir, pid);
	dprintf(PROGRESS_FD, "pid %d\n", (int)pid);
	_exit(0);
}

/* Outside */

int sl_lab_host_start(const struct sl_lab_plan *plan, int lock, struct sl_lab_host *ret, struct sl_err *err)
{
	int ends[2];
	pid_t middle;

	*ret = (struct sl_lab_host){.progress = -1};
	folder_clear(plan->dir);
	if (pipe2(ends, O_CLOEXEC) < 0) {
		return sl_err_set(err, -errno, "pipe: %s", strerror(errno));
	}
	middle = fork();
	if (middle == 0) {
		close(ends[0]);
		middle_process(plan, ends[1], lock);
	}
	close(ends[1]);
	close(lock);
	if (middle < 0) {
		close(ends[0]);
		return sl_err_set(err, -errno, "fork: %s", strerror(errno));
	}
	while (waitpid(middle, NULL, 0) < 0 && errno == EINTR) {
	}
	ret->progress = ends[0];
	return 0;
}

/* One line of the host: 1 = up, 0 = go on, else its error. */
static int line_take(struct sl_lab_host *host, char *line, void (*said)(void *arg, const char *what),
		     void *arg, struct sl_err *err)
{
	char *text;

	if (strncmp(line, "pid ", 4) == 0) {
		host->pid = (pid_t)strtol(line + 4, NULL, 10);
		return 0;
	}
	if (strncmp(line, "error ", 6) == 0) {
		int code = (int)strtol(line + 6, &text, 10);

		return sl_err_set(err, code < 0 ? code : -EIO, "%s", text + (*text == ' '));
	}
	if (strcmp(line, "up") == 0) {
		return 1;
	}
	said(arg, line);
	return 0;
}

/* A signal that comes between two looks at the pipe interrupts nothing: so it is asked for again and again.
 * `in` has no buffer. False = stopped. */
static bool line_comes(FILE *in, bool (*stopped)(void))
{
	struct pollfd there = {.fd = fileno(in), .events = POLLIN};

	while (!stopped()) {
		if (poll(&there, 1, LINE_MS) > 0) {
			return true;
		}
	}
	return false;
}

static int host_read(struct sl_lab_host *host, FILE *in, void (*said)(void *arg, const char *what), void *arg,
		     bool (*stopped)(void), struct sl_err *err)
{
	char line[600];
	int rc = 0;

	while (rc == 0) {
		if (!line_comes(in, stopped) || !fgets(line, sizeof(line), in)) {
			return stopped()
				   ? sl_err_set(err, -EINTR, "interrupted")
				   : sl_err_set(err, -EPIPE, "lab: its process died; run sloglab vm down");
		}
		line[strcspn(line, "\n")] = '\0';
		rc = line_take(host, line, said, arg, err);
	}
	return rc;
}

/* Closing its pipe told the host to take all down; the kernel does when it does not. */
static void host_end(const struct sl_lab_host *host)
{
	for (int waited = 0; host->pid > 0 && kill(host->pid, 0) == 0; waited += 100) {
		if (waited >= STOP_MS) {
			kill(host->pid, SIGKILL);
			return;
		}
		(void)poll(NULL, 0, 100);
	}
}

int sl_lab_host_wait(struct sl_lab_host *host, void (*said)(void *arg, const char *what), void *arg,
		     bool (*stopped)(void), struct sl_err *err)
{
	FILE *in = fdopen(host->progress, "re");
	int rc;

	if (in) {
		(void)setvbuf(in, NULL, _IONBF, 0);
	}
	rc = in ? host_read(host, in, said, arg, stopped, err) : sl_err_set(err, -ENOMEM, "out of memory");
	if (in) {
		(void)fclose(in);
	}
	if (rc < 0) {
		host_end(host);
		return rc;
	}
	return 0;
}
