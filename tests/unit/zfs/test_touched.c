/* What dirty records drag along; each count is worked out above its test. */
#include "sim/zfs/touched.h"

#include "sim/base/rng.h"
#include "tests/lib/notes.h"

#define GIB (1024 * MIB)

static struct sl_touched touched_of(uint32_t recordsize, uint32_t shift)
{
	struct sl_touched touched;

	sl_touched_init(&touched, &(struct sl_touched_config){.recordsize_bytes = recordsize,
							      .pointer_shift = shift,
							      .metaslab_bytes = GIB});
	return touched;
}

/* 1024 records, 128 pointers to a block: eight blocks of level 1 and one of level 2 over them. The old ones
 * are one free segment in one metaslab. The next txg starts anew. */
Test(touched, a_stream_touches_a_block_for_all_of_its_records)
{
	struct sl_touched touched = touched_of(128 * KIB, 7);
	struct sl_touched_counts counts;

	for (uint64_t record = 0; record < 1024; record++) {
		sl_touched_record(&touched, 1, record);
	}
	sl_touched_take(&touched, &counts);
	cr_assert_eq(counts.levels, 2);
	cr_assert_eq(counts.indirect[0], 8);
	cr_assert_eq(counts.indirect[1], 1);
	cr_assert_eq(counts.runs, 1);
	cr_assert_eq(counts.dnode_blocks, 1);
	cr_assert_eq(counts.metaslabs, 1);
	cr_assert_float_eq(counts.fill[0], 1, 1e-9);
	cr_assert_float_eq(counts.fill[1], 8.0 / 128, 1e-9);
	sl_touched_take(&touched, &counts);
	cr_assert_eq(counts.indirect[0] + counts.runs + counts.dnode_blocks, 0);
	sl_touched_fini(&touched);
}

/*
 * 20 GiB in records of 4 KiB are m = 40960 blocks of level 1; 50,000 records at random leave a block clean
 * with (1 - 1/m)^50000 = e^-1.2207 = 0.2950, so 28,876 are touched (standard deviation below 70). Above them
 * 320, 3 (2.5) and 1. Hardly a record has a neighbour, and all 20 metaslabs of 1 GiB get frees. Written one
 * behind the other the same records touch 391 (390.6) blocks and one metaslab (191 MiB).
 */
Test(touched, records_at_random_touch_a_block_each_until_all_are)
{
	struct sl_touched touched = touched_of(4 * KIB, 7);
	struct sl_touched_counts counts;
	struct sl_rng rng;

	sl_rng_init(&rng, 1, "records");
	for (int i = 0; i < 50000; i++) {
		sl_touched_record(&touched, 0, sl_rng_below(&rng, 20 * GIB / (4 * KIB)));
	}
	sl_touched_take(&touched, &counts);
	cr_assert_eq(counts.levels, 4);
	cr_assert_float_eq((double)counts.indirect[0], 28876, 280, "%u", counts.indirect[0]);
	cr_assert_eq(counts.indirect[1], 320);
	cr_assert_eq(counts.indirect[2], 3);
	cr_assert_eq(counts.indirect[3], 1);
	cr_assert_eq(counts.metaslabs, 20);
	cr_assert_gt(counts.runs, 49900);
	for (uint64_t record = 0; record < 50000; record++) {
		sl_touched_record(&touched, 0, record);
	}
	sl_touched_take(&touched, &counts);
	cr_assert_eq(counts.indirect[0], 391);
	cr_assert_eq(counts.metaslabs, 1);
	sl_touched_fini(&touched);
}

/* A dnode points to the only block of a small file by itself; 33 files have dnodes in two blocks of 32, and
 * their data lies side by side. Two files of 3 GiB share their first metaslab and have two more each. */
Test(touched, dnodes_and_metaslabs_are_shared_by_files)
{
	struct sl_touched small = touched_of(128 * KIB, 10), large = touched_of(128 * KIB, 10);
	struct sl_touched_counts counts;

	for (uint64_t file = 64; file < 64 + 33; file++) {
		sl_touched_record(&small, file, 0);
		sl_touched_dnode(&small, file);
	}
	sl_touched_take(&small, &counts);
	cr_assert_eq(counts.levels, 0);
	cr_assert_eq(counts.dnode_blocks, 2);
	cr_assert_eq(counts.metaslabs, 1);
	for (uint64_t file = 1; file <= 2; file++) {
		for (int gib = 0; gib < 3; gib++) {
			sl_touched_record(&large, file, (uint64_t)gib * 8192);
		}
	}
	sl_touched_take(&large, &counts);
	cr_assert_eq(counts.levels, 2); /* 16385 records, 1024 pointers */
	cr_assert_eq(counts.indirect[0], 6);
	cr_assert_eq(counts.indirect[1], 2);
	cr_assert_eq(counts.metaslabs, 5);
	sl_touched_fini(&small);
	sl_touched_fini(&large);
}
