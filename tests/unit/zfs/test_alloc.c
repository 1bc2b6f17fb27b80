/* Where blocks and their copies go. GiB are of a top-level vdev; places by hand from metaslab.c. */
#include "sim/zfs/alloc.h"
#include "tests/lib/notes.h"

#define GIB (1024 * MIB)
#define TOP (400 * GIB) /* 200 metaslabs of 2 GiB */

static int64_t place(struct sl_alloc *alloc, const struct sl_alloc_config *config, unsigned home, int copy,
		     int64_t asize)
{
	return sl_alloc_place(alloc, config, TOP, &(struct sl_alloc_block){.home = home, .copy = copy},
			      asize);
}

/* Since 0.8: four allocators, each with a metaslab for first copies and one for second ones; each that is
 * needed is the outermost that is free. The first metaslab is the embedded log. */
Test(alloc, each_home_and_each_copy_has_a_metaslab_of_its_own)
{
	static const struct {
		unsigned home;
		int copy;
		int64_t metaslab, blocks; /* and how many blocks are there already */
	} rows[] = {{0, 0, 1, 0}, {1, 0, 2, 0}, {1, 1, 3, 0}, {1, 2, 4, 0},
		    {0, 0, 1, 1}, {5, 1, 3, 1}, {2, 0, 5, 0}, {0, 0, 1, 2}};
	const struct sl_alloc_config config = {.allocators = 4, .embedded_log = true};
	struct sl_alloc alloc = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_assert_eq(place(&alloc, &config, rows[i].home, rows[i].copy, 128 * KIB),
			     rows[i].metaslab * 2 * GIB + rows[i].blocks * 128 * KIB, "row %zu", i);
	}
}

/* Up to 0.7: one metaslab for all first copies. An empty one must be 1.5 x 400 / 8 = 75 GiB from the copy
 * before: 37.5 metaslabs, so the 38th (76 GiB) and the 76th (152 GiB). */
Test(alloc, copies_of_old_are_an_eighth_of_the_vdev_apart)
{
	const struct sl_alloc_config config = {.allocators = 1, .far_copies = true};
	struct sl_alloc alloc = {0};

	cr_assert_eq(place(&alloc, &config, 0, 0, 128 * KIB), 0);
	cr_assert_eq(place(&alloc, &config, 7, 0, 4 * KIB), 128 * KIB);
	cr_assert_eq(place(&alloc, &config, 7, 1, 4 * KIB), 76 * GIB);
	cr_assert_eq(place(&alloc, &config, 7, 2, 4 * KIB), 152 * GIB);
	cr_assert_eq(place(&alloc, &config, 3, 1, 4 * KIB), 76 * GIB + 4 * KIB);
}

/* A full metaslab is followed by the next free one: 1 (data), 2 (copy), then 3. */
Test(alloc, a_full_metaslab_is_followed_by_a_fresh_one)
{
	const struct sl_alloc_config config = {.allocators = 4, .embedded_log = true};
	struct sl_alloc alloc = {0};

	cr_assert_eq(place(&alloc, &config, 0, 0, GIB), 2 * GIB);
	cr_assert_eq(place(&alloc, &config, 0, 1, GIB), 4 * GIB);
	cr_assert_eq(place(&alloc, &config, 0, 0, GIB), 3 * GIB);
	cr_assert_eq(place(&alloc, &config, 0, 0, GIB), 6 * GIB);
}

/* 4 GiB are 8 metaslabs: of old an eighth is one of them, which is no distance; since 0.8 fewer than 3 x 4
 * mean one allocator. */
Test(alloc, on_a_small_vdev_all_share)
{
	const struct sl_alloc_config old = {.allocators = 1, .far_copies = true}, new = {.allocators = 4};
	struct sl_alloc a = {0}, b = {0};
	const struct sl_alloc_block second = {.home = 3, .copy = 1}, first = {.home = 3};

	cr_assert_eq(sl_alloc_place(&a, &old, 4 * GIB, &first, 4 * KIB), 0);
	cr_assert_eq(sl_alloc_place(&a, &old, 4 * GIB, &second, 4 * KIB), 4 * KIB);
	cr_assert_eq(sl_alloc_place(&b, &new, 4 * GIB, &first, 4 * KIB), 0);
	cr_assert_eq(sl_alloc_place(&b, &new, 4 * GIB, &(struct sl_alloc_block){0}, 4 * KIB), 4 * KIB);
	cr_assert_eq(sl_alloc_place(&b, &new, 4 * GIB, &second, 4 * KIB), 512 * MIB);
}

/* zfs_frag_table: 50 % is 128 KiB, 20 % 1 MiB, 5 % 8 MiB; 45 % lies half way between 128 and 256 KiB on the
 * scale of powers: 181 KiB. */
Test(alloc, a_fragmentation_is_a_length_of_free_segments)
{
	static const struct {
		double frag, kib;
	} rows[] = {{0.5, 128}, {0.2, 1024}, {0.05, 8192}, {0.45, 181.02}, {0.98, 2}, {1, 1}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double bytes = sl_alloc_segment_bytes(rows[i].frag);

		cr_assert_float_eq(bytes / KIB, rows[i].kib, 0.01 * rows[i].kib, "row %zu: %.2f", i,
				   bytes / KIB);
	}
}

/* 200 metaslabs, the first the embedded log; half of the other 199 are full: data begins in metaslab 1 + 99.
 */
Test(alloc, a_pool_that_was_filled_goes_on_further_inside)
{
	const struct sl_alloc_config config = {.allocators = 4, .embedded_log = true, .filled = 0.5};
	struct sl_alloc alloc = {0};

	cr_assert_eq(place(&alloc, &config, 0, 0, 128 * KIB), 100 * 2 * GIB);
	cr_assert_eq(place(&alloc, &config, 0, 0, 128 * KIB), 100 * 2 * GIB + 128 * KIB);
}

/* Share of n blocks that lie right behind the one before, and how far the others are on average. */
static double neighbours(const struct sl_alloc_config *config, int64_t asize, double *ret_gap)
{
	struct sl_alloc alloc = {0};
	int64_t end = place(&alloc, config, 0, 0, asize) + asize;
	int side_by_side = 0, n = 20000;
	double gaps = 0;

	for (int i = 0; i < n; i++) {
		int64_t at = place(&alloc, config, 0, 0, asize);

		side_by_side += at == end;
		gaps += at == end ? 0 : at > end ? (double)(at - end) : (double)(end - at);
		end = at + asize;
	}
	*ret_gap = gaps / (n - side_by_side + 1e-9);
	return (double)side_by_side / n;
}

/*
 * FRAG 50 %, so segments of 128 KiB, 75 % in use: a segment and what is used behind it are 512 KiB long. A
 * block of 64 KiB finds room in a segment with e^-0.5 = 0.607; else it looks at 1 / 0.607 = 1.65 more: 844
 * KiB further. Below 4 % free every block goes anywhere in its metaslab: none lies behind the other, the mean
 * distance of two places in 2 GiB is a third of it.
 */
Test(alloc, in_a_fragmented_pool_blocks_lie_apart)
{
	struct sl_alloc_config config = {.allocators = 4, .filled = 0.75, .fragmentation = 0.5};
	double gap, share = neighbours(&config, 64 * KIB, &gap);

	cr_assert_float_eq(share, 0.607, 0.015, "%.3f", share);
	cr_assert_float_eq(gap / (844 * KIB), 1, 0.05, "%.0f KiB", gap / KIB);
	config.filled = 0.97;
	share = neighbours(&config, 64 * KIB, &gap);
	cr_assert_lt(share, 0.001);
	cr_assert_float_eq(gap / (2.0 / 3 * (double)GIB), 1, 0.1, "%.0f MiB", gap / MIB);
}
