#include "sim/serve/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sim/serve/overlay.h"

/*
 * File: 16 bytes of magic, then records: u32 payload length, u32 CRC-32C of length and payload, payload. All
 * little-endian. Payload: kind, type, lengths of both names; mode, uid, gid; ino, generation, parent, cookie,
 * from_parent; three times; both names.
 */
#define JOURNAL_MAGIC_BYTES 16u
#define JOURNAL_FAMILY "sloglab-tree/"
#define JOURNAL_MAGIC JOURNAL_FAMILY "2\n"
#define RECORD_HEAD 8u
#define META_FIXED 80u
#define RECORD_MAX (RECORD_HEAD + META_FIXED + 2 * 255u)
#define JOURNAL_MAX_BYTES (1ull << 31) /* compaction keeps it far below */

static uint32_t crc32c(uint32_t crc, const uint8_t *bytes, size_t size)
{
	crc = ~crc;
	for (size_t i = 0; i < size; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++) {
			crc = (crc >> 1) ^ (0x82f63b78u & (0u - (crc & 1u)));
		}
	}
	return ~crc;
}

static uint8_t *put(uint8_t *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++) {
		at[i] = (uint8_t)(value >> (8 * i));
	}
	return at + bytes;
}

static uint64_t take(const uint8_t **at, unsigned bytes)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < bytes; i++) {
		value |= (uint64_t)(*at)[i] << (8 * i);
	}
	*at += bytes;
	return value;
}

/* Returns the size of the record in buf (RECORD_MAX bytes). */
static uint32_t record_encode(const struct sl_meta *meta, uint8_t *buf)
{
	uint32_t name_len = (uint32_t)strlen(meta->name);
	uint32_t from_len = (uint32_t)strlen(meta->from);
	uint32_t payload = META_FIXED + name_len + from_len;
	uint8_t *at = buf + RECORD_HEAD;

	at = put(at, meta->kind, 1);
	at = put(at, meta->type, 1);
	at = put(at, name_len, 1);
	at = put(at, from_len, 1);
	at = put(at, meta->mode, 4);
	at = put(at, meta->uid, 4);
	at = put(at, meta->gid, 4);
	at = put(at, meta->ino, 8);
	at = put(at, meta->generation, 8);
	at = put(at, meta->parent, 8);
	at = put(at, meta->cookie, 8);
	at = put(at, meta->from_parent, 8);
	at = put(at, (uint64_t)meta->atime_ns, 8);
	at = put(at, (uint64_t)meta->mtime_ns, 8);
	at = put(at, (uint64_t)meta->ctime_ns, 8);
	memcpy(at, meta->name, name_len);
	memcpy(at + name_len, meta->from, from_len);
	put(buf, payload, 4);
	put(buf + 4, crc32c(crc32c(0, buf, 4), buf + RECORD_HEAD, payload), 4);
	return RECORD_HEAD + payload;
}

/* The size of the record at `at`, or 0 when it is cut short or damaged. */
static uint32_t record_decode(const uint8_t *at, uint64_t left, struct sl_meta *ret)
{
	const uint8_t *from = at;
	uint32_t payload, crc, name_len, from_len;

	if (left < RECORD_HEAD + META_FIXED) {
		return 0;
	}
	payload = (uint32_t)take(&from, 4);
	crc = (uint32_t)take(&from, 4);
	if (payload < META_FIXED || payload > RECORD_MAX - RECORD_HEAD || payload > left - RECORD_HEAD ||
	    crc != crc32c(crc32c(0, at, 4), from, payload)) {
		return 0;
	}
	ret->kind = (enum sl_meta_kind)take(&from, 1);
	ret->type = (uint8_t)take(&from, 1);
	name_len = (uint32_t)take(&from, 1);
	from_len = (uint32_t)take(&from, 1);
	ret->mode = (uint32_t)take(&from, 4);
	ret->uid = (uint32_t)take(&from, 4);
	ret->gid = (uint32_t)take(&from, 4);
	ret->ino = take(&from, 8);
	ret->generation = take(&from, 8);
	ret->parent = take(&from, 8);
	ret->cookie = take(&from, 8);
	ret->from_parent = take(&from, 8);
	ret->atime_ns = (int64_t)take(&from, 8);
	ret->mtime_ns = (int64_t)take(&from, 8);
	ret->ctime_ns = (int64_t)take(&from, 8);
	if (name_len + from_len != payload - META_FIXED) {
		return 0;
	}
	memcpy(ret->name, from, name_len);
	ret->name[name_len] = '\0';
	memcpy(ret->from, from + name_len, from_len);
	ret->from[from_len] = '\0';
	return RECORD_HEAD + payload;
}

/* Reads the whole file; *ret is to be freed. */
static int file_load(int fd, uint8_t **ret, uint64_t *ret_size)
{
	struct stat st;
	uint8_t *bytes;
	uint64_t size = 0;

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
	while (size < (uint64_t)st.st_size) {
		ssize_t got = pread(fd, bytes + size, (size_t)st.st_size - size, (off_t)size);

		if (got <= 0) {
			free(bytes);
			return got < 0 ? -errno : -EIO;
		}
		size += (uint64_t)got;
	}
	*ret = bytes;
	*ret_size = size;
	return 0;
}

/* Ours, and of this version? */
static int magic_check(const uint8_t *bytes, uint64_t size, struct sl_err *err)
{
	size_t family = strlen(JOURNAL_FAMILY);

	if (size < JOURNAL_MAGIC_BYTES || memcmp(bytes, JOURNAL_FAMILY, family) != 0) {
		return sl_err_set(err, -EINVAL, "not a datastore journal; choose another folder");
	}
	if (memcmp(bytes, JOURNAL_MAGIC, JOURNAL_MAGIC_BYTES) != 0) {
		return sl_err_set(
		    err, -ENOTSUP,
		    "made by another version of sloglab (format %c, this one reads %c); use that "
		    "version or choose another folder",
		    bytes[family] >= ' ' && bytes[family] < 127 ? bytes[family] : '?', JOURNAL_MAGIC[family]);
	}
	return 0;
}

static int journal_replay(struct sl_journal *journal, const uint8_t *bytes, uint64_t size, sl_journal_fn *fn,
			  void *arg, struct sl_err *err)
{
	struct sl_meta meta = {0};
	uint64_t at = JOURNAL_MAGIC_BYTES;
	int rc = magic_check(bytes, size, err);

	if (rc) {
		return rc;
	}
	while (at < size) {
		uint32_t step = record_decode(bytes + at, size - at, &meta);

		if (step == 0) {
			break;
		}
		rc = fn(arg, &meta, at + step, size);
		if (rc) {
			return sl_err_set(err, rc, "record at byte %llu: %s; restore the folder from a copy",
					  (unsigned long long)at, strerror(-rc));
		}
		at += step;
		journal->records++;
	}
	/* A kill tears at most the record that was being written. */
	if (size - at >= RECORD_MAX) {
		return sl_err_set(err, -EINVAL,
				  "damaged at byte %llu of %llu; restore the folder from a copy",
				  (unsigned long long)at, (unsigned long long)size);
	}
	journal->end_bytes = at;
	if (at < size && ftruncate(journal->fd, (off_t)at) < 0) {
		return sl_err_set(err, -errno, "cannot cut the torn tail: %s", strerror(errno));
	}
	return 0;
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
	rc = file_load(journal->fd, &bytes, &size);
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
	return 0;
}

int sl_journal_append(struct sl_journal *journal, const struct sl_meta *meta)
{
	uint8_t buf[RECORD_MAX];
	struct iovec iov = {.iov_base = buf};
	uint32_t size = record_encode(meta, buf);
	int rc;

	iov.iov_len = size;
	rc = sl_pwrite_all(journal->fd, &iov, 1, journal->end_bytes);
	if (rc) {
		/* Half a record would look like damage once another one follows it. Should this fail too, the
		 * next append overwrites the place. */
		return ftruncate(journal->fd, (off_t)journal->end_bytes) < 0 ? -EIO : rc;
	}
	journal->end_bytes += size;
	journal->records++;
	journal->unsynced = true;
	return 0;
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
