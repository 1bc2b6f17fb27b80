/* Layouts: what a block costs each disk, when it is done, and where flushes go. */
#include <errno.h>

#include "tests/unit/zfs/lib.h"

static const char *const disks[] = {"d0", "d1", "d2", "d3"};

struct block {
	struct sl_vdev_io io;
	struct notes *notes;
	bool done;
};

static void block_done(struct sl_timer *timer, int64_t now_ns)
{
	static const char *const names[] = {"read", "write", "flush"};
	struct block *block = sl_container_of(timer, struct block, io.done);

	block->done = true;
	notes_add(block->notes, now_ns, "%s done", names[block->io.op]);
}

/* Submits a block now and waits for its end, which is noted. */
static void run_block(struct nas *nas, struct sl_vdev *vdev, enum sl_dev_op op, int64_t bytes)
{
	struct block block = {.io = {.done.fire = block_done, .op = op, .bytes = bytes},
			      .notes = &nas->notes};

	if (op == SL_DEV_WRITE) {
		sl_vdev_alloc(vdev, &block.io);
	}
	sl_vdev_submit(vdev, sl_loop_now(nas->loop), &block.io);
	run_all(nas->loop);
	cr_assert(block.done);
}

/* vdev_raidz_asize for three disks and 4 KiB sectors, and other shapes. */
Test(vdev, raidz1_occupies_data_parity_and_padding)
{
	static const struct {
		int disks;
		int64_t bytes, asize;
	} rows[] = {
	    {3, 512, 8 * KIB},       {3, 4 * KIB, 8 * KIB},     {3, 8 * KIB, 16 * KIB},
	    {3, 12 * KIB, 24 * KIB}, {3, 16 * KIB, 24 * KIB},   {3, 128 * KIB, 192 * KIB},
	    {4, 12 * KIB, 16 * KIB}, {4, 128 * KIB, 176 * KIB}, {2, 4 * KIB, 8 * KIB},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_vdev vdev;
		struct nas nas;

		nas_init(&nas);
		vdev_of_disks(&vdev, &nas, SL_VDEV_RAIDZ1, disks, rows[i].disks);
		cr_assert_eq(sl_vdev_asize(&vdev, rows[i].bytes), rows[i].asize, "row %zu: %lld", i,
			     (long long)sl_vdev_asize(&vdev, rows[i].bytes));
		sl_vdev_fini(&vdev);
		nas_fini(&nas);
	}
}

Test(vdev, mirror_and_stripe_occupy_whole_sectors)
{
	struct sl_vdev vdev;
	struct nas nas;

	nas_init(&nas);
	vdev_of_disks(&vdev, &nas, SL_VDEV_MIRROR, disks, 2);
	cr_assert_eq(sl_vdev_asize(&vdev, 5000), 8 * KIB);
	cr_assert_eq(sl_vdev_asize(&vdev, 128 * KIB), 128 * KIB);
	sl_vdev_fini(&vdev);
	nas_fini(&nas);
}

Test(vdev, raidz1_writes_columns_and_parity_and_reads_without_it)
{
	struct sl_vdev vdev;
	struct nas nas;

	nas_init(&nas);
	vdev_of_disks(&vdev, &nas, SL_VDEV_RAIDZ1, disks, 3);
	run_block(&nas, &vdev, SL_DEV_WRITE, 4 * KIB); /* parity and one column */
	notes_expect(&nas.notes, "[0ms] d0 write 4K\n"
				 "[0ms] d1 write 4K\n"
				 "[1ms] write done\n");
	notes_clear(&nas.notes);
	run_block(&nas, &vdev, SL_DEV_WRITE,
		  12 * KIB); /* two rows, the second half full; begins on the third disk */
	notes_expect(&nas.notes, "[1ms] d2 write 8K\n"
				 "[1ms] d0 write 8K\n"
				 "[1ms] d1 write 4K\n"
				 "[2ms] write done\n");
	notes_clear(&nas.notes);
	run_block(&nas, &vdev, SL_DEV_WRITE, 128 * KIB);
	cr_assert_eq(notes_count(&nas.notes, "write 64K"), 3);
	notes_clear(&nas.notes);
	run_block(&nas, &vdev, SL_DEV_READ, 128 * KIB);
	notes_expect(&nas.notes, "[3ms] d1 read 64K\n"
				 "[3ms] d2 read 64K\n"
				 "[4ms] read done\n");
	sl_vdev_fini(&vdev);
	nas_fini(&nas);
}

Test(vdev, a_mirror_is_as_slow_as_its_slowest_side_and_reads_take_turns)
{
	struct sl_vdev vdev;
	struct nas nas;

	nas_init(&nas);
	vdev_of_disks(&vdev, &nas, SL_VDEV_MIRROR, disks, 1);
	sl_vdev_add_disk(&vdev, &fake_disk_new(nas.loop, &nas.notes, "slow", 3 * MS, MS)->dev, 1 << 30);
	run_block(&nas, &vdev, SL_DEV_WRITE, 16 * KIB);
	run_block(&nas, &vdev, SL_DEV_READ, 16 * KIB);
	run_block(&nas, &vdev, SL_DEV_READ, 16 * KIB);
	notes_expect(&nas.notes, "[0ms] d0 write 16K\n"
				 "[0ms] slow write 16K\n"
				 "[3ms] write done\n"
				 "[3ms] d0 read 16K\n"
				 "[4ms] read done\n"
				 "[4ms] slow read 16K\n"
				 "[7ms] read done\n");
	sl_vdev_fini(&vdev);
	nas_fini(&nas);
}

Test(vdev, a_stripe_sends_whole_blocks_round_robin)
{
	struct sl_vdev vdev;
	struct nas nas;

	nas_init(&nas);
	vdev_of_disks(&vdev, &nas, SL_VDEV_STRIPE, disks, 2);
	for (int i = 0; i < 3; i++) {
		run_block(&nas, &vdev, SL_DEV_WRITE, 16 * KIB);
	}
	cr_assert_eq(vdev.disks[0]->stats.writes, 2);
	cr_assert_eq(vdev.disks[1]->stats.writes, 1);
	cr_assert_eq(vdev.disks[0]->stats.bytes_written, 32 * KIB);
	sl_vdev_fini(&vdev);
	nas_fini(&nas);
}

Test(vdev, a_flush_goes_to_the_disks_written_since_the_last_one)
{
	struct sl_vdev vdev;
	struct nas nas;

	nas_init(&nas);
	vdev_of_disks(&vdev, &nas, SL_VDEV_RAIDZ1, disks, 3);
	run_block(&nas, &vdev, SL_DEV_WRITE, 4 * KIB);
	notes_clear(&nas.notes);
	run_block(&nas, &vdev, SL_DEV_FLUSH, 0);
	run_block(&nas, &vdev, SL_DEV_FLUSH, 0);
	notes_expect(&nas.notes, "[1ms] d0 flush\n"
				 "[1ms] d1 flush\n"
				 "[1.5ms] flush done\n"
				 "[1.5ms] flush done\n");
	sl_vdev_fini(&vdev);
	nas_fini(&nas);
}

Test(vdev, an_ignored_flush_is_answered_at_once_and_reaches_nothing)
{
	struct sl_vdev vdev;
	struct nas nas;

	nas_init(&nas);
	vdev_of_disks(&vdev, &nas, SL_VDEV_RAIDZ1, disks, 3);
	vdev.config.flush_honoured = false;
	run_block(&nas, &vdev, SL_DEV_WRITE, 128 * KIB);
	notes_clear(&nas.notes);
	run_block(&nas, &vdev, SL_DEV_FLUSH, 0);
	notes_expect(&nas.notes, "[1ms] flush done\n");
	sl_vdev_fini(&vdev);
	nas_fini(&nas);
}

Test(vdev, encryption_and_parity_are_paid_by_cpus_before_the_disks)
{
	struct sl_vdev_config config = {.layout = SL_VDEV_RAIDZ1,
					.ashift = 12,
					.leaf_cpu_ns = 100 * US,
					.leaf_cpu_bps = 65536e3,
					.parity_bps = 131072e3};
	struct sl_vdev vdev;
	struct nas nas;

	nas_init(&nas);
	sl_vdev_init(&vdev, &config, nas.loop, &nas.cpu, NULL);
	for (int i = 0; i < 3; i++) {
		sl_vdev_add_disk(&vdev, &fake_disk_new(nas.loop, &nas.notes, disks[i], MS, 0)->dev, 1 << 30);
	}
	/* Per leaf 0.1 ms and 1 ms for its 64 KiB; the parity of 128 KiB takes 1 ms, a third of it on each.
	 */
	run_block(&nas, &vdev, SL_DEV_WRITE, 128 * KIB);
	notes_expect(&nas.notes, "[1.433333ms] d0 write 64K\n"
				 "[1.433333ms] d1 write 64K\n"
				 "[1.433333ms] d2 write 64K\n"
				 "[2.433333ms] write done\n");
	sl_vdev_fini(&vdev);
	nas_fini(&nas);
}

/* Three mirrors of two take blocks in turn; a lost side is forgiven, a lost mirror is passed over. */
Test(vdev, top_level_vdevs_take_blocks_in_turn_as_long_as_they_work)
{
	static const char *const names[] = {"a0", "a1", "b0", "b1", "c0", "c1"};
	struct sl_vdev vdev;
	struct nas nas;

	nas_init(&nas);
	vdev_of_tops(&vdev, &nas, SL_VDEV_MIRROR, 3, names, 6);
	cr_assert_eq(sl_vdev_width(&vdev), 2);
	cr_assert_eq(sl_vdev_top_bytes(&vdev), (1 << 30) - 4 * MIB - 512 * KIB); /* without its labels */
	cr_assert_eq(sl_vdev_fail_disk(&vdev, 0, 2, -1), 0);
	cr_assert_eq(sl_vdev_fail_disk(&vdev, 0, 3, -1), 0);
	cr_assert_eq(sl_vdev_fail_disk(&vdev, 0, 4, -1), 0);
	for (int i = 0; i < 2; i++) {
		run_block(&nas, &vdev, SL_DEV_WRITE, 16 * KIB);
	}
	cr_assert_eq(notes_count(&nas.notes, "a0 write 16K"), 1);
	cr_assert_eq(notes_count(&nas.notes, "a1 write 16K"), 1);
	cr_assert_eq(notes_count(&nas.notes, "c1 write 16K"), 1);
	cr_assert_eq(notes_count(&nas.notes, "b0"), 0);
	cr_assert(sl_vdev_works(&vdev));
	for (int disk = 0; disk < 6; disk++) {
		bool dead = disk >= 2 && disk <= 4;

		cr_assert_eq(sl_vdev_fail_disk(&vdev, 0, disk, -1), dead ? -EINVAL : 0);
	}
	cr_assert(!sl_vdev_works(&vdev));
	cr_assert_eq(sl_vdev_fail_disk(&vdev, 0, 6, -1), -EINVAL);
	sl_vdev_fini(&vdev);
	nas_fini(&nas);
}

/* raidz2 loses a block with the third disk. */
Test(vdev, a_block_fails_when_more_disks_die_than_the_layout_forgives)
{
	for (int lost = 0; lost <= 3; lost++) {
		struct block block = {.io = {.done.fire = block_done, .op = SL_DEV_WRITE, .bytes = 8 * KIB}};
		struct sl_vdev vdev;
		struct nas nas;

		nas_init(&nas);
		block.notes = &nas.notes;
		vdev_of_disks(&vdev, &nas, SL_VDEV_RAIDZ2, disks, 4);
		sl_vdev_alloc(&vdev, &block.io);
		sl_vdev_submit(&vdev, 0, &block.io);
		for (int i = 0; i < lost; i++) {
			cr_assert_eq(sl_vdev_fail_disk(&vdev, 0, i, -1), 0);
		}
		run_all(nas.loop);
		cr_assert_eq(block.io.error, lost > 2 ? -EIO : 0, "%d lost", lost);
		sl_vdev_fini(&vdev);
		nas_fini(&nas);
	}
}

/*
 * vdev_metaslab_set_size: metaslabs of 512 MiB, doubled while there are more than 200; an embedded log needs
 * more than 64 of them.
 */
Test(vdev, an_embedded_log_is_one_metaslab_of_a_vdev_that_has_many)
{
	static const struct {
		int64_t gib, embedded_mib;
	} rows[] = {{16, 0},     {32, 0},     {33, 512},     {100, 512},
		    {101, 1024}, {400, 2048}, {4000, 16384}, {8000, 16384}};
	struct sl_vdev vdev;
	struct nas nas;

	nas_init(&nas);
	vdev_of_disks(&vdev, &nas, SL_VDEV_STRIPE, disks, 1);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		vdev.disk_bytes = rows[i].gib << 30;
		vdev.config.alloc.embedded_log = true;
		cr_assert_eq(sl_vdev_embedded_bytes(&vdev), rows[i].embedded_mib * MIB, "%lld GiB",
			     (long long)rows[i].gib);
		vdev.config.alloc.embedded_log = false;
		cr_assert_eq(sl_vdev_embedded_bytes(&vdev), 0);
	}
	sl_vdev_fini(&vdev);
	nas_fini(&nas);
}

/* Log blocks stay side by side, whatever is written between them. */
Test(vdev, log_blocks_among_data_have_a_place_of_their_own)
{
	struct sl_vdev_io data = {.bytes = 128 * KIB}, log = {.bytes = 8 * KIB, .log = true};
	struct sl_vdev vdev;
	struct nas nas;

	nas_init(&nas);
	vdev_of_disks(&vdev, &nas, SL_VDEV_STRIPE, disks, 1);
	vdev.disk_bytes = INT64_C(100) << 30;
	vdev.config.alloc.embedded_log = true;
	for (int i = 0; i < 3; i++) {
		sl_vdev_alloc(&vdev, &data);
		sl_vdev_alloc(&vdev, &log);
		cr_assert_eq(data.offset_bytes, 512 * MIB + i * 128 * KIB);
		cr_assert_eq(log.offset_bytes, i * 8 * KIB);
	}
	vdev.config.alloc.embedded_log = false;
	sl_vdev_alloc(&vdev, &log);
	cr_assert_eq(log.offset_bytes, 512 * MIB + 3 * 128 * KIB);
	sl_vdev_fini(&vdev);
	nas_fini(&nas);
}

static int64_t place_of(struct sl_vdev *vdev, int64_t bytes)
{
	struct sl_vdev_io io = {.bytes = bytes};

	sl_vdev_alloc(vdev, &io);
	return io.offset_bytes;
}

Test(vdev, allocation_moves_forward_and_wraps_at_the_end)
{
	struct sl_vdev vdev;
	struct nas nas;

	nas_init(&nas);
	vdev_of_disks(&vdev, &nas, SL_VDEV_RAIDZ1, disks, 3);
	vdev.disk_bytes = 400 * KIB / 3;
	cr_assert_eq(place_of(&vdev, 128 * KIB), 0);
	cr_assert_eq(place_of(&vdev, 128 * KIB), 192 * KIB);
	cr_assert_eq(place_of(&vdev, 4 * KIB), 384 * KIB);
	cr_assert_eq(place_of(&vdev, 128 * KIB), 0);
	sl_vdev_fini(&vdev);
	nas_fini(&nas);
}

Test(vdev, utilisation_is_the_time_with_requests_outstanding)
{
	struct sl_vdev vdev;
	struct nas nas;

	nas_init(&nas);
	vdev_of_disks(&vdev, &nas, SL_VDEV_MIRROR, disks, 2);
	run_block(&nas, &vdev, SL_DEV_WRITE, 4 * KIB);
	cr_assert_float_eq(sl_vdev_utilisation(&vdev, MS), 1.0, 1e-12);
	cr_assert_float_eq(sl_vdev_utilisation(&vdev, 4 * MS), 0.25, 1e-12);
	sl_vdev_fini(&vdev);
	nas_fini(&nas);
}

struct flush_of {
	struct sl_vdev_io io;
	int64_t done_ns;
};

static void flush_of_done(struct sl_timer *timer, int64_t now_ns)
{
	sl_container_of(timer, struct flush_of, io.done)->done_ns = now_ns;
}

/* A write is done at 1 ms, a flush of 0.5 ms begins: it covers the write from 1.5 ms on. Who asks for a flush
 * in between finds the disk not written since, and must not be told that all is there: his own takes
 * until 1.7 ms. */
Test(vdev, a_flush_that_is_under_way_is_waited_for)
{
	static const char *const names[] = {"disk"};
	struct nas nas;
	struct sl_vdev vdev;
	struct flush_of first = {.io = {.done.fire = flush_of_done, .op = SL_DEV_FLUSH}}, second = first;
	struct flush_of write = {.io = {.done.fire = flush_of_done, .op = SL_DEV_WRITE, .bytes = 4096}};

	nas_init(&nas);
	vdev_of_disks(&vdev, &nas, SL_VDEV_STRIPE, names, 1);
	sl_vdev_alloc(&vdev, &write.io);
	sl_vdev_submit(&vdev, 0, &write.io);
	cr_assert_eq(sl_loop_run_until(nas.loop, MS, NULL), 0);
	sl_vdev_submit(&vdev, MS, &first.io);
	cr_assert_eq(sl_loop_run_until(nas.loop, MS + 200 * US, NULL), 0);
	sl_vdev_submit(&vdev, MS + 200 * US, &second.io);
	cr_assert_eq(second.done_ns, 0);
	run_all(nas.loop);
	cr_assert_eq(first.done_ns, MS + 500 * US);
	cr_assert_eq(second.done_ns, MS + 700 * US);
	sl_vdev_fini(&vdev);
	nas_fini(&nas);
}
