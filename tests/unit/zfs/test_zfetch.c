/* The prefetcher: what it asks for after each access, by generation. */
#include "sim/zfs/zfetch.h"

#include <criterion/criterion.h>

#define KIB INT64_C(1024)
#define MIB (1024 * KIB)
#define SEC INT64_C(1000000000)
#define RECORD (128 * KIB)

static struct sl_zfetch zfetch_of(int64_t double_bytes, int64_t max_bytes, bool unhit_give_way)
{
	struct sl_zfetch_config config = {.record_bytes = RECORD,
					  .double_bytes = double_bytes,
					  .max_bytes = max_bytes,
					  .keep_bytes = 100 * RECORD,
					  .unhit_give_way = unhit_give_way};
	struct sl_zfetch zfetch;

	sl_zfetch_init(&zfetch, &config);
	return zfetch;
}

/* As since 2.1.6. */
static struct sl_zfetch newer(void)
{
	return zfetch_of(4 * MIB, 64 * MIB, true);
}

/* 1 MiB is 8 records: the distance is 8, 16 and 32 of them after the second, third and fourth access. */
Test(zfetch, the_distance_doubles_from_the_size_of_the_access_on)
{
	static const struct {
		uint64_t first, end;
	} rows[] = {{0, 0}, {16, 24}, {24, 40}, {40, 64}, {64, 72}};
	struct sl_zfetch zfetch = newer();

	for (uint64_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct sl_zfetch_plan plan = sl_zfetch_access(&zfetch, 0, 1, 8 * i, 8);

		cr_assert_eq(plan.sequential, i > 0, "access %d", (int)i);
		cr_assert_eq(plan.first, rows[i].first, "access %d: %d", (int)i, (int)plan.first);
		cr_assert_eq(plan.end, rows[i].end, "access %d: %d", (int)i, (int)plan.end);
	}
	sl_zfetch_fini(&zfetch);
}

/* Records from `next` to what has been asked for, after `n` accesses of one record. */
static int distance_after(struct sl_zfetch *zfetch, int n, bool late)
{
	uint64_t end = 0;

	for (int i = 0; i < n; i++) {
		struct sl_zfetch_plan plan = sl_zfetch_access(zfetch, 0, 1, (uint64_t)i, 1);

		end = plan.end > end ? plan.end : end;
		if (late) {
			sl_zfetch_arrived(zfetch, 1, (uint64_t)i);
		}
	}
	return (int)end - n;
}

/* 0.6.3: 256 records. Since 2.1.6: 4 MiB, 32 records, are enough for a disk that keeps up; for one that does
 * not, an eighth more each time: 32, 36, 40.5 ... up to 512. */
Test(zfetch, how_far_it_goes)
{
	struct sl_zfetch old = zfetch_of(256 * RECORD, 256 * RECORD, false), on_time = newer(),
			 late = newer(), later = newer();

	cr_assert_eq(distance_after(&old, 100, false), 256);
	cr_assert_eq(distance_after(&on_time, 100, false), 32);
	cr_assert_eq(distance_after(&late, 9, true), 40); /* the 7th is the first at 32 */
	cr_assert_eq(distance_after(&later, 200, true), 512);
	sl_zfetch_fini(&old);
	sl_zfetch_fini(&on_time);
	sl_zfetch_fini(&late);
	sl_zfetch_fini(&later);
}

/* READs of 64 KiB are two to a record; a READ behind the reader finds what has passed, as long as it is kept.
 */
Test(zfetch, a_record_that_is_read_in_parts_or_again_is_held)
{
	struct sl_zfetch zfetch = newer();
	struct sl_zfetch_plan plan;

	sl_zfetch_access(&zfetch, 0, 1, 1000, 1);
	plan = sl_zfetch_access(&zfetch, 0, 1, 1000, 1);
	cr_assert(plan.sequential && plan.held_first == 1000 && plan.held_end == 1001);
	cr_assert_eq(plan.end, plan.first);
	for (uint64_t record = 1001; record < 1200; record++) {
		sl_zfetch_access(&zfetch, 0, 1, record, 1);
	}
	plan = sl_zfetch_access(&zfetch, 0, 1, 1150, 1); /* 100 records are kept */
	cr_assert(plan.sequential && plan.held_first == 1100 && plan.held_end == 1232);
	plan = sl_zfetch_access(&zfetch, 0, 1, 1050, 1); /* the next pass over the file */
	cr_assert(!plan.sequential);
	plan = sl_zfetch_access(&zfetch, 0, 1, 1051, 1);
	cr_assert(plan.sequential && plan.held_end == 1051 && plan.first == 1052 && plan.end == 1053);
	plan = sl_zfetch_access(&zfetch, 0, 1, 1200, 1); /* the first goes on */
	cr_assert(plan.sequential && plan.first == 1232 && plan.end == 1233);
	sl_zfetch_fini(&zfetch);
}

Test(zfetch, files_have_streams_of_their_own_however_many_they_are)
{
	struct sl_zfetch zfetch = newer();

	for (uint64_t file = 0; file < 10000; file++) {
		cr_assert(!sl_zfetch_access(&zfetch, 0, file, 7, 1).sequential);
		cr_assert(sl_zfetch_access(&zfetch, 0, file, 8, 1).sequential);
	}
	cr_assert(!sl_zfetch_access(&zfetch, 0, 9999, 8888, 1).sequential);
	cr_assert(sl_zfetch_access(&zfetch, 0, 9999, 9, 1).sequential);
	sl_zfetch_fini(&zfetch);
}

/* Random reads fill the eight places. Of old they stay for two seconds, now those without a hit give way. */
Test(zfetch, random_reads_keep_a_stream_from_being_seen_up_to_2_1_5)
{
	for (int give_way = 0; give_way <= 1; give_way++) {
		struct sl_zfetch zfetch = zfetch_of(8 * MIB, 8 * MIB, give_way);

		sl_zfetch_access(&zfetch, 0, 1, 500, 1);
		sl_zfetch_access(&zfetch, 0, 1, 501, 1); /* a stream that has hits */
		for (uint64_t i = 0; i < 8; i++) {
			sl_zfetch_access(&zfetch, 1, 1, 1000 * (i + 1), 1);
		}
		cr_assert(sl_zfetch_access(&zfetch, 1, 1, 502, 1).sequential);
		cr_assert_eq(sl_zfetch_access(&zfetch, 1, 1, 8001, 1).sequential, give_way);
		sl_zfetch_access(&zfetch, 3 * SEC, 1, 20000, 1);
		cr_assert(sl_zfetch_access(&zfetch, 3 * SEC, 1, 20001, 1).sequential);
		cr_assert(!sl_zfetch_access(&zfetch, 3 * SEC, 1, 503, 1).sequential,
			  "two seconds without a hit");
		sl_zfetch_fini(&zfetch);
	}
}
