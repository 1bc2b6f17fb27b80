/*
 * The metadata journal of a durable tree: an append-only file of checksummed records. A record is in the
 * kernel when sl_journal_append returns, so it survives kill -9 of the process. A record cut by a kill is
 * dropped at the next open; any other damage is an error, never a silent loss of names.
 */
#ifndef SL_DATASTORE_JOURNAL_H
#define SL_DATASTORE_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"
#include "sim/datastore/record.h"

/* Zero-initialise with fd = -1; release with sl_journal_close. */
struct sl_journal {
	int fd;
	uint64_t end_bytes;  /* where the next record goes */
	uint32_t last_bytes; /* of the record before it, when this process has appended it */
	uint64_t records;
	uint64_t room_bytes; /* up to where the file has room on the disk; 0 = unknown */
	bool no_reserve;     /* the host's file system cannot keep any */
	uint64_t torn_bytes; /* cut off its end when it was opened: a record whose call was never answered */
	bool no_empty_files; /* of a format that made a file's data at its first use only */
	bool unsynced;       /* records that sl_journal_sync has not seen */
	int broken;          /* what it failed with: which records are on the disk is unknown since */
};

/* `done` of `total` bytes are behind this record. */
typedef int sl_journal_fn(void *arg, const struct sl_meta *meta, uint64_t done, uint64_t total);

/* Creates the file `name` in dirfd, in the place of what has that name. 0 or negative errno. */
int sl_journal_create(struct sl_journal *journal, int dirfd, const char *name, struct sl_err *err);
/* Reads the whole file; *ret is to be freed. 0 or negative errno. */
int sl_journal_load(int fd, uint8_t **ret, uint64_t *ret_size);
#define SL_JOURNAL_HEAD_BYTES 16 /* before the first record */
/* Where the records of a journal begin, or a negative errno: -EINVAL (not one, or its head is damaged),
 * -ENOTSUP (another version's). *ret_no_empty_files as in struct sl_journal. */
int sl_journal_head(const uint8_t *bytes, uint64_t size, struct sl_err *err, bool *ret_no_empty_files);
/* Opens `name` and calls fn for each record in order; a torn last record is cut off. -ENOENT when missing
 * (err untouched), -EINVAL for a foreign or damaged file, -ENOTSUP for one of another version, or what fn
 * returned. */
int sl_journal_open(struct sl_journal *journal, int dirfd, const char *name, sl_journal_fn *fn, void *arg,
		    struct sl_err *err);
/* Keeps room on the disk for removals to come, as far as the disk has it. */
void sl_journal_reserve(struct sl_journal *journal);
/* 0 or negative errno; on failure the journal is as before. On a full disk (-ENOSPC) names can still be
 * removed and, a while longer, moved. */
int sl_journal_append(struct sl_journal *journal, const struct sl_meta *meta);
/* The same with the bytes of several records, of what is to be a new journal. */
int sl_journal_append_bytes(struct sl_journal *journal, uint8_t *bytes, uint32_t size, uint32_t records);
/* Takes back the record that was appended last, which nobody has synced or heard of yet. */
void sl_journal_undo(struct sl_journal *journal);
/* All records are on the host's disk when it returns 0. After a failure it fails for good: the kernel reports
 * a lost page once only. */
int sl_journal_sync(struct sl_journal *journal);
/* Puts the records on the host's disk and gives the file its final name. When it returns 0 this *is* the
 * journal, whatever fails behind; a negative errno: `to` is still what it was. */
int sl_journal_rename(struct sl_journal *journal, int dirfd, const char *from, const char *to);
/* The same without the host's disk, for what need not survive a crash of the host. */
int sl_journal_rename_only(int dirfd, const char *from, const char *to);
/* Makes the names in dirfd durable. Until it has returned 0, a crash of the host may bring back the file that
 * had the name before: so after a failure sl_journal_sync fails for good too. 0 or negative errno. */
int sl_journal_settle_name(struct sl_journal *journal, int dirfd);
void sl_journal_close(struct sl_journal *journal);

#endif
