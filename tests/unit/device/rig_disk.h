/* A disk on a virtual loop, driven by hand. */
#ifndef SL_TESTS_DEVICE_RIG_DISK_H
#define SL_TESTS_DEVICE_RIG_DISK_H

#include <criterion/criterion.h>

#include "sim/device/device.h"

#define RIG_OPS 4096

struct rig_op {
	struct sl_dev_req req;
	struct rig *rig;
	int64_t from_ns, done_ns; /* done_ns: -1 while it runs */
};

struct rig {
	struct sl_loop *loop;
	struct sl_dev *dev;
	int n, running;
	uint64_t random;
	struct rig_op ops[RIG_OPS];
};

static void rig_done(struct sl_timer *timer, int64_t now_ns)
{
	struct rig_op *op = sl_container_of(timer, struct rig_op, req.done);

	op->done_ns = now_ns;
	op->rig->running--;
}

static void rig_open(struct rig *rig, const struct sl_dev_spec *spec)
{
	struct sl_err err = {0};

	*rig = (struct rig){.loop = sl_loop_new_virtual(), .random = 88172645463325252};
	cr_assert_not_null(rig->loop);
	cr_assert_eq(sl_dev_new(spec, rig->loop, 1, "disk", &rig->dev, &err), 0, "%s", err.msg);
}

static void rig_close(struct rig *rig)
{
	sl_dev_free(rig->dev);
	sl_loop_free(rig->loop);
}

/* Submits at the loop's present time. */
static struct rig_op *rig_send(struct rig *rig, enum sl_dev_op what, int64_t offset, int64_t bytes)
{
	struct rig_op *op = &rig->ops[rig->n % RIG_OPS];

	rig->n++;
	rig->running++;
	*op = (struct rig_op){
	    .req = {.done.fire = rig_done, .op = what, .offset_bytes = offset, .bytes = bytes},
	    .rig = rig,
	    .from_ns = sl_loop_now(rig->loop),
	    .done_ns = -1};
	sl_dev_submit(rig->dev, op->from_ns, &op->req);
	cr_assert_eq(op->done_ns, -1, "done from inside submit");
	return op;
}

static void rig_drain(struct rig *rig)
{
	struct sl_err err = {0};

	cr_assert_eq(sl_loop_run(rig->loop, &err), 0, "%s", err.msg);
	cr_assert_eq(rig->running, 0);
}

/* One request alone; returns its time. */
static inline int64_t rig_one(struct rig *rig, enum sl_dev_op what, int64_t offset, int64_t bytes)
{
	struct rig_op *op = rig_send(rig, what, offset, bytes);

	rig_drain(rig);
	return op->done_ns - op->from_ns;
}

static inline void rig_pause(struct rig *rig, int64_t ns)
{
	cr_assert_eq(sl_loop_run_until(rig->loop, sl_loop_now(rig->loop) + ns, NULL), 0);
}

/* Keeps `depth` random requests of `bytes` in flight until `total` are done; returns requests per second. */
static inline double rig_random(struct rig *rig, enum sl_dev_op what, int64_t span, int64_t bytes, int depth,
				int total)
{
	struct rig_op *slots[64] = {0};
	int64_t start_ns = sl_loop_now(rig->loop);
	uint64_t x = rig->random;
	int sent = 0;

	while (sent < total) {
		for (int i = 0; i < depth; i++) {
			if (!slots[i] || slots[i]->done_ns >= 0) {
				x ^= x << 13;
				x ^= x >> 7;
				x ^= x << 17;
				slots[i] = rig_send(rig, what,
						    (int64_t)(x % (uint64_t)(span / bytes)) * bytes, bytes);
				sent++;
			}
		}
		cr_assert_eq(sl_loop_run_until(rig->loop, sl_loop_next_due(rig->loop), NULL), 0);
	}
	rig->random = x;
	rig_drain(rig);
	return total * 1e9 / (double)(sl_loop_now(rig->loop) - start_ns);
}

#endif
