/*
 * A RAID controller with a battery-backed write cache before mirrored pairs of disks. A write is acknowledged
 * from the cache while there is room and goes to its pair later: each pair is swept in the order of addresses
 * with `destage_depth` writes in flight, so a full cache turns random writes into short seeks. A flush costs
 * nothing, the battery keeps the cache; the disks' own volatile caches are off. Reads are served from the
 * cache or by the pair.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/base/oom.h"
#include "sim/base/slab.h"
#include "sim/device/kinds.h"
#include "sim/device/lines.h"

struct raid;

/* A request to a pair on the way: a read of a request's part, or a line from the cache. */
struct part {
	void *pool_link;
	struct raid *raid;
	struct op *op; /* reads; NULL: destaging */
	int pair;
	struct sl_dev_req req;
};

struct op {
	void *pool_link;
	struct sl_dev_req *outer;
	int waiting, error;
	int64_t from_ns;
};

struct pair {
	struct sl_dev *mirror;
	struct sl_lines lines;
	int64_t sweep; /* where it goes on */
	int in_flight;
	bool lost; /* both disks are gone */
};

struct raid {
	struct sl_dev dev;
	int n_pairs, depth;
	struct pair pairs[SL_DEV_MEMBERS_MAX / 2];
	int64_t chunk_bytes, unit_bytes, cache_units, used_units; /* used: dirty and in flight */
	int64_t port_free_ns, write_ack_ns;
	double write_bps;
	struct sl_dev_req **blocked; /* writes that wait for room, a ring */
	uint32_t blocked_head, blocked_tail, blocked_room;
	struct sl_slab ops, part_pool;
};

/* Part of a request that lies in one chunk. */
struct piece {
	int pair;
	struct sl_line line;
	int64_t offset, bytes; /* on the pair */
};

/* Cuts the piece at *at from a range that ends at `end`, and moves *at behind it. */
static struct piece next_piece(const struct raid *raid, int64_t *at, int64_t end)
{
	int64_t chunk = *at / raid->chunk_bytes, within = *at % raid->chunk_bytes;
	int64_t bytes = raid->chunk_bytes - within;
	struct piece piece = {.pair = (int)(chunk % raid->n_pairs)};

	bytes = bytes < end - *at ? bytes : end - *at;
	piece.line.index = chunk / raid->n_pairs;
	piece.line.first = (int)(within / raid->unit_bytes);
	piece.line.last = (int)((within + bytes - 1) / raid->unit_bytes);
	piece.offset = piece.line.index * raid->chunk_bytes + within;
	piece.bytes = bytes;
	*at += bytes;
	return piece;
}

static void complete(struct raid *raid, struct sl_dev_req *req, int64_t from_ns, int64_t done_ns)
{
	sl_dev_busy(&raid->dev, from_ns, done_ns);
	sl_loop_arm(raid->dev.loop, &req->done, done_ns);
}

static void part_done(struct sl_timer *timer, int64_t now_ns);

static struct part *new_part(struct raid *raid, int pair, enum sl_dev_op op)
{
	struct part *part = sl_slab_get(&raid->part_pool);

	part->raid = raid;
	part->op = NULL;
	part->pair = pair;
	part->req = (struct sl_dev_req){.done.fire = part_done, .op = op};
	return part;
}

/* Keeps the pair busy while it has lines. */
static void destage(struct raid *raid, int at, int64_t now_ns)
{
	struct pair *pair = &raid->pairs[at];
	struct sl_line line;

	while (pair->in_flight < raid->depth && sl_lines_take(&pair->lines, pair->sweep, &line)) {
		struct part *part = new_part(raid, at, SL_DEV_WRITE);

		part->req.offset_bytes = line.index * raid->chunk_bytes + line.first * raid->unit_bytes;
		part->req.bytes = (line.last - line.first + 1) * raid->unit_bytes;
		pair->sweep = line.index;
		pair->in_flight++;
		sl_dev_submit(pair->mirror, now_ns, &part->req);
	}
}

static bool has_room(const struct raid *raid, const struct sl_dev_req *req)
{
	int64_t units = (req->bytes + raid->unit_bytes - 1) / raid->unit_bytes + 1;

	return raid->used_units == 0 || raid->used_units + units <= raid->cache_units;
}

static void take(struct raid *raid, struct sl_dev_req *req, int64_t now_ns)
{
	int64_t at = req->offset_bytes, end = at + req->bytes;
	int64_t done_ns = sl_later(now_ns, raid->port_free_ns) + raid->write_ack_ns +
			  sl_transfer_ns(req->bytes, raid->write_bps);

	raid->port_free_ns = done_ns;
	while (at < end) {
		struct piece piece = next_piece(raid, &at, end);

		if (raid->pairs[piece.pair].lost) {
			req->error = -EIO;
			continue;
		}
		raid->used_units += sl_lines_add(&raid->pairs[piece.pair].lines, &piece.line);
		destage(raid, piece.pair, now_ns);
	}
	sl_mark_safe(req->mark, done_ns); /* the battery keeps it */
	complete(raid, req, now_ns, done_ns);
}

static void block(struct raid *raid, struct sl_dev_req *req)
{
	if (raid->blocked_tail - raid->blocked_head == raid->blocked_room) {
		uint32_t room = raid->blocked_room ? 2 * raid->blocked_room : 64, n = raid->blocked_room;
		struct sl_dev_req **ring = calloc(room, sizeof(*ring));

		if (!ring) {
			sl_oom();
		}
		for (uint32_t i = 0; i < n; i++) {
			ring[i] = raid->blocked[(raid->blocked_head + i) % n];
		}
		free(raid->blocked);
		raid->blocked = ring;
		raid->blocked_room = room;
		raid->blocked_head = 0;
		raid->blocked_tail = n;
	}
	raid->blocked[raid->blocked_tail++ % raid->blocked_room] = req;
}

static void destaged(struct raid *raid, struct part *part, int64_t now_ns)
{
	struct pair *pair = &raid->pairs[part->pair];

	pair->in_flight--;
	pair->lost = pair->lost || part->req.error != 0;
	raid->used_units -= (part->req.bytes + raid->unit_bytes - 1) / raid->unit_bytes;
	destage(raid, part->pair, now_ns);
	while (raid->blocked_head != raid->blocked_tail) {
		struct sl_dev_req *req = raid->blocked[raid->blocked_head % raid->blocked_room];

		if (!has_room(raid, req)) {
			break;
		}
		raid->blocked_head++;
		take(raid, req, now_ns);
	}
}

static void read_step(struct raid *raid, struct op *op, int error, int64_t now_ns)
{
	op->error = op->error ? op->error : error;
	op->waiting--;
	if (op->waiting == 0) {
		op->outer->error = op->error;
		complete(raid, op->outer, op->from_ns, now_ns);
		sl_slab_put(&raid->ops, op);
	}
}

static void part_done(struct sl_timer *timer, int64_t now_ns)
{
	struct part *part = sl_container_of(timer, struct part, req.done);
	struct raid *raid = part->raid;

	if (part->op) {
		read_step(raid, part->op, part->req.error, now_ns);
	} else {
		destaged(raid, part, now_ns);
	}
	sl_slab_put(&raid->part_pool, part);
}

static void raid_read(struct raid *raid, struct sl_dev_req *req, int64_t now_ns)
{
	int64_t at = req->offset_bytes, end = at + req->bytes;
	struct op *op = sl_slab_get(&raid->ops);

	*op = (struct op){.outer = req, .waiting = 1, .from_ns = now_ns};
	while (at < end) {
		struct piece piece = next_piece(raid, &at, end);
		struct pair *pair = &raid->pairs[piece.pair];
		struct part *part;

		if (sl_lines_has(&pair->lines, &piece.line)) {
			continue;
		}
		part = new_part(raid, piece.pair, SL_DEV_READ);
		part->op = op;
		part->req.offset_bytes = piece.offset;
		part->req.bytes = piece.bytes;
		op->waiting++;
		sl_dev_submit(pair->mirror, now_ns, &part->req);
	}
	read_step(raid, op, 0, now_ns);
}

static void raid_submit(struct sl_dev *dev, int64_t now_ns, struct sl_dev_req *req)
{
	struct raid *raid = sl_container_of(dev, struct raid, dev);

	sl_dev_count(dev, req);
	switch (req->op) {
	case SL_DEV_READ:
		raid_read(raid, req, now_ns);
		break;
	case SL_DEV_WRITE:
		if (raid->blocked_head == raid->blocked_tail && has_room(raid, req)) {
			take(raid, req, now_ns);
		} else {
			block(raid, req);
		}
		break;
	case SL_DEV_FLUSH:
		complete(raid, req, now_ns, now_ns);
		break;
	}
}

static int raid_pass(struct sl_dev *dev, const struct sl_dev_req *req)
{
	struct raid *raid = sl_container_of(dev, struct raid, dev);
	int64_t at = req->offset_bytes, end = at + req->bytes;
	int rc = 0;

	while (at < end) {
		struct piece piece = next_piece(raid, &at, end);
		struct sl_dev_req part = {.op = req->op, .offset_bytes = piece.offset, .bytes = piece.bytes};
		int one = sl_dev_pass(raid->pairs[piece.pair].mirror, &part);

		rc = rc ? rc : one;
	}
	return rc;
}

/* Disk `side` of all, as the catalogue lists them: pairs of neighbours. */
static int raid_fail_side(struct sl_dev *dev, int64_t now_ns, int side)
{
	struct raid *raid = sl_container_of(dev, struct raid, dev);

	if (side < 0 || side >= 2 * raid->n_pairs) {
		return -EINVAL;
	}
	return sl_dev_fail_side(raid->pairs[side / 2].mirror, now_ns, side % 2);
}

static int raid_attach_side(struct sl_dev *dev, int64_t now_ns, int side)
{
	struct raid *raid = sl_container_of(dev, struct raid, dev);

	if (side < 0 || side >= 2 * raid->n_pairs) {
		return -EINVAL;
	}
	return sl_dev_attach_side(raid->pairs[side / 2].mirror, now_ns, side % 2);
}

static int64_t raid_stale_bytes(struct sl_dev *dev)
{
	const struct raid *raid = sl_container_of(dev, struct raid, dev);
	int64_t bytes = 0;

	for (int i = 0; i < raid->n_pairs; i++) {
		bytes += sl_dev_stale_bytes(raid->pairs[i].mirror);
	}
	return bytes;
}

static void raid_free(struct sl_dev *dev)
{
	struct raid *raid = sl_container_of(dev, struct raid, dev);

	for (int i = 0; i < raid->n_pairs; i++) {
		sl_dev_free(raid->pairs[i].mirror);
		sl_lines_fini(&raid->pairs[i].lines);
	}
	sl_slab_fini(&raid->ops);
	sl_slab_fini(&raid->part_pool);
	free(raid->blocked);
	free(raid);
}

static const struct sl_dev_ops raid_ops = {.submit = raid_submit,
					   .free = raid_free,
					   .pass = raid_pass,
					   .fail_side = raid_fail_side,
					   .attach_side = raid_attach_side,
					   .stale_bytes = raid_stale_bytes};

/* Two disks, their own caches off, as a mirror. */
static int pair_new(struct raid *raid, const struct sl_dev_spec *spec, uint64_t seed, const char *name,
		    struct sl_err *err)
{
	size_t at = (size_t)raid->n_pairs;
	struct sl_dev_spec disks[2] = {*spec->members[2 * at], *spec->members[2 * at + 1]};
	struct sl_dev_spec mirror = {
	    .kind = SL_DEV_MIRROR, .n_members = 2, .members = {&disks[0], &disks[1]}};
	struct pair *pair = &raid->pairs[at];
	char pair_name[SL_DEV_NAME_MAX + 16];
	double smaller = disks[0].capacity_bytes < disks[1].capacity_bytes ? disks[0].capacity_bytes
									   : disks[1].capacity_bytes;
	int rc;

	disks[0].write_cache = disks[1].write_cache = 0;
	rc = sl_lines_init(&pair->lines, (int64_t)(smaller / spec->chunk_bytes) + 1);
	if (rc < 0) {
		return sl_err_set(err, rc, "disk %s: out of memory", name);
	}
	(void)snprintf(pair_name, sizeof(pair_name), "%s.%zu", name, at);
	rc = sl_dev_new(&mirror, raid->dev.loop, seed, pair_name, &pair->mirror, err);
	if (rc < 0) {
		sl_lines_fini(&pair->lines);
		return rc;
	}
	raid->n_pairs++;
	return 0;
}

int sl_raid10_new(const struct sl_dev_spec *spec, struct sl_loop *loop, uint64_t seed, const char *name,
		  struct sl_dev **ret, struct sl_err *err)
{
	struct raid *raid;
	int rc = 0;

	if (spec->n_members < 2 || spec->n_members % 2 != 0 || spec->n_members > SL_DEV_MEMBERS_MAX) {
		return sl_err_set(err, -EINVAL, "disk %s: raid10 needs 2 to %d disks, an even number", name,
				  SL_DEV_MEMBERS_MAX);
	}
	if (spec->chunk_bytes < SL_LINE_UNITS || spec->write_bps <= 0 || spec->destage_depth < 1) {
		return sl_err_set(err, -EINVAL, "disk %s: chunk, write_rate and destage_depth must be known",
				  name);
	}
	raid = calloc(1, sizeof(*raid));
	if (!raid) {
		return sl_err_set(err, -ENOMEM, "disk %s: out of memory", name);
	}
	raid->dev.ops = &raid_ops;
	raid->dev.loop = loop;
	raid->depth = (int)spec->destage_depth;
	raid->chunk_bytes = (int64_t)spec->chunk_bytes;
	raid->unit_bytes = raid->chunk_bytes / SL_LINE_UNITS;
	raid->cache_units = (int64_t)spec->cache_bytes / raid->unit_bytes;
	raid->write_ack_ns = (int64_t)spec->write_ack_ns;
	raid->write_bps = spec->write_bps;
	sl_slab_init(&raid->ops, sizeof(struct op));
	sl_slab_init(&raid->part_pool, sizeof(struct part));
	while (rc == 0 && 2 * raid->n_pairs < spec->n_members) {
		rc = pair_new(raid, spec, seed, name, err);
	}
	if (rc < 0) {
		raid_free(&raid->dev);
		return rc;
	}
	*ret = &raid->dev;
	return 0;
}
