/* ARC and L2ARC: shares of an even working set, headers, and the feed. */
#include "sim/zfs/arc.h"
#include "tests/unit/zfs/lib.h"

#define GIB (1024.0 * 1024 * 1024)
#define READS 4000
#define HEADER 96 /* bytes of memory for one record in the L2ARC */

struct rig {
	struct nas nas;
	struct sl_vdev cache;
	struct sl_arc arc;
};

/* Records of 128 KiB, one cache disk. */
static struct rig *rig_new(double memory, double set, double disk, double filled)
{
	static const char *const names[] = {"cache"};
	struct rig *rig = calloc(1, sizeof(*rig));
	struct sl_arc_config config = {.memory_bytes = memory,
				       .working_set_bytes = set,
				       .record_bytes = 128 * KIB,
				       .filled = filled,
				       .feed_bytes = 8 * MIB};

	cr_assert_not_null(rig);
	nas_init(&rig->nas);
	vdev_of_disks(&rig->cache, &rig->nas, SL_VDEV_STRIPE, names, 1);
	((struct fake_disk *)(void *)rig->cache.disks[0])->notes = NULL;
	rig->cache.disk_bytes = (int64_t)disk;
	config.cache = disk > 0 ? &rig->cache : NULL;
	sl_arc_init(&rig->arc, &config, rig->nas.loop, 1);
	return rig;
}

static void rig_free(struct rig *rig)
{
	sl_arc_fini(&rig->arc);
	sl_vdev_fini(&rig->cache);
	nas_fini(&rig->nas);
	free(rig);
}

static void read_many(struct rig *rig, int n)
{
	for (int i = 0; i < n; i++) {
		sl_arc_read(&rig->arc, sl_loop_now(rig->nas.loop));
	}
}

static void expect_share(uint64_t count, double share)
{
	double got = (double)count / READS;

	/* Four standard deviations of 4000 draws. */
	cr_assert(got > share - 0.032 && got < share + 0.032, "%.3f, not %.3f", got, share);
}

Test(arc, memory_holds_its_share_of_the_working_set)
{
	struct rig *fits = rig_new(4 * GIB, 4 * GIB, 0, 1), *four = rig_new(1 * GIB, 4 * GIB, 0, 1);

	read_many(fits, READS);
	read_many(four, READS);
	cr_assert_eq(fits->arc.hits, READS);
	expect_share(four->arc.hits, 0.25);
	cr_assert_eq(four->arc.cache_hits, 0);
	rig_free(fits);
	rig_free(four);
}

/* 1 of 8 GiB in memory, 4 on the cache disk, 3 on neither; headers are 4 GiB / 128 KiB x 96 B = 3 MiB. */
Test(arc, a_cache_disk_holds_its_share_once_it_is_filled)
{
	struct rig *rig = rig_new(GIB, 8 * GIB, 4 * GIB, 1);

	read_many(rig, READS);
	expect_share(rig->arc.hits, (1024 - 3) / 8192.0);
	expect_share(rig->arc.cache_hits, 4 / 8.0);
	expect_share(rig->arc.misses, 3 / 8.0);
	rig_free(rig);
}

Test(arc, the_l2arc_is_as_large_as_its_disk_its_headers_or_what_memory_does_not_hold)
{
	struct rig *disk = rig_new(GIB, 8 * GIB, 4 * GIB, 1), *rest = rig_new(GIB, 2 * GIB, 1000 * GIB, 1),
		   *headers = rig_new(256.0 * MIB, 100000 * GIB, 10000 * GIB, 1);
	struct rig *none = rig_new(4 * GIB, 3 * GIB, 4 * GIB, 1);

	cr_assert_float_eq(sl_arc_cache_room(&disk->arc), 4 * GIB, 1);
	/* 1 GiB that memory lacks, and what its headers push out as well: x = 1 GiB + x / 128 KiB x 96 B. */
	cr_assert_float_eq(sl_arc_cache_room(&rest->arc), GIB / (1 - HEADER / 131072.0), 1);
	/* A third of 256 MiB holds 922746 headers. */
	cr_assert_float_eq(sl_arc_cache_room(&headers->arc), 0.33 * 256 * MIB / HEADER * 131072, 1);
	cr_assert_float_eq(sl_arc_cache_room(&none->arc), 0, 1);
	rig_free(disk);
	rig_free(rest);
	rig_free(headers);
	rig_free(none);
}

/* 100 misses of 128 KiB are 12.5 MiB: a second's feed takes 8 MiB of them, in 64 records. */
Test(arc, a_cold_l2arc_is_fed_with_what_reads_bring_in_8_mib_a_second)
{
	struct rig *rig = rig_new(128.0 * MIB, 1e6 * GIB, 4000 * GIB, 0);

	cr_assert_float_eq(rig->arc.cached_bytes, 0, 0);
	read_many(rig, 100);
	cr_assert_eq(rig->arc.misses, 100);
	cr_assert_eq(sl_loop_run_until(rig->nas.loop, SEC - 1, NULL), 0);
	cr_assert_eq(rig->cache.disks[0]->stats.writes, 0);
	run_all(rig->nas.loop);
	cr_assert_eq(rig->cache.disks[0]->stats.bytes_written, 8 * MIB);
	cr_assert_float_eq(rig->arc.cached_bytes, 8.0 * MIB, 1);
	read_many(rig, 8); /* little to feed: that is fed */
	run_all(rig->nas.loop);
	cr_assert_eq(rig->cache.disks[0]->stats.bytes_written, 9 * MIB);
	rig_free(rig);
}

/* A pass over a file of 4 GiB with 1 GiB of memory: what it has brought is a hit and feeds nothing, all else
 * is read from the disks (8 x 128 KiB: 1 MiB to feed), although a quarter of the file is in memory and the
 * rest on the cache disk. With memory for all of it nothing is. */
Test(arc, a_pass_over_a_file_finds_all_or_nothing)
{
	struct rig *pass = rig_new(GIB, 4 * GIB, 100 * GIB, 1),
		   *fits = rig_new(4 * GIB, 4 * GIB, 100 * GIB, 1);

	for (int i = 0; i < 100; i++) {
		cr_assert_eq(sl_arc_read_on(&pass->arc, 0, true), SL_ARC_MEMORY);
		cr_assert_eq(sl_arc_read_on(&fits->arc, 0, false), SL_ARC_MEMORY);
	}
	run_all(pass->nas.loop);
	cr_assert_eq(pass->cache.disks[0]->stats.bytes_written, 0);
	for (int i = 0; i < 8; i++) {
		cr_assert_eq(sl_arc_read_on(&pass->arc, 0, false), SL_ARC_MISS);
	}
	run_all(pass->nas.loop);
	cr_assert_eq(pass->cache.disks[0]->stats.bytes_written, MIB);
	cr_assert_eq(pass->arc.hits, 100);
	cr_assert_eq(pass->arc.misses, 8);
	rig_free(pass);
	rig_free(fits);
}
