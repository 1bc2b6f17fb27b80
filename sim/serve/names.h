/* The durable names of a tree: inodes in memory, every change first in the journal. */
#ifndef SL_SERVE_NAMES_H
#define SL_SERVE_NAMES_H

#include "sim/serve/inodes.h"
#include "sim/serve/journal.h"

#define SL_NAMES_MAX (1u << 20) /* inodes: what bounds the memory of a tree */

struct sl_names {
	int dirfd; /* borrowed */
	struct sl_inodes inodes;
	struct sl_journal journal;
	uint64_t next_ino; /* never given out so far */
};

/* Replays the journal in dirfd, or starts a new one with a root folder. 0 or negative errno; on failure close
 * too. */
int sl_names_open(struct sl_names *names, int dirfd, struct sl_err *err);
/* Accepts a zeroed object. All inodes' descriptors must be closed. */
void sl_names_close(struct sl_names *names);
/* The record that describes `inode`. */
void sl_names_meta(const struct sl_inode *inode, enum sl_meta_kind kind, struct sl_meta *ret);
/* A change is two steps: log it (0 or negative errno, nothing changed), then apply it (-EINVAL when it does
 * not fit the tree, -ENOMEM). */
int sl_names_log(struct sl_names *names, const struct sl_meta *meta);
int sl_names_apply(struct sl_names *names, const struct sl_meta *meta);
/* Replaces a journal that grew far beyond its tree by a snapshot; should that fail, it just grows on. */
void sl_names_compact(struct sl_names *names);

#endif
