/*
 * The metadata journal of a durable tree: an append-only file of checksummed records. A record is in the
 * kernel when sl_journal_append returns, so it survives kill -9 of the process. A record cut by a kill is
 * dropped at the next open; damage anywhere else is an error, never a silent loss of names.
 */
#ifndef SL_SERVE_JOURNAL_H
#define SL_SERVE_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

enum sl_meta_kind {
	SL_META_INODE = 1,  /* snapshot of an inode with one of its names */
	SL_META_NAME = 2,   /* snapshot of a further name: ino, parent, name, cookie */
	SL_META_CREATE = 3, /* as INODE, and the parent's times become ctime_ns */
	SL_META_LINK = 4,   /* as NAME, and the times of parent and inode become ctime_ns */
	SL_META_UNLINK = 5, /* parent, name: gone, and the inode too when it was its last name */
	SL_META_RENAME = 6, /* from_parent, from -> parent, name, cookie; what had the name is unlinked */
	SL_META_ATTR = 7,   /* ino, mode, uid, gid, times */
	SL_META_NEXT = 8    /* ino: lowest number never given out */
};

/* One record. Inode numbers and cookies come from one sequence that never repeats. */
struct sl_meta {
	enum sl_meta_kind kind;
	uint8_t type; /* enum sl_ftype */
	uint32_t mode, uid, gid;
	uint64_t ino, generation, parent, cookie, from_parent;
	int64_t atime_ns, mtime_ns, ctime_ns;
	char name[256], from[256];
};

/* Zero-initialise with fd = -1; release with sl_journal_close. */
struct sl_journal {
	int fd;
	uint64_t end_bytes; /* where the next record goes */
	uint64_t records;
	bool unsynced; /* records that sl_journal_sync has not seen */
	int broken;    /* what it failed with: which records are on the disk is unknown since */
};

/* `done` of `total` bytes are behind this record. */
typedef int sl_journal_fn(void *arg, const struct sl_meta *meta, uint64_t done, uint64_t total);

/* Creates the file `name` in dirfd, in the place of what has that name. 0 or negative errno. */
int sl_journal_create(struct sl_journal *journal, int dirfd, const char *name, struct sl_err *err);
/* Opens `name` and calls fn for each record in order; a torn last record is cut off. -ENOENT when missing
 * (err untouched), -EINVAL for a foreign or damaged file, -ENOTSUP for one of another version, or what fn
 * returned. */
int sl_journal_open(struct sl_journal *journal, int dirfd, const char *name, sl_journal_fn *fn, void *arg,
		    struct sl_err *err);
/* 0 or negative errno; on failure the journal is as before. */
int sl_journal_append(struct sl_journal *journal, const struct sl_meta *meta);
/* All records are on the host's disk when it returns 0. After a failure it fails for good: the kernel reports
 * a lost page once only. */
int sl_journal_sync(struct sl_journal *journal);
/* Puts the records on the host's disk and gives the file its final name. When it returns 0 this *is* the
 * journal, whatever fails behind; a negative errno: `to` is still what it was. */
int sl_journal_rename(struct sl_journal *journal, int dirfd, const char *from, const char *to);
/* Makes the names in dirfd durable. Until it has returned 0, a crash of the host may bring back the file that
 * had the name before: so after a failure sl_journal_sync fails for good too. 0 or negative errno. */
int sl_journal_settle_name(struct sl_journal *journal, int dirfd);
void sl_journal_close(struct sl_journal *journal);

#endif
