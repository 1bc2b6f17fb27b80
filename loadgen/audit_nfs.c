/* Records in a file behind NFS: one connection, one FILE_SYNC WRITE at a time. libnfs connects again and
 * sends again when the server restarts, as a mount does. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "loadgen/audit_place.h"
#include "loadgen/meter.h"
#include "loadgen/record.h"
#include "loadgen/target.h"
#include "sim/base/clock.h"

#define TIMEOUT_DEFAULT_NS 30000000000
#define NAP_NS 100000000

struct nfs {
	struct sl_audit_place place;
	struct sl_target_op op; /* the one in flight */
	struct sl_target *target;
	struct nfsfh *fh;
	int64_t timeout_ns;
	bool done;
	int status;
	void *read_to;
	atomic_bool aborted;
};

static void nfs_done(struct sl_target_op *op, int status, const void *data)
{
	struct nfs *nfs = (struct nfs *)(void *)((char *)op - offsetof(struct nfs, op));

	nfs->done = true;
	nfs->status = status;
	if (data && nfs->read_to && status > 0) {
		memcpy(nfs->read_to, data, (size_t)status);
	}
}

/* Waits for the operation in flight; its status. */
static int nfs_wait(struct nfs *nfs, int queued, const char *what, struct sl_err *err)
{
	int64_t end_ns = sl_clock_ns() + nfs->timeout_ns;
	int rc = queued;

	while (rc == 0 && !nfs->done) {
		if (atomic_load(&nfs->aborted)) {
			return sl_err_set(err, -EINTR, "%s: interrupted", what);
		}
		if (sl_clock_ns() >= end_ns) {
			return sl_err_set(err, -ETIMEDOUT, "%s: no answer; is the server still running?",
					  what);
		}
		rc = sl_target_poll(nfs->target, NAP_NS, err);
	}
	if (queued < 0 || (rc == 0 && nfs->status < 0)) {
		return sl_target_failed(nfs->target, what, queued < 0 ? queued : nfs->status, err);
	}
	return rc < 0 ? rc : nfs->status;
}

static int nfs_put(struct sl_audit_place *place, uint64_t number, const void *buf, size_t bytes,
		   struct sl_err *err)
{
	struct nfs *nfs = (struct nfs *)place;
	int got;

	nfs->done = false;
	nfs->read_to = NULL;
	got = nfs_wait(nfs,
		       sl_target_write(nfs->target, nfs->fh, number * bytes, buf, (uint32_t)bytes, &nfs->op),
		       "write", err);
	if (got >= 0 && (size_t)got < bytes) {
		return sl_target_failed(nfs->target, "short write", -EIO, err);
	}
	return got < 0 ? got : 0;
}

static int nfs_get(struct sl_audit_place *place, uint64_t offset, void *buf, size_t bytes, struct sl_err *err)
{
	struct nfs *nfs = (struct nfs *)place;

	nfs->done = false;
	nfs->read_to = buf;
	return nfs_wait(nfs, sl_target_read(nfs->target, nfs->fh, offset, (uint32_t)bytes, &nfs->op), "read",
			err);
}

static int nfs_scan(struct sl_audit_place *place, uint64_t run, size_t bytes, sl_audit_found_fn found,
		    void *arg, struct sl_err *err)
{
	(void)run;
	return sl_audit_scan_blocks(place, bytes, nfs_get, found, arg, err);
}

static void nfs_abort(struct sl_audit_place *place)
{
	atomic_store(&((struct nfs *)place)->aborted, true);
}

static void nfs_close(struct sl_audit_place *place)
{
	struct nfs *nfs = (struct nfs *)place;
	struct sl_err ignored = {0};

	/* With a call in flight that nobody waits for any more, closing would wait for it. */
	if (nfs->fh && nfs->done) {
		(void)sl_target_close_file(nfs->target, nfs->fh, &ignored);
	}
	sl_target_close(nfs->target);
	free(nfs);
}

int sl_audit_nfs_open(const struct sl_audit_target *target, bool make, struct sl_audit_place **ret,
		      struct sl_err *err)
{
	static const struct sl_audit_place_ops ops = {nfs_put, nfs_scan, nfs_abort, nfs_close};
	int flags = make ? O_RDWR | O_CREAT | O_SYNC : O_RDONLY;
	struct nfs *nfs = calloc(1, sizeof(*nfs));
	uint8_t first[8];
	int rc;

	if (!nfs) {
		return sl_err_set(err, -ENOMEM, "out of memory");
	}
	nfs->place.ops = &ops;
	nfs->op.done = nfs_done;
	nfs->done = true;
	nfs->timeout_ns = target->timeout_ns > 0 ? target->timeout_ns : TIMEOUT_DEFAULT_NS;
	rc = sl_target_open(target->url, false, nfs->timeout_ns, &nfs->target, err);
	rc = rc ? rc : sl_target_open_file(nfs->target, sl_target_file(nfs->target), flags, &nfs->fh, err);
	if (rc == 0 && make) {
		rc = nfs_get(&nfs->place, 0, first, sizeof(first), err);
	}
	if (rc > 0 && !sl_record_harmless(first, (size_t)rc)) {
		rc = sl_err_set(err, -EEXIST, "%.200s: holds something else than an audit; give another file",
				target->url);
	}
	if (rc < 0) {
		nfs_close(&nfs->place);
		return rc;
	}
	*ret = &nfs->place;
	return 0;
}
