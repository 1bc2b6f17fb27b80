/* The list of acknowledgements, kept where the failure under test does not reach. Internal to loadgen. */
#ifndef SL_LOADGEN_AUDIT_LOG_H
#define SL_LOADGEN_AUDIT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/base/err.h"

struct sl_audit_log {
	int fd;
	bool sync; /* each acknowledgement is on the disk before the next write of its thread */
};

/* Starts a list: a new file, or tcp://HOST:PORT where something (nc -l) writes what it gets to a file.
 * -EEXIST: the file is not empty. */
int sl_audit_log_create(const char *where, uint64_t run, size_t record_bytes, bool sync,
			struct sl_audit_log *ret, struct sl_err *err);
/* From any thread. */
int sl_audit_log_add(const struct sl_audit_log *log, uint64_t number, struct sl_err *err);
/* A no-op on a zeroed struct. */
void sl_audit_log_close(struct sl_audit_log *log);

/* A list that was read: a bit for each number below `count`. */
struct sl_audit_acks {
	uint64_t run;
	size_t record_bytes;
	uint64_t acknowledged, count;
	uint8_t *bits; /* owned */
};

/* Reads a list. A last line without an end is no acknowledgement. -EINVAL: no such list, with the line. */
int sl_audit_acks_read(const char *path, struct sl_audit_acks *ret, struct sl_err *err);
void sl_audit_acks_fini(struct sl_audit_acks *acks);
bool sl_audit_acks_has(const struct sl_audit_acks *acks, uint64_t number);

#endif
