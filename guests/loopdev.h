/* A loop device that goes away with its last user. */
#ifndef SL_GUESTS_LOOPDEV_H
#define SL_GUESTS_LOOPDEV_H

#include <limits.h>

#include "sim/base/err.h"

struct sl_loopdev {
	char path[PATH_MAX]; /* node of the device, in the folder given; "" = none */
	int fd;              /* keeps it until it is mounted */
};

/* Sets a free loop device up over `file`, past the page cache, and makes a node for it in `dir`. It is
 * released by the kernel when nobody has it open or mounted any more. -EACCES, -ENOENT: no loop devices, with
 * the remedy. */
int sl_loopdev_attach(const char *file, const char *dir, struct sl_loopdev *ret, struct sl_err *err);
/* Gives up our hold: after mount(), or on the way down. A no-op on a zeroed struct. */
void sl_loopdev_release(struct sl_loopdev *loop);

#endif
