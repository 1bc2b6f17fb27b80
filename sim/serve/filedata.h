/* The bytes of a durable tree: one sparse file per inode, a bounded set of open descriptors, unstable data
 * above. */
#ifndef SL_SERVE_FILEDATA_H
#define SL_SERVE_FILEDATA_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/serve/inodes.h"

/* Zero-initialise, then set dirfd and dirty_max_bytes. Inodes are borrowed; they leave through
 * sl_filedata_forget. Functions return 0 or a negative errno. */
struct sl_filedata {
	int dirfd; /* borrowed: where the files are */
	uint64_t dirty_max_bytes, dirty_bytes;
	uint32_t open_count;
	struct sl_inode *lru_first, *lru_last;     /* open descriptors, oldest use first */
	struct sl_inode *dirty_first, *dirty_last; /* files with unstable data, oldest first */
};

#define SL_FILEDATA_NAME_BYTES 17 /* 16 hex digits */

/* Name of an inode's file. */
void sl_filedata_name(uint64_t ino, char ret[SL_FILEDATA_NAME_BYTES]);
/* Sets size and used bytes (and mtime, when the file is younger than the journal says) from the file. A
 * missing file is an empty one: it is made at the first use. */
int sl_filedata_load(const struct sl_filedata *data, struct sl_inode *inode);
int sl_filedata_read(struct sl_filedata *data, struct sl_inode *inode, uint64_t offset, void *buf,
		     uint32_t bytes, uint32_t *ret_bytes);
/* Stable data is in the file when the call returns; unstable data is in memory, or written early when the
 * bound is reached. */
int sl_filedata_write(struct sl_filedata *data, struct sl_inode *inode, uint64_t offset, const void *buf,
		      uint32_t bytes, bool stable);
/* Writes out the unstable data of one file / of all files. */
int sl_filedata_commit(struct sl_filedata *data, struct sl_inode *inode);
int sl_filedata_commit_all(struct sl_filedata *data);
int sl_filedata_truncate(struct sl_filedata *data, struct sl_inode *inode, uint64_t size_bytes);
/* Gives the file the modification time of the inode. */
int sl_filedata_set_mtime(struct sl_filedata *data, struct sl_inode *inode);
/* Bytes the file occupies. */
uint64_t sl_filedata_used(struct sl_inode *inode);
/* Drops unstable data and closes the descriptor; with `remove_file` the file goes too. */
void sl_filedata_forget(struct sl_filedata *data, struct sl_inode *inode, bool remove_file);

#endif
