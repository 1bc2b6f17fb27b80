/*
 * A mirror as a disk. Writes and flushes go to every side and are done when the slowest is; a read goes to
 * the side with the fewest requests. A side can be pulled at any time: what it had in flight no longer
 * counts, a read it was serving goes to another side.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/base/slab.h"
#include "sim/device/kinds.h"

struct mirror;

/* A request of the mirror and how many sides still work on it. */
struct op {
	void *pool_link;
	struct sl_dev_req *outer;
	int waiting, served;
	int64_t from_ns;
};

/* What one side does of it. */
struct part {
	void *pool_link;
	struct mirror *mirror;
	struct op *op; /* NULL: the side was pulled meanwhile */
	int side;
	struct part *next, **link; /* of all parts in flight */
	struct sl_dev_req req;
};

struct mirror {
	struct sl_dev dev;
	int n_sides, rotor;
	struct sl_dev *sides[SL_DEV_MEMBERS_MAX];
	bool pulled[SL_DEV_MEMBERS_MAX];
	int in_flight[SL_DEV_MEMBERS_MAX];
	struct part *parts;
	struct sl_slab ops, part_pool;
};

static void op_end(struct mirror *mirror, struct op *op, int64_t now_ns)
{
	struct sl_dev_req *outer = op->outer;

	outer->error = op->served > 0 ? 0 : -EIO;
	sl_dev_busy(&mirror->dev, op->from_ns, now_ns);
	sl_slab_put(&mirror->ops, op);
	sl_loop_arm(mirror->dev.loop, &outer->done, now_ns);
}

static void part_end(struct mirror *mirror, struct op *op, bool served, int64_t now_ns)
{
	op->served += served;
	op->waiting--;
	if (op->waiting == 0) {
		op_end(mirror, op, now_ns);
	}
}

static void part_done(struct sl_timer *timer, int64_t now_ns)
{
	struct part *part = sl_container_of(timer, struct part, req.done);
	struct mirror *mirror = part->mirror;
	struct op *op = part->op;
	bool served = part->req.error == 0;

	*part->link = part->next;
	if (part->next) {
		part->next->link = part->link;
	}
	mirror->in_flight[part->side]--;
	sl_slab_put(&mirror->part_pool, part);
	if (op) {
		part_end(mirror, op, served, now_ns);
	}
}

static void part_submit(struct mirror *mirror, struct op *op, int side, int64_t now_ns)
{
	struct part *part = sl_slab_get(&mirror->part_pool);

	part->mirror = mirror;
	part->op = op;
	part->side = side;
	part->next = mirror->parts;
	part->link = &mirror->parts;
	if (part->next) {
		part->next->link = &part->next;
	}
	mirror->parts = part;
	part->req = (struct sl_dev_req){
	    .done.fire = part_done,
	    .op = op->outer->op,
	    .fua = op->outer->fua,
	    .offset_bytes = op->outer->offset_bytes,
	    .bytes = op->outer->bytes,
	    .tag = op->outer->tag,
	};
	if (op->outer->op == SL_DEV_WRITE && op->outer->mark) {
		part->req.mark = sl_mark_part(op->outer->mark);
		op->outer->mark->need = 1;
	}
	mirror->in_flight[side]++;
	sl_dev_submit(mirror->sides[side], now_ns, &part->req);
}

/* The side with the fewest requests, ties in turn; -1 when none is left. */
static int read_side(struct mirror *mirror)
{
	int best = -1;

	for (int i = 0; i < mirror->n_sides; i++) {
		int side = (mirror->rotor + i) % mirror->n_sides;

		if (!mirror->pulled[side] &&
		    (best < 0 || mirror->in_flight[side] < mirror->in_flight[best])) {
			best = side;
		}
	}
	mirror->rotor = best >= 0 ? (best + 1) % mirror->n_sides : 0;
	return best;
}

static void op_start(struct mirror *mirror, struct op *op, int64_t now_ns)
{
	op->waiting = 1; /* ourselves, until all parts are on their way */
	if (op->outer->op == SL_DEV_READ) {
		int side = read_side(mirror);

		if (side >= 0) {
			op->waiting++;
			part_submit(mirror, op, side, now_ns);
		}
	} else {
		for (int side = 0; side < mirror->n_sides; side++) {
			if (!mirror->pulled[side]) {
				op->waiting++;
				part_submit(mirror, op, side, now_ns);
			}
		}
	}
	part_end(mirror, op, false, now_ns);
}

static void mirror_submit(struct sl_dev *dev, int64_t now_ns, struct sl_dev_req *req)
{
	struct mirror *mirror = sl_container_of(dev, struct mirror, dev);
	struct op *op = sl_slab_get(&mirror->ops);

	sl_dev_count(dev, req);
	op->outer = req;
	op->served = 0;
	op->from_ns = now_ns;
	op_start(mirror, op, now_ns);
}

static int mirror_fail_side(struct sl_dev *dev, int64_t now_ns, int side)
{
	struct mirror *mirror = sl_container_of(dev, struct mirror, dev);

	if (side < 0 || side >= mirror->n_sides || mirror->pulled[side]) {
		return -EINVAL;
	}
	mirror->pulled[side] = true;
	/* Parts that are started meanwhile are of other sides and stand before these. */
	for (struct part *part = mirror->parts; part; part = part->next) {
		struct op *op = part->op;

		if (part->side != side || !op) {
			continue;
		}
		part->op = NULL;
		if (op->outer->op == SL_DEV_READ) {
			op_start(mirror, op, now_ns);
		} else {
			part_end(mirror, op, false, now_ns);
		}
	}
	return 0;
}

static void mirror_free(struct sl_dev *dev)
{
	struct mirror *mirror = sl_container_of(dev, struct mirror, dev);

	for (int i = 0; i < mirror->n_sides; i++) {
		sl_dev_free(mirror->sides[i]);
	}
	sl_slab_fini(&mirror->ops);
	sl_slab_fini(&mirror->part_pool);
	free(mirror);
}

static const struct sl_dev_ops mirror_ops = {
    .submit = mirror_submit, .free = mirror_free, .fail_side = mirror_fail_side};

int sl_mirror_new(const struct sl_dev_spec *spec, struct sl_loop *loop, uint64_t seed, const char *name,
		  struct sl_dev **ret, struct sl_err *err)
{
	struct mirror *mirror = calloc(1, sizeof(*mirror));
	int rc;

	if (!mirror) {
		return sl_err_set(err, -ENOMEM, "disk %s: out of memory", name);
	}
	rc = sl_members_new(spec, loop, seed, name, mirror->sides, err);
	if (rc < 0) {
		free(mirror);
		return rc;
	}
	mirror->dev.ops = &mirror_ops;
	mirror->dev.loop = loop;
	mirror->n_sides = spec->n_members;
	sl_slab_init(&mirror->ops, sizeof(struct op));
	sl_slab_init(&mirror->part_pool, sizeof(struct part));
	*ret = &mirror->dev;
	return 0;
}
