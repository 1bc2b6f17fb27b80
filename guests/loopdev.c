#include "guests/loopdev.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <linux/major.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define LOOP_TRIES 16 /* others may take the free device that was found */

/* Device `number`, by a node of our own: /dev may not have one. */
static int node_open(int number, const char *dir, struct sl_loopdev *ret)
{
	if (snprintf(ret->path, sizeof(ret->path), "%s/loop%d", dir, number) >= (int)sizeof(ret->path)) {
		return -ENAMETOOLONG;
	}
	if (mknod(ret->path, S_IFBLK | 0600, makedev(LOOP_MAJOR, number)) < 0 && errno != EEXIST) {
		return -errno;
	}
	ret->fd = open(ret->path, O_RDWR | O_CLOEXEC);
	return ret->fd < 0 ? -errno : 0;
}

static int try_attach(int control, int backing, const char *dir, struct sl_loopdev *ret)
{
	struct loop_config config = {.fd = (__u32)backing,
				     .info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO};
	int number = ioctl(control, LOOP_CTL_GET_FREE);
	int rc = number < 0 ? -errno : node_open(number, dir, ret);

	if (rc == 0 && ioctl(ret->fd, LOOP_CONFIGURE, &config) < 0) {
		rc = -errno;
		close(ret->fd);
	}
	if (rc < 0 && ret->path[0] != '\0') {
		unlink(ret->path);
		ret->path[0] = '\0';
	}
	return rc;
}

int sl_loopdev_attach(const char *file, const char *dir, struct sl_loopdev *ret, struct sl_err *err)
{
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
	int backing = -1, rc;

	*ret = (struct sl_loopdev){.fd = -1};
	if (control < 0) {
		return sl_err_set(err, -errno, "/dev/loop-control: %s; modprobe loop, and run as root",
				  strerror(errno));
	}
	backing = open(file, O_RDWR | O_CLOEXEC);
	rc = backing < 0 ? -errno : -EBUSY;
	for (int i = 0; rc == -EBUSY && i < LOOP_TRIES; i++) {
		rc = try_attach(control, backing, dir, ret);
	}
	if (backing >= 0) {
		close(backing);
	}
	close(control);
	return rc == 0 ? 0
		       : sl_err_set(err, rc, "loop device over %.200s: %s; see sloglab doctor", file,
				    strerror(-rc));
}

void sl_loopdev_release(struct sl_loopdev *loop)
{
	if (loop->path[0] != '\0') {
		close(loop->fd);
		unlink(loop->path);
		loop->path[0] = '\0';
	}
}
