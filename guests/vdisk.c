#include "guests/vdisk.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/fdio.h"

#define TOOL_MS 120000
#define START_MS 30000
#define WARM_MS 600000
#define READ_BYTES 1048576
#define WALK_DEPTH 8
#define STOP_MS 20000 /* it has to flush what the guest did not */

static bool fits(int length, size_t size)
{
	return length >= 0 && (size_t)length < size;
}

static void log_path(const struct sl_vdisk *disk, const char *name, char ret[PATH_MAX])
{
	if (!fits(snprintf(ret, PATH_MAX, "%s/%s.log", disk->dir, name), PATH_MAX)) {
		ret[0] = '\0';
	}
}

static int wait_for(const struct sl_vdisk *disk, const struct sl_process_spec *spec, int timeout_ms,
		    struct sl_err *err)
{
	struct sl_patience patience = disk->patience;

	patience.timeout_ms = timeout_ms;
	return sl_process_run(spec, &patience, err);
}

static int tool_run(const struct sl_vdisk *disk, const char *name, const char *const *argv,
		    struct sl_err *err)
{
	struct sl_process_spec spec = {.name = name, .argv = argv};
	char log[PATH_MAX];

	log_path(disk, name, log);
	spec.log = log;
	return wait_for(disk, &spec, TOOL_MS, err);
}

int sl_vdisk_create(const struct sl_vdisk *disk, uint64_t bytes, struct sl_err *err)
{
	char url[256], size[32];
	const char *const argv[] = {"qemu-img", "create", "-q", "-f", "raw", url, size, NULL};

	(void)snprintf(url, sizeof(url), "nfs://%s%s", disk->host, disk->path);
	(void)snprintf(size, sizeof(size), "%llu", (unsigned long long)bytes);
	return tool_run(disk, "qemu-img", argv, err);
}

/* Daemon */

/* The daemon writes its number there once everything is exported. */
static bool daemon_ready(void *arg)
{
	return access(arg, F_OK) == 0;
}

static int daemon_start(struct sl_vdisk *disk, const char *pidfile, struct sl_err *err)
{
	char net[PATH_MAX], export[PATH_MAX + 96], log[PATH_MAX];
	const char *const argv[] = {"qemu-storage-daemon",
				    "--blockdev",
				    net,
				    "--blockdev",
				    "driver=raw,node-name=disk,file=net",
				    "--export",
				    export,
				    "--pidfile",
				    pidfile,
				    NULL};
	const struct sl_process_spec spec = {
	    .name = "qemu-storage-daemon", .argv = argv, .log = log, .priority = SL_PRIORITY_REALTIME};

	log_path(disk, "qemu-storage-daemon", log);
	if (!fits(snprintf(net, sizeof(net),
			   "driver=nfs,node-name=net,server.type=inet,server.host=%s,path=%s,cache.direct=on",
			   disk->host, disk->path),
		  sizeof(net)) ||
	    !fits(snprintf(export, sizeof(export),
			   "type=fuse,id=disk,node-name=disk,mountpoint=%s,writable=on,allow-other=off",
			   disk->file),
		  sizeof(export))) {
		return sl_err_set(err, -ENAMETOOLONG, "%.100s: path too long; set TMPDIR", disk->dir);
	}
	return sl_process_start(&spec, &disk->daemon, err);
}

/* Also when it did not come up: killed, it leaves its mount behind, and the folder could not be removed. */
static void daemon_down(void *self)
{
	struct sl_vdisk *disk = self;

	sl_process_stop(&disk->daemon, SIGTERM, STOP_MS);
	(void)umount2(disk->file, MNT_DETACH | UMOUNT_NOFOLLOW);
}

static int daemon_up(void *self, struct sl_err *err)
{
	struct sl_vdisk *disk = self;
	struct sl_patience patience = disk->patience;
	char pidfile[PATH_MAX];
	int fd, rc;

	if (!fits(snprintf(disk->file, sizeof(disk->file), "%s/disk", disk->dir), sizeof(disk->file)) ||
	    !fits(snprintf(pidfile, sizeof(pidfile), "%s/daemon.pid", disk->dir), sizeof(pidfile))) {
		return sl_err_set(err, -ENAMETOOLONG, "%.100s: path too long; set TMPDIR", disk->dir);
	}
	unlink(pidfile);
	/* The mount point of a FUSE export is a file. */
	fd = open(disk->file, O_CREAT | O_CLOEXEC | O_RDWR, 0600);
	if (fd < 0) {
		return sl_err_set(err, -errno, "%.200s: %s", disk->file, strerror(errno));
	}
	close(fd);
	patience.timeout_ms = START_MS;
	rc = daemon_start(disk, pidfile, err);
	if (rc == 0) {
		rc = sl_process_ready(&disk->daemon, daemon_ready, pidfile, &patience, err);
	}
	if (rc < 0) {
		daemon_down(disk);
	}
	return rc;
}

static int daemon_check(void *self, struct sl_err *err)
{
	return sl_process_check(&((struct sl_vdisk *)self)->daemon, err);
}

/* Loop device */

static int loop_up(void *self, struct sl_err *err)
{
	struct sl_vdisk *disk = self;

	return sl_loopdev_attach(disk->file, disk->dir, &disk->loop, err);
}

static void loop_down(void *self)
{
	sl_loopdev_release(&((struct sl_vdisk *)self)->loop);
}

/* File system */

/* Nothing of it is made in the background later, where it would be measured. */
static int file_system_make(struct sl_vdisk *disk, struct sl_err *err)
{
	const char *const argv[] = {
	    "mkfs.ext4",     "-q", "-F", "-E", "nodiscard,lazy_itable_init=1,lazy_journal_init=1",
	    disk->loop.path, NULL};

	return tool_run(disk, "mkfs.ext4", argv, err);
}

/* In a child, as everything that has to wait for the disk: should nothing answer, we can still give up. */
static int mount_main(void *arg)
{
	const struct sl_vdisk *disk = arg;

	if (mount(disk->loop.path, disk->mount, "ext4", MS_RELATIME, "noinit_itable") < 0) {
		dprintf(STDERR_FILENO, "ext4 on the virtual disk: %s\n", strerror(errno));
		return 1;
	}
	return 0;
}

static int unmount_main(void *arg)
{
	return umount2(((struct sl_vdisk *)arg)->mount, UMOUNT_NOFOLLOW) < 0;
}

static int child_run(struct sl_vdisk *disk, const char *name, int (*body)(void *arg), int timeout_ms,
		     struct sl_err *err)
{
	struct sl_process_spec spec = {.name = name, .main = body, .arg = disk};
	char log[PATH_MAX];

	log_path(disk, name, log);
	spec.log = log;
	return wait_for(disk, &spec, timeout_ms, err);
}

static int mount_up(void *self, struct sl_err *err)
{
	struct sl_vdisk *disk = self;
	int rc = disk->format ? file_system_make(disk, err) : 0;

	if (rc < 0) {
		return rc;
	}
	if (!fits(snprintf(disk->mount, sizeof(disk->mount), "%s/mnt", disk->dir), sizeof(disk->mount))) {
		return sl_err_set(err, -ENAMETOOLONG, "%.100s: path too long; set TMPDIR", disk->dir);
	}
	if (mkdir(disk->mount, 0700) < 0 && errno != EEXIST) {
		return sl_err_set(err, -errno, "%.200s: %s", disk->mount, strerror(errno));
	}
	rc = child_run(disk, "mount", mount_main, START_MS, err);
	if (rc < 0) {
		/* A child that was killed may have mounted before it died. */
		(void)umount2(disk->mount, MNT_DETACH | UMOUNT_NOFOLLOW);
	}
	return rc;
}

/* Also when a part below is dead (then what is dirty is lost, as in a power cut) and after Ctrl-C. */
static void mount_down(void *self)
{
	struct sl_vdisk *disk = self;
	struct sl_err ignored = {0};

	disk->patience.stopped = NULL;
	if (child_run(disk, "unmount", unmount_main, STOP_MS, &ignored) < 0) {
		(void)umount2(disk->mount, MNT_DETACH | UMOUNT_NOFOLLOW);
	}
}

void sl_vdisk_abort(struct sl_vdisk *disk)
{
	sl_process_stop(&disk->daemon, SIGKILL, 0);
}

static int read_file(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	static char buf[READ_BYTES]; /* of the child that does this and nothing else */
	int fd = flag == FTW_F ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	(void)st;
	(void)ftw;
	while (fd >= 0 && read(fd, buf, sizeof(buf)) > 0) {
	}
	if (fd >= 0) {
		close(fd);
	}
	return 0;
}

static int rewrite_file(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	static char buf[READ_BYTES]; /* as above */
	int fd = flag == FTW_F ? open(path, O_RDWR | O_CLOEXEC) : -1;
	off_t at = 0;
	int64_t n = 0;
	int rc = 0;

	(void)st;
	(void)ftw;
	while (fd >= 0 && rc == 0 && (n = sl_fd_pread(fd, buf, sizeof(buf), at)) > 0) {
		rc = sl_fd_pwrite(fd, buf, n, at);
		at += n;
	}
	if (fd >= 0 && (n < 0 || rc < 0 || fsync(fd) < 0)) {
		rc = -1;
	}
	if (fd >= 0) {
		close(fd);
	}
	return rc;
}

static int settle_main(void *arg)
{
	return nftw(((struct sl_vdisk *)arg)->mount, rewrite_file, WALK_DEPTH, FTW_PHYS | FTW_MOUNT) < 0;
}

int sl_vdisk_settle(struct sl_vdisk *disk, struct sl_err *err)
{
	return child_run(disk, "rewrite", settle_main, WARM_MS, err);
}

static int warm_main(void *arg)
{
	return nftw(((struct sl_vdisk *)arg)->mount, read_file, WALK_DEPTH, FTW_PHYS | FTW_MOUNT) < 0;
}

int sl_vdisk_warm(struct sl_vdisk *disk, struct sl_err *err)
{
	return child_run(disk, "read", warm_main, WARM_MS, err);
}

void sl_vdisk_parts(struct sl_vdisk *disk, struct sl_chain *chain)
{
	const struct sl_part daemon = {daemon_up, daemon_down, daemon_check, disk};
	const struct sl_part loop = {loop_up, loop_down, NULL, disk};
	const struct sl_part file_system = {mount_up, mount_down, NULL, disk};

	sl_chain_add(chain, &daemon);
	sl_chain_add(chain, &loop);
	sl_chain_add(chain, &file_system);
}
