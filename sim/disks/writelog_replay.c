/*
 * The offline half: the log is read twice. First to find out what is stable at the cut: a write with FUA,
 * every acknowledged write of a disk that keeps them, and what had completed when the last acknowledged flush
 * arrived. Then to apply, in order: stable writes whole, the others unit by unit as the seed's coin falls.
 * Writes that were in service at the cut (completed later, arrived before) are among the others.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/outfile.h"
#include "sim/base/rng.h"
#include "sim/disks/disk_cache.h"
#include "sim/disks/disk_file.h"
#include "sim/disks/writelog.h"
#include "sim/disks/writelog_file.h"
#include "sim/nbd/bytes.h"

#define BYTES_MAX (1ll << 32) /* of one record: NBD's lengths have 32 bits */
#define COPY_BYTES 65536

struct record {
	uint64_t seq, mark;
	enum sl_writelog_kind kind;
	int disk;
	bool fua;
	int64_t offset_bytes, bytes;
	uint64_t hash;
};

struct reader {
	const char *path;
	FILE *file;
	int64_t first_at, at; /* of the first record; of the present one */
	int n_disks, want;
	struct sl_writelog_disk disk; /* the one that is wanted */
	uint64_t seq;
	uint8_t *data; /* of the present write */
	int64_t data_size;
	struct sl_err *err;
};

/* Why take() gave nothing: 0 when the log ends there. A log that cannot be read is no shorter one. */
static int take_error(const struct reader *r)
{
	int code = errno != 0 ? -errno : -EIO;

	return ferror(r->file) ? sl_err_set(r->err, code, "%s: cannot read: %s", r->path, strerror(-code))
			       : 0;
}

static int damaged(const struct reader *r, const char *what)
{
	int rc = take_error(r);

	return rc ? rc
		  : sl_err_set(r->err, -EINVAL, "%s: byte %lld: %s; not a write log, or damaged", r->path,
			       (long long)r->at, what);
}

static bool take(struct reader *r, void *buf, size_t bytes)
{
	return bytes == 0 || fread(buf, bytes, 1, r->file) == 1;
}

static int read_disk(struct reader *r, int i, const char *want)
{
	struct sl_writelog_disk disk = {0};
	uint8_t head[SL_WRITELOG_DISK_BYTES];
	uint32_t length;

	if (!take(r, head, 2) || (length = sl_nbd_get16(head)) >= SL_WRITELOG_NAME_MAX ||
	    !take(r, disk.name, length) || !take(r, head, sizeof(head))) {
		return damaged(r, "bad list of disks");
	}
	disk.size_bytes = (int64_t)sl_nbd_get64(head);
	disk.unit_bytes = (int32_t)sl_nbd_get32(head + 8);
	disk.keeps = head[12] != 0;
	disk.flush_ignored = head[13] != 0;
	if (disk.size_bytes <= 0 ||
	    (disk.unit_bytes != SL_CACHE_SECTOR && disk.unit_bytes != SL_CACHE_PAGE)) {
		return damaged(r, "bad size of a disk");
	}
	if (strcmp(disk.name, want) == 0) {
		r->want = i;
		r->disk = disk;
	}
	return 0;
}

static int read_head(struct reader *r, const char *want)
{
	uint8_t head[12];
	int rc = 0;

	r->want = -1;
	if (!take(r, head, sizeof(head)) || memcmp(head, SL_WRITELOG_MAGIC, 8) != 0) {
		return damaged(r, "no magic number");
	}
	r->n_disks = (int)sl_nbd_get32(head + 8);
	if (r->n_disks < 1 || r->n_disks > SL_WRITELOG_DISKS_MAX) {
		return damaged(r, "bad number of disks");
	}
	for (int i = 0; i < r->n_disks && rc == 0; i++) {
		rc = read_disk(r, i, want);
	}
	if (rc == 0 && r->want < 0) {
		return sl_err_set(r->err, -ENOENT,
				  "%s: disk \"%.60s\" is not in the log; name one that was served", r->path,
				  want);
	}
	r->first_at = ftell(r->file);
	r->at = r->first_at;
	return rc;
}

static int read_data(struct reader *r, const struct record *record)
{
	if (record->bytes > r->data_size) {
		uint8_t *grown = realloc(r->data, (size_t)record->bytes);

		if (!grown) {
			return sl_err_set(r->err, -ENOMEM, "%s: out of memory", r->path);
		}
		r->data = grown;
		r->data_size = record->bytes;
	}
	if (!take(r, r->data, (size_t)record->bytes)) {
		return take_error(r);
	}
	if (sl_writelog_hash(r->data, record->bytes) != record->hash) {
		return damaged(r, "data does not match its hash");
	}
	return 1;
}

/* 1 = a record is there, 0 = the log ends, negative = damaged. */
static int read_record(struct reader *r, struct record *ret)
{
	uint8_t head[SL_WRITELOG_RECORD_BYTES];
	int rc = 1;

	r->at = ftell(r->file);
	if (!take(r, head, sizeof(head))) {
		return take_error(r);
	}
	*ret = (struct record){.seq = ++r->seq,
			       .mark = sl_nbd_get64(head + 8),
			       .kind = (enum sl_writelog_kind)head[4],
			       .disk = sl_nbd_get16(head + 6),
			       .fua = head[5] != 0,
			       .offset_bytes = (int64_t)sl_nbd_get64(head + 16),
			       .bytes = (int64_t)sl_nbd_get64(head + 24),
			       .hash = sl_nbd_get64(head + 32)};
	if (sl_nbd_get32(head) != SL_WRITELOG_RECORD_MAGIC || head[4] > SL_WRITELOG_FLUSH ||
	    ret->disk >= r->n_disks || ret->mark >= ret->seq || ret->bytes < 0 || ret->bytes > BYTES_MAX ||
	    ret->offset_bytes < 0 ||
	    (ret->disk == r->want && ret->offset_bytes > r->disk.size_bytes - ret->bytes)) {
		return damaged(r, "bad record");
	}
	if (ret->kind == SL_WRITELOG_WRITE) {
		rc = read_data(r, ret);
	}
	return rc;
}

static int rewind_records(struct reader *r)
{
	r->seq = 0;
	return fseek(r->file, (long)r->first_at, SEEK_SET) == 0 ? 0 : damaged(r, "cannot be read twice");
}

/* Everything up to here is stable by a flush. */
static int stable_find(struct reader *r, uint64_t cut, struct sl_writelog_counts *counts, uint64_t *ret)
{
	struct record record;
	int rc;

	*ret = 0;
	while ((rc = read_record(r, &record)) > 0) {
		counts->records++;
		if (record.disk == r->want && record.kind == SL_WRITELOG_FLUSH && record.seq <= cut) {
			counts->flushes++;
			*ret = r->disk.flush_ignored || record.mark < *ret ? *ret : record.mark;
		}
	}
	return rc;
}

static int apply_piece(const struct record *record, const uint8_t *data, int fd, int64_t from, int64_t to)
{
	if (fd < 0) {
		return 0;
	}
	return data ? sl_disk_pwrite(fd, data + (from - record->offset_bytes), to - from, from)
		    : sl_disk_punch(fd, from, to - from, false);
}

static int apply_loose(const struct record *record, const uint8_t *data, int fd, int unit, struct sl_rng *rng,
		       struct sl_writelog_counts *counts)
{
	int64_t end = record->offset_bytes + record->bytes;
	int rc = 0;

	assert(unit > 0);
	for (int64_t at = record->offset_bytes, next; at < end && rc == 0; at = next) {
		next = (at / unit + 1) * unit;
		next = next < end ? next : end;
		if (sl_rng_u64(rng) >> 63) {
			counts->kept_units++;
			rc = apply_piece(record, data, fd, at, next);
		} else {
			counts->lost_units++;
		}
	}
	return rc;
}

static int apply(struct reader *r, const struct sl_writelog_cut *cut, int fd,
		 struct sl_writelog_counts *counts)
{
	struct sl_rng rng;
	struct record record;
	uint64_t stable;
	int rc = stable_find(r, cut->at, counts, &stable);

	if (rc == 0) {
		rc = rewind_records(r);
	}
	sl_rng_init(&rng, cut->seed, "writelog");
	while (rc >= 0 && (rc = read_record(r, &record)) > 0) {
		bool acked = record.seq <= cut->at;
		const uint8_t *data = record.kind == SL_WRITELOG_WRITE ? r->data : NULL;

		if (record.disk != r->want || record.kind == SL_WRITELOG_FLUSH ||
		    (!acked && record.mark >= cut->at)) {
			continue;
		}
		counts->writes++;
		if (acked && (record.fua || r->disk.keeps || record.seq <= stable)) {
			counts->stable++;
			rc = apply_piece(&record, data, fd, record.offset_bytes,
					 record.offset_bytes + record.bytes);
		} else {
			counts->loose++;
			rc = apply_loose(&record, data, fd, r->disk.unit_bytes, &rng, counts);
		}
		if (rc < 0) {
			return sl_err_set(r->err, rc, "%s: cannot write: %s", cut->image, strerror(-rc));
		}
	}
	return rc;
}

/* Copies what is not zero. */
static int copy_base(const char *path, int to, int64_t size, struct sl_err *err)
{
	static const uint8_t zeroes[COPY_BYTES];
	uint8_t *buf = malloc(COPY_BYTES);
	int from = open(path, O_RDONLY | O_CLOEXEC);
	int rc = from < 0 ? -errno : buf ? 0 : -ENOMEM;

	for (int64_t at = 0; rc == 0 && at < size; at += COPY_BYTES) {
		int64_t piece = size - at < COPY_BYTES ? size - at : COPY_BYTES;

		rc = sl_disk_pread(from, buf, piece, at);
		if (rc == 0 && memcmp(buf, zeroes, (size_t)piece) != 0) {
			rc = sl_disk_pwrite(to, buf, piece, at);
		}
	}
	if (from >= 0) {
		close(from);
	}
	free(buf);
	return rc < 0 ? sl_err_set(err, rc, "%s: cannot be copied: %s", path, strerror(-rc)) : 0;
}

/* A new image beside the old one, which stays until the new one is whole. */
static int image_open(const struct sl_writelog_cut *cut, int64_t size, struct sl_outfile *ret,
		      struct sl_err *err)
{
	mode_t mask = umask(077); /* a guest's whole disk: nobody else's to read */
	int rc = sl_outfile_open(ret, cut->image, err);

	(void)umask(mask);
	if (rc < 0) {
		return rc;
	}
	if (ftruncate(fileno(ret->file), size) < 0) {
		return sl_err_set(err, -errno, "%s: cannot write: %s", cut->image, strerror(errno));
	}
	return cut->base ? copy_base(cut->base, fileno(ret->file), size, err) : 0;
}

int sl_writelog_replay(const struct sl_writelog_cut *cut, struct sl_writelog_counts *ret, struct sl_err *err)
{
	struct reader r = {.path = cut->path, .file = fopen(cut->path, "re"), .err = err};
	struct sl_outfile out = {0};
	int rc;

	*ret = (struct sl_writelog_counts){0};
	if (!r.file) {
		rc = -errno;
		return sl_err_set(err, rc, "%s: cannot read: %s", cut->path, strerror(-rc));
	}
	rc = read_head(&r, cut->disk);
	if (rc == 0 && cut->image) {
		rc = image_open(cut, r.disk.size_bytes, &out, err);
	}
	if (rc == 0) {
		rc = apply(&r, cut, out.file ? fileno(out.file) : -1, ret);
	}
	if (rc == 0 && out.file) {
		rc = sl_outfile_commit(&out, err);
	}
	sl_outfile_discard(&out);
	(void)fclose(r.file);
	free(r.data);
	return rc;
}
