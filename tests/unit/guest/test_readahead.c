/* Read-ahead by the rules of mm/readahead.c, with windows worked out by hand. Pages of 4 KiB, limit 32 (128
 * KiB). */
#include <criterion/criterion.h>

#include "sim/guest/readahead.h"

#define LIMIT 32
#define MOST 320 /* a request of the disk: 1280 KiB */

static void expect_window(struct sl_readahead *ra, int64_t page, int64_t wanted, int64_t start, int64_t size,
			  int64_t mark)
{
	struct sl_readahead_window window = sl_readahead_next(ra, page, wanted, LIMIT, MOST);

	cr_assert(window.start == start && window.size == size && !window.random,
		  "page %d: [%d, +%d) instead of [%d, +%d)", (int)page, (int)window.start, (int)window.size,
		  (int)start, (int)size);
	cr_assert_eq(sl_readahead_mark(ra), mark, "page %d: mark %d", (int)page, (int)sl_readahead_mark(ra));
}

/* 8 KiB: 2 pages, doubled: 4, the mark behind the read. Then at each mark 8, 16, 32, 32 ... pages, marked at
 * their first. */
Test(readahead, small_sequential_reads_open_up_to_128_kib_ahead)
{
	struct sl_readahead ra;

	sl_readahead_init(&ra);
	cr_assert_eq(sl_readahead_mark(&ra), -1);
	expect_window(&ra, 0, 2, 0, 4, 2);
	sl_readahead_read(&ra, 1);
	expect_window(&ra, 2, 2, 4, 8, 4);
	sl_readahead_read(&ra, 3);
	expect_window(&ra, 4, 2, 12, 16, 12);
	expect_window(&ra, 12, 2, 28, 32, 28);
	expect_window(&ra, 28, 2, 60, 32, 60);
	expect_window(&ra, 60, 2, 92, 32, 92);
}

/* 4 KiB: one page, 4 times as many; the next is doubled. */
Test(readahead, a_page_opens_four)
{
	struct sl_readahead ra;

	sl_readahead_init(&ra);
	expect_window(&ra, 0, 1, 0, 4, 1);
	expect_window(&ra, 1, 1, 4, 8, 4);
}

/* 64 KiB is more than a quarter of the limit: 128 KiB from the start. */
Test(readahead, larger_reads_get_the_limit_at_once)
{
	struct sl_readahead ra;

	sl_readahead_init(&ra);
	expect_window(&ra, 0, 16, 0, 32, 16);
	sl_readahead_read(&ra, 15);
	expect_window(&ra, 16, 16, 32, 32, 32);
	expect_window(&ra, 32, 16, 64, 32, 64);
}

/* 1 MiB, 256 pages, is beyond the limit but within a request of the disk: all of it, marked in the middle. */
Test(readahead, a_read_beyond_the_limit_is_one_request)
{
	struct sl_readahead ra;

	sl_readahead_init(&ra);
	expect_window(&ra, 0, 256, 0, 256, 128);
	expect_window(&ra, 128, 128, 256, 128, 256); /* by the half that is left of it */
}

Test(readahead, random_reads_get_what_they_ask_for)
{
	struct sl_readahead ra;
	struct sl_readahead_window window;

	sl_readahead_init(&ra);
	for (int64_t page = 1000; page > 0; page -= 100) {
		window = sl_readahead_next(&ra, page, 4, LIMIT, MOST);
		cr_assert(window.random && window.start == page && window.size == 4);
		sl_readahead_read(&ra, page + 3);
	}
	/* One behind the last is a stream again. */
	expect_window(&ra, 104, 4, 104, 8, 108);
}

Test(readahead, read_ahead_kb_0_reads_nothing_ahead)
{
	struct sl_readahead ra;
	struct sl_readahead_window window;

	sl_readahead_init(&ra);
	for (int64_t page = 0; page < 8; page += 2) {
		window = sl_readahead_next(&ra, page, 2, 0, 0);
		cr_assert(window.random && window.start == page && window.size == 2);
		sl_readahead_read(&ra, page + 1);
	}
}
