/* The bytes of a durable tree: one sparse file per inode, a bounded set of open descriptors, unstable data
 * above. */
#ifndef SL_DATASTORE_FILEDATA_H
#define SL_DATASTORE_FILEDATA_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/datastore/undo.h"
#include "sim/serve/overlay.h"
#include "sim/store/inodes.h"

/* What a durable tree keeps of a file. The target of a symbolic link is the content of its file. */
struct sl_file {
	struct sl_inode base;
	uint64_t size_bytes; /* with unstable data */
	uint64_t used_bytes; /* what the file occupies on the host */
	int fd;              /* valid while open */
	bool open, dirty;    /* dirty: on the dirty list, the overlay has pages */
	bool named;          /* the file is known to have its name in the folder */
	bool unsynced;       /* on the unsynced list: open, and not all of it is on the host's disk */
	struct sl_file *lru_prev, *lru_next;
	struct sl_file *dirty_prev, *dirty_next;
	struct sl_file *unsynced_prev, *unsynced_next;
	struct sl_overlay overlay;
	struct sl_undo_file undo;
};

/* Zero-initialise, then set dirfd, the bounds and `durable`. Files are borrowed; they leave through
 * sl_filedata_forget. Functions return 0 or a negative errno. */
struct sl_filedata {
	int dirfd; /* borrowed: where the files are */
	uint64_t dirty_max_bytes, dirty_bytes;
	uint64_t capacity_bytes; /* what all files together may occupy; 0 = what the host has */
	uint64_t used_bytes;     /* what they do, without unstable data */
	uint64_t
	    host_left; /* room on the host that unstable data may still count on before it is asked again */
	bool durable;  /* stable data is on the host's disk when sl_filedata_sync has returned 0 */
	bool unsynced_names;  /* of new files in the folder */
	int broken;           /* what a sync failed with */
	struct sl_undo *undo; /* borrowed: what a cut may take from the files; NULL: nothing */
	uint32_t open_count;
	struct sl_file *lru_first, *lru_last;     /* open descriptors, oldest use first */
	struct sl_file *dirty_first, *dirty_last; /* files with unstable data, oldest first */
	struct sl_file *unsynced_first;
};

#define SL_FILEDATA_NAME_BYTES 17 /* 16 hex digits */

/* Name of an inode's file. */
void sl_filedata_name(uint64_t ino, char ret[SL_FILEDATA_NAME_BYTES]);
/* Is `name` that of an inode's file, and of which? */
bool sl_filedata_number(const char *name, uint64_t *ret);
/* Sets size and used bytes (and mtime, when the file is younger than the journal says) from the file.
 * -ENOENT: there is none. */
int sl_filedata_load(struct sl_filedata *data, struct sl_file *file);
/* Makes the empty file of a new inode. */
int sl_filedata_make(struct sl_filedata *data, struct sl_file *file);
int sl_filedata_read(struct sl_filedata *data, struct sl_file *file, uint64_t offset, void *buf,
		     uint32_t bytes, uint32_t *ret_bytes);
/* Stable data is in the file when the call returns; unstable data is in memory, or written early when the
 * bound is reached. -ENOSPC: the host or capacity_bytes; the file is as long as before then. */
int sl_filedata_write(struct sl_filedata *data, struct sl_file *file, uint64_t offset, const void *buf,
		      uint32_t bytes, bool stable);
/* Writes out the unstable data of one file / of all files. */
int sl_filedata_commit(struct sl_filedata *data, struct sl_file *file);
int sl_filedata_commit_all(struct sl_filedata *data);
/* With `durable`: one fdatasync a file covers all that was written to it since the last call. Is there any?
 */
bool sl_filedata_unsynced(const struct sl_filedata *data);
/* With `durable`: new files have their names in the folder for good. Errors as below. */
int sl_filedata_sync_names(struct sl_filedata *data);
/* Errors are for good: the kernel reports a lost page once only. */
int sl_filedata_sync(struct sl_filedata *data);
int sl_filedata_truncate(struct sl_filedata *data, struct sl_file *file, uint64_t size_bytes);
/* What `durable` costs: the median time of a few 4 KiB writes with fdatasync to a file beside the others, ns.
 */
int sl_filedata_sync_cost(struct sl_filedata *data, int64_t *ret_ns);
/* Gives the file the modification time of the inode. */
int sl_filedata_set_mtime(struct sl_filedata *data, struct sl_file *file);
/* Bytes the file occupies, unstable data included. */
uint64_t sl_filedata_used(const struct sl_file *file);
/* A cut of the power takes from the files the writes that is_gone knows (undo.h). Unstable data stays in
 * memory: the caller drops it. */
int sl_filedata_roll_back(struct sl_filedata *data, bool (*is_gone)(void *arg, uint32_t id), void *arg);
/* Has the host room for so many bytes of unstable data? They take none until they are written out, when it is
 * too late to refuse them. */
bool sl_filedata_host_has_room(struct sl_filedata *data, uint32_t bytes);
/* Bytes left of capacity_bytes. */
uint64_t sl_filedata_free(const struct sl_filedata *data);
/* Drops unstable data and closes the descriptor; with `remove_file` the file goes too. */
void sl_filedata_forget(struct sl_filedata *data, struct sl_file *file, bool remove_file);

#endif
