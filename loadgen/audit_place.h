/* Where an audit's records go: a file, a file behind NFS, a table of MariaDB. Internal to loadgen. */
#ifndef SL_LOADGEN_AUDIT_PLACE_H
#define SL_LOADGEN_AUDIT_PLACE_H

#include "loadgen/audit.h"

/* One connection or descriptor, used by one thread. */
struct sl_audit_place {
	const struct sl_audit_place_ops *ops;
};

/* Called for what is found where record `number` belongs, in rising order; `got` may be less than a record. 1
 * = enough, the scan ends and returns it too. */
typedef int (*sl_audit_found_fn)(void *arg, uint64_t number, const void *buf, size_t got, struct sl_err *err);

struct sl_audit_place_ops {
	/* Writes record `number`; it is stable when this returns 0. */
	int (*put)(struct sl_audit_place *place, uint64_t number, const void *buf, size_t bytes,
		   struct sl_err *err);
	/* Shows all records of the run that are there; others may be shown too. */
	int (*scan)(struct sl_audit_place *place, uint64_t run, size_t bytes, sl_audit_found_fn found,
		    void *arg, struct sl_err *err);
	/* From another thread: a wait inside put ends soon. */
	void (*abort)(struct sl_audit_place *place);
	void (*close)(struct sl_audit_place *place);
};

/* Opens what the target says. With `make`, it is made when missing, and -EEXIST says that it holds something
 * that is no audit's. `run` is the run whose records are written. */
int sl_audit_place_open(const struct sl_audit_target *target, bool make, uint64_t run,
			struct sl_audit_place **ret, struct sl_err *err);

/* Of each kind. */
int sl_audit_file_open(const char *path, bool make, struct sl_audit_place **ret, struct sl_err *err);
int sl_audit_nfs_open(const struct sl_audit_target *target, bool make, struct sl_audit_place **ret,
		      struct sl_err *err);
int sl_audit_db_open(const struct sl_audit_target *target, bool make, uint64_t run,
		     struct sl_audit_place **ret, struct sl_err *err);

/* A scan of something that is read in pieces: `read` returns the bytes it got, 0 at the end. */
int sl_audit_scan_blocks(struct sl_audit_place *place, size_t bytes,
			 int (*read)(struct sl_audit_place *place, uint64_t offset, void *buf, size_t bytes,
				     struct sl_err *err),
			 sl_audit_found_fn found, void *arg, struct sl_err *err);

#endif
