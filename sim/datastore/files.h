/*
 * The durable tree of DESIGN section 5: one sparse file per inode, one metadata journal; unstable data in
 * memory up to a bound, then written early. What the datastore needs of it beside the store seam is here too.
 */
#ifndef SL_DATASTORE_FILES_H
#define SL_DATASTORE_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"
#include "sim/datastore/notice.h"
#include "sim/datastore/undo.h"
#include "sim/store/tree.h"

struct sl_files_options {
	const char *dir;          /* created when missing */
	uint64_t dirty_max_bytes; /* UNSTABLE data kept in memory */
	uint64_t capacity_bytes;  /* size of the modelled pool; 0 = what the host has */
	bool host_durable;        /* stable means on the host's disk once settle() has returned 0 */
	struct sl_undo *undo; /* borrowed; what a cut may take from the files is kept there; NULL: nothing */
	/* Told now and then while a journal is replayed (bytes); may be NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
	struct sl_notice notice; /* told what was found and done while it opened, and what fails later */
};

/* How often the host's disk was waited for, and how long altogether. */
struct sl_files_syncs {
	uint64_t count;
	int64_t time_ns;
};

/* One owner at a time: -EBUSY. -ENOTSUP: made by another version. Free through ops->free, which drops
 * unstable data as a kill would: sync_all before, to keep it. */
int sl_files_open(const struct sl_files_options *options, struct sl_tree **ret, struct sl_err *err);

/* The 16 random bytes that were drawn when the folder was made. `tree` is one of sl_files_open. */
void sl_files_key(struct sl_tree *tree, uint8_t ret[16]);
/* The first error by which the host's disk has failed, which was told as a notice; 0: none. */
int sl_files_failure(struct sl_tree *tree);
/* As sl_filedata_roll_back. */
int sl_files_roll_back(struct sl_tree *tree, bool (*is_gone)(void *arg, uint32_t id), void *arg);
struct sl_files_syncs sl_files_syncs(struct sl_tree *tree);
/* As sl_filedata_sync_cost. */
int sl_files_sync_cost(struct sl_tree *tree, int64_t *ret_ns);

#endif
