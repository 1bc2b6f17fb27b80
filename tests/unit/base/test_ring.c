#include <criterion/criterion.h>

#include "sim/base/ring.h"

Test(ring, items_keep_their_numbers_while_it_grows_and_moves_on)
{
	struct sl_ring ring;

	sl_ring_init(&ring, sizeof(uint64_t), 7);
	cr_assert_null(sl_ring_at(&ring, 7));
	for (uint64_t i = 7; i < 5000; i++) {
		uint64_t *item = sl_ring_push(&ring);

		*item = i;
		if (i % 3 == 0) {
			sl_ring_drop(&ring, i / 2);
		}
	}
	cr_assert_eq(ring.first, 4998 / 2);
	cr_assert_eq(ring.end, 5000);
	cr_assert_null(sl_ring_at(&ring, ring.first - 1));
	cr_assert_null(sl_ring_at(&ring, ring.end));
	for (uint64_t i = ring.first; i < ring.end; i++) {
		cr_assert_eq(*(uint64_t *)sl_ring_at(&ring, i), i);
	}
	sl_ring_drop(&ring, 1000000);
	cr_assert_eq(ring.first, ring.end, "no further than its end");
	sl_ring_fini(&ring);
}

Test(ring, has_room_for_what_it_holds_not_for_what_it_held)
{
	struct sl_ring ring;

	sl_ring_init(&ring, 1, 0);
	for (uint64_t i = 0; i < 100000; i++) {
		(void)sl_ring_push(&ring);
		sl_ring_drop(&ring, i > 200 ? i - 200 : 0);
	}
	cr_assert_eq(ring.room, 256);
	sl_ring_fini(&ring);
}
