/* A server under load, reached through libnfs: one connection, asynchronous, driven by the caller. Internal
 * to loadgen. Every wait is bounded in time. */
#ifndef SL_LOADGEN_TARGET_H
#define SL_LOADGEN_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

struct nfsfh;
struct sl_target;

/* An operation in flight, embedded in its owner. `status` is the number of bytes or a negative errno. */
struct sl_target_op {
	void (*done)(struct sl_target_op *self, int status, const void *data);
	struct sl_target *target;
};

/*
 * Connects to nfs://SERVER/EXPORT/FILE[?nfsport=N&mountport=N...]. With `folder` the whole path is the
 * export. -EINVAL (not such a URL), -ECONNREFUSED, -ETIMEDOUT, -EACCES, -EIO ...: the message names the URL.
 */
int sl_target_open(const char *url, bool folder, int64_t timeout_ns, struct sl_target **ret,
		   struct sl_err *err);
/* Operations in flight are dropped without their done(). Accepts NULL. */
void sl_target_close(struct sl_target *target);
/* Path of the URL's file below the export ("/disk.img"); "/sloglab-load.dat" when the URL names none. */
const char *sl_target_file(const struct sl_target *target);

/* Median round trip of `count` NFS NULL calls, one at a time, in ns. */
int sl_target_null_ns(struct sl_target *target, uint32_t count, int64_t *ret_ns, struct sl_err *err);

/* The median of `count` times (at least 1), which are sorted for it; of an even number the upper one. */
int64_t sl_target_median_ns(int64_t *all, uint32_t count);

/* One step, waiting: open (flags of open(2): O_CREAT, O_SYNC = FILE_SYNC writes), set size, size, remove,
 * close. */
int sl_target_open_file(struct sl_target *target, const char *path, int flags, struct nfsfh **ret,
			struct sl_err *err);
int sl_target_truncate(struct sl_target *target, struct nfsfh *fh, uint64_t bytes, struct sl_err *err);
int sl_target_size(struct sl_target *target, struct nfsfh *fh, uint64_t *ret_bytes, struct sl_err *err);
int sl_target_remove(struct sl_target *target, const char *path, struct sl_err *err);
int sl_target_close_file(struct sl_target *target, struct nfsfh *fh, struct sl_err *err);

/* Asynchronous: 0 or -ENOMEM; op->done follows from within sl_target_poll, `op` and `buf` must live until
 * then. */
int sl_target_write(struct sl_target *target, struct nfsfh *fh, uint64_t offset, const void *buf,
		    uint32_t bytes, struct sl_target_op *op);
int sl_target_read(struct sl_target *target, struct nfsfh *fh, uint64_t offset, uint32_t bytes,
		   struct sl_target_op *op);
int sl_target_commit(struct sl_target *target, struct nfsfh *fh, struct sl_target_op *op);

/* Waits at most timeout_ns for the socket and serves it. -EIO when the connection is lost for good. */
int sl_target_poll(struct sl_target *target, int64_t timeout_ns, struct sl_err *err);

/* Turns the status of an operation into an error that says what failed. */
int sl_target_failed(const struct sl_target *target, const char *what, int status, struct sl_err *err);

#endif
