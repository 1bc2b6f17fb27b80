/* What the pool reads from memory, from a cache device and from its disks. */
#include "tests/unit/zfs/pool_rig.h"

/* Reads that took a disk, of 1000 here and there. */
static int misses(struct rig *rig, bool zero)
{
	struct sl_store_req read = {.op = SL_STORE_READ, .bytes = 16384, .file = 1, .zero = zero};
	int n = 0;

	for (int i = 0; i < 1000; i++) {
		int64_t took_ns;

		read.offset_bytes = i * 617 % 1000 * (3 * 128 * KIB);
		submit(rig, read, &took_ns);
		cr_assert(took_ns == 0 || took_ns == 50 * US);
		n += took_ns > 0;
	}
	return n;
}

Test(pool, reads_come_from_memory_as_far_as_it_goes)
{
	struct rig *fits = rig_new(SL_SYNC_STANDARD), *twice = rig_new(SL_SYNC_STANDARD);

	rig_start(fits, 7 * INT64_C(1000000000)); /* 70 % of the memory is ARC */
	rig_start(twice, 14 * INT64_C(1000000000));
	cr_assert_eq(misses(fits, false), 0);
	cr_assert(abs(misses(twice, false) - 500) < 50);
	cr_assert_eq(misses(twice, true), 0, "holes are not read from disk");
	rig_free(fits);
	rig_free(twice);
}

/* Half of the working set is in memory, the rest on the cache device, which takes as long as the data disk.
 */
Test(pool, a_warm_cache_device_serves_what_memory_does_not_hold)
{
	struct rig *rig = rig_new(SL_SYNC_STANDARD);
	uint64_t reads;

	rig->box.n_cache = 1;
	rig->box.cache[0] = ssd();
	rig->box.l2arc_filled = 1;
	rig->box.l2arc_write_max_bytes = (double)(8 * MIB);
	rig_start(rig, 14 * INT64_C(1000000000));
	cr_assert(abs(misses(rig, false) - 500) < 50);
	reads = stats_of(rig).data.reads;
	cr_assert_eq(reads, 0);
	cr_assert_eq(stats_of(rig).arc_misses, 0);
	cr_assert_eq(stats_of(rig).arc_hits + stats_of(rig).l2arc_hits, 1000);
	rig_free(rig);
}

/* A working set of 7 GB, an ARC of 3.5 GB: every second read is one of the disk. */
Test(pool, the_arc_can_be_given_a_size)
{
	struct rig *rig = rig_new(SL_SYNC_STANDARD);

	rig->box.arc_max_bytes = 3.5e9;
	rig_start(rig, 7 * INT64_C(1000000000));
	cr_assert(abs(misses(rig, false) - 500) < 50);
	rig_free(rig);
}

/* The record is read before a part of it is written, unless it is dirty, covered, zeros or known to be hot.
 */
Test(pool, a_write_of_a_part_of_a_record_that_is_not_in_memory_reads_it)
{
	static const struct {
		int64_t offset;
		uint32_t bytes;
		bool zero, hot;
		int64_t reads;
	} rows[] = {{0, 4096, false, false, 1},        {8192, 4096, false, false, 0},
		    {MIB, 128 * KIB, false, false, 0}, {2 * MIB, 4096, true, false, 0},
		    {3 * MIB, 4096, false, true, 0},   {4 * MIB + 4096, 128 * KIB, false, false, 2}};
	struct rig *rig = rig_new(SL_SYNC_STANDARD);

	rig_start(rig, INT64_C(1) << 60); /* nothing is in memory */
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_store_req write = unstable;
		uint64_t before = stats_of(rig).data.reads;
		int64_t took_ns;

		write.offset_bytes = rows[i].offset;
		write.bytes = rows[i].bytes;
		write.zero = rows[i].zero;
		write.hot = rows[i].hot;
		submit(rig, write, &took_ns);
		cr_assert_eq(stats_of(rig).data.reads - before, (uint64_t)rows[i].reads, "row %zu", i);
		cr_assert_eq(took_ns, rows[i].reads > 0 ? 50 * US : 0, "row %zu", i); /* two side by side */
	}
	rig_free(rig);
}

/* 128 KiB at 1.31072 GB/s: 0.1 ms to decrypt. */
Test(pool, what_is_read_from_disk_is_decrypted)
{
	struct rig *rig = rig_new(SL_SYNC_STANDARD);
	struct sl_store_req read = {.op = SL_STORE_READ, .bytes = 16384, .file = 1};
	int64_t took_ns;

	rig->box.zil = SL_ZIL_23;
	rig->box.encryption = SL_ENCRYPT_ZFS;
	rig->box.zfs_crypt_bps = 1.31072e9;
	rig_start(rig, INT64_C(1) << 60);
	submit(rig, read, &took_ns);
	cr_assert_eq(took_ns, 50 * US + 100 * US);
	rig_free(rig);
}
