#include "sim/device/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/device/block.h"
#include "sim/device/kinds.h"

static void null_submit(struct sl_dev *dev, int64_t now_ns, struct sl_dev_req *req)
{
	sl_dev_count(dev, req);
	sl_mark_safe(req->mark, now_ns);
	sl_loop_arm(dev->loop, &req->done, now_ns);
}

static void null_free(struct sl_dev *dev)
{
	free(dev);
}

static const struct sl_dev_ops null_ops = {.submit = null_submit, .free = null_free};

/* Disks proper have a block layer; what is made of disks has one before each of them. */
static int add_block(struct sl_dev *dev, const struct sl_dev_spec *spec, const char *name, struct sl_err *err)
{
	if (spec->kind == SL_DEV_NULL) {
		return 0;
	}
	dev->block = sl_block_new(dev, spec);
	if (!dev->block) {
		sl_dev_free(dev);
		return sl_err_set(err, -ENOMEM, "disk %s: out of memory", name);
	}
	return 0;
}

static struct sl_dev *null_new(void)
{
	struct sl_dev *dev = calloc(1, sizeof(*dev));

	if (dev) {
		dev->ops = &null_ops;
	}
	return dev;
}

int sl_dev_new(const struct sl_dev_spec *spec, struct sl_loop *loop, uint64_t seed, const char *name,
	       struct sl_dev **ret, struct sl_err *err)
{
	struct sl_dev *dev = NULL;
	int rc;

	switch (spec->kind) {
	case SL_DEV_MIRROR:
		return sl_mirror_new(spec, loop, seed, name, ret, err);
	case SL_DEV_STRIPE:
		return sl_stripe_new(spec, loop, seed, name, ret, err);
	case SL_DEV_RAID10:
		return sl_raid10_new(spec, loop, seed, name, ret, err);
	case SL_DEV_NULL:
		dev = null_new();
		break;
	case SL_DEV_HDD:
		if (spec->rpm <= 0 || spec->media_bps <= 0 || spec->capacity_bytes <= 0) {
			return sl_err_set(err, -EINVAL, "disk %s: rpm, media_rate and capacity must be known",
					  name);
		}
		dev = sl_hdd_new(spec, seed, name);
		break;
	case SL_DEV_SSD:
		if (spec->ssd_write_bps <= 0 || spec->read_bps <= 0 || spec->link_bps <= 0) {
			return sl_err_set(err, -EINVAL,
					  "disk %s: read_rate, write_rate and link_rate must be known", name);
		}
		rc = sl_ssd_new(spec, seed, name, &dev, err);
		if (rc) {
			return rc;
		}
		break;
	case SL_DEV_NVRAM:
		if (spec->ssd_write_bps <= 0 || spec->read_bps <= 0 || spec->parallel < 1) {
			return sl_err_set(err, -EINVAL,
					  "disk %s: read_rate, write_rate and parallel must be known", name);
		}
		dev = sl_nvram_new(spec, seed, name);
		break;
	}
	if (!dev) {
		return sl_err_set(err, -ENOMEM, "disk %s: out of memory", name);
	}
	dev->loop = loop;
	rc = add_block(dev, spec, name, err);
	*ret = rc == 0 ? dev : NULL;
	return rc;
}

int sl_members_new(const struct sl_dev_spec *spec, struct sl_loop *loop, uint64_t seed, const char *name,
		   struct sl_dev **members, struct sl_err *err)
{
	if (spec->n_members < 1 || spec->n_members > SL_DEV_MEMBERS_MAX) {
		return sl_err_set(err, -EINVAL, "disk %s: it must be made of 1 to %d disks", name,
				  SL_DEV_MEMBERS_MAX);
	}
	for (int i = 0; i < spec->n_members; i++) {
		char member[SL_DEV_NAME_MAX + 16];
		int rc;

		struct sl_dev_spec of = *spec->members[i];

		of.cache_off |= spec->cache_off;
		(void)snprintf(member, sizeof(member), "%s.%d", name, i);
		rc = sl_dev_new(&of, loop, seed, member, &members[i], err);
		if (rc < 0) {
			while (i > 0) {
				sl_dev_free(members[--i]);
			}
			return rc;
		}
	}
	return 0;
}

void sl_dev_catch_up(struct sl_dev *dev, int64_t now_ns)
{
	if (dev->ops->catch_up) {
		dev->ops->catch_up(dev, now_ns);
	}
}

int sl_dev_fail_side(struct sl_dev *dev, int64_t now_ns, int side)
{
	return dev->ops->fail_side ? dev->ops->fail_side(dev, now_ns, side) : -EINVAL;
}

int sl_dev_attach_side(struct sl_dev *dev, int64_t now_ns, int side)
{
	return dev->ops->attach_side ? dev->ops->attach_side(dev, now_ns, side) : -EINVAL;
}

int sl_dev_pass(struct sl_dev *dev, const struct sl_dev_req *req)
{
	return dev->ops->pass ? dev->ops->pass(dev, req) : 0;
}

int64_t sl_dev_stale_bytes(struct sl_dev *dev)
{
	return dev->ops->stale_bytes ? dev->ops->stale_bytes(dev) : 0;
}

void sl_dev_free(struct sl_dev *dev)
{
	if (dev) {
		sl_block_free(dev->block);
		dev->ops->free(dev);
	}
}

void sl_dev_count(struct sl_dev *dev, const struct sl_dev_req *req)
{
	struct sl_dev_stats *stats = &dev->stats;

	switch (req->op) {
	case SL_DEV_READ:
		stats->reads++;
		stats->bytes_read += req->bytes;
		break;
	case SL_DEV_WRITE:
		stats->writes++;
		stats->bytes_written += req->bytes;
		break;
	case SL_DEV_FLUSH:
		stats->flushes++;
		break;
	}
}
