/* Folders of a running command: locked while it lives, swept by the next run when it was killed. */
#ifndef SL_ENGINE_TEMPDIR_H
#define SL_ENGINE_TEMPDIR_H

#include <limits.h>

#include "sim/base/err.h"

struct sl_tempdir {
	char path[PATH_MAX]; /* "" = none */
	int lock;            /* descriptor that holds the lock; children must not inherit it */
};

/* Where they are made: XDG_RUNTIME_DIR, TMPDIR or /tmp. */
const char *sl_tempdir_base(void);

/* Removes the folders of killed runs of this user, then makes a fresh one, mode 0700. */
int sl_tempdir_make(struct sl_tempdir *ret, struct sl_err *err);

/* Removes the folder with all that is in it. A no-op on a zeroed struct and when called again. */
void sl_tempdir_remove(struct sl_tempdir *dir);

/* Removes a tree; stays on its file system and follows no link. */
void sl_tree_remove(const char *path);

#endif
