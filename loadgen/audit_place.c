#include "loadgen/audit_place.h"

#include <errno.h>
#include <stdlib.h>

#define CHUNK_BYTES (1u << 20)

int sl_audit_place_open(const struct sl_audit_target *target, bool make, uint64_t run,
			struct sl_audit_place **ret, struct sl_err *err)
{
	if (target->mariadb) {
		return sl_audit_db_open(target, make, run, ret, err);
	}
	if (target->url) {
		return sl_audit_nfs_open(target, make, ret, err);
	}
	return sl_audit_file_open(target->path, make, ret, err);
}

/* What was read in one go. */
struct chunk {
	uint64_t first; /* record at its beginning */
	const uint8_t *buf;
	size_t got, bytes; /* of all, of a record; the last may be cut off by the end of the file */
};

static int chunk_show(const struct chunk *chunk, sl_audit_found_fn found, void *arg, struct sl_err *err)
{
	int rc = 0;

	for (size_t at = 0; at < chunk->got && rc == 0; at += chunk->bytes) {
		size_t left = chunk->got - at;

		rc = found(arg, chunk->first + at / chunk->bytes, chunk->buf + at,
			   left < chunk->bytes ? left : chunk->bytes, err);
	}
	return rc;
}

int sl_audit_scan_blocks(struct sl_audit_place *place, size_t bytes,
			 int (*read)(struct sl_audit_place *place, uint64_t offset, void *buf, size_t bytes,
				     struct sl_err *err),
			 sl_audit_found_fn found, void *arg, struct sl_err *err)
{
	size_t chunk = CHUNK_BYTES / bytes * bytes;
	uint8_t *buf = malloc(chunk);
	uint64_t offset = 0;
	size_t got;
	int rc = buf ? 0 : sl_err_set(err, -ENOMEM, "out of memory");

	do {
		for (got = 0; rc == 0 && got < chunk;) {
			int n = read(place, offset + got, buf + got, chunk - got, err);

			if (n <= 0) {
				rc = n;
				break;
			}
			got += (size_t)n;
		}
		rc = rc ? rc : chunk_show(&(struct chunk){offset / bytes, buf, got, bytes}, found, arg, err);
		offset += chunk;
	} while (rc == 0 && got == chunk);
	free(buf);
	return rc;
}
