/*
 * Many committers on a log device whose flush runs alone, as that of a SATA drive does: a write 50 us, a
 * flush 300 us. Each committer logs 4 KiB, waits, thinks for 30 us in the mean and logs the next.
 */
#include <math.h>

#include "sim/base/rng.h"
#include "tests/unit/zfs/zil_rig.h"

#define WRITE_NS (50 * US)
#define FLUSH_NS (300 * US)
#define RUN_NS (1000 * MS)
#define DEPTH_MAX 64
#define THINK_NS (30 * US)
#define RECORD 4096u

/* Requests that wait for the same thing. */
struct crowd {
	struct sl_dev_req *reqs[DEPTH_MAX];
	int n;
};

struct serial_disk;

struct serial_write {
	struct sl_timer timer;
	struct serial_disk *disk;
	struct sl_dev_req *req;
};

/* A flush waits for the writes in flight and holds up those that come (libata: FLUSH CACHE is no queued
 * command); flushes that come while one waits or runs are the next one together (blk-flush.c). */
struct serial_disk {
	struct sl_dev dev;
	struct crowd held, flushes, next_flushes;
	struct serial_write writes[DEPTH_MAX];
	int writing;
	bool flushing;
	struct sl_timer flushed;
};

static void crowd_add(struct crowd *crowd, struct sl_dev_req *req)
{
	cr_assert_lt(crowd->n, DEPTH_MAX);
	crowd->reqs[crowd->n++] = req;
}

static void serial_step(struct serial_disk *disk, int64_t now_ns);

static void serial_written(struct sl_timer *timer, int64_t now_ns)
{
	struct serial_write *write = sl_container_of(timer, struct serial_write, timer);
	struct sl_dev_req *req = write->req;

	write->req = NULL;
	write->disk->writing--;
	sl_timer_fire(&req->done, now_ns);
	serial_step(write->disk, now_ns);
}

static void serial_write(struct serial_disk *disk, int64_t now_ns, struct sl_dev_req *req)
{
	struct serial_write *write = disk->writes;

	while (write->req) {
		write++;
	}
	*write = (struct serial_write){.timer.fire = serial_written, .disk = disk, .req = req};
	disk->writing++;
	sl_loop_arm(disk->dev.loop, &write->timer, now_ns + WRITE_NS);
}

static void serial_flushed(struct sl_timer *timer, int64_t now_ns)
{
	struct serial_disk *disk = sl_container_of(timer, struct serial_disk, flushed);
	struct crowd done = disk->flushes;

	disk->flushes = disk->next_flushes;
	disk->next_flushes.n = 0;
	disk->flushing = false;
	serial_step(disk, now_ns);
	for (int i = 0; i < done.n; i++) {
		sl_timer_fire(&done.reqs[i]->done, now_ns);
	}
}

static void serial_step(struct serial_disk *disk, int64_t now_ns)
{
	if (disk->flushing) {
		return;
	}
	if (disk->flushes.n == 0) {
		for (int i = 0; i < disk->held.n; i++) {
			serial_write(disk, now_ns, disk->held.reqs[i]);
		}
		disk->held.n = 0;
	} else if (disk->writing == 0) {
		disk->flushing = true;
		sl_loop_arm(disk->dev.loop, &disk->flushed, now_ns + FLUSH_NS);
	}
}

static void serial_submit(struct sl_dev *dev, int64_t now_ns, struct sl_dev_req *req)
{
	struct serial_disk *disk = sl_container_of(dev, struct serial_disk, dev);

	if (req->op == SL_DEV_FLUSH) {
		crowd_add(disk->flushes.n > 0 ? &disk->next_flushes : &disk->flushes, req);
	} else {
		crowd_add(&disk->held, req);
	}
	serial_step(disk, now_ns);
}

static void serial_free(struct sl_dev *dev)
{
	free(sl_container_of(dev, struct serial_disk, dev));
}

static const struct sl_dev_ops serial_ops = {.submit = serial_submit, .free = serial_free};

/* One that writes RECORD bytes synchronously, again and again. */
struct writer {
	struct rig *rig;
	struct sl_zil_waiter waiter;
	struct event start;
	struct sl_rng rng;
	uint64_t done;
};

static void writer_write(void *arg, int64_t now_ns)
{
	struct writer *writer = arg;
	struct sl_zil_change change = {.file = 1, .txg = KEEP, .bytes = RECORD};

	sl_zil_log(&writer->rig->zil, &change, true);
	sl_zil_commit(&writer->rig->zil, now_ns, 1, &writer->waiter);
}

static void writer_done(struct sl_timer *timer, int64_t now_ns)
{
	struct writer *writer = sl_container_of(timer, struct writer, waiter.done);

	writer->done++;
	if (now_ns < RUN_NS) {
		event_at(&writer->start, writer->rig->nas.loop,
			 now_ns + sl_rng_exp_ns(&writer->rng, THINK_NS), writer_write, writer);
	}
}

struct outcome {
	double rate, records_per_block, bytes_per_record;
};

static struct rig *serial_rig(enum sl_zil_generation generation)
{
	struct rig *rig = rig_new_of(true, generation);
	struct serial_disk *disk = calloc(1, sizeof(*disk));

	cr_assert_not_null(disk);
	disk->dev.ops = &serial_ops;
	disk->dev.loop = rig->nas.loop;
	disk->flushed.fire = serial_flushed;
	sl_dev_free(rig->slog.disks[0]);
	rig->slog.disks[0] = rig->slog.queues[0].disk = &disk->dev;
	return rig;
}

static struct outcome run_writers(enum sl_zil_generation generation, int depth)
{
	struct rig *rig = serial_rig(generation);
	struct writer *writers = calloc(DEPTH_MAX, sizeof(*writers));
	uint64_t done = 0;
	struct outcome outcome;

	cr_assert(writers && depth <= DEPTH_MAX);
	for (int i = 0; i < depth; i++) {
		writers[i] = (struct writer){.rig = rig, .waiter.done.fire = writer_done};
		sl_rng_init(&writers[i].rng, (uint64_t)i, "writer");
		event_at(&writers[i].start, rig->nas.loop, i * 20 * US, writer_write, &writers[i]);
	}
	run_all(rig->nas.loop);
	for (int i = 0; i < depth; i++) {
		done += writers[i].done;
	}
	outcome = (struct outcome){.rate = (double)done * 1e9 / RUN_NS,
				   .records_per_block = (double)done / (double)rig->zil.blocks,
				   .bytes_per_record = (double)rig->zil.log_bytes / (double)done};
	free(writers);
	rig_free(rig);
	return outcome;
}

#define GENERATIONS 3
static const enum sl_zil_generation generations[GENERATIONS] = {SL_ZIL_2014, SL_ZIL_21, SL_ZIL_23};

/*
 * One writer: a record of 4096 + 192 B and the block's header are 8 KiB of log. Its turn is 50 + 300 us and
 * 30 us of thinking: 2632/s; in 2.1 the open block waits for company as well, 5 % of 350 us: 2516/s.
 */
Test(zil_depth, one_writer_has_a_block_to_itself)
{
	static const double rates[] = {2632, 2516, 2632};

	for (int i = 0; i < GENERATIONS; i++) {
		struct outcome one = run_writers(generations[i], 1);

		cr_assert(fabs(one.rate / rates[i] - 1) < 0.01, "generation %d: %g", i, one.rate);
		cr_assert(fabs(one.records_per_block - 1) < 0.01);
		cr_assert(fabs(one.bytes_per_record - 8192) < 8);
	}
}

/*
 * The more committers, the more records in a block, the less log for each and the more of them in a second.
 * While a flush runs nothing else does, so 16 writers are through after the flush they wait for, their
 * blocks' writes and the flush of these, in the chain of 2.1 and 2.3 one more for those that came late: 3 x
 * 300 + 2 x 50 us, 16000/s, or 2 x (50 + 300) us, 22860/s, in the batches of 2014. Between 2 and 8 records
 * share a block then; two are 8768 B, 12 KiB: 6144 B each; with one to each block it would be 8192 as ever.
 */
Test(zil_depth, blocks_fill_with_the_number_of_committers)
{
	for (int i = 0; i < GENERATIONS; i++) {
		struct outcome before = {0};

		for (int depth = 1; depth <= DEPTH_MAX; depth *= 4) {
			struct outcome now = run_writers(generations[i], depth);

			if (depth > 1) {
				cr_assert_gt(now.records_per_block, 1.2 * before.records_per_block,
					     "generation %d, %d writers: %g", i, depth,
					     now.records_per_block);
				cr_assert_lt(now.bytes_per_record, before.bytes_per_record);
				cr_assert_gt(now.rate, 1.5 * before.rate);
			}
			if (depth == 16) {
				cr_assert(now.records_per_block > 2 && now.records_per_block < 8.1);
				cr_assert_lt(now.bytes_per_record, 6144);
				cr_assert_gt(now.rate, 0.95 * 16000);
				cr_assert_lt(now.rate, 1.05 * 22860);
			}
			before = now;
		}
	}
}
