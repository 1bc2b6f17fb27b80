/* What the parts of an examination share: fsck.c (what lies in the folder), fsck_tree.c (names out of
 * records that do not fit), fsck_mend.c (the repair). */
#ifndef SL_DATASTORE_FSCK_INNER_H
#define SL_DATASTORE_FSCK_INNER_H

#include "sim/datastore/filedata.h"
#include "sim/datastore/folder.h"
#include "sim/datastore/fsck.h"
#include "sim/datastore/names.h"

#define SL_TREE_LOST_FOUND "lost+found"

/* An inode and whether its file is in data/. */
struct sl_fsck_file {
	struct sl_inode base;
	bool there;
};

/* A file that no name leads to. */
struct sl_stray {
	char name[64]; /* in data/, or in data/lost+found */
	bool aside;
	uint64_t number; /* what it gets */
};

struct sl_fsck {
	const struct sl_fsck_options *options;
	struct sl_fsck_found found;
	struct sl_folder folder; /* datafd < 0: data/ is missing; lockfd < 0: so is lock */
	struct sl_names names;
	uint8_t *bytes; /* of the journal; NULL: there is none */
	uint64_t size;
	uint32_t misfits;
	bool records_lost;   /* the journal has gaps: what it does not name may be anything */
	bool no_empty_files; /* of a format that made a file's data at its first use only */
	bool key_bad;
	struct sl_stray *strays;
	size_t stray_count, stray_size;
	char (*odd)[SL_FILEDATA_NAME_BYTES]; /* in data/, and no regular files */
	size_t odd_count;
};

void sl_fsck_say(struct sl_fsck *fsck, enum sl_fsck_word word, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static inline struct sl_fsck_file *sl_fsck_file_of(struct sl_inode *inode)
{
	return sl_container_of(inode, struct sl_fsck_file, base);
}

/* One record, however little it fits: folders and files that it speaks of and that are not there are made. 0
 * or -ENOMEM. */
int sl_fsck_apply(struct sl_fsck *fsck, const struct sl_meta *meta, uint64_t at);
/* Drops names without contents, and names strays and what has none below /lost+found. 0 or negative errno. */
int sl_fsck_tree_mend(struct sl_fsck *fsck);
/* Does in the folder what was said. 0 or negative errno. */
int sl_fsck_write(struct sl_fsck *fsck, struct sl_err *err);

#endif
