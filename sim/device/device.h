/*
 * The disk seam. A disk takes requests at a time and completes them by arming `done` at the time it is
 * finished. What a disk holds in a volatile cache is lost at a power cut; `flush` makes it stable.
 */
#ifndef SL_DEVICE_DEVICE_H
#define SL_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/loop.h"
#include "sim/device/mark.h"
#include "sim/device/spec.h"

enum sl_dev_op {
	SL_DEV_READ,
	SL_DEV_WRITE,
	SL_DEV_FLUSH /* offset and bytes are ignored */
};

/* Owned by the caller, embedded; must live until `done` fires. */
struct sl_dev_req {
	struct sl_timer done;
	enum sl_dev_op op;
	bool fua; /* write: stable when done, whatever the cache */
	int64_t offset_bytes;
	int64_t bytes;
	uint64_t tag;         /* operation number for the trace */
	struct sl_mark *mark; /* WRITE: notes when a cut no longer takes it; NULL = nobody asks */
	int error; /* at completion: 0, or -EIO when no part of the disk is left that could serve it */
	struct sl_dev_req *next; /* private: of those that wait for the same flush */
};

struct sl_dev_stats {
	uint64_t reads, writes, flushes;
	int64_t bytes_read, bytes_written;
	int64_t busy_ns; /* time with at least one request in service */
};

struct sl_dev;
struct sl_block; /* block.h */

struct sl_dev_ops {
	/* Takes `req`; fires req->done at a time >= now_ns, never from inside submit. */
	void (*submit)(struct sl_dev *dev, int64_t now_ns, struct sl_dev_req *req);
	void (*free)(struct sl_dev *dev);
	void (*catch_up)(struct sl_dev *dev, int64_t now_ns);           /* NULL: is never behind */
	int (*fail_side)(struct sl_dev *dev, int64_t now_ns, int side); /* NULL: has no sides */
	int (*attach_side)(struct sl_dev *dev, int64_t now_ns, int side);
	int64_t (*stale_bytes)(struct sl_dev *dev);
	int (*pass)(struct sl_dev *dev, const struct sl_dev_req *req); /* NULL: always can */
};

struct sl_dev {
	const struct sl_dev_ops *ops;
	struct sl_loop *loop; /* borrowed */
	struct sl_dev_stats stats;
	struct sl_block
	    *block;         /* owned: what flushes and FUA pass first; NULL: they go straight to the disk */
	bool gated;         /* all commands pass it */
	int64_t counted_ns; /* private: busy time is counted up to here */
};

/* Builds the model of `spec` (copied) on `loop` (borrowed); `seed` names its random stream with `name`.
 * Errors: -EINVAL (a figure is missing), -ENOMEM. */
int sl_dev_new(const struct sl_dev_spec *spec, struct sl_loop *loop, uint64_t seed, const char *name,
	       struct sl_dev **ret, struct sl_err *err);

/* A command at the block layer of a disk. */
void sl_block_submit(struct sl_block *block, int64_t now_ns, struct sl_dev_req *req);

static inline void sl_dev_submit(struct sl_dev *dev, int64_t now_ns, struct sl_dev_req *req)
{
	req->error = 0;
	if (dev->block && (req->op == SL_DEV_FLUSH || req->fua || dev->gated)) {
		sl_block_submit(dev->block, now_ns, req);
	} else {
		dev->ops->submit(dev, now_ns, req);
	}
}

/* Lets the disk do what it has done by now_ns without anybody waiting for it, so that the marks tell: a cache
 * that is written back while the disk is idle has no events of its own. Changes no times. */
void sl_dev_catch_up(struct sl_dev *dev, int64_t now_ns);

/* Pulls side `side` of a mirror at now_ns: what it has in flight no longer counts (reads go to
 * another side), later requests go to the rest. With no side left requests end with -EIO. -EINVAL: no mirror,
 * no such side, or pulled already. */
int sl_dev_fail_side(struct sl_dev *dev, int64_t now_ns, int side);

/* Puts a pulled side back at now_ns. It takes writes at once and is read when what was written meanwhile has
 * been copied from another side, region by region, while requests go on. -EINVAL: no mirror, no such side, or
 * not pulled. */
int sl_dev_attach_side(struct sl_dev *dev, int64_t now_ns, int side);

/* `req` is done without taking time (to populate): 0, or -EIO when no part of the disk is left that could
 * serve it. Sides that are away lack what is written so, too. */
int sl_dev_pass(struct sl_dev *dev, const struct sl_dev_req *req);

/* What sides that were put back still lack; 0 when `dev` has no sides. */
int64_t sl_dev_stale_bytes(struct sl_dev *dev);

/* Accepts NULL. */
void sl_dev_free(struct sl_dev *dev);

#endif
