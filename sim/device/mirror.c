/*
 * A mirror as a disk. Writes and flushes go to every side and are done when the slowest is; a read goes to
 * the side with the fewest requests. A side can be pulled at any time: what it had in flight no longer
 * counts, a read it was serving goes to another side. One that is put back takes writes at once; what it
 * missed is copied in the background, and only then it is read.
 */
#include <errno.h>
#include <stdlib.h>

#include "sim/base/slab.h"
#include "sim/device/kinds.h"
#include "sim/device/stale.h"

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

enum side_state {
	SIDE_LIVE,
	SIDE_PULLED,
	SIDE_STALE /* put back, takes writes, lacks what it missed */
};

/* One region on its way to a stale side: read there, then written here. */
struct copy {
	struct sl_dev_req req;
	bool running, again; /* again: written meanwhile */
	int source, target;
	int64_t region;
};

struct mirror {
	struct sl_dev dev;
	int n_sides, rotor;
	int64_t size_bytes;
	struct sl_dev *sides[SL_DEV_MEMBERS_MAX];
	enum side_state state[SL_DEV_MEMBERS_MAX];
	struct sl_stale stale[SL_DEV_MEMBERS_MAX];
	struct copy copy;
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

		if (mirror->state[side] == SIDE_LIVE &&
		    (best < 0 || mirror->in_flight[side] < mirror->in_flight[best])) {
			best = side;
		}
	}
	mirror->rotor = best >= 0 ? (best + 1) % mirror->n_sides : 0;
	return best;
}

static int live_side(const struct mirror *mirror)
{
	for (int side = 0; side < mirror->n_sides; side++) {
		if (mirror->state[side] == SIDE_LIVE) {
			return side;
		}
	}
	return -1;
}

/* A side that is away misses it; the region that is being copied is copied once more. */
static void note_write(struct mirror *mirror, int side, const struct sl_dev_req *req)
{
	struct copy *copy = &mirror->copy;
	int64_t first = req->offset_bytes / SL_STALE_REGION;
	int64_t last = (req->offset_bytes + req->bytes - 1) / SL_STALE_REGION;

	if (mirror->state[side] == SIDE_PULLED) {
		sl_stale_add(&mirror->stale[side], req->offset_bytes, req->bytes);
	}
	if (copy->running && copy->target == side && copy->region >= first && copy->region <= last) {
		copy->again = true;
	}
}

/* Writes and flushes: to all sides that are there, of which one at least must have everything. */
static void change_start(struct mirror *mirror, struct op *op, int64_t now_ns)
{
	if (live_side(mirror) < 0) {
		return;
	}
	for (int side = 0; side < mirror->n_sides; side++) {
		if (op->outer->op == SL_DEV_WRITE) {
			note_write(mirror, side, op->outer);
		}
		if (mirror->state[side] != SIDE_PULLED) {
			op->waiting++;
			part_submit(mirror, op, side, now_ns);
		}
	}
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
		change_start(mirror, op, now_ns);
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

static void copy_next(struct mirror *mirror, int64_t now_ns);

static void copy_submit(struct mirror *mirror, enum sl_dev_op op, int side, int64_t now_ns)
{
	struct copy *copy = &mirror->copy;
	int64_t from = copy->region * SL_STALE_REGION, left = mirror->size_bytes - from;

	copy->req.op = op;
	copy->req.offset_bytes = from;
	copy->req.bytes = left < SL_STALE_REGION ? left : SL_STALE_REGION;
	sl_dev_submit(mirror->sides[side], now_ns, &copy->req);
}

static void copy_done(struct sl_timer *timer, int64_t now_ns)
{
	struct copy *copy = sl_container_of(timer, struct copy, req.done);
	struct mirror *mirror = sl_container_of(copy, struct mirror, copy);
	bool good = copy->req.error == 0 && mirror->state[copy->source] == SIDE_LIVE &&
		    mirror->state[copy->target] == SIDE_STALE;

	if (good && copy->req.op == SL_DEV_READ) {
		copy_submit(mirror, SL_DEV_WRITE, copy->target, now_ns);
		return;
	}
	if (good && !copy->again) {
		sl_stale_remove(&mirror->stale[copy->target], copy->region);
	}
	copy->running = false;
	copy_next(mirror, now_ns);
}

/* Sides that lack nothing are whole again; of the first that does the next region is copied. */
static void copy_next(struct mirror *mirror, int64_t now_ns)
{
	struct copy *copy = &mirror->copy;

	for (int side = 0; side < mirror->n_sides; side++) {
		if (mirror->state[side] == SIDE_STALE && mirror->stale[side].count == 0) {
			mirror->state[side] = SIDE_LIVE;
		}
	}
	for (int side = 0; side < mirror->n_sides && !copy->running; side++) {
		if (mirror->state[side] != SIDE_STALE) {
			continue;
		}
		*copy = (struct copy){.req.done.fire = copy_done,
				      .target = side,
				      .source = live_side(mirror),
				      .region = sl_stale_next(&mirror->stale[side], copy->region)};
		if (copy->source >= 0) {
			copy->running = true;
			copy_submit(mirror, SL_DEV_READ, copy->source, now_ns);
		}
	}
}

static int mirror_attach_side(struct sl_dev *dev, int64_t now_ns, int side)
{
	struct mirror *mirror = sl_container_of(dev, struct mirror, dev);

	if (side < 0 || side >= mirror->n_sides || mirror->state[side] != SIDE_PULLED) {
		return -EINVAL;
	}
	mirror->state[side] = SIDE_STALE;
	copy_next(mirror, now_ns);
	return 0;
}

static int64_t mirror_stale_bytes(struct sl_dev *dev)
{
	const struct mirror *mirror = sl_container_of(dev, struct mirror, dev);
	int64_t regions = 0;

	for (int side = 0; side < mirror->n_sides; side++) {
		regions += mirror->state[side] == SIDE_STALE ? mirror->stale[side].count : 0;
	}
	return regions * SL_STALE_REGION;
}

static int mirror_fail_side(struct sl_dev *dev, int64_t now_ns, int side)
{
	struct mirror *mirror = sl_container_of(dev, struct mirror, dev);

	if (side < 0 || side >= mirror->n_sides || mirror->state[side] == SIDE_PULLED ||
	    sl_stale_init(&mirror->stale[side], mirror->size_bytes) < 0) {
		return -EINVAL;
	}
	mirror->state[side] = SIDE_PULLED;
	mirror->copy.again |= mirror->copy.target == side || mirror->copy.source == side;
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
			if (op->outer->op == SL_DEV_WRITE) {
				note_write(mirror, side, op->outer);
			}
			part_end(mirror, op, false, now_ns);
		}
	}
	return 0;
}

static int mirror_pass(struct sl_dev *dev, const struct sl_dev_req *req)
{
	struct mirror *mirror = sl_container_of(dev, struct mirror, dev);

	if (live_side(mirror) < 0) {
		return -EIO;
	}
	for (int side = 0; side < mirror->n_sides && req->op == SL_DEV_WRITE; side++) {
		note_write(mirror, side, req);
	}
	return 0;
}

static void mirror_catch_up(struct sl_dev *dev, int64_t now_ns)
{
	struct mirror *mirror = sl_container_of(dev, struct mirror, dev);

	for (int i = 0; i < mirror->n_sides; i++) {
		sl_dev_catch_up(mirror->sides[i], now_ns);
	}
}

static void mirror_free(struct sl_dev *dev)
{
	struct mirror *mirror = sl_container_of(dev, struct mirror, dev);

	for (int i = 0; i < mirror->n_sides; i++) {
		sl_dev_free(mirror->sides[i]);
		sl_stale_fini(&mirror->stale[i]);
	}
	sl_slab_fini(&mirror->ops);
	sl_slab_fini(&mirror->part_pool);
	free(mirror);
}

static const struct sl_dev_ops mirror_ops = {.submit = mirror_submit,
					     .free = mirror_free,
					     .catch_up = mirror_catch_up,
					     .fail_side = mirror_fail_side,
					     .attach_side = mirror_attach_side,
					     .stale_bytes = mirror_stale_bytes,
					     .pass = mirror_pass};

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
	mirror->size_bytes = (int64_t)spec->members[0]->capacity_bytes;
	sl_slab_init(&mirror->ops, sizeof(struct op));
	sl_slab_init(&mirror->part_pool, sizeof(struct part));
	*ret = &mirror->dev;
	return 0;
}
