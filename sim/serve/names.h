/* The durable names of a tree: inodes in memory, every change first in the journal. */
#ifndef SL_SERVE_NAMES_H
#define SL_SERVE_NAMES_H

#include "sim/serve/journal.h"
#include "sim/store/inodes.h"

#define SL_NAMES_MAX (1u << 20) /* names: what bounds the memory of a tree */

struct sl_names {
	int dirfd; /* borrowed */
	struct sl_inodes inodes;
	struct sl_journal journal;
	uint64_t next_number; /* of inodes and cookies: never given out so far */
	/* Called now and then while the journal is replayed; may be NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
};

/* Set dirfd and progress, zero the rest. Replays the journal in dirfd, or starts a new one with a
 * root folder. Inodes are of `inode_bytes` (inodes.h). 0 or negative errno; on failure close too. */
int sl_names_open(struct sl_names *names, size_t inode_bytes, struct sl_err *err);
/* Accepts a zeroed object. */
void sl_names_close(struct sl_names *names);
/* The record that describes `inode`, without a name. */
void sl_names_meta(const struct sl_inode *inode, enum sl_meta_kind kind, struct sl_meta *ret);
/* A change is two steps: log it (0 or negative errno, nothing changed), then apply it (-EINVAL when it does
 * not fit the tree, -ENOMEM). An inode that lost its last name stays in *ret_gone for its owner to forget and
 * drop; else *ret_gone is NULL. */
int sl_names_log(struct sl_names *names, const struct sl_meta *meta);
int sl_names_apply(struct sl_names *names, const struct sl_meta *meta, struct sl_inode **ret_gone);
/* Replaces a journal that grew far beyond its tree by a snapshot; should that fail, it just grows on. */
void sl_names_compact(struct sl_names *names);

#endif
