/*
 * File: "SLWLOG1\n", the number of disks (32 bits), for each disk name length (16 bits), name, size (64),
 * unit (32), keeps (8), flush ignored (8); then records: magic (32), kind (8), FUA (8), disk (16), mark (64),
 * offset (64), bytes (64), hash of the data (64), and for a write its data. All numbers big-endian.
 */
#include "sim/disks/writelog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/disks/writelog_file.h"
#include "sim/nbd/bytes.h"

#define LOG_BUFFER (1u << 20)

struct sl_writelog {
	FILE *file;
	char *buffer;
	uint64_t count;
	int error;
	bool ended;
};

uint64_t sl_writelog_hash(const uint8_t *bytes, int64_t size)
{
	uint64_t hash = 0xcbf29ce484222325u;
	int64_t i = 0;

	/* FNV-1a over words, for speed; the tail by bytes. */
	for (; i + 8 <= size; i += 8) {
		hash = (hash ^ sl_nbd_get64(bytes + i)) * 0x100000001b3u;
		hash ^= hash >> 29;
	}
	for (; i < size; i++) {
		hash = (hash ^ bytes[i]) * 0x100000001b3u;
	}
	return hash;
}

static void put(struct sl_writelog *log, const void *bytes, size_t size)
{
	if (log->error == 0 && size > 0 && fwrite(bytes, size, 1, log->file) != 1) {
		log->error = errno ? -errno : -EIO;
	}
}

static void put_disk(struct sl_writelog *log, const struct sl_writelog_disk *disk)
{
	uint8_t head[16];
	uint32_t length = (uint32_t)strnlen(disk->name, SL_WRITELOG_NAME_MAX - 1);

	(void)sl_nbd_put16(head, length);
	put(log, head, 2);
	put(log, disk->name, length);
	sl_nbd_put32(sl_nbd_put64(head, (uint64_t)disk->size_bytes), (uint32_t)disk->unit_bytes);
	head[12] = disk->keeps;
	head[13] = disk->flush_ignored;
	put(log, head, SL_WRITELOG_DISK_BYTES);
}

int sl_writelog_create(const char *path, const struct sl_writelog_disk *disks, int n_disks,
		       struct sl_writelog **ret, struct sl_err *err)
{
	struct sl_writelog *log = calloc(1, sizeof(*log));
	uint8_t number[4];
	int code, fd;

	if (!log || (log->buffer = malloc(LOG_BUFFER)) == NULL) {
		free(log);
		return sl_err_set(err, -ENOMEM, "%s: out of memory", path);
	}
	/* It holds what was written: a guest's data, which is nobody else's to read. */
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	log->file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (!log->file) {
		code = -errno;
		if (fd >= 0) {
			(void)close(fd);
		}
		(void)sl_writelog_close(log);
		return sl_err_set(err, code, "%s: cannot write: %s", path, strerror(-code));
	}
	(void)setvbuf(log->file, log->buffer, _IOFBF, LOG_BUFFER);
	put(log, SL_WRITELOG_MAGIC, strlen(SL_WRITELOG_MAGIC));
	(void)sl_nbd_put32(number, (uint32_t)n_disks);
	put(log, number, 4);
	for (int i = 0; i < n_disks; i++) {
		put_disk(log, &disks[i]);
	}
	*ret = log;
	return 0;
}

uint64_t sl_writelog_mark(const struct sl_writelog *log)
{
	return log->count;
}

void sl_writelog_add(struct sl_writelog *log, enum sl_writelog_kind kind, int disk,
		     const struct sl_disk_change *change, const void *buf)
{
	uint8_t head[SL_WRITELOG_RECORD_BYTES];
	uint8_t *at = sl_nbd_put32(head, SL_WRITELOG_RECORD_MAGIC);

	log->count++;
	if (log->ended || log->error) {
		return;
	}
	*at++ = (uint8_t)kind;
	*at++ = change->fua;
	at = sl_nbd_put16(at, (uint32_t)disk);
	at = sl_nbd_put64(at, change->mark);
	at = sl_nbd_put64(at, (uint64_t)change->offset_bytes);
	at = sl_nbd_put64(at, (uint64_t)change->bytes);
	(void)sl_nbd_put64(at, kind == SL_WRITELOG_WRITE ? sl_writelog_hash(buf, change->bytes) : 0);
	put(log, head, sizeof(head));
	if (kind == SL_WRITELOG_WRITE) {
		put(log, buf, (size_t)change->bytes);
	}
	if ((kind == SL_WRITELOG_FLUSH || change->fua) && log->error == 0 && fflush(log->file) != 0) {
		log->error = errno ? -errno : -EIO;
	}
}

void sl_writelog_end(struct sl_writelog *log)
{
	if (!log->ended && log->error == 0 && fflush(log->file) != 0) {
		log->error = errno ? -errno : -EIO;
	}
	log->ended = true;
}

int sl_writelog_error(const struct sl_writelog *log)
{
	return log->error;
}

int sl_writelog_close(struct sl_writelog *log)
{
	int rc;

	if (!log) {
		return 0;
	}
	/* What replays it later must find all of it, or hear of it now. A pipe has no disk. */
	if (log->file && log->error == 0 &&
	    (fflush(log->file) != 0 || (fsync(fileno(log->file)) < 0 && errno != EINVAL))) {
		log->error = errno ? -errno : -EIO;
	}
	if (log->file && fclose(log->file) != 0 && log->error == 0) {
		log->error = errno ? -errno : -EIO;
	}
	rc = log->error;
	free(log->buffer);
	free(log);
	return rc;
}
