/*
 * Files in data/ that no name leads to. A kill explains some: the journal says that they were removed, or a
 * file was made and its name was not. Those go. All others are somebody's data (the journal is an older one,
 * or damaged): they are put aside, never deleted.
 */
#ifndef SL_DATASTORE_ORPHANS_H
#define SL_DATASTORE_ORPHANS_H

#include "sim/base/err.h"
#include "sim/datastore/names.h"

#define SL_LOST_FOUND "lost+found"

/* May a store without a journal start here? -EINVAL (with the remedy): data/ holds files, so the journal that
 * named them is missing. `datafd` is data/. */
int sl_orphans_none(int datafd, struct sl_err *err);
/* What a kill explains is unlinked; the rest is moved to data/lost+found and said to names->notice. Their
 * numbers are never given out again. 0 or negative errno. */
int sl_orphans_clear(int datafd, struct sl_names *names, struct sl_err *err);
/* Opens data/lost+found, made when missing: a descriptor or a negative errno. */
int sl_lost_found_open(int datafd);
/* Moves `name` of fromfd to data/lost+found, under its own name or NAME.1, NAME.2, ... 0 or negative errno.
 */
int sl_quarantine(int datafd, int fromfd, const char *name);

#endif
