/*
 * Many committers on a log device whose flush runs alone, as that of a SATA drive does: a write 50 us, a
 * flush 300 us. Each committer logs 4 KiB, waits, thinks for 30 us in the mean and logs the next.
 */
#include <math.h>

#include "sim/base/rng.h"
#include "tests/unit/zfs/serial_disk.h"

#define WRITE_NS (50 * US)
#define FLUSH_NS (300 * US)
#define RUN_NS (1000 * MS)
#define DEPTH_MAX 64
#define THINK_NS (30 * US)
#define RECORD 4096u

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

static struct outcome run_writers(enum sl_zil_generation generation, int depth)
{
	struct rig *rig = serial_rig(generation, WRITE_NS, FLUSH_NS);
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
