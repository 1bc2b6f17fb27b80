/* The set of byte ranges, beside one flag per byte. */
#include <criterion/criterion.h>
#include <string.h>

#include "sim/base/rng.h"
#include "sim/guest/extents.h"

#define SPACE 512

/* Ranges of the flags, each as the set must have it. */
static void check_same(const struct sl_extents *set, const bool *flags)
{
	uint32_t count = 0;
	int64_t bytes = 0, at = 0;

	while (at < SPACE) {
		struct sl_extent range = {0, 0};
		int64_t end = at;

		while (end < SPACE && flags[end] == flags[at]) {
			end++;
		}
		if (flags[at]) {
			cr_assert(sl_extents_find(set, at, &range));
			cr_assert(range.start == at && range.end == end, "[%d, %d) is [%d, %d)", (int)at,
				  (int)end, (int)range.start, (int)range.end);
			cr_assert(sl_extents_covers(set, at, end));
			cr_assert(!sl_extents_covers(set, at, end + 1));
			count++;
			bytes += end - at;
		} else if (sl_extents_find(set, at, &range)) {
			cr_assert_eq(range.start, end);
		} else {
			cr_assert_eq(end, SPACE);
		}
		at = end;
	}
	cr_assert_eq(set->count, count);
	cr_assert_eq(set->bytes, bytes);
}

Test(extents, random_operations_leave_what_one_flag_per_byte_does)
{
	struct sl_extents set = {0};
	bool flags[SPACE] = {false};
	struct sl_rng rng;

	sl_rng_init(&rng, 1, "extents");
	for (int i = 0; i < 4000; i++) {
		int64_t start = (int64_t)sl_rng_below(&rng, SPACE - 40);
		int64_t end = start + 1 + (int64_t)sl_rng_below(&rng, 40), changed = 0;
		bool add = sl_rng_below(&rng, 2) == 0;

		for (int64_t at = start; at < end; at++) {
			changed += flags[at] != add;
			flags[at] = add;
		}
		cr_assert_eq(add ? sl_extents_add(&set, start, end) : sl_extents_remove(&set, start, end),
			     changed);
		check_same(&set, flags);
	}
	sl_extents_fini(&set);
}

Test(extents, a_terabyte_is_counted_in_full)
{
	struct sl_extents set = {0};
	struct sl_extent range;

	/* 16 GiB four times, one behind the other: one range of 64 GiB. */
	for (int64_t i = 3; i >= 0; i--) {
		cr_assert_eq(sl_extents_add(&set, i << 34, (i + 1) << 34), INT64_C(1) << 34);
	}
	cr_assert_eq(set.count, 1);
	cr_assert_eq(set.bytes, INT64_C(1) << 36);
	cr_assert_eq(sl_extents_add(&set, 0, INT64_C(1) << 40), (INT64_C(1) << 40) - (INT64_C(1) << 36));
	cr_assert(sl_extents_find(&set, INT64_C(1) << 39, &range));
	cr_assert_eq(range.end, INT64_C(1) << 40);
	sl_extents_fini(&set);
}

/* A list would take 10^11 steps; the test's own time limit is the assertion. */
Test(extents, half_a_million_ranges_are_no_work)
{
	struct sl_extents set = {0};
	struct sl_extent range;
	struct sl_rng rng;
	int64_t last = -1;
	uint32_t taken = 0, count;

	sl_rng_init(&rng, 1, "extents");
	for (int i = 0; i < 500000; i++) {
		int64_t at = (int64_t)sl_rng_below(&rng, INT64_C(200) << 16) << 14; /* of 200 GiB */

		sl_extents_add(&set, at, at + 8192);
	}
	count = set.count;
	cr_assert(count > 480000);
	while (sl_extents_find(&set, 0, &range)) {
		cr_assert(range.start > last);
		last = range.start;
		sl_extents_remove(&set, range.start, range.end);
		taken++;
	}
	cr_assert_eq(taken, count);
	cr_assert_eq(set.bytes, 0);
	sl_extents_fini(&set);
}
