/*
 * Does a store keep what it acknowledged? Numbered records are written, each acknowledgement is noted where
 * the failure does not reach, something fails, and then each acknowledged record is looked for.
 */
#ifndef SL_LOADGEN_AUDIT_H
#define SL_LOADGEN_AUDIT_H

#include "loadgen/db.h"
#include "loadgen/load.h"

/* One of the three. */
struct sl_audit_target {
	const char *path; /* a file or block device; each write is O_DSYNC */
	const char *url;  /* nfs://SERVER/EXPORT/FILE; each WRITE is FILE_SYNC */
	bool mariadb;     /* a transaction per record, in the table sloglab_audit of db.database */
	struct sl_db_config db;
	int64_t timeout_ns; /* of each step on NFS; 0 = 30 s */
};

struct sl_audit_config {
	struct sl_audit_target target;
	const char *acks;    /* file, or tcp://HOST:PORT */
	bool acks_sync;      /* fdatasync of the file after each line */
	size_t record_bytes; /* 64 .. 1 MiB, a multiple of 8 */
	uint32_t threads;    /* 1 .. 1024, each with a connection of its own */
	struct sl_load_limits limits;
};

/* Writes records until a limit is reached or the store fails; max_requests counts them. -EEXIST (the list of
 * acknowledgements, or something else where the records would go), ...; `ret` is valid after a failure too.
 */
int sl_audit_run(const struct sl_audit_config *config, struct sl_load_result *ret, struct sl_err *err);

struct sl_audit_verdict {
	uint64_t acknowledged;
	uint64_t lost;       /* acknowledged, but not there as a whole */
	uint64_t torn;       /* of these: something else is there */
	uint64_t extra;      /* there, not acknowledged: allowed */
	uint64_t unfinished; /* a part is there, not acknowledged: allowed */
	uint64_t first_lost; /* when lost > 0 */
};

/* Looks for the records of the list `acks`. 0 also when some are lost: the verdict says so. */
int sl_audit_verify(const struct sl_audit_target *target, const char *acks, struct sl_audit_verdict *ret,
		    struct sl_err *err);

#endif
