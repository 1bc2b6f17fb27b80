/* The flash translation layer: its books balance, batches equal single writes, and time is what NAND takes.
 */
#include "tests/unit/device/ftl_rig.h"

#include <string.h>

Test(ftl, books_balance_whatever_is_done)
{
	for (unsigned variant = 0; variant < 8; variant++) {
		struct sl_ftl_config config = small_drive();
		struct sl_rng rng;
		struct sl_ftl *ftl;
		int64_t now_ns = 0;

		config.cost_benefit = (variant & 1) != 0;
		config.map_ns = (variant & 2) != 0 ? 1000 : 0;
		config.logical_pages = (variant & 4) != 0 ? 15000 : 9000;
		config.pool_high = (variant & 1) != 0 ? 4 : 2;
		ftl = drive_new(&config);
		sl_rng_init(&rng, variant, "books");
		for (int i = 0; i < 60000; i++) {
			uint32_t page = (uint32_t)sl_rng_below(&rng, (uint64_t)config.logical_pages);

			now_ns = write_page(ftl, page, now_ns);
			if (i % 1000 == 0) {
				sl_ftl_trim(ftl, page / 2, (int64_t)sl_rng_below(&rng, 300));
				now_ns = sl_ftl_drain_ns(ftl, now_ns);
				sl_ftl_idle(ftl, now_ns, now_ns + 100000000);
			}
			if (i % 7500 == 0) {
				check(ftl);
			}
		}
		check(ftl);
		cr_assert(sl_ftl_counters(ftl).moved_pages > 0);
		cr_assert(sl_ftl_used_pages(ftl) <= config.logical_pages);
		sl_ftl_free(ftl);
	}
}

Test(ftl, a_batch_is_the_same_as_one_by_one)
{
	struct sl_ftl_config config = small_drive();
	struct sl_ftl *one = drive_new(&config), *many = drive_new(&config);
	int64_t ready_ns[SL_FTL_BATCH_MAX];
	uint32_t pages[SL_FTL_BATCH_MAX];
	struct sl_rng rng;

	sl_rng_init(&rng, 1, "batch");
	for (int round = 0; round < 3000; round++) {
		int n = 1 + (int)sl_rng_below(&rng, (uint64_t)sl_ftl_batch_max(many));

		for (int i = 0; i < n; i++) {
			/* Of a few pages, so that some come twice in a batch. */
			pages[i] = (uint32_t)sl_rng_below(&rng, round % 2 == 0 ? 12800 : 40);
			ready_ns[i] = sl_ftl_room_ns(many, i);
			ready_ns[i] = i > 0 && ready_ns[i - 1] > ready_ns[i] ? ready_ns[i - 1] : ready_ns[i];
		}
		sl_ftl_prefetch(many, pages, n);
		sl_ftl_write(many, pages, ready_ns, n);
		for (int i = 0; i < n; i++) {
			cr_assert_eq(sl_ftl_room_ns(one, 0) <= ready_ns[i], true);
			sl_ftl_write(one, &pages[i], &ready_ns[i], 1);
		}
		cr_assert_eq(sl_ftl_room_ns(one, 0), sl_ftl_room_ns(many, 0));
	}
	cr_assert(sl_ftl_counters(one).moved_pages > 1000);
	cr_assert_eq(sl_ftl_hash(one), sl_ftl_hash(many));
	sl_ftl_free(one);
	sl_ftl_free(many);
}

Test(ftl, a_fresh_drive_takes_what_path_channel_and_dies_take)
{
	struct sl_ftl_config config = small_drive();
	struct sl_ftl *ftl = drive_new(&config);
	int64_t end_ns = 0;

	/* One unit: 4 pages over the path, then the channel, then the die. */
	for (uint32_t page = 0; page < 4; page++) {
		write_page(ftl, page, 0);
	}
	cr_assert_eq(sl_ftl_drain_ns(ftl, 0), 4 * 10000 + 4 * 20000 + 400000);
	/* A stream: four dies program 4 pages in 0.4 ms each, path and channels could do 0.04 ms and 0.04 ms.
	 */
	for (uint32_t page = 4; page < 8004; page++) {
		end_ns = write_page(ftl, page, end_ns);
	}
	end_ns = sl_ftl_drain_ns(ftl, end_ns);
	cr_assert(end_ns > 8000 * INT64_C(25000) && end_ns < 8000 * INT64_C(25000) * 102 / 100, "%lld",
		  (long long)end_ns);
	cr_assert_eq(sl_ftl_counters(ftl).moved_pages, 0);
	sl_ftl_free(ftl);
}

Test(ftl, draining_a_part_of_a_unit_programs_the_rest_empty)
{
	struct sl_ftl_config config = small_drive();
	struct sl_ftl *ftl = drive_new(&config);

	for (uint32_t page = 0; page < 100; page++) {
		int64_t now_ns = write_page(ftl, page, 0);

		cr_assert(sl_ftl_drain_ns(ftl, now_ns) >= now_ns + 400000);
	}
	cr_assert_eq(sl_ftl_counters(ftl).padded_pages, 300);
	cr_assert_eq(amplification(ftl), 4);
	check(ftl);
	sl_ftl_free(ftl);
}

Test(ftl, trimmed_pages_need_no_copying)
{
	struct sl_ftl_config config = small_drive();
	struct sl_ftl *full = drive_new(&config), *trimmed = drive_new(&config);

	sl_ftl_fill(full, 0, config.logical_pages);
	sl_ftl_fill(trimmed, 0, config.logical_pages);
	sl_ftl_trim(trimmed, 6400, 6400);
	cr_assert_eq(sl_ftl_used_pages(trimmed), 6400);
	sl_ftl_churn(full, 1, 6400, 40000, NULL);
	sl_ftl_churn(trimmed, 1, 6400, 40000, NULL);
	check(trimmed);
	cr_assert(amplification(trimmed) < 0.75 * amplification(full), "%g %g", amplification(trimmed),
		  amplification(full));
	sl_ftl_free(full);
	sl_ftl_free(trimmed);
}

/* Time that 1024 writes take on a full drive after it was left alone for idle_ns. */
static int64_t burst_ns(int64_t idle_ns)
{
	struct sl_ftl_config config = small_drive();
	int64_t start_ns, now_ns;
	struct sl_ftl *ftl;

	config.pool_high = 12;
	config.logical_pages = 10000;
	ftl = drive_new(&config);
	sl_ftl_fill(ftl, 0, config.logical_pages);
	sl_ftl_churn(ftl, 1, (uint32_t)config.logical_pages, 20000, NULL);
	sl_ftl_idle(ftl, 0, idle_ns);
	now_ns = start_ns = sl_ftl_drain_ns(ftl, idle_ns);
	for (uint32_t page = 0; page < 1024; page++) {
		now_ns = write_page(ftl, page, now_ns);
	}
	now_ns = sl_ftl_drain_ns(ftl, now_ns);
	check(ftl);
	sl_ftl_free(ftl);
	return now_ns - start_ns;
}

Test(ftl, idle_time_is_used_to_collect)
{
	struct sl_ftl_config config = small_drive();
	struct sl_ftl_counters before, after;
	struct sl_ftl *ftl;

	config.pool_low = 2;
	config.pool_high = 12;
	config.pool_refill = 0; /* the pool does not grow again while the host writes */
	ftl = drive_new(&config);
	sl_ftl_fill(ftl, 0, config.logical_pages);
	sl_ftl_churn(ftl, 1, 12800, 8000, NULL);
	before = sl_ftl_counters(ftl);
	sl_ftl_idle(ftl, 0, 1);
	after = sl_ftl_counters(ftl);
	cr_assert(after.erases == before.erases + 1, "a moment is enough to start one");
	sl_ftl_idle(ftl, INT64_C(1000000000), INT64_C(1000000000000));
	after = sl_ftl_counters(ftl);
	cr_assert(after.erases > before.erases + 20, "%llu",
		  (unsigned long long)(after.erases - before.erases));
	before = after;
	sl_ftl_idle(ftl, INT64_C(2000000000000), INT64_C(3000000000000));
	after = sl_ftl_counters(ftl);
	cr_assert_eq(after.erases, before.erases, "a full pool is left alone");
	check(ftl);
	sl_ftl_free(ftl);
}

Test(ftl, after_a_pause_writes_are_faster)
{
	int64_t tired_ns = burst_ns(0), rested_ns = burst_ns(INT64_C(60000000000));

	cr_assert(rested_ns < tired_ns * 8 / 10, "%lld %lld", (long long)rested_ns, (long long)tired_ns);
}

Test(ftl, wear_is_even_under_uniform_writes)
{
	struct sl_ftl_config config = small_drive();
	struct sl_ftl *ftl = drive_new(&config);
	uint32_t least, most;
	double mean;

	sl_ftl_fill(ftl, 0, config.logical_pages);
	sl_ftl_churn(ftl, 1, 12800, 400000, NULL);
	sl_ftl_wear(ftl, &least, &mean, &most);
	cr_assert(mean > 40 && least > mean * 0.7 && most < mean * 1.3, "%u %g %u", least, mean, most);
	cr_assert_eq((uint64_t)(mean * 256 + 0.5), sl_ftl_counters(ftl).erases);
	sl_ftl_free(ftl);
}

/* Write amplification when nine of ten writes go to the first tenth of the drive. */
static double skewed(bool cost_benefit)
{
	struct sl_ftl_config config = small_drive();
	struct sl_rng rng;
	struct sl_ftl *ftl;
	double result;

	config.cost_benefit = cost_benefit;
	ftl = drive_new(&config);
	sl_ftl_fill(ftl, 0, config.logical_pages);
	sl_rng_init(&rng, 1, "skew");
	for (int i = 0; i < 300000; i++) {
		bool hot = sl_rng_below(&rng, 10) != 0;

		if (i == 150000) {
			sl_ftl_forget_counters(ftl);
		}
		write_page(ftl, (uint32_t)(hot ? sl_rng_below(&rng, 1280) : 1280 + sl_rng_below(&rng, 11520)),
			   0);
	}
	result = amplification(ftl);
	sl_ftl_free(ftl);
	return result;
}

Test(ftl, cost_benefit_helps_when_some_data_are_hot)
{
	double greedy = skewed(false), benefit = skewed(true);

	cr_assert(benefit < 0.95 * greedy, "%g %g", benefit, greedy);
}

Test(ftl, extents_of_a_tree_map)
{
	struct sl_ftl_config config = small_drive();
	struct sl_ftl *ftl;

	config.map_ns = 1000;
	ftl = drive_new(&config);
	sl_ftl_fill(ftl, 0, 1600);
	cr_assert_eq(sl_ftl_extents(ftl), 100); /* 16 pages each */
	/* Four pages within an extent cut it into three. */
	sl_ftl_map_command(ftl, 0, 36, 4);
	sl_ftl_write(ftl, (const uint32_t[]){36, 37, 38, 39}, (const int64_t[4]){0}, 4);
	cr_assert_eq(sl_ftl_extents(ftl), 102);
	sl_ftl_trim(ftl, 36, 4);
	cr_assert_eq(sl_ftl_extents(ftl), 101);
	check(ftl);
	sl_ftl_free(ftl);
}

Test(ftl, a_tree_map_slows_down_when_memory_does_not_hold_it)
{
	struct sl_ftl_config config = small_drive();
	int64_t took_ns[2];

	config.map_ns = 1000000;
	for (int i = 0; i < 2; i++) {
		struct sl_ftl *ftl;
		int64_t now_ns = 0;

		config.map_cached = i == 0 ? 12800 : 100;
		ftl = drive_new(&config);
		sl_ftl_fill(ftl, 0, 12800);
		for (uint32_t page = 0; page < 400; page++) {
			now_ns = write_page(ftl, page * 32, now_ns);
		}
		took_ns[i] = sl_ftl_drain_ns(ftl, now_ns);
		sl_ftl_free(ftl);
	}
	cr_assert(took_ns[1] > took_ns[0] + 400 * INT64_C(800000), "%lld %lld", (long long)took_ns[0],
		  (long long)took_ns[1]);
}

Test(ftl, impossible_drives_are_refused)
{
	for (int i = 0; i < 10; i++) {
		struct sl_ftl_config config = small_drive();
		struct sl_ftl *ftl = NULL;
		struct sl_err err = {0};

		switch (i) {
		case 0:
			config.logical_pages = 16384; /* no spare area */
			break;
		case 1:
			config.logical_pages = 0;
			break;
		case 2:
			config.superblock_pages = 100;
			break;
		case 3:
			config.superblock_pages = 32;
			break;
		case 4:
			config.unit_pages = 3;
			break;
		case 5:
			config.dies = 0;
			break;
		case 6:
			config.pool_low = 1;
			break;
		case 7:
			config.pool_high = 40;
			break;
		case 8:
			config.program_ns = -1;
			break;
		default:
			config.dies = 65000;
			config.superblocks = 1 << 20;
			break;
		}
		cr_assert_eq(sl_ftl_new(&config, &ftl, &err), -EINVAL, "case %d", i);
		cr_assert(strlen(err.msg) > 20 && !ftl);
	}
}

Test(ftl, at_most_eight_bytes_per_page_of_nand)
{
	struct sl_ftl_config config = small_drive();
	struct sl_ftl *ftl;

	config.superblocks = 2048;
	config.superblock_pages = 1024;
	config.dies = 33;
	config.logical_pages = 48828125;
	ftl = drive_new(&config);
	cr_assert(sl_ftl_memory_bytes(ftl) <= 8 * 33 * INT64_C(2048) * 1024);
	cr_assert(sl_ftl_memory_bytes(ftl) < 500000000);
	sl_ftl_free(ftl);
}
