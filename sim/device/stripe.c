/*
 * A stripe as a disk: chunks in turn on its members. A request is cut into one piece per member (what lies on
 * one member is contiguous there) and done when the last piece is; a flush goes to the members written since
 * the last one.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/base/slab.h"
#include "sim/device/kinds.h"

struct stripe;

struct op {
	void *pool_link;
	struct sl_dev_req *outer;
	int waiting, error;
	int64_t from_ns;
};

struct part {
	void *pool_link;
	struct stripe *stripe;
	struct op *op;
	struct sl_dev_req req;
};

struct stripe {
	struct sl_dev dev;
	int n_members;
	struct sl_dev *members[SL_DEV_MEMBERS_MAX];
	bool touched[SL_DEV_MEMBERS_MAX]; /* written since the last flush */
	int64_t chunk_bytes;
	struct sl_slab ops, part_pool;
};

/* What one member gets of a request. */
struct piece {
	int64_t offset, bytes;
};

static void op_step(struct stripe *stripe, struct op *op, int64_t now_ns)
{
	struct sl_dev_req *outer = op->outer;

	op->waiting--;
	if (op->waiting > 0) {
		return;
	}
	outer->error = op->error;
	sl_dev_busy(&stripe->dev, op->from_ns, now_ns);
	sl_slab_put(&stripe->ops, op);
	sl_loop_arm(stripe->dev.loop, &outer->done, now_ns);
}

static void part_done(struct sl_timer *timer, int64_t now_ns)
{
	struct part *part = sl_container_of(timer, struct part, req.done);
	struct stripe *stripe = part->stripe;
	struct op *op = part->op;

	op->error = op->error ? op->error : part->req.error;
	sl_slab_put(&stripe->part_pool, part);
	op_step(stripe, op, now_ns);
}

static void part_submit(struct stripe *stripe, struct op *op, int member, const struct piece *piece,
			int64_t now_ns)
{
	struct part *part = sl_slab_get(&stripe->part_pool);

	part->stripe = stripe;
	part->op = op;
	part->req = (struct sl_dev_req){
	    .done.fire = part_done,
	    .op = op->outer->op,
	    .fua = op->outer->fua,
	    .offset_bytes = piece->offset,
	    .bytes = piece->bytes,
	    .tag = op->outer->tag,
	};
	if (op->outer->op == SL_DEV_WRITE) {
		part->req.mark = sl_mark_part(op->outer->mark);
	}
	op->waiting++;
	sl_dev_submit(stripe->members[member], now_ns, &part->req);
}

static void cut(const struct stripe *stripe, const struct sl_dev_req *req, struct piece *pieces)
{
	int64_t at = req->offset_bytes, end = at + req->bytes;

	while (at < end) {
		int64_t chunk = at / stripe->chunk_bytes, within = at % stripe->chunk_bytes;
		int64_t bytes = stripe->chunk_bytes - within;
		struct piece *piece = &pieces[chunk % stripe->n_members];

		bytes = bytes < end - at ? bytes : end - at;
		if (piece->bytes == 0) {
			piece->offset = chunk / stripe->n_members * stripe->chunk_bytes + within;
		}
		piece->bytes += bytes;
		at += bytes;
	}
}

static void stripe_submit(struct sl_dev *dev, int64_t now_ns, struct sl_dev_req *req)
{
	struct stripe *stripe = sl_container_of(dev, struct stripe, dev);
	struct piece pieces[SL_DEV_MEMBERS_MAX] = {0};
	bool flush = req->op == SL_DEV_FLUSH;
	struct op *op = sl_slab_get(&stripe->ops);

	sl_dev_count(dev, req);
	op->outer = req;
	op->error = 0;
	op->waiting = 1; /* ourselves, until all parts are on their way */
	op->from_ns = now_ns;
	if (!flush) {
		cut(stripe, req, pieces);
	}
	for (int i = 0; i < stripe->n_members; i++) {
		if (flush ? stripe->touched[i] : pieces[i].bytes > 0) {
			stripe->touched[i] = req->op == SL_DEV_WRITE || (stripe->touched[i] && !flush);
			part_submit(stripe, op, i, &pieces[i], now_ns);
		}
	}
	op_step(stripe, op, now_ns);
}

static void stripe_catch_up(struct sl_dev *dev, int64_t now_ns)
{
	struct stripe *stripe = sl_container_of(dev, struct stripe, dev);

	for (int i = 0; i < stripe->n_members; i++) {
		sl_dev_catch_up(stripe->members[i], now_ns);
	}
}

static void stripe_free(struct sl_dev *dev)
{
	struct stripe *stripe = sl_container_of(dev, struct stripe, dev);

	for (int i = 0; i < stripe->n_members; i++) {
		sl_dev_free(stripe->members[i]);
	}
	sl_slab_fini(&stripe->ops);
	sl_slab_fini(&stripe->part_pool);
	free(stripe);
}

static const struct sl_dev_ops stripe_ops = {
    .submit = stripe_submit, .free = stripe_free, .catch_up = stripe_catch_up};

int sl_stripe_new(const struct sl_dev_spec *spec, struct sl_loop *loop, uint64_t seed, const char *name,
		  struct sl_dev **ret, struct sl_err *err)
{
	struct stripe *stripe;
	int rc;

	if (spec->chunk_bytes < 1) {
		return sl_err_set(err, -EINVAL, "disk %s: chunk must be known", name);
	}
	stripe = calloc(1, sizeof(*stripe));
	if (!stripe) {
		return sl_err_set(err, -ENOMEM, "disk %s: out of memory", name);
	}
	rc = sl_members_new(spec, loop, seed, name, stripe->members, err);
	if (rc < 0) {
		free(stripe);
		return rc;
	}
	stripe->dev.ops = &stripe_ops;
	stripe->dev.loop = loop;
	stripe->n_members = spec->n_members;
	stripe->chunk_bytes = (int64_t)spec->chunk_bytes;
	sl_slab_init(&stripe->ops, sizeof(struct op));
	sl_slab_init(&stripe->part_pool, sizeof(struct part));
	*ret = &stripe->dev;
	return 0;
}
