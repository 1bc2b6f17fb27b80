/*
 * A journal that has grown far beyond its tree is written anew beside it by a thread, which shares nothing
 * with the server but the old file: it reads what that held when it began, replays it into a tree of its own,
 * and writes that out. What has been appended since is copied behind. Clients wait for the last piece of that
 * only.
 */
#ifndef SL_DATASTORE_COMPACT_H
#define SL_DATASTORE_COMPACT_H

#include "sim/datastore/journal.h"

#define SL_COMPACT_NEW "journal.new" /* the name of the new file until it is the journal */

struct sl_compaction;

/* Begins. All records of `journal` must be final. `dirfd` is borrowed and holds the new file. 0 or negative
 * errno. */
int sl_compaction_start(int dirfd, const struct sl_journal *journal, struct sl_compaction **ret);
/*
 * 0: not yet, go on appending to `journal`, whose records are final now. 1: *ret has all of its records, on
 * the disk but for the last piece (sl_journal_rename puts that there too), and is the caller's; negative
 * errno: it failed, and the new file is gone. In both cases the compaction is freed.
 */
int sl_compaction_poll(struct sl_compaction *compaction, const struct sl_journal *journal,
		       struct sl_journal *ret);
/* Gives up; waits for the thread, which stops soon. Accepts NULL. */
void sl_compaction_free(struct sl_compaction *compaction);

#endif
