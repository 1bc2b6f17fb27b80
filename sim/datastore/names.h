/* The durable names of a tree: inodes in memory, every change first in the journal. */
#ifndef SL_DATASTORE_NAMES_H
#define SL_DATASTORE_NAMES_H

#include "sim/datastore/journal.h"
#include "sim/datastore/notice.h"
#include "sim/store/inodes.h"

#define SL_NAMES_START_RECORDS 2u /* of a journal that names nothing yet: the numbers, the root */
#define SL_NAMES_MAX (1u << 20)   /* names: what bounds the memory of a tree */

struct sl_compaction;

struct sl_names {
	int dirfd; /* borrowed */
	struct sl_inodes inodes;
	struct sl_journal journal;
	uint64_t next_number; /* of inodes and cookies: never given out so far */
	/* Called now and then while the journal is replayed; may be NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
	const struct sl_notice *notice;   /* borrowed; may be NULL */
	uint64_t compact_next;            /* records, after a snapshot that failed */
	struct sl_compaction *compaction; /* of the journal, while a thread is at it; else NULL */
	bool durable;                     /* on the host's disk too, before anybody hears of a change */
	bool started;                     /* there was no journal: sl_names_open has made one */
	uint64_t *removed;                /* inodes that lost their last name in the journal that was read */
	size_t removed_count, removed_size;
	bool removed_sorted;
};

/* Set dirfd, progress and notice, zero the rest. Replays the journal in dirfd, or starts a new one with a
 * root folder. Inodes are of `inode_bytes` (inodes.h). 0 or negative errno; on failure close too. */
int sl_names_open(struct sl_names *names, size_t inode_bytes, struct sl_err *err);
/* Accepts a zeroed object. */
void sl_names_close(struct sl_names *names);
/* The path of a name; of one that is too long, its end. */
void sl_names_path(const struct sl_entry *entry, char *ret, size_t size);
/* The record that describes `inode`, without a name. */
void sl_names_meta(const struct sl_inode *inode, enum sl_meta_kind kind, struct sl_meta *ret);
/* A change is two steps: log it (0 or negative errno, nothing changed), then apply it (-EINVAL when it does
 * not fit the tree, -ENOMEM). An inode that lost its last name stays in *ret_gone for its owner to forget and
 * drop; else *ret_gone is NULL. */
int sl_names_log(struct sl_names *names, const struct sl_meta *meta);
int sl_names_apply(struct sl_names *names, const struct sl_meta *meta, struct sl_inode **ret_gone);
/* Did the journal that sl_names_open has read take the last name of `ino`? Then a kill explains a file that
 * is still there. Until sl_names_forget_removed. */
int sl_names_removed_add(struct sl_names *names, uint64_t ino); /* 0 or -ENOMEM */
bool sl_names_removed(struct sl_names *names, uint64_t ino);
void sl_names_forget_removed(struct sl_names *names);
/* Never gives out `number` or one below it, across restarts too. 0 or negative errno. */
int sl_names_reserve(struct sl_names *names, uint64_t number);
/* Writes the present state as a new journal and puts it in the place of the old one, which stays on failure.
 * 0 or negative errno. Where only the new name could not be made durable it returns 0, says so, and
 * sl_journal_sync fails from then on. */
int sl_names_snapshot(struct sl_names *names, struct sl_err *err);
/* One record of a journal that is read: applies it, and drops what lost its last name. 0 or negative errno.
 */
int sl_names_replay(struct sl_names *names, const struct sl_meta *meta);
/* Writes the present state to `fresh`, a journal without records. `cancelled` is asked now and then; NULL:
 * never. 0, -ECANCELED or another negative errno. */
int sl_names_write(struct sl_names *names, struct sl_journal *fresh, bool (*cancelled)(void *arg), void *arg);
/* Replaces a journal that grew far beyond its tree by a snapshot; should that fail, it just grows on. With
 * many names a thread writes it (compact.h), and a later call puts it in place. All records must be final. */
void sl_names_compact(struct sl_names *names);

#endif
