/* The flush list against a plain array. */
#include <criterion/criterion.h>

#include "sim/base/rng.h"
#include "sim/guest/dirty_pages.h"

#define PAGES 5000u

Test(dirty_pages, they_come_out_in_the_order_of_their_first_change_and_are_known_until_then)
{
	static uint32_t order[200000];
	static bool in[PAGES];
	struct sl_dirty_pages pages = {0};
	uint32_t first = 0, last = 0;
	struct sl_rng rng;

	sl_rng_init(&rng, 1, "pages");
	cr_assert(!sl_dirty_pages_has(&pages, 0));
	for (int i = 0; i < 200000; i++) {
		/* Grows to most of the pages, then shrinks again, twice. */
		bool add = sl_rng_below(&rng, 100) < (i / 50000 % 2 == 0 ? 70u : 30u);
		uint32_t page = (uint32_t)sl_rng_below(&rng, PAGES);

		if (add) {
			sl_dirty_pages_add(&pages, page, i, 0);
			if (!in[page]) {
				order[last++] = page;
				in[page] = true;
			}
		} else if (first < last) {
			cr_assert_eq(sl_dirty_pages_get(&pages, 0)->page, order[first]);
			cr_assert_eq(sl_dirty_pages_pop(&pages).page, order[first]);
			in[order[first++]] = false;
		}
		page = (uint32_t)sl_rng_below(&rng, PAGES);
		cr_assert_eq(sl_dirty_pages_has(&pages, page), in[page], "page %u", page);
		cr_assert_eq(pages.count, last - first);
	}
	sl_dirty_pages_fini(&pages);
}

Test(dirty_pages, the_sum_is_that_of_the_first_changes)
{
	struct sl_dirty_pages pages = {0};

	sl_dirty_pages_add(&pages, 7, 100, 0);
	sl_dirty_pages_add(&pages, 7, 200, 0);
	sl_dirty_pages_add(&pages, UINT32_MAX - 1, 300, 0);
	cr_assert_eq(pages.lsn_sum, 400);
	cr_assert_eq(sl_dirty_pages_pop(&pages).lsn, 100);
	cr_assert_eq(pages.lsn_sum, 300);
	sl_dirty_pages_fini(&pages);
}
