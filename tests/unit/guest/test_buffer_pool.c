/* Where pages are found: shares worked out by hand for keys that are all equally popular. */
#include <criterion/criterion.h>

#include "sim/guest/buffer_pool.h"

#define ROWS 10000000u /* of 225 bytes: 137,330 leaves, 117 branches above them */
#define LEAVES 137330.0
#define BRANCHES 117.0
#define DRAWS 100000

static struct sl_buffer_pool *pool_new(enum sl_oltp_list list, double pool_pages, double page_cache_pages)
{
	static struct sl_buffer_pool pool;
	const struct sl_buffer_pool_config config = {
	    .load = {.list = list, .distribution = SL_OLTP_UNIFORM, .rows = ROWS},
	    .row_bytes = 225,
	    .pool_bytes = pool_pages * SL_PAGE_BYTES,
	    .page_cache_bytes = page_cache_pages * SL_PAGE_BYTES,
	    .log_txns = 1e9,
	};

	sl_buffer_pool_init(&pool, &config, 1);
	return &pool;
}

static double share(struct sl_buffer_pool *pool, enum sl_page_kind kind, enum sl_page_place place)
{
	int found = 0;

	for (int i = 0; i < DRAWS; i++) {
		int strip = sl_buffer_pool_strip(pool, (uint32_t)(i * (double)ROWS / DRAWS));

		found += sl_buffer_pool_find(pool, kind, strip) == place;
	}
	return (double)found / DRAWS;
}

/* By definition: floor(row * pages / rows). Around each page's first row, where rounding would show, for
 * tables of less and more than a page per row, and the largest there can be. */
Test(buffer_pool, the_page_of_a_row_is_that_of_the_division)
{
	static const uint32_t sizes[][2] = {{1, 1},
					    {1, 7},
					    {7, 1},
					    {3, 2},
					    {14648, 1000000},
					    {1000003, 999983},
					    {4294967295u, 4294967295u},
					    {58982401, 4294967295u},
					    {4294967294u, 4294967295u}};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const uint64_t pages = sizes[i][0], rows = sizes[i][1], step = pages / 5000 + 1;
		const struct sl_row_pages of = sl_row_pages_of((uint32_t)pages, (uint32_t)rows);

		for (uint64_t page = 0; page < pages; page += step) {
			uint64_t first = (page * rows + pages - 1) / pages;

			for (uint64_t row = first > 2 ? first - 2 : 0; row < first + 2 && row < rows; row++) {
				cr_assert_eq(sl_row_page(&of, (uint32_t)row), row * pages / rows,
					     "row %lu of %lu", (unsigned long)row, (unsigned long)rows);
			}
		}
		cr_assert_eq(sl_row_page(&of, (uint32_t)(rows - 1)), (rows - 1) * pages / rows);
	}
}

/* The strip of a row is the one that holds its position, row / rows. */
Test(buffer_pool, strips_of_rows_are_those_of_their_positions)
{
	static const uint32_t sizes[] = {1, 2, 100, 256, 257, 65537, 1000000, 4294967295u};
	static struct sl_buffer_pool pool;

	for (int d = SL_OLTP_SPECIAL; d <= SL_OLTP_PARETO; d++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			const uint32_t rows = sizes[i], step = rows / 20000 + 1;
			const struct sl_buffer_pool_config config = {
			    .load = {.distribution = (enum sl_oltp_distribution)d, .rows = rows},
			    .row_bytes = 225,
			    .pool_bytes = 1e8,
			    .log_txns = 1e9,
			};

			sl_buffer_pool_init(&pool, &config, 1);
			for (uint64_t row = 0; row < rows; row += step) {
				cr_assert_eq(sl_buffer_pool_strip(&pool, (uint32_t)row),
					     sl_popularity_find(&pool.popularity, (double)row / rows),
					     "row %lu of %u", (unsigned long)row, rows);
			}
		}
	}
}

Test(buffer_pool, a_pool_of_a_tenth_of_the_leaves_has_a_tenth_of_them_and_all_branches)
{
	struct sl_buffer_pool *pool = pool_new(SL_OLTP_READ_ONLY, 0.1 * LEAVES + BRANCHES, 0);

	cr_assert_eq(pool->leaf_pages, LEAVES);
	cr_assert_float_eq(share(pool, SL_PAGE_LEAF, SL_PAGE_IN_POOL), 0.1, 0.004);
	cr_assert_float_eq(share(pool, SL_PAGE_LEAF, SL_PAGE_BELOW), 0.9, 0.004);
	cr_assert_float_eq(share(pool, SL_PAGE_BRANCH, SL_PAGE_IN_POOL), 1, 0.001);
}

Test(buffer_pool, a_page_cache_no_larger_than_the_pool_has_what_the_pool_has)
{
	struct sl_buffer_pool *pool = pool_new(SL_OLTP_READ_ONLY, 0.1 * LEAVES + BRANCHES, 0.09 * LEAVES);

	cr_assert_eq(share(pool, SL_PAGE_LEAF, SL_PAGE_IN_PAGE_CACHE), 0);
}

Test(buffer_pool, a_page_cache_three_times_the_pool_answers_what_it_has_more)
{
	/* 0.227 of the misses, 0.9 of all: tests/unit/workload/test_lru.c has the arithmetic. */
	struct sl_buffer_pool *pool = pool_new(SL_OLTP_READ_ONLY, 0.1 * LEAVES + BRANCHES, 0.3 * LEAVES);

	cr_assert_float_eq(share(pool, SL_PAGE_LEAF, SL_PAGE_IN_PAGE_CACHE), 0.9 * 0.227, 0.005);
	cr_assert_float_eq(share(pool, SL_PAGE_LEAF, SL_PAGE_BELOW), 0.9 * 0.773, 0.005);
}

Test(buffer_pool, the_arc_answers_for_the_seven_other_pages_of_a_record)
{
	/* Records of 8 pages, room for 0.3 of them: no page of a record was asked for within T with (1 - 0.9
	 * t)^8 = 0.7, t = 0.0484 of the mean time between two uses. That is less than the pool keeps pages
	 * (0.105), so that the page itself was not: 1 - 0.7^(7/8) = 0.268. In records of one page nothing is
	 * found. */
	struct sl_buffer_pool *pool = pool_new(SL_OLTP_READ_ONLY, 0.1 * LEAVES + BRANCHES, 0);
	double arc_bytes = 0.3 * LEAVES * SL_PAGE_BYTES;

	cr_assert_float_eq(sl_buffer_pool_arc_hit(pool, arc_bytes, 131072), 0.268, 0.002);
	cr_assert_float_eq(sl_buffer_pool_arc_hit(pool, 0.09 * LEAVES * SL_PAGE_BYTES, 16384), 0, 1e-9);
	cr_assert_eq(sl_buffer_pool_arc_hit(pool, 2 * LEAVES * SL_PAGE_BYTES, 131072), 1);
}

Test(buffer_pool, flushed_pages_are_partial_writes_that_find_their_record_in_the_arc_or_not)
{
	/* A change of a page reads it first: its record is there when the page is flushed. So with writes in
	 * the list the share goes up, from that of the reads alone. */
	double read_only = sl_buffer_pool_arc_hit(pool_new(SL_OLTP_READ_ONLY, 0.01 * LEAVES, 0),
						  0.1 * LEAVES * SL_PAGE_BYTES, 131072);
	double write_only = sl_buffer_pool_arc_hit(pool_new(SL_OLTP_WRITE_ONLY, 0.01 * LEAVES, 0),
						   0.1 * LEAVES * SL_PAGE_BYTES, 131072);

	cr_assert_float_eq(read_only, 0.1, 0.015);
	/* One flush for each page read, and that always hits: half of 0.1 and half of 1. */
	cr_assert_float_eq(write_only, 0.55, 0.05);
}

Test(buffer_pool, a_table_that_fits_is_never_read)
{
	struct sl_buffer_pool *pool = pool_new(SL_OLTP_COMPLEX, 2 * LEAVES, 0);

	for (int kind = 0; kind < SL_PAGE_KINDS; kind++) {
		cr_assert_eq(share(pool, (enum sl_page_kind)kind, SL_PAGE_IN_POOL), 1);
	}
	/* But flushed pages need their records: all there in an ARC that holds the table, half in one of
	 * half. */
	cr_assert_eq(sl_buffer_pool_arc_hit(pool, 2 * LEAVES * SL_PAGE_BYTES, 131072), 1);
	cr_assert_float_eq(sl_buffer_pool_arc_hit(pool, 0.5 * LEAVES * SL_PAGE_BYTES, 131072), 0.5, 0.05);
}
