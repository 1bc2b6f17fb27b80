/* A file that appears whole or not at all: written under a temporary name beside it, renamed at the end. */
#ifndef SL_BASE_OUTFILE_H
#define SL_BASE_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

#include "sim/base/err.h"

struct sl_outfile {
	FILE *file;       /* write here; NULL when closed */
	char *path, *tmp; /* owned; tmp is NULL for devices and pipes, which are written in place */
	bool passing;     /* replaced again soon: not worth a wait for the disk. For the owner to set */
};

/* Opens `path` for writing; what was there stays until sl_outfile_commit. -EISDIR, -ENOENT, -EACCES, -ENOMEM
 * ... with a message that names the path. */
int sl_outfile_open(struct sl_outfile *out, const char *path, struct sl_err *err);

/* Flushes and puts the file in its place. On failure (disk full, ...) nothing new is left behind. Ends `out`.
 */
int sl_outfile_commit(struct sl_outfile *out, struct sl_err *err);

/* For whoever could not write all of it: forgets what was written and returns `code`. Where the stream has
 * failed (disk full, ...), the message becomes one that names the file, which its writer does not know. */
int sl_outfile_abort(struct sl_outfile *out, int code, struct sl_err *err);

/* Forgets what was written. A no-op after a commit and on a zeroed struct. */
void sl_outfile_discard(struct sl_outfile *out);

#endif
