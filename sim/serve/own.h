/*
 * May files in a folder be trusted? Whoever can write to it can put links where a server, perhaps as root,
 * makes its files.
 */
#ifndef SL_SERVE_OWN_H
#define SL_SERVE_OWN_H

#include "sim/base/err.h"

/* The folder open as `fd`, reached by `path`: it must be this user's or root's and writable by nobody else,
 * and so must `path` where that is a symbolic link. 0, or -EPERM with the remedy, or another negative errno.
 * The message does not name `path`. */
int sl_own_folder(int fd, const char *path, struct sl_err *err);

#endif
