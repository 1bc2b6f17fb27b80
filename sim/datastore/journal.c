#include "sim/datastore/journal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sim/base/fdio.h"
#include "sim/serve/overlay.h"

/* File: 16 bytes of magic, then records (record.h). */
#define JOURNAL_MAGIC_BYTES ((size_t)SL_JOURNAL_HEAD_BYTES)
#define JOURNAL_FAMILY "sloglab-tree/"
#define JOURNAL_MAGIC JOURNAL_FAMILY "4\n"   /* not 3: one flipped bit would make it 2 */
#define JOURNAL_MAGIC_2 JOURNAL_FAMILY "2\n" /* the same records; files got their data at the first use */
/*
 * Room behind the end that the file has already: a disk that others have filled can still be emptied, as ZFS
 * keeps slop for that. A removal takes 100 to 350 bytes, so this is for thousands of them, and each may free
 * more.
 */
#define RESERVE_BYTES (1u << 20)
#define RESERVE_STEP_BYTES (1u << 18)  /* more of it at a time */
#define RESERVE_PIECE_BYTES (1u << 16) /* how closely it is looked for */
#define STORE_CHECK "see `sloglab store check'"
#define JOURNAL_MAX_BYTES (1ull << 31) /* compaction keeps it far below */

int sl_journal_load(int fd, uint8_t **ret, uint64_t *ret_size)
{
	struct stat st;
	uint8_t *bytes;
	int64_t got;

	if (fstat(fd, &st) < 0) {
		return -errno;
	}
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > JOURNAL_MAX_BYTES) {
		return -EINVAL;
	}
	bytes = malloc((size_t)st.st_size + 1);
	if (!bytes) {
		return -ENOMEM;
	}
	got = sl_fd_pread(fd, bytes, st.st_size, 0);
	if (got != st.st_size) {
		free(bytes);
		return got < 0 ? (int)got : -EIO;
	}
	*ret = bytes;
	*ret_size = (uint64_t)got;
	return 0;
}

/* A whole record behind a head that is none: the head is damaged, the rest is ours. */
static bool head_lost(const uint8_t *bytes, uint64_t size)
{
	struct sl_meta meta;

	return size > JOURNAL_MAGIC_BYTES &&
	       sl_record_decode(bytes + JOURNAL_MAGIC_BYTES, size - JOURNAL_MAGIC_BYTES, &meta) > 0;
}

int sl_journal_head(const uint8_t *bytes, uint64_t size, struct sl_err *err, bool *ret_no_empty_files)
{
	size_t family = strlen(JOURNAL_FAMILY);
	bool ours = size >= JOURNAL_MAGIC_BYTES && memcmp(bytes, JOURNAL_FAMILY, family) == 0;

	if (ours && (memcmp(bytes, JOURNAL_MAGIC, JOURNAL_MAGIC_BYTES) == 0 ||
		     memcmp(bytes, JOURNAL_MAGIC_2, JOURNAL_MAGIC_BYTES) == 0)) {
		*ret_no_empty_files = memcmp(bytes, JOURNAL_MAGIC_2, JOURNAL_MAGIC_BYTES) == 0;
		return SL_JOURNAL_HEAD_BYTES;
	}
	if (ours && bytes[family] >= '0' && bytes[family] <= '9' &&
	    memcmp(bytes + family + 1, "\n", 2) == 0) {
		return sl_err_set(
		    err, -ENOTSUP,
		    "made by another version of sloglab (format %c, this one reads %c); use that "
		    "version or choose another folder",
		    bytes[family], JOURNAL_MAGIC[family]);
	}
	if (head_lost(bytes, size)) {
		return sl_err_set(err, -EINVAL, "damaged in its first 16 bytes; " STORE_CHECK);
	}
	return sl_err_set(err, -EINVAL,
			  "not a datastore journal; choose another folder, or " STORE_CHECK " if it was one");
}

/* What lies from `at` on is no record: 0 and cut off, or damage. */
static int tail_take(struct sl_journal *journal, const uint8_t *bytes, uint64_t size, uint64_t at,
		     struct sl_err *err)
{
	uint64_t next = sl_record_next(bytes, size, at);

	if (next < size) {
		return sl_err_set(
		    err, -EINVAL,
		    "damaged at byte %llu of %llu, and what follows from byte %llu on is whole; " STORE_CHECK,
		    (unsigned long long)at, (unsigned long long)size, (unsigned long long)next);
	}
	if (!sl_record_torn(bytes + at, size - at)) {
		return sl_err_set(err, -EINVAL,
				  "damaged at byte %llu of %llu, and no kill explains it; " STORE_CHECK,
				  (unsigned long long)at, (unsigned long long)size);
	}
	if (ftruncate(journal->fd, (off_t)at) < 0) {
		return sl_err_set(err, -errno, "cannot cut the torn tail: %s", strerror(errno));
	}
	journal->torn_bytes = size - at;
	return 0;
}

static int journal_replay(struct sl_journal *journal, const uint8_t *bytes, uint64_t size, sl_journal_fn *fn,
			  void *arg, struct sl_err *err)
{
	struct sl_meta meta = {0};
	int rc = sl_journal_head(bytes, size, err, &journal->no_empty_files);
	uint64_t at = (uint64_t)rc;

	if (rc < 0) {
		return rc;
	}
	rc = 0;
	while (rc == 0 && at < size) {
		uint32_t step = sl_record_decode(bytes + at, size - at, &meta);

		if (step == 0) {
			rc = tail_take(journal, bytes, size, at, err);
			break;
		}
		rc = fn(arg, &meta, at + step, size);
		if (rc) {
			return sl_err_set(
			    err, rc, "record at byte %llu does not fit those before it: %s; " STORE_CHECK,
			    (unsigned long long)at, strerror(-rc));
		}
		at += step;
		journal->records++;
	}
	journal->end_bytes = at;
	return rc;
}

int sl_journal_create(struct sl_journal *journal, int dirfd, const char *name, struct sl_err *err)
{
	struct iovec iov = {.iov_len = JOURNAL_MAGIC_BYTES};
	char magic[JOURNAL_MAGIC_BYTES] = JOURNAL_MAGIC;
	int rc;

	iov.iov_base = magic;
	/* A new file in any case: what lies there may be a link to somewhere else. */
	(void)unlinkat(dirfd, name, 0);
	journal->fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (journal->fd < 0) {
		return sl_err_set(err, -errno, "%s: cannot create: %s", name, strerror(errno));
	}
	journal->records = 0;
	journal->end_bytes = JOURNAL_MAGIC_BYTES;
	rc = sl_pwrite_all(journal->fd, &iov, 1, 0);
	if (rc) {
		sl_journal_close(journal);
		return sl_err_set(err, rc, "%s: cannot write: %s", name, strerror(-rc));
	}
	sl_journal_reserve(journal);
	return 0;
}

int sl_journal_open(struct sl_journal *journal, int dirfd, const char *name, sl_journal_fn *fn, void *arg,
		    struct sl_err *err)
{
	uint8_t *bytes = NULL;
	uint64_t size = 0;
	int rc;

	journal->records = 0;
	journal->fd = openat(dirfd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (journal->fd < 0) {
		return errno == ENOENT
			   ? -ENOENT
			   : sl_err_set(err, -errno, "%s: cannot open: %s", name, strerror(errno));
	}
	rc = sl_journal_load(journal->fd, &bytes, &size);
	if (rc) {
		sl_err_set(err, rc, "cannot read: %s", strerror(-rc));
	} else {
		rc = journal_replay(journal, bytes, size, fn, arg, err);
	}
	free(bytes);
	if (rc) {
		sl_journal_close(journal);
		return sl_err_wrap(err, "%s", name);
	}
	sl_journal_reserve(journal);
	return 0;
}

/* How much of the reserve a record must leave: removing uses up the last of it, moving stops before. */
static uint64_t reserve_left(enum sl_meta_kind kind)
{
	/* To cut a file off makes room too. */
	return kind == SL_META_RENAME || kind == SL_META_ATTR ? RESERVE_BYTES / 2 : RESERVE_BYTES;
}

/* Keeps room up to byte `want`, all of which it may have already. */
static bool room_keep(struct sl_journal *journal, uint64_t want)
{
	if (fallocate(journal->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)want) == 0) {
		journal->room_bytes = want;
		return true;
	}
	/* Whatever it is but a full disk: this file system keeps no room. */
	journal->no_reserve = journal->no_reserve || (errno != ENOSPC && errno != EDQUOT);
	return false;
}

/* Keeps the reserve behind the next `bytes`. */
static void reserve_behind(struct sl_journal *journal, uint32_t bytes)
{
	uint64_t least = journal->end_bytes + RESERVE_BYTES + bytes;
	bool known = journal->room_bytes > 0;

	if (journal->no_reserve || journal->room_bytes >= least ||
	    room_keep(journal, least + RESERVE_STEP_BYTES) || known) {
		return;
	}
	/* A full disk, and a file of an earlier server: what it has kept is still there. */
	for (uint64_t less = 0; less < RESERVE_BYTES && !journal->no_reserve; less += RESERVE_PIECE_BYTES) {
		if (room_keep(journal, least - less)) {
			return;
		}
	}
	journal->room_bytes = journal->end_bytes;
}

void sl_journal_reserve(struct sl_journal *journal)
{
	reserve_behind(journal, SL_RECORD_MAX);
}

/* Is there room for records of that kind, whatever the host's disk has? 0 or -ENOSPC. */
static int room_check(struct sl_journal *journal, enum sl_meta_kind kind, uint32_t size)
{
	uint64_t room;

	reserve_behind(journal, size > SL_RECORD_MAX ? size : SL_RECORD_MAX);
	room = journal->room_bytes > journal->end_bytes ? journal->room_bytes - journal->end_bytes : 0;
	return journal->no_reserve || kind == SL_META_UNLINK || room >= size + reserve_left(kind) ? 0
												  : -ENOSPC;
}

/* Writes at the end what is `records` whole records. */
static int bytes_append(struct sl_journal *journal, uint8_t *bytes, uint32_t size, uint32_t records)
{
	struct iovec iov = {.iov_base = bytes, .iov_len = size};
	int rc = sl_pwrite_all(journal->fd, &iov, 1, journal->end_bytes);

	if (rc) {
		journal->room_bytes = 0; /* ftruncate gives it back */
		/* Half a record would look like damage once another one follows it. Should this fail too, the
		 * next append overwrites the place. */
		return ftruncate(journal->fd, (off_t)journal->end_bytes) < 0 ? -EIO : rc;
	}
	journal->end_bytes += size;
	journal->last_bytes = records == 1 ? size : 0;
	journal->records += records;
	journal->unsynced = true;
	return 0;
}

int sl_journal_append(struct sl_journal *journal, const struct sl_meta *meta)
{
	uint8_t buf[SL_RECORD_MAX];
	uint32_t size = sl_record_encode(meta, buf);
	int rc = room_check(journal, meta->kind, size);

	return rc ? rc : bytes_append(journal, buf, size, 1);
}

int sl_journal_append_bytes(struct sl_journal *journal, uint8_t *bytes, uint32_t size, uint32_t records)
{
	int rc = room_check(journal, SL_META_INODE, size);

	return rc ? rc : bytes_append(journal, bytes, size, records);
}

void sl_journal_undo(struct sl_journal *journal)
{
	assert(journal->last_bytes > 0);
	journal->end_bytes -= journal->last_bytes;
	journal->last_bytes = 0;
	journal->records--;
	journal->room_bytes = 0;
	/* Where this fails the next append overwrites the place, as above. */
	(void)!ftruncate(journal->fd, (off_t)journal->end_bytes);
}

int sl_journal_sync(struct sl_journal *journal)
{
	if (journal->unsynced && journal->broken == 0 && fdatasync(journal->fd) < 0) {
		journal->broken = -errno;
	}
	journal->unsynced = journal->unsynced && journal->broken != 0;
	return journal->broken;
}

int sl_journal_rename(struct sl_journal *journal, int dirfd, const char *from, const char *to)
{
	if (fdatasync(journal->fd) < 0 || renameat(dirfd, from, dirfd, to) < 0) {
		return -errno;
	}
	journal->unsynced = false;
	return 0;
}

int sl_journal_rename_only(int dirfd, const char *from, const char *to)
{
	return renameat(dirfd, from, dirfd, to) < 0 ? -errno : 0;
}

int sl_journal_settle_name(struct sl_journal *journal, int dirfd)
{
	if (journal->broken == 0 && fsync(dirfd) < 0) {
		journal->broken = -errno;
	}
	return journal->broken;
}

void sl_journal_close(struct sl_journal *journal)
{
	if (journal->fd >= 0) {
		close(journal->fd);
	}
	journal->fd = -1;
}
