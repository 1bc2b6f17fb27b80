#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/store/pages.h"

#define SHADOW_BYTES 200000u

/* Random writes, reads and truncations against a plain array. */
Test(store_pages, behave_like_a_flat_array)
{
	struct sl_budget budget = {.left_bytes = 1u << 26};
	uint8_t *shadow = calloc(1, SHADOW_BYTES), *buf = malloc(SHADOW_BYTES);
	struct sl_pages pages;
	struct sl_rng rng;

	sl_rng_init(&rng, 1, "pages");
	sl_pages_init(&pages, &budget);
	for (int round = 0; round < 600; round++) {
		uint64_t offset = sl_rng_below(&rng, SHADOW_BYTES);
		size_t size = (size_t)sl_rng_below(&rng, SHADOW_BYTES - offset + 1) / (1 + round % 30);

		if (round % 10 == 9) {
			sl_pages_truncate(&pages, offset);
			memset(shadow + offset, 0, SHADOW_BYTES - offset);
		} else if (round % 2 == 0) {
			memset(shadow + offset, round % 255 + 1, size);
			cr_assert_eq(sl_pages_write(&pages, offset, shadow + offset, size), 0);
		}
		sl_pages_read(&pages, offset, buf, size);
		cr_assert_eq(memcmp(buf, shadow + offset, size), 0, "round %d", round);
	}
	sl_pages_read(&pages, 0, buf, SHADOW_BYTES);
	cr_assert_eq(memcmp(buf, shadow, SHADOW_BYTES), 0);
	sl_pages_truncate(&pages, 0);
	cr_assert_eq(pages.page_count, 0);
	cr_assert_eq(budget.left_bytes, 1u << 26);
	free(shadow);
	free(buf);
}

Test(store_pages, far_offsets_cost_a_path_not_a_table)
{
	struct sl_budget budget = {.left_bytes = 1u << 20};
	struct sl_pages pages;
	uint8_t byte = 7, back = 0;
	uint64_t far = INT64_MAX - 1;

	sl_pages_init(&pages, &budget);
	cr_assert_eq(sl_pages_write(&pages, 0, &byte, 1), 0);
	cr_assert_eq(sl_pages_write(&pages, far, &byte, 1), 0);
	cr_assert_eq(pages.page_count, 2);
	cr_assert(budget.left_bytes > (1u << 20) - (40u << 10));
	sl_pages_read(&pages, far, &back, 1);
	cr_assert_eq(back, 7);
	sl_pages_read(&pages, far / 2, &back, 1);
	cr_assert_eq(back, 0);
	sl_pages_truncate(&pages, 1u << 20);
	cr_assert_eq(pages.page_count, 1);
	sl_pages_read(&pages, 0, &back, 1);
	cr_assert_eq(back, 7);
	sl_pages_truncate(&pages, 0);
	cr_assert_eq(budget.left_bytes, 1u << 20);
}

/* Every budget from nothing to enough: either it fits, or -ENOSPC and no leak
 * of budget. */
Test(store_pages, out_of_budget_at_every_step)
{
	uint8_t buf[3 * SL_PAGE_BYTES];
	int failed = 0, passed = 0;

	memset(buf, 1, sizeof(buf));
	for (uint64_t limit = 0; limit < 64u << 10; limit += 1024) {
		struct sl_budget budget = {.left_bytes = limit};
		struct sl_pages pages;
		int rc;

		sl_pages_init(&pages, &budget);
		rc = sl_pages_write(&pages, 1u << 30, buf, sizeof(buf));
		cr_assert(rc == 0 || rc == -ENOSPC);
		failed += rc < 0;
		passed += rc == 0;
		sl_pages_truncate(&pages, 0);
		cr_assert_eq(budget.left_bytes, limit);
	}
	cr_assert(failed > 0);
	cr_assert(passed > 0);
}
