/* Disks made of disks, and memory as a disk. */
#include <errno.h>
#include <malloc.h>

#include "sim/device/lines.h"
#include "tests/unit/device/rig_disk.h"

#define US INT64_C(1000)

static struct sl_dev_spec memory(double latency_us, int parallel)
{
	return (struct sl_dev_spec){
	    .kind = SL_DEV_NVRAM,
	    .capacity_bytes = 1e9,
	    .read_ns = latency_us * 1e3,
	    .write_ns = latency_us * 1e3,
	    .read_bps = 4096e6,
	    .ssd_write_bps = 4096e6,
	    .link_bps = 1e10,
	    .parallel = parallel,
	};
}

static struct sl_dev_spec made_of(enum sl_dev_kind kind, const struct sl_dev_spec *a,
				  const struct sl_dev_spec *b)
{
	return (struct sl_dev_spec){
	    .kind = kind, .n_members = 2, .members = {a, b}, .chunk_bytes = 65536, .capacity_bytes = 2e9};
}

Test(nvram, latency_and_rate_alone_and_no_cost_of_a_flush)
{
	struct sl_dev_spec spec = memory(10, 4);
	struct rig *rig = malloc(sizeof(*rig));
	double deep;

	rig_open(rig, &spec);
	cr_assert_eq(rig_one(rig, SL_DEV_WRITE, 0, 4096), 11 * US);
	cr_assert_eq(rig_one(rig, SL_DEV_READ, 0, 40960), 20 * US);
	cr_assert_eq(rig_one(rig, SL_DEV_FLUSH, 0, 0), 0);
	/* Four side by side. */
	deep = rig_random(rig, SL_DEV_WRITE, 1 << 28, 4096, 32, 4000);
	cr_assert(deep > 330e3 && deep < 370e3, "%g", deep);
	rig_close(rig);
	free(rig);
}

Test(mirror, is_done_with_the_slower_side_and_reads_from_the_freer_one)
{
	struct sl_dev_spec fast = memory(10, 1), slow = memory(50, 1),
			   spec = made_of(SL_DEV_MIRROR, &fast, &slow);
	struct rig *rig = malloc(sizeof(*rig));
	struct rig_op *reads[2];

	rig_open(rig, &spec);
	cr_assert_eq(rig_one(rig, SL_DEV_WRITE, 0, 4096), 51 * US);
	reads[0] = rig_send(rig, SL_DEV_READ, 0, 4096);
	reads[1] = rig_send(rig, SL_DEV_READ, 0, 4096);
	rig_drain(rig);
	cr_assert_eq(reads[0]->done_ns - reads[0]->from_ns, 11 * US);
	cr_assert_eq(reads[1]->done_ns - reads[1]->from_ns, 51 * US, "on the other side");
	rig_close(rig);
	free(rig);
}

Test(mirror, a_side_pulled_in_mid_write_no_longer_counts)
{
	struct sl_dev_spec fast = memory(10, 1), slow = memory(50, 1),
			   spec = made_of(SL_DEV_MIRROR, &fast, &slow);
	struct rig *rig = malloc(sizeof(*rig));
	struct rig_op *write;

	rig_open(rig, &spec);
	write = rig_send(rig, SL_DEV_WRITE, 0, 4096);
	rig_pause(rig, 20 * US);
	cr_assert_eq(write->done_ns, -1, "the slow side still works on it");
	cr_assert_eq(sl_dev_fail_side(rig->dev, sl_loop_now(rig->loop), 1), 0);
	rig_drain(rig);
	cr_assert_eq(write->done_ns, 20 * US);
	cr_assert_eq(write->req.error, 0);
	/* Later requests go to the rest. */
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(rig_one(rig, SL_DEV_WRITE, 0, 4096), 11 * US);
		cr_assert_eq(rig_one(rig, SL_DEV_READ, 0, 4096), 11 * US);
	}
	cr_assert_eq(sl_dev_fail_side(rig->dev, 0, 1), -EINVAL, "pulled already");
	cr_assert_eq(sl_dev_fail_side(rig->dev, 0, 2), -EINVAL);
	cr_assert_eq(sl_dev_fail_side(rig->dev, 0, -1), -EINVAL);
	rig_close(rig);
	free(rig);
}

Test(mirror, a_read_of_a_pulled_side_goes_to_another)
{
	struct sl_dev_spec fast = memory(10, 1), slow = memory(50, 1),
			   spec = made_of(SL_DEV_MIRROR, &slow, &fast);
	struct rig *rig = malloc(sizeof(*rig));
	struct rig_op *read;

	rig_open(rig, &spec);
	read = rig_send(rig, SL_DEV_READ, 0, 4096);
	rig_pause(rig, 5 * US);
	cr_assert_eq(sl_dev_fail_side(rig->dev, 5 * US, 0), 0);
	rig_drain(rig);
	cr_assert_eq(read->done_ns, 5 * US + 11 * US);
	cr_assert_eq(read->req.error, 0);
	rig_close(rig);
	free(rig);
}

/* Ops that a disk does besides those it was asked for: copies of regions. */
Test(mirror, a_side_put_back_gets_what_it_missed_and_no_more)
{
	struct sl_dev_spec fast = memory(10, 1), slow = memory(50, 1),
			   spec = made_of(SL_DEV_MIRROR, &fast, &slow);
	struct rig *rig = malloc(sizeof(*rig));
	int64_t attached_ns, copy_ns;

	rig_open(rig, &spec);
	cr_assert_eq(sl_dev_attach_side(rig->dev, 0, 0), -EINVAL, "it is there");
	cr_assert_eq(sl_dev_fail_side(rig->dev, 0, 0), 0);
	cr_assert_eq(rig_one(rig, SL_DEV_WRITE, 0, 4096), 51 * US);
	cr_assert_eq(rig_one(rig, SL_DEV_WRITE, 8192, 4096), 51 * US, "of the same region");
	cr_assert_eq(rig_one(rig, SL_DEV_WRITE, (100 << 20) - 4096, 8192), 52 * US, "of two regions");
	cr_assert_eq(sl_dev_stale_bytes(rig->dev), 0, "of sides that were put back");
	attached_ns = sl_loop_now(rig->loop);
	cr_assert_eq(sl_dev_attach_side(rig->dev, attached_ns, 0), 0);
	cr_assert_eq(sl_dev_attach_side(rig->dev, attached_ns, 0), -EINVAL, "put back already");
	cr_assert_eq(sl_dev_stale_bytes(rig->dev), 3 << 20);
	/* It takes writes at once, and is not read yet: the other side is slower. */
	cr_assert_eq(rig_one(rig, SL_DEV_READ, 500 << 20, 4096) >= 51 * US, 1);
	rig_drain(rig);
	cr_assert_eq(sl_dev_stale_bytes(rig->dev), 0);
	/* Each region was read from one side, 50 us and 256 us, and written to the other, 10 us and 256 us.
	 */
	copy_ns = sl_loop_now(rig->loop) - attached_ns;
	cr_assert(copy_ns >= 3 * 572 * US && copy_ns <= 3 * 572 * US + 110 * US, "%lld", (long long)copy_ns);
	cr_assert_eq(sl_dev_fail_side(rig->dev, sl_loop_now(rig->loop), 1), 0);
	cr_assert_eq(rig_one(rig, SL_DEV_READ, 0, 4096), 11 * US, "it is whole");
	rig_close(rig);
	free(rig);
}

/* Latencies are off: what takes no time needs a side all the same, and one that is away misses it. */
Test(mirror, what_takes_no_time_needs_a_side_too)
{
	struct sl_dev_spec side = memory(10, 1), spec = made_of(SL_DEV_MIRROR, &side, &side);
	struct sl_dev_req write = {.op = SL_DEV_WRITE, .bytes = 4096},
			  read = {.op = SL_DEV_READ, .bytes = 4096};
	struct rig *rig = malloc(sizeof(*rig));

	rig_open(rig, &spec);
	cr_assert_eq(sl_dev_fail_side(rig->dev, 0, 1), 0);
	cr_assert_eq(sl_dev_pass(rig->dev, &write), 0);
	cr_assert_eq(sl_dev_fail_side(rig->dev, 0, 0), 0);
	cr_assert_eq(sl_dev_pass(rig->dev, &write), -EIO);
	cr_assert_eq(sl_dev_pass(rig->dev, &read), -EIO);
	cr_assert_eq(sl_dev_attach_side(rig->dev, 0, 1), 0);
	cr_assert_eq(sl_dev_stale_bytes(rig->dev), 1 << 20, "the region that it missed");
	rig_close(rig);
	free(rig);
}

Test(mirror, what_is_written_during_its_copy_is_copied_again)
{
	struct sl_dev_spec side = memory(10, 4), spec = made_of(SL_DEV_MIRROR, &side, &side);
	struct rig *rig = malloc(sizeof(*rig));
	int64_t start_ns;

	rig_open(rig, &spec);
	cr_assert_eq(sl_dev_fail_side(rig->dev, 0, 1), 0);
	cr_assert_eq(rig_one(rig, SL_DEV_WRITE, 0, 4096), 11 * US);
	start_ns = sl_loop_now(rig->loop);
	cr_assert_eq(sl_dev_attach_side(rig->dev, start_ns, 1), 0);
	rig_pause(rig, 100 * US);
	cr_assert_eq(rig_one(rig, SL_DEV_WRITE, 65536, 4096) > 0, 1);
	rig_drain(rig);
	cr_assert(sl_loop_now(rig->loop) - start_ns > 4 * 256 * US, "twice there and back");
	/* Pulled in the middle of a copy: it needs that region still. */
	cr_assert_eq(sl_dev_fail_side(rig->dev, sl_loop_now(rig->loop), 1), 0);
	cr_assert_eq(rig_one(rig, SL_DEV_WRITE, 0, 4096), 11 * US);
	cr_assert_eq(sl_dev_attach_side(rig->dev, sl_loop_now(rig->loop), 1), 0);
	rig_pause(rig, 300 * US);
	cr_assert_eq(sl_dev_fail_side(rig->dev, sl_loop_now(rig->loop), 1), 0);
	cr_assert_eq(sl_dev_attach_side(rig->dev, sl_loop_now(rig->loop), 1), 0);
	cr_assert_eq(sl_dev_stale_bytes(rig->dev), 1 << 20);
	rig_drain(rig);
	cr_assert_eq(sl_dev_stale_bytes(rig->dev), 0);
	rig_close(rig);
	free(rig);
}

Test(mirror, without_a_side_requests_end_with_an_error)
{
	struct sl_dev_spec a = memory(10, 1), spec = made_of(SL_DEV_MIRROR, &a, &a);
	struct rig *rig = malloc(sizeof(*rig));
	struct rig_op *ops[4];

	rig_open(rig, &spec);
	ops[0] = rig_send(rig, SL_DEV_WRITE, 0, 4096);
	cr_assert_eq(sl_dev_fail_side(rig->dev, 0, 0), 0);
	cr_assert_eq(sl_dev_fail_side(rig->dev, 0, 1), 0);
	ops[1] = rig_send(rig, SL_DEV_WRITE, 0, 4096);
	ops[2] = rig_send(rig, SL_DEV_READ, 0, 4096);
	ops[3] = rig_send(rig, SL_DEV_FLUSH, 0, 0);
	rig_drain(rig);
	for (int i = 0; i < 4; i++) {
		cr_assert_eq(ops[i]->req.error, -EIO, "request %d", i);
	}
	rig_close(rig);
	free(rig);
}

Test(stripe, a_large_request_is_shared_and_a_small_one_is_not)
{
	struct sl_dev_spec a = memory(10, 1), spec = made_of(SL_DEV_STRIPE, &a, &a);
	struct rig *rig = malloc(sizeof(*rig));

	rig_open(rig, &spec);
	/* Two chunks of 16 us each, on both members at once. */
	cr_assert_eq(rig_one(rig, SL_DEV_WRITE, 0, 131072), 26 * US);
	cr_assert_eq(rig_one(rig, SL_DEV_WRITE, 4096, 4096), 11 * US);
	/* Across a border: the pieces on both sides run side by side. */
	cr_assert_eq(rig_one(rig, SL_DEV_WRITE, 65536 - 4096, 8192), 11 * US);
	/* 1 MiB: eight chunks are one request of 128 us to each member. */
	cr_assert_eq(rig_one(rig, SL_DEV_READ, 0, 1 << 20), 138 * US);
	rig_close(rig);
	free(rig);
}

Test(stripe, has_no_sides_to_pull)
{
	struct sl_dev_spec a = memory(10, 1), spec = made_of(SL_DEV_STRIPE, &a, &a);
	struct rig *rig = malloc(sizeof(*rig));

	rig_open(rig, &spec);
	cr_assert_eq(sl_dev_fail_side(rig->dev, 0, 0), -EINVAL);
	cr_assert_eq(rig_one(rig, SL_DEV_WRITE, 0, 4096), 11 * US);
	rig_close(rig);
	free(rig);
}

Test(lines, are_taken_in_a_sweep_that_starts_again)
{
	static const int64_t dirty[] = {5, 4099, 70000, 1000000, 63, 64};
	static const int64_t sweep[] = {64, 4099, 70000, 1000000, 5, 63};
	struct sl_lines lines;
	struct sl_line line;
	int64_t from = 64;

	cr_assert_eq(sl_lines_init(&lines, 1000001), 0);
	for (size_t i = 0; i < 6; i++) {
		cr_assert_eq(sl_lines_add(&lines, &(struct sl_line){dirty[i], 4, 7}), 4);
	}
	/* The same range again is nothing new, a neighbour is joined with what lies between. */
	cr_assert_eq(sl_lines_add(&lines, &(struct sl_line){5, 5, 6}), 0);
	cr_assert_eq(sl_lines_add(&lines, &(struct sl_line){5, 10, 11}), 4);
	cr_assert(sl_lines_has(&lines, &(struct sl_line){5, 4, 11}));
	cr_assert(!sl_lines_has(&lines, &(struct sl_line){5, 4, 12}));
	for (size_t i = 0; i < 6; i++) {
		cr_assert(sl_lines_take(&lines, from, &line));
		cr_assert_eq(line.index, sweep[i], "%zu: %lld", i, (long long)line.index);
		from = line.index;
	}
	cr_assert(!sl_lines_take(&lines, 0, &line));
	cr_assert_eq(lines.dirty, 0);
	sl_lines_fini(&lines);
}

/* One bit a line, and 64 times less from level to level: 15626 words of 8 bytes, 245, 4 and 1. What malloc
 * adds to each is below 32 bytes. */
Test(lines, take_a_bit_each_and_little_more)
{
	static const size_t words[SL_LINES_LEVELS] = {15626, 245, 4, 1};
	struct sl_lines lines;

	cr_assert_eq(sl_lines_init(&lines, 1000001), 0);
	for (int i = 0; i < SL_LINES_LEVELS; i++) {
		cr_assert(malloc_usable_size(lines.level[i]) >= words[i] * 8, "level %d", i);
		cr_assert(malloc_usable_size(lines.level[i]) < words[i] * 8 + 32, "level %d", i);
	}
	sl_lines_fini(&lines);
}

static struct sl_dev_spec disk_15k(void)
{
	return (struct sl_dev_spec){
	    .kind = SL_DEV_HDD,
	    .capacity_bytes = 600e9,
	    .rpm = 15000,
	    .seek_track_ns = 0.3e6,
	    .seek_avg_ns = 3.5e6,
	    .seek_full_ns = 7e6,
	    .media_bps = 200e6,
	    .media_inner_bps = 120e6,
	    .write_cache = 1, /* the controller turns it off */
	    .cache_bytes = 16 << 20,
	    .write_bps = 150e6,
	    .link_bps = 600e6,
	    .command_ns = 0.1e6,
	    .ncq_depth = 32,
	    .flush_honoured = 1,
	};
}

static struct sl_dev_spec raid_of(const struct sl_dev_spec *disk, int disks)
{
	struct sl_dev_spec spec = {
	    .kind = SL_DEV_RAID10,
	    .n_members = disks,
	    .cache_bytes = 32 << 20,
	    .write_ack_ns = 50e3,
	    .write_bps = 1024e6,
	    .chunk_bytes = 65536,
	    .destage_depth = 2,
	};

	for (int i = 0; i < disks; i++) {
		spec.members[i] = disk;
	}
	return spec;
}

Test(raid10, acknowledges_from_the_cache_and_keeps_it_over_a_flush)
{
	struct sl_dev_spec disk = disk_15k(), spec = raid_of(&disk, 4);
	struct rig *rig = malloc(sizeof(*rig));
	int64_t cached, missed;

	rig_open(rig, &spec);
	for (int i = 0; i < 10; i++) {
		struct rig_op *write =
		    rig_send(rig, SL_DEV_WRITE, i * INT64_C(1000000000) / 16384 * 16384, 16384);

		cached = rig_one(rig, SL_DEV_FLUSH, 0, 0);
		cr_assert(cached >= 0);
		cr_assert(write->done_ns - write->from_ns <= (50 + 16) * US);
	}
	missed = rig_one(rig, SL_DEV_READ, INT64_C(300000000000), 16384);
	cr_assert(missed > 1000 * US);
	rig_close(rig);
	free(rig);
}

Test(raid10, a_full_cache_writes_faster_than_its_disks_alone)
{
	struct sl_dev_spec disk = disk_15k(), spec = raid_of(&disk, 4);
	int64_t span = INT64_C(100) << 30;
	struct rig *rig = malloc(sizeof(*rig));
	double alone, array;

	disk.write_cache = 0;
	rig_open(rig, &disk);
	alone = rig_random(rig, SL_DEV_WRITE, span / 2, 16384, 1, 500);
	rig_close(rig);
	rig_open(rig, &spec);
	rig_random(rig, SL_DEV_WRITE, span, 16384, 1, 2500); /* the cache holds 2048 */
	array = rig_random(rig, SL_DEV_WRITE, span, 16384, 1, 2000);
	cr_assert(array > 2.2 * alone && array < 5 * alone, "%g, one disk %g", array, alone);
	/* With one disk of each pair gone it goes on. */
	cr_assert_eq(sl_dev_fail_side(rig->dev, sl_loop_now(rig->loop), 0), 0);
	cr_assert_eq(sl_dev_fail_side(rig->dev, sl_loop_now(rig->loop), 3), 0);
	cr_assert_eq(sl_dev_fail_side(rig->dev, sl_loop_now(rig->loop), 4), -EINVAL);
	array = rig_random(rig, SL_DEV_WRITE, span, 16384, 1, 500);
	cr_assert(array > alone, "%g", array);
	rig_close(rig);
	free(rig);
}

Test(raid10, refuses_what_it_cannot_be_made_of)
{
	struct sl_dev_spec disk = disk_15k(), spec = raid_of(&disk, 3);
	struct sl_loop *loop = sl_loop_new_virtual();
	struct sl_dev *dev = NULL;
	struct sl_err err = {0};

	cr_assert_eq(sl_dev_new(&spec, loop, 1, "array", &dev, &err), -EINVAL);
	cr_assert_str_eq(err.msg, "disk array: raid10 needs 2 to 16 disks, an even number");
	disk.rpm = 0;
	spec = raid_of(&disk, 4);
	cr_assert_eq(sl_dev_new(&spec, loop, 1, "array", &dev, &err), -EINVAL);
	cr_assert_str_eq(err.msg, "disk array.0.0: rpm, media_rate and capacity must be known");
	spec.kind = SL_DEV_MIRROR;
	spec.n_members = 0;
	cr_assert_eq(sl_dev_new(&spec, loop, 1, "pair", &dev, &err), -EINVAL);
	cr_assert_str_eq(err.msg, "disk pair: it must be made of 1 to 16 disks");
	cr_assert_null(dev);
	sl_loop_free(loop);
}

/* What a request takes it gives back: after a thousand there is as much in use as after a hundred. */
Test(made_of, disks_take_no_more_memory_the_longer_they_run)
{
	struct sl_dev_spec disk = disk_15k(), ram = memory(10, 4),
			   mirror = made_of(SL_DEV_MIRROR, &ram, &ram),
			   stripe = made_of(SL_DEV_STRIPE, &ram, &ram), raid = raid_of(&disk, 4);
	const struct sl_dev_spec *specs[] = {&disk, &ram, &mirror, &stripe, &raid};
	struct rig *rig = malloc(sizeof(*rig));

	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		size_t in_use = 0;

		rig_open(rig, specs[i]);
		for (int64_t n = 0; n < 1000; n++) {
			if (n == 100) {
				in_use = mallinfo2().uordblks;
			}
			rig_one(rig, SL_DEV_WRITE, n * 65536, 131072);
			rig_one(rig, SL_DEV_READ, n * 65536, 131072);
			rig_one(rig, SL_DEV_FLUSH, 0, 0);
		}
		cr_assert_eq(mallinfo2().uordblks, in_use, "disk %zu", i);
		rig_close(rig);
	}
	free(rig);
}
